#include "sotto/optimizer/second_order/search_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/dense_limit.hpp"
#include "sotto/geometry/curvature.hpp"
#include "sotto/geometry/krylov_space.hpp"
#include "sotto/geometry/lowest_eigenpair.hpp"
#include "sotto/loss/joint_bound.hpp"
#include "sotto/optimizer/first_order/noisy_descent.hpp"
#include "sotto/optimizer/parts/sampling_option.hpp"

namespace sotto {
namespace {

constexpr std::int64_t kMostSteps = 20'000;
constexpr std::int64_t kLanczosAbove = 2'000;  ///< dimensions

tl::unexpected<Error> refuse(std::string_view name, double value, std::string_view rule) {
  return fail(ErrorKind::kUsage, fmt::format("{} {}, but is {}.", dashed(name), rule, value));
}

tl::unexpected<Error> must_be_given(std::string_view name, std::string_view what) {
  return fail(ErrorKind::kUsage,
              fmt::format("this loss has no public bound on its {}, and one taken from the rows "
                          "would leak. Give {}.",
                          what,
                          dashed(name)));
}

}  // namespace

double row_scale(const PublicProblem& problem) {
  return std::isfinite(problem.row_norm) ? problem.row_norm : 1;
}

double first_norm(const PublicProblem& problem) {
  return row_scale(problem) * problem.loss.typical_first / 8;
}

void add_search_options(OptionTable<SearchOptions>& table) {
  using O = SearchOptions;
  table
      .number("gradient_tolerance",
              &O::gradient_tolerance,
              "eps_g: stop where the gradient's norm is at most this")
      .number("curvature_tolerance",
              &O::curvature_tolerance,
              "eps_H: stop where no eigenvalue of the Hessian is below minus this")
      .integer("steps", &O::steps, "most steps T; auto: gap / (least decrease of a step)")
      .number("gap",
              &O::gap,
              "bound on F(w_0) - inf F; auto: from the loss at w_0, by algebra if it has a bound, "
              "else from a noisy value that is paid for (none)")
      .number("loss_clip", &O::loss_clip, "noisy gap: per-unit losses are clipped to this")
      .number("clip_radius",
              &O::clip_radius,
              "per-unit gradients are clipped to this L2 norm; auto: the loss's own bound")
      .number("hessian_clip",
              &O::hessian_clip,
              "per-unit Hessians are clipped to this Frobenius norm; auto: the loss's own bound")
      .number("smoothness", &O::smoothness, "Lipschitz constant G of the gradient of F")
      .number("hessian_lipschitz", &O::hessian_lipschitz, "Lipschitz constant M of its Hessian")
      .word("curvature_floor",
            &O::curvature_floor,
            {"on", "off"},
            "on: where the second-order condition holds everywhere by algebra, no Hessian is "
            "released to test it")
      .word("init", &O::init, {"zero", "normal"}, "w_0: 0, or N(0, I) from init_seed, public")
      .integer("init_seed", &O::init_seed, "public seed of a normal w_0")
      .number("precision",
              &O::precision,
              "the noise's norm as a share of the gradient's (of eps_g, where that is larger)")
      .number("stop_confidence",
              &O::stop_confidence,
              "a point is accepted if its confidence bounds at this level are within eps_g, eps_H")
      .number("certificate_share",
              &O::certificate_share,
              "share of the budget for a fresh certificate of the returned point; 0: none")
      .number("certificate_confidence", &O::certificate_confidence, "of the certificate");
}

void add_trust_region_options(OptionTable<SearchOptions>& table) {
  using O = SearchOptions;
  add_solver_option(table);
  table.number("radius", &O::radius, "trust-region radius; auto: sqrt(eps_g / M)")
      .word("stop",
            &O::stop,
            {"tested", "multiplier"},
            "tested: by confidence bounds at the current point; multiplier: when the subproblem's "
            "multiplier is at most sqrt(eps_g M), as published")
      .integer("products",
               &O::products,
               "lanczos: most products with a Hessian per step, besides those of the curvature "
               "test");
}

void add_solver_option(OptionTable<SearchOptions>& table) {
  table.word("solver",
             &SearchOptions::solver,
             {"auto", "dense", "lanczos"},
             "lanczos: no Hessian is formed; auto: above 2000 dimensions");
}

void add_line_search_options(OptionTable<SearchOptions>& table) {
  using O = SearchOptions;
  table
      .word("line_search",
            &O::line_search,
            {"gumbel", "sparse_vector"},
            "how the step's length is chosen: the best candidate by the exponential mechanism, or "
            "the longest that decreases enough by the sparse vector technique, with the lengths "
            "and constants of the authors' script")
      .integer("candidates", &O::candidates, "gumbel: step lengths to choose from")
      .number("longest_step",
              &O::longest_step,
              "the longest, in units of the short step; sparse_vector: of the fall-back's")
      .number("line_search_share", &O::line_search_share, "of a step's budget, for its length");
}

void add_batch_option(OptionTable<SearchOptions>& table) {
  table.integer("expected_batch",
                &SearchOptions::expected_batch,
                "expected size b of a batch; noise is calibrated for the mean over b");
  add_sampling_option(table);
}

void add_sample_size_options(OptionTable<SearchOptions>& table) {
  using O = SearchOptions;
  table
      .word("sample_sizes",
            &O::sample_sizes,
            {"share", "theory"},
            "where expected_batch is open: n/12, or the larger of [WX20] Theorem 4's two sizes, "
            "with 1 for the constant that its main text leaves out")
      .number("sample_miss", &O::sample_miss, "theory: the probability zeta of a bad sample");
}

Expected<void> check(const SearchOptions& options, const PublicProblem& problem) {
  for (const auto& [name, value] : {std::pair{"gradient_tolerance", options.gradient_tolerance},
                                    {"curvature_tolerance", options.curvature_tolerance},
                                    {"gap", options.gap},
                                    {"loss_clip", std::optional(options.loss_clip)},
                                    {"clip_radius", options.clip_radius},
                                    {"hessian_clip", options.hessian_clip},
                                    {"smoothness", options.smoothness},
                                    {"hessian_lipschitz", options.hessian_lipschitz},
                                    {"radius", options.radius},
                                    {"precision", std::optional(options.precision)}})
    if (value && !(std::isfinite(*value) && *value > 0))
      return refuse(name, *value, "must be finite and > 0");
  for (const auto& [name, value] : {std::pair{"stop_confidence", options.stop_confidence},
                                    {"certificate_confidence", options.certificate_confidence},
                                    {"line_search_share", options.line_search_share},
                                    {"first_phase_share", options.first_phase_share},
                                    {"sample_miss", options.sample_miss}})
    if (!(value >= 1e-9 && value < 1)) return refuse(name, value, "must lie between 1e-9 and 1");
  if (!(options.certificate_share >= 0 && options.certificate_share < 1))
    return refuse("certificate_share", options.certificate_share, "must lie in [0, 1)");
  if (!(options.longest_step >= 1))
    return refuse("longest_step", options.longest_step, "must be at least 1");
  const auto whole = [](std::string_view name,
                        std::optional<std::int64_t> value,
                        std::int64_t least,
                        std::int64_t most) -> Expected<void> {
    if (value && (*value < least || *value > most))
      return fail(
          ErrorKind::kUsage,
          fmt::format(
              "{} must lie between {} and {}, but is {}.", dashed(name), least, most, *value));
    return {};
  };
  if (options.sample_sizes == "theory" && options.expected_batch)
    return fail(ErrorKind::kUsage,
                "--expected-batch and --sample-sizes theory both say how large a batch is: give "
                "one of them.");
  SOTTO_TRY(check_sampling(options.sampling, problem));
  SOTTO_TRY(whole("steps", options.steps, 1, kMostSteps));
  SOTTO_TRY(whole("candidates", options.candidates, 2, 1000));
  SOTTO_TRY(whole("products", options.products, 2, 100'000));
  return whole("expected_batch", options.expected_batch, 1, problem.n);
}

std::optional<double> public_gap(const PublicProblem& problem, const Vector& start) {
  // Both losses are nonnegative, and so are all regularizers.
  const double r = problem.regularizer.value(start);
  const double W = row_scale(problem) * start.norm();
  if (start.norm() > 0 && !std::isfinite(problem.row_norm)) return std::nullopt;
  switch (problem.loss.kind) {
    case LossKind::kLogistic:
      return (W > 30 ? W : std::log1p(std::exp(W))) + r;
    case LossKind::kSigmoid:
      return 1 / (1 + std::exp(-W)) + r;
    default:
      return std::nullopt;
  }
}

Expected<SearchOptions> with_search_defaults(SearchOptions o, const PublicFacts& facts) {
  const PublicProblem& p = facts.problem;
  const auto n = static_cast<double>(p.n);
  const auto d = static_cast<double>(p.dimension);
  const double R = row_scale(p);
  o.single_release = facts.single_release_multiplier;
  o.sampled_price = facts.sampled_price;
  if (!o.clip_radius) {
    // The loss's own bound clips nothing, so that tests and certificates speak of F itself.
    const double bound = R * p.loss.sup_first;
    o.clip_radius = std::isfinite(bound) ? bound : default_clip_radius(p);
  }
  if (!o.hessian_clip) {
    const double bound = R * R * p.loss.sup_abs_second();
    o.hessian_clip = std::isfinite(bound) ? bound : R * R;
  }
  if (!o.smoothness) o.smoothness = gradient_lipschitz(p.loss, R, p.regularizer, p.dimension);
  if (!std::isfinite(*o.smoothness)) return must_be_given("smoothness", "second derivative");
  if (!o.hessian_lipschitz) o.hessian_lipschitz = hessian_lipschitz(p.loss, R, p.regularizer);
  if (!std::isfinite(*o.hessian_lipschitz))
    return must_be_given("hessian_lipschitz", "third derivative");
  const double M = std::max(*o.hessian_lipschitz, 1e-12);
  if (!o.gradient_tolerance) {
    // Eight times the noise's norm if one release had the whole budget: some fifteen steps at the
    // precision that the stop test needs.
    const double noise =
        sum_sensitivity(p.relation, *o.clip_radius) * o.single_release * std::sqrt(d) / n;
    o.gradient_tolerance = std::clamp(8 * noise, 1e-3 * *o.clip_radius, 0.5 * *o.clip_radius);
  }
  if (!o.curvature_tolerance) o.curvature_tolerance = std::sqrt(M * *o.gradient_tolerance);
  if (!o.radius) o.radius = std::sqrt(*o.gradient_tolerance / M);
  o.holds_everywhere = o.curvature_floor == "on" && certain_floor(p) >= -*o.curvature_tolerance;
  if (!o.gap) o.gap = public_gap(p, initial_point(o, p.dimension));
  if (o.solver == "auto") o.solver = p.dimension > kLanczosAbove ? "lanczos" : "dense";
  o.probe_seed = static_cast<std::uint64_t>(facts.coin * 0x1p53) * 0x9e3779b97f4a7c15U;
  // So that what Lanczos may miss is half of what the test's noise may add.
  const double miss = (1 - o.stop_confidence) / 3;
  const double noise = *o.curvature_tolerance / 4;
  o.test_products = products_for(noise / 2, hessian_width(o, p) + 3 * noise, p.dimension, miss);
  return o;
}

Sampling step_sampling(const SearchOptions& options, const PublicProblem& problem) {
  return sampling_of(options.sampling, options.expected_batch.value_or(problem.n), problem.n);
}

std::string filter_of(const SearchOptions& options) {
  if (options.expected_batch) return "rdp";
  return options.line_search == "none" ? "gaussian" : "zcdp";
}

Vector initial_point(const SearchOptions& options, std::int64_t dimension) {
  if (options.init == "zero") return Vector::Zero(dimension);
  return public_normals(dimension, static_cast<std::uint64_t>(options.init_seed));
}

std::int64_t theorem4_batch(const SearchOptions& options, const PublicProblem& problem) {
  const double alpha = *options.gradient_tolerance, G = *options.clip_radius;
  const double L = *options.smoothness, M = std::max(*options.hessian_lipschitz, 1e-12);
  const double log = std::log(static_cast<double>(problem.dimension) / options.sample_miss);
  const double rows = std::ceil(std::max(G * G / (alpha * alpha), L * L / (alpha * M)) * log);
  return static_cast<std::int64_t>(std::clamp(rows, 1.0, static_cast<double>(problem.n)));
}

double certain_floor(const PublicProblem& p) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  if (!std::isfinite(p.row_norm)) return kNone;
  if (p.relation == Relation::kAddRemove && p.loss.inf_second < 0) return kNone;
  return curvature_floor(p.loss, p.row_norm, p.regularizer, p.dimension);
}

double hessian_width(const SearchOptions& options, const PublicProblem& problem) {
  const double clip = *options.hessian_clip;
  double lowest = -clip, highest = clip;
  if (problem.linear_rows && std::isfinite(problem.row_norm)) {
    const double square = problem.row_norm * problem.row_norm;
    lowest = std::max(lowest, square * std::min(0.0, problem.loss.inf_second));
    highest = std::min(highest, square * std::max(0.0, problem.loss.sup_second));
  }
  const auto regularizer = problem.regularizer.curvature(problem.dimension);
  return highest - lowest + regularizer.highest - regularizer.lowest;
}

std::int64_t steps_for(double gap, double least_decrease) {
  const double steps = std::ceil(std::max(gap, 0.0) / least_decrease);
  return steps < static_cast<double>(kMostSteps)
             ? std::max<std::int64_t>(1, static_cast<std::int64_t>(steps))
             : kMostSteps;
}

std::int64_t most_steps(const SearchOptions& options, double least_decrease) {
  if (options.steps) return *options.steps;
  return options.gap ? steps_for(*options.gap, least_decrease) : kMostSteps;
}

Setting second_order_condition(const SearchOptions& options) {
  std::string how = "tested by noisy Hessians";
  if (options.holds_everywhere)
    how = "holds at every point by algebra: no Hessian is released to test it";
  else if (options.solver == "lanczos")
    how = fmt::format("tested by {} products with noisy Hessians", options.test_products);
  return {"second_order_condition", how, "rule"};
}

Setting hessian_cost(const PublicProblem& problem, double length_of_w, double hessian_scale) {
  const double cost = joint_cost(problem.loss,
                                 row_scale(problem),
                                 length_of_w,
                                 hessian_scale,
                                 problem.relation == Relation::kReplaceOne);
  return {"hessian_cost",
          std::isfinite(cost) ? fmt::format("gradient noise x {:.3g} at w_0", cost)
                              : "unknown: this loss has no bound",
          "rule"};
}

Expected<void> check_hessian_size(const SearchOptions& options, const PublicProblem& problem) {
  if (options.solver != "lanczos") return check_dense_hessian(problem.dimension);
  return check_products(problem.dimension, options.test_products);
}

}  // namespace sotto
