#include "sotto/optimizer/second_order/search_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/dense_limit.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/option_names.hpp"
#include "sotto/geometry/curvature.hpp"
#include "sotto/geometry/krylov_space.hpp"
#include "sotto/geometry/lowest_eigenpair.hpp"
#include "sotto/loss/joint_bound.hpp"
#include "sotto/optimizer/first_order/noisy_descent.hpp"
#include "sotto/optimizer/parts/sampling_option.hpp"
#include "sotto/optimizer/parts/smooth_objective.hpp"

namespace sotto {
namespace {

constexpr std::int64_t kMostSearchSteps = 20'000;
constexpr std::int64_t kLanczosAbove = 2'000;  ///< dimensions

tl::unexpected<Error> must_be_given(std::string_view name, std::string_view what) {
  return fail(ErrorKind::kUsage,
              fmt::format("this loss has no public bound on its {}, and one taken from the rows "
                          "would leak. Give {}.",
                          what,
                          marked(name)));
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
      .positive()
      .number("curvature_tolerance",
              &O::curvature_tolerance,
              "eps_H: stop where no eigenvalue of the Hessian is below minus this")
      .positive()
      .integer("steps", &O::steps, "most steps T; auto: gap / (least decrease of a step)")
      .range(1, kMostSearchSteps)
      .number("gap",
              &O::gap,
              "bound on F(w_0) - inf F; auto: from the loss at w_0, by algebra if it has a bound, "
              "else from a noisy value that is paid for (none)")
      .positive()
      .number("loss_clip", &O::loss_clip, "noisy gap: per-unit losses are clipped to this")
      .positive()
      .number("clip_radius",
              &O::clip_radius,
              "per-unit gradients are clipped to this L2 norm; auto: the loss's own bound")
      .positive()
      .number("hessian_clip",
              &O::hessian_clip,
              "per-unit Hessians are clipped to this Frobenius norm; auto: the loss's own bound")
      .positive()
      .number("smoothness", &O::smoothness, "Lipschitz constant G of the gradient of F")
      .positive()
      .number("hessian_lipschitz", &O::hessian_lipschitz, "Lipschitz constant M of its Hessian")
      .positive()
      .choice("curvature_floor",
              &O::curvature_floor,
              {{true, "on"}, {false, "off"}},
              "on: where the second-order condition holds everywhere by algebra, no Hessian is "
              "released to test it")
      .choice("init", &O::init, kInits, "w_0: 0, or N(0, I) from init_seed, public")
      .integer("init_seed", &O::init_seed, "public seed of a normal w_0")
      .number("precision",
              &O::precision,
              "the noise's norm as a share of the gradient's (of eps_g, where that is larger)")
      .positive()
      .number("stop_confidence",
              &O::stop_confidence,
              "a point is accepted if its confidence bounds at this level are within eps_g, eps_H")
      .range(kLeastShare, below(1))
      .number("certificate_share",
              &O::certificate_share,
              "share of the budget for a fresh certificate of the returned point; 0: none")
      .range(0, below(1))
      .number("certificate_confidence", &O::certificate_confidence, "of the certificate")
      .range(kLeastShare, below(1));
}

void add_trust_region_options(OptionTable<SearchOptions>& table) {
  using O = SearchOptions;
  add_solver_option(table);
  table.number("radius", &O::radius, "trust-region radius; auto: sqrt(eps_g / M)")
      .positive()
      .choice(
          "stop",
          &O::stop_by_multiplier,
          {{false, "tested"}, {true, "multiplier"}},
          "tested: by confidence bounds at the current point; multiplier: when the subproblem's "
          "multiplier is at most sqrt(eps_g M), as published")
      .integer("products",
               &O::products,
               "lanczos: most products with a Hessian per step, besides those of the curvature "
               "test")
      .range(2, 100'000);
}

void add_solver_option(OptionTable<SearchOptions>& table) {
  table.choice("solver",
               &SearchOptions::solver,
               {{Solver::kAuto, "auto"}, {Solver::kDense, "dense"}, {Solver::kLanczos, "lanczos"}},
               "lanczos: no Hessian is formed; auto: above 2000 dimensions");
}

void add_line_search_options(OptionTable<SearchOptions>& table) {
  using O = SearchOptions;
  table
      .choice(
          "line_search",
          &O::line_search,
          {{LineSearch::kGumbel, "gumbel"}, {LineSearch::kSparseVector, "sparse_vector"}},
          "how the step's length is chosen: the best candidate by the exponential mechanism, or "
          "the longest that decreases enough by the sparse vector technique, with the lengths "
          "and constants of the authors' script")
      .integer("candidates", &O::candidates, "gumbel: step lengths to choose from")
      .range(2, 1000)
      .number("longest_step",
              &O::longest_step,
              "the longest, in units of the short step; sparse_vector: of the fall-back's")
      .range(1, below(kInfinity))
      .number("line_search_share", &O::line_search_share, "of a step's budget, for its length")
      .range(kLeastShare, below(1));
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
      .choice("sample_sizes",
              &O::theory_sizes,
              {{false, "share"}, {true, "theory"}},
              "where expected_batch is open: n/12, or the larger of [WX20] Theorem 4's two sizes, "
              "with 1 for the constant that its main text leaves out")
      .number("sample_miss", &O::sample_miss, "theory: the probability zeta of a bad sample")
      .range(kLeastShare, below(1));
}

Expected<void> check(const SearchOptions& options, const PublicProblem& problem) {
  if (options.theory_sizes && options.expected_batch)
    return fail(ErrorKind::kUsage,
                "‘expected_batch’ and ‘sample_sizes theory’ both say how large a batch is: give "
                "one of them.");
  SOTTO_TRY(require_smooth(problem, "a search for second-order points needs"));
  SOTTO_TRY(check(options.sampling, problem));
  return check_batch("expected_batch", options.expected_batch, problem);
}

std::optional<double> public_gap(const PublicProblem& problem, const Vector& start) {
  // Of a person's rows the losses add up, however many they are: no public number bounds them.
  if (!problem.linear_rows) return std::nullopt;
  // Both losses are nonnegative, and so are all regularizers.
  const double r = problem.regularizer.value(start);
  const double W = row_scale(problem) * start.norm();
  if (start.norm() > 0 && !std::isfinite(problem.row_norm)) return std::nullopt;
  switch (problem.loss.kind) {
    case LossKind::kLogistic:
      return problem.loss.largest_weight * (W > 30 ? W : std::log1p(std::exp(W))) + r;
    case LossKind::kSigmoid:
      return problem.loss.largest_weight / (1 + std::exp(-W)) + r;
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
  o.holds_everywhere = o.curvature_floor && certain_floor(p) >= -*o.curvature_tolerance;
  if (!o.gap) o.gap = public_gap(p, initial_point(o.init, o.init_seed, p.dimension));
  if (o.solver == Solver::kAuto)
    o.solver = p.dimension > kLanczosAbove ? Solver::kLanczos : Solver::kDense;
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
  return options.line_search == LineSearch::kNone ? "gaussian" : "zcdp";
}

Vector initial_point(Init init, std::int64_t seed, std::int64_t dimension) {
  if (init == Init::kZero) return Vector::Zero(dimension);
  return public_normals(dimension, static_cast<std::uint64_t>(seed));
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
  // A sum of curvatures that may be negative has a bound only with the number of its terms: of
  // units under add-remove, and of a person's rows.
  if ((p.relation == Relation::kAddRemove || !p.linear_rows) && p.loss.inf_second < 0) return kNone;
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
  return steps < static_cast<double>(kMostSearchSteps)
             ? std::max<std::int64_t>(1, static_cast<std::int64_t>(steps))
             : kMostSearchSteps;
}

std::int64_t most_steps(const SearchOptions& options, double least_decrease) {
  if (options.steps) return *options.steps;
  return options.gap ? steps_for(*options.gap, least_decrease) : kMostSearchSteps;
}

Setting second_order_condition(const SearchOptions& options) {
  std::string how = "tested by noisy Hessians";
  if (options.holds_everywhere)
    how = "holds at every point by algebra: no Hessian is released to test it";
  else if (options.solver == Solver::kLanczos)
    how = fmt::format("tested by {} products with noisy Hessians", options.test_products);
  return {"second_order_condition", how, Origin::kRule};
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
          Origin::kRule};
}

Expected<void> check_hessian_size(const SearchOptions& options, const PublicProblem& problem) {
  if (options.solver != Solver::kLanczos) return check_dense_hessian(problem.dimension);
  return check_products(problem.dimension, options.test_products);
}

}  // namespace sotto
