#include "sotto/optimizer/second_order/scout.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <utility>

#include "sotto/core/numbers.hpp"
#include "sotto/geometry/lowest_eigenpair.hpp"
#include "sotto/loss/joint_bound.hpp"
#include "sotto/loss/slope_bound.hpp"

namespace sotto {
namespace {

/// Few different multipliers keep the ledger's account short. Above 2^20, which costs next to
/// nothing, the noise's grid would be too coarse for many coordinates (a sigmoid loss has almost no
/// curvature at 0, so that a test of it may ask for such).
constexpr double kGrid = 8;  ///< an octave
double on_grid(double multiplier) {
  return std::exp2(std::ceil(kGrid * std::log2(std::clamp(multiplier, 0.05, 0x1p20))) / kGrid);
}

/// What a sampled Gaussian costs against a full-batch one, roughly: q^2 (e^(1/z^2) - 1).
double relative_cost(double multiplier, const Sampling& sampling) {
  const double square = 1 / (multiplier * multiplier);
  if (sampling.rate >= 1) return square;
  return std::min(square, sampling.rate * sampling.rate * std::expm1(std::min(square, 50.0)));
}

/// Products with a noisy Hessian, the regularizer's added. A refused one is remembered.
struct Products {
  std::unique_ptr<NoisyOperator> data;
  Vector regularizer;
  std::optional<Error> failure = {};

