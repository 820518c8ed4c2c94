// dp-agd
//
// Problem     min_w F(w) = (1/n) sum_i loss(w; i) + r(w), not necessarily convex
// Update      G = (sum_i clip_C(grad loss_i(w)) + noise(rho_g)) / n + grad r(w)
//             choose alpha from {0, …, alpha_max} by the exponential mechanism on the losses at
//             w - alpha G/|G|, with rho_s
//             alpha > 0: w <- w - alpha G/|G|
//             alpha = 0: rho_g <- (1 + growth) rho_g, measure once more with the difference,
//             average by precision, choose again
// Privacy     a zCDP filter is charged before each release and ends the run
// Guarantee   (epsilon, delta)-DP; no rate
// Source      [LK18] Alg. 2
// Differs     the exponential mechanism instead of report-noisy-min with exponential noise, at
//             epsilon²/8 and with half the noise where scores are monotone; the mean of all
//             measurements by precision; a smooth regularizer is exact and part of both choices;
//             one budget in zCDP is split, with shares, clips and first steps of our own
//             (docs/reference/methods/dp-agd.md)
//
// letter     meaning                                    option
// rho_g      a gradient's budget at first               splits, selection_share
// alpha_max  longest step at first, after every ten     longest_step
//            moves 1.1 × the longest of them
// C, C_f     clip radii of gradients and losses         clip_radius, loss_clip, clip_rule

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sotto/core/check.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/optimizer/first_order/methods.hpp"
#include "sotto/optimizer/parts/clip_rule_option.hpp"
#include "sotto/optimizer/parts/smooth_objective.hpp"
#include "sotto/optimizer/parts/steps.hpp"

namespace sotto {
namespace {

struct AdaptiveOptions {
  std::int64_t most_steps = 10'000;
  std::int64_t splits = 60;
  double growth = 0.1;
  double selection_share = 0.2;
  std::int64_t candidates = 21;
  std::optional<double> longest_step;
  std::optional<double> clip_radius;
  double loss_clip = 2;
  ClipRule clip_rule = ClipRule::kFlat;
  std::optional<double> rho;
};

constexpr int kMemory = 10;  ///< moves after which alpha_max is set anew
constexpr double kStretch = 1.1;

class AdaptiveGradientDescent final : public Optimizer {
 public:
  explicit AdaptiveGradientDescent(AdaptiveOptions options) : options_(std::move(options)) {}

  Plan plan(const PublicProblem& problem, double) const override {
    // Every step makes two releases, or three with a repeated measurement.
    return {Event::compose({}), 3 * options_.most_steps * (problem.dimension + 1), "zcdp"};
  }

  Expected<OptimizerResult> run(Oracle& oracle, double, Observer& observer) const override {
    const PublicProblem& problem = oracle.problem();
    const Regularizer& r = problem.regularizer;
    const double share = *options_.rho / static_cast<double>(options_.splits);
    const double rho_s = share * options_.selection_share;
    double rho_g = share - rho_s;
    double alpha_max = *options_.longest_step;
    double longest = 0;  // of the moves since alpha_max was set
    std::int64_t moves = 0;
    std::int64_t stuck = 0;  // 1: no step from w helped, and G is measured more finely

    Vector w = problem.first_iterate();
    Vector G;
    Vector direction;
    const auto measure = [&](double rho) {
      return oracle.gradient(
          {w, Sampling::full(), *options_.clip_radius, 1 / std::sqrt(2 * rho), options_.clip_rule});
    };
    Steps steps(observer, options_.most_steps, Steps::Budget::kFilter);
    SOTTO_TRY(steps.begin([&](Archive& state) {
      state("iterate", w)("gradient", G)("stuck", stuck, 0, 1)("rho", rho_g, 0, kInfinity)(
          "longest step", alpha_max, 0, kInfinity)("longest move", longest, 0, kInfinity)(
          "moves", moves, 0, options_.most_steps);
    }));
    while (steps.next()) {
      const double rho = stuck ? options_.growth * rho_g : rho_g;
      SOTTO_ASSIGN(const auto measured, steps.unless_spent(measure(rho)));
      if (!measured) break;
      if (stuck) {
        // Weighted by precision: the mean has the noise of one measurement with the sum.
        G = (rho_g * G + rho * measured->value()) / (rho_g + rho);
        rho_g += rho;
      } else {
        G = measured->value();
      }
      direction = G;
      r.add_gradient(w, direction);
      const double norm = direction.norm();
      SOTTO_ASSIGN(const auto alpha,
                   steps.unless_spent(choose(oracle, w, direction, alpha_max, rho_s)));
      if (!alpha) break;
      stuck = *alpha > 0 ? 0 : 1;
      if (!stuck) {
        w -= *alpha / std::max(norm, 1e-300) * direction;
        longest = std::max(longest, *alpha);
        if (++moves % kMemory == 0) alpha_max = kStretch * std::exchange(longest, 0.0);
      }
      steps.finish(*alpha, norm, &w);
    }
    return steps.result(w);
  }