  void operator()(const Vector& v, Vector& product) {
    auto answer = data->apply(v);
    if (!answer) failure = answer.error();
    product = regularizer.cwiseProduct(v);
    if (answer) product += answer->value();
  }
};

Expected<Products> open_products(Oracle& oracle, const HessianOperatorQuery& query) {
  SOTTO_ASSIGN(std::unique_ptr<NoisyOperator> data, oracle.hessian_operator(query));
  Products H{std::move(data), Vector::Zero(query.at.size())};
  oracle.problem().regularizer.add_hessian_diagonal(query.at, H.regularizer);
  return H;
}

}  // namespace

Scout::Scout(Oracle& oracle, const SearchOptions& options)
    : oracle_(oracle),
      options_(options),
      problem_(oracle.problem()),
      bounded_(problem_.linear_rows && std::isfinite(problem_.row_norm) &&
               std::isfinite(problem_.loss.sup_first)),
      reserve_(options.certificate_share) {
  const std::string filter = filter_of(options);
  factor_ = filter == "gaussian" ? 1 : filter == "zcdp" ? 1.4 : 2;
  if (!options.expected_batch) return;
  const Sampling sampling = step_sampling(options, problem_);
  if (sampling.rate < 1 && options.sampled_price)
    least_multiplier_ = multiplier_of_share((1 - reserve_) / kLeastReleases, sampling);
}

double Scout::batch(const Sampling& sampling) const {
  return sampling.rate * static_cast<double>(problem_.n);
}

double Scout::finest() const {
  return options_.precision * *options_.gradient_tolerance /
         std::sqrt(static_cast<double>(problem_.dimension));
}

/// Neighbours' full or fixed-size batches differ by replacing a term. Their Poisson batches also
/// differ by adding or removing one.
bool Scout::by_diameter(const Sampling& sampling) const {
  return problem_.relation == Relation::kReplaceOne &&
         (sampling.rate >= 1 || sampling.kind == Sampling::Kind::kFixedSize);
}

// Standard deviations of the means at multiplier 1: guides, the oracle has its own.
double Scout::gradient_unit(const Vector& w, const Sampling& sampling) const {
  double reach = sum_sensitivity(problem_.relation, *options_.clip_radius);
  if (bounded_)
    reach =
        std::min(reach,
                 by_diameter(sampling)
                     ? gradient_diameter(problem_.loss, problem_.row_norm, w.norm())
                     : sum_sensitivity(problem_.relation,
                                       gradient_bound(problem_.loss, problem_.row_norm, w.norm())));
  return reach / batch(sampling);
}

double Scout::hessian_unit(const Vector& w, const Sampling& sampling) const {
  double radius = *options_.hessian_clip;
  if (bounded_)
    radius = std::min(radius, hessian_bound(problem_.loss, problem_.row_norm, w.norm()));
  if (by_diameter(sampling))
    radius = hessian_diameter(problem_.loss, row_scale(problem_), w.norm(), radius);
  else
    radius = sum_sensitivity(problem_.relation, radius);
  return radius / batch(sampling);
}

double Scout::joint_clip(const Vector& w, double scale) const {
  const double flat = std::hypot(*options_.clip_radius, *options_.hessian_clip / scale);
  if (!bounded_) return flat;
  const double bound = joint_bound(problem_.loss, problem_.row_norm, w.norm(), scale);
  return std::isfinite(bound) ? std::min(flat, bound * (1 + 1e-6)) : flat;
}

double Scout::joint_unit(const Vector& w, double scale, const Sampling& sampling) const {
  double reach = sum_sensitivity(problem_.relation, joint_clip(w, scale));
  if (bounded_ && by_diameter(sampling))
    reach = std::min(reach, joint_diameter(problem_.loss, problem_.row_norm, w.norm(), scale));
  return reach / batch(sampling);
}

/// How the noise is shared between gradient and Hessian.
double Scout::hessian_scale(const Vector& w) const {
  if (options_.holds_everywhere && bounded_) {
    // A search over scales: made anew only when w has moved far.
    if (scale_ > 0 && std::abs(w.norm() - scale_length_) <= 0.2 * (1 + scale_length_))
      return scale_;
    scale_length_ = w.norm();
    scale_ = hessian_scale_for_step(problem_.loss,
                                    problem_.row_norm,
                                    w.norm(),
                                    *options_.radius,
                                    problem_.relation == Relation::kReplaceOne);
    return scale_;
  }
  return hessian_scale_for_tolerances(*options_.gradient_tolerance, *options_.curvature_tolerance);
}

double Scout::price(double multiplier, const Sampling& sampling) const {
  if (sampling.rate < 1 && options_.sampled_price)
    return options_.sampled_price(sampling, multiplier);
  return factor_ * options_.single_release * options_.single_release *
         relative_cost(multiplier, sampling);
}

/// Is this all that the batch's noise can be refined to?
bool Scout::limited(double multiplier, const Sampling& sampling) const {
  return sampling.rate < 1 && multiplier <= least_multiplier_;
}

Expected<double> Scout::buy(double multiplier, const Sampling& sampling) {
  const double z =
      limited(multiplier, sampling) ? std::max(least_multiplier_, 0.05) : on_grid(multiplier);
  const double share = price(z, sampling);
  if (spent_ + share > 1 - reserve_)
    return fail(ErrorKind::kBudget, "what is left of the budget is kept for the certificate.");
  spent_ += share;
  last_rho_ = relative_cost(z, sampling) / 2;
  return z;
}

Expected<void> Scout::spend_rho(double rho) {
  const double share = factor_ * options_.single_release * options_.single_release * 2 * rho;
  if (spent_ + share > 1 - reserve_)
    return fail(ErrorKind::kBudget, "what is left of the budget is kept for the certificate.");
  spent_ += share;
  return {};
}

double Scout::multiplier_of_share(double share) const {
  return options_.single_release > 0 ? options_.single_release * std::sqrt(factor_ / share) : 1;
}

double Scout::multiplier_of_share(double share, const Sampling& sampling) const {
  if (sampling.rate >= 1 || options_.single_release == 0) return multiplier_of_share(share);
  // The least on the grid whose price is within the share.
  double low = std::round(kGrid * std::log2(on_grid(0))), high = 20 * kGrid;
  while (low < high) {
    const double middle = std::floor((low + high) / 2);
    if (price(std::exp2(middle / kGrid), sampling) <= share)
      high = middle;
    else
      low = middle + 1;
  }
  return std::exp2(high / kGrid);
}

Look Scout::finish(const Vector& w, Vector gradient, double sigma) const {
  Look look;
  look.gradient = std::move(gradient);
  problem_.regularizer.add_gradient(w, look.gradient);
  look.sigma = sigma;
  look.norm = look.gradient.norm();
  look.estimate = norm_estimate(look.norm, sigma, problem_.dimension);
  look.upper = norm_upper_bound(look.norm, sigma, problem_.dimension, 1 - options_.stop_confidence);
  return look;
}

Expected<Look> Scout::slope_with(const Vector& w, double multiplier, const Sampling& sampling) {
  SOTTO_ASSIGN(const double z, buy(multiplier, sampling));
  const GradientQuery query{w, sampling, *options_.clip_radius, z, rule()};
  SOTTO_ASSIGN(Released<Vector> g, oracle_.gradient(query));
  Look look = finish(w, std::move(g).value(), oracle_.gradient_sigma(query));
  look.limited = limited(multiplier, sampling);
  return look;
}

Expected<Look> Scout::slope(const Vector& w, double sigma, const Sampling& sampling) {
  return slope_with(w, sigma / gradient_unit(w, sampling), sampling);
}

Expected<Look> Scout::joint(const Vector& w, double sigma, const Sampling& sampling) {
  const double scale = hessian_scale(w);
  const double wanted = sigma / joint_unit(w, scale, sampling);
  SOTTO_ASSIGN(const double z, buy(wanted, sampling));
  SOTTO_ASSIGN(Released<NoisyGradientHessian> released,
               oracle_.gradient_and_hessian({w, sampling, joint_clip(w, scale), scale, z, rule()}));
  NoisyGradientHessian pair = std::move(released).value();
  Look look = finish(w, std::move(pair.gradient), pair.gradient_sigma);
  look.limited = limited(wanted, sampling);
  Vector diagonal = pair.hessian.diagonal();
  problem_.regularizer.add_hessian_diagonal(w, diagonal);
  pair.hessian.diagonal() = diagonal;
  look.hessian = std::move(pair.hessian);
  look.hessian_sigma = pair.hessian_sigma;
  return look;
}

/// lowest_eigenpair.proof.md
double Scout::eigenvalue_margin(double sigma, double miss) const {
  const std::int64_t d = problem_.dimension;
  if (!lanczos() || options_.test_products >= d) return symmetric_noise_bound(sigma, d, miss);
  const double noise = symmetric_noise_bound(sigma, d, miss / 3);
  return noise +
         ritz_excess(
             hessian_width(options_, problem_) + 2 * noise, d, options_.test_products, miss / 3);
}

Expected<CurvatureLook> Scout::hessian_with(const Vector& w,
                                            double multiplier,
                                            const Sampling& sampling,
                                            double miss) {
  const double clip = *options_.hessian_clip;
  CurvatureLook look;
  if (lanczos()) {
    SOTTO_ASSIGN(
        Products H,
        open_products(oracle_, {w, sampling, clip, multiplier, rule(), options_.test_products}));
    look.sigma = H.data->sigma();
    look.hessian = lowest_eigenpair(
        std::ref(H), problem_.dimension, options_.test_products, options_.probe_seed + ++probes_);
    if (H.failure) return tl::unexpected<Error>(*H.failure);
  } else {
    SOTTO_ASSIGN(Released<NoisyHessian> released,
                 oracle_.hessian({w, sampling, clip, multiplier, rule()}));
    NoisyHessian H = std::move(released).value();
    Vector diagonal = H.value.diagonal();
    problem_.regularizer.add_hessian_diagonal(w, diagonal);
    H.value.diagonal() = diagonal;
    look.sigma = H.sigma;
    look.hessian = symmetric_eigen(H.value);
    look.matrix = std::move(H.value);
  }
  look.margin = eigenvalue_margin(look.sigma, miss);
  return look;
}

Expected<CurvatureLook> Scout::curvature(const Vector& w, const Sampling& sampling) {
  const double miss = 1 - options_.stop_confidence;
  // A quarter of eps_H: then any point with no eigenvalue below -eps_H/2 passes.
  const double sigma =
      *options_.curvature_tolerance / (4 * symmetric_noise_bound(1, problem_.dimension, miss));
  SOTTO_ASSIGN(const double z, buy(sigma / hessian_unit(w, sampling), sampling));
  return hessian_with(w, z, sampling, miss);
}

Expected<std::optional<TrustRegionStep>> Scout::operator_step(
    const Vector& w, const Look& look, double radius, const Sampling& sampling, bool flat) {
  const double miss = 1 - options_.stop_confidence;
  // As precise as the step needs: its error along a step of length r matches the gradient's; and,
  // unless algebra does it, precise enough to test the curvature.
  double wanted = std::max(look.sigma, finest()) * std::sqrt(2.0) / radius;
  if (!options_.holds_everywhere)
    wanted = std::min(
        wanted,
        *options_.curvature_tolerance / (4 * symmetric_noise_bound(1, problem_.dimension, miss)));
  SOTTO_ASSIGN(const double z, buy(wanted / hessian_unit(w, sampling), sampling));
  const std::int64_t most = options_.products + (flat ? options_.test_products : 0);
  SOTTO_ASSIGN(Products H,
               open_products(oracle_, {w, sampling, *options_.hessian_clip, z, rule(), most}));
  if (flat) {
    const SymmetricEigen lowest = lowest_eigenpair(
        std::ref(H), problem_.dimension, options_.test_products, options_.probe_seed + ++probes_);
    if (!H.failure && lowest.values[0] - eigenvalue_margin(H.data->sigma(), miss) >=
                          -*options_.curvature_tolerance)
      return std::nullopt;
  }
  LanczosOptions limits;
  limits.most_products = options_.products;
  TrustRegionStep step = solve_trust_region(std::ref(H), look.gradient, radius, limits);
  if (H.failure) return tl::unexpected<Error>(*H.failure);
  return step;
}

Scout::Bend Scout::bend(const SymmetricEigen& hessian, double sigma) const {
  const double bar = -*options_.curvature_tolerance;
  const double miss = options_.expected_batch ? 0.5 : 1 - options_.stop_confidence;
  if (hessian.values[0] + symmetric_noise_bound(sigma, problem_.dimension, miss) < bar)
    return Bend::kYes;
  return options_.expected_batch && hessian.values[0] < bar ? Bend::kUnsure : Bend::kNo;
}

Scout::Bend Scout::bend(Look& look) const {
  if (!look.hessian || options_.holds_everywhere) return Bend::kNo;
  if (!look.eigen) look.eigen = symmetric_eigen(*look.hessian);
  return bend(*look.eigen, look.hessian_sigma);
}

Expected<CurvatureLook> Scout::glance(const Vector& w, const Sampling& sampling) {
  SOTTO_ASSIGN(CurvatureLook mean, curvature(w, sampling));
  for (int k = 1; k < kMostGlances && bend(mean.hessian, mean.sigma) == Bend::kUnsure; ++k) {
    SOTTO_ASSIGN(CurvatureLook fresh, curvature(w, sampling));
    if (lanczos()) {
      mean = std::move(fresh);
      continue;
    }
    const double a = 1 / (mean.sigma * mean.sigma), b = 1 / (fresh.sigma * fresh.sigma);
    mean.matrix = (a * mean.matrix + b * fresh.matrix) / (a + b);
    mean.hessian = symmetric_eigen(mean.matrix);
    mean.sigma = 1 / std::sqrt(a + b);
  }
  return mean;
}

Expected<Look> Scout::look(double hint, const std::function<Expected<Look>(double)>& measure) {
  const double root = std::sqrt(static_cast<double>(problem_.dimension));
  std::optional<Look> mean;
  for (int glances = 0;;) {
    const double sigma = std::max(finest(), options_.precision * hint / root);
    SOTTO_ASSIGN(Look fresh, measure(sigma));
    if (mean && fresh.sigma > 0) {
      // Weighted by precision: as good as one release with the sum of both budgets.
      const double a = 1 / (mean->sigma * mean->sigma), b = 1 / (fresh.sigma * fresh.sigma);
      fresh.gradient = (a * mean->gradient + b * fresh.gradient) / (a + b);
      if (fresh.hessian) {
        *fresh.hessian = (a * *mean->hessian + b * *fresh.hessian) / (a + b);
        fresh.hessian_sigma *= std::sqrt(b / (a + b));
      }
      fresh.sigma = 1 / std::sqrt(a + b);
      fresh.norm = fresh.gradient.norm();
      fresh.estimate = norm_estimate(fresh.norm, fresh.sigma, problem_.dimension);
      fresh.upper = norm_upper_bound(
          fresh.norm, fresh.sigma, problem_.dimension, 1 - options_.stop_confidence);
    }
    mean = std::move(fresh);
    const bool clear = mean->sigma * root <= 2 * options_.precision * mean->estimate;
    if (clear || mean->sigma == 0) return *std::move(mean);
    const Bend found = bend(*mean);
    if (found == Bend::kYes) return *std::move(mean);
    const bool again = found == Bend::kUnsure && ++glances < kMostGlances;
    if ((sigma <= finest() || mean->limited) && !again) return *std::move(mean);
    hint = std::max(mean->estimate, hint / 16);
  }
}

Expected<std::int64_t> Scout::planned_steps(const Vector& start, double least_decrease) {
  if (options_.steps) return *options_.steps;
  double gap = options_.gap.value_or(0);
  if (!options_.gap) {
    // A noisy mean loss, with a bound that is too low with probability 0.001 only.
    SOTTO_ASSIGN(const double z, buy(multiplier_of_share(0.02), Sampling::full()));
    SOTTO_ASSIGN(const Released<double> value,
                 oracle_.loss({start, Sampling::full(), options_.loss_clip, z}));
    gap = value.value() + problem_.regularizer.value(start) +
          3.1 * z * options_.loss_clip / static_cast<double>(problem_.n);
  }
  return steps_for(gap, least_decrease);
}

Expected<void> Scout::begin(Steps& steps, Vector& w, double& expected_norm, double least_decrease) {
  SOTTO_TRY(steps.begin([&, this](Archive& state) {
    state("iterate", w)("expected norm", expected_norm, 0, kInfinity)("scout", *this);
  }));
  if (steps.made() > 0) return {};
  SOTTO_ASSIGN(const auto T, steps.unless_spent(planned_steps(w, least_decrease)));
  if (T) steps.plan(*T);
  return {};
}

void Scout::archive(Archive& state) {
  auto probes = static_cast<std::int64_t>(probes_);
  state("spent", spent_, 0, kInfinity)(
      "probes", probes, 0, std::numeric_limits<std::int64_t>::max())("scale", scale_, 0, kInfinity)(
      "scale length", scale_length_, 0, kInfinity);
  probes_ = static_cast<std::uint64_t>(probes);
}

}  // namespace sotto