 private:
  /// A step from {0, …, alpha_max}, privately the one with the least objective.
  Expected<double> choose(Oracle& oracle,
                          const Vector& w,
                          const Vector& direction,
                          double alpha_max,
                          double rho) const {
    const double norm = std::max(direction.norm(), 1e-300);
    std::vector<Vector> candidates;
    std::vector<double> regularizer;
    for (std::int64_t k = 0; k < options_.candidates; ++k) {
      candidates.push_back(w - step(k, alpha_max) / norm * direction);
      regularizer.push_back(oracle.problem().regularizer.value(candidates.back()));
    }
    SOTTO_ASSIGN(
        const Released<std::int64_t> chosen,
        oracle.select(
            {candidates, options_.loss_clip, std::sqrt(8 * rho), regularizer, options_.clip_rule}));
    return step(chosen.value(), alpha_max);
  }

  double step(std::int64_t k, double alpha_max) const {
    return alpha_max * static_cast<double>(k) / static_cast<double>(options_.candidates - 1);
  }

  AdaptiveOptions options_;
};

OptionTable<AdaptiveOptions> agd_options() {
  OptionTable<AdaptiveOptions> table;
  table.integer("most_steps", &AdaptiveOptions::most_steps, "the run ends here at the latest")
      .range(1, 1'000'000)
      .integer("splits",
               &AdaptiveOptions::splits,
               "a step's first share of the budget is one part of so many")
      .range(1, 1'000'000)
      .number("growth",
              &AdaptiveOptions::growth,
              "by how much a gradient's budget grows when no step helps")
      .positive()
      .number("selection_share",
              &AdaptiveOptions::selection_share,
              "of a step's budget, for choosing its length")
      .range(above(0), below(1))
      .integer("candidates", &AdaptiveOptions::candidates, "lengths to choose from, 0 among them")
      .range(2, 1000)
      .number("longest_step",
              &AdaptiveOptions::longest_step,
              "the longest step at first, in the norm of w")
      .positive()
      .number("clip_radius",
              &AdaptiveOptions::clip_radius,
              "per-unit gradients are clipped to this L2 norm C")
      .positive()
      .number("loss_clip", &AdaptiveOptions::loss_clip, "per-unit losses are clipped to this")
      .positive()
      .number("rho",
              &AdaptiveOptions::rho,
              "the budget in zCDP that `splits` refers to; only a guide, the filter decides")
      .positive();
  add_clip_rule_option(table);
  return table;
}

Expected<ConfiguredMethod> configure_agd(const GivenOptions& given, const PublicFacts& facts) {
  const auto table = agd_options();
  SOTTO_ASSIGN(const AdaptiveOptions asked, table.parse(given));
  AdaptiveOptions options = asked;
  SOTTO_TRY(require_smooth(facts.problem, "dp-agd needs"));
  SOTTO_TRY(check(options.clip_rule, facts.problem));
  const double R = std::isfinite(facts.problem.row_norm) ? facts.problem.row_norm : 1;
  if (!options.clip_radius) options.clip_radius = default_clip_radius(facts.problem);
  if (!options.longest_step) options.longest_step = 2 / R;
  // What one Gaussian release with the whole budget has; zCDP grants a little less.
  if (!options.rho)
    options.rho = 0.5 / std::pow(std::max(facts.single_release_multiplier, 1e-3), 2);
  return ConfiguredMethod{std::make_unique<AdaptiveGradientDescent>(options),
                          table.settings(asked, options, given)};
}

}  // namespace

std::vector<MethodInfo> agd_methods() {
  return {{.name = "dp-agd",
           .summary = "full batches, private choice of steps, adaptive budget",
           .needs = {Capability::kGradients, Capability::kLosses},
           .needs_of_problem = "a smooth regularizer",
           .guarantees = "(epsilon, delta)-DP by a filter",
           .is_private = true,
           .source = "[LK18]",
           .page = "dp-agd",
           .options = agd_options().infos(),
           .configure = configure_agd}};
}

}  // namespace sotto
