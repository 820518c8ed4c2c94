#include <algorithm>
#include <cmath>

#include "sotto/optimizer/first_order/methods.hpp"
#include "sotto/optimizer/first_order/noisy_descent.hpp"
#include "sotto/optimizer/parts/clip_rule_option.hpp"

namespace sotto {

void add_descent_options(OptionTable<DescentOptions>& table) {
  table.integer("steps", &DescentOptions::steps, "number of steps T")
      .range(1, kMostSteps)
      .number("step_size", &DescentOptions::step_size, "step size eta at the start")
      .positive()
      .choice("schedule",
              &DescentOptions::schedule,
              kSchedules,
              "how the step size falls; linear and cosine end at zero")
      .number("momentum", &DescentOptions::momentum, "heavy-ball momentum in [0, 1)")
      .range(0, below(1))
      .number("clip_radius",
              &DescentOptions::clip_radius,
              "per-unit gradients are clipped to this L2 norm C")
      .positive()
      .number("clip_quantile",
              &DescentOptions::clip_quantile,
              "C follows this quantile of the gradients' norms, counted privately in the same "
              "release; clip_radius is where it starts")
      .range(above(0), below(1))
      .number("clip_rate", &DescentOptions::clip_rate, "how fast C follows the quantile")
      .range(above(0), 10)
      .choice("update",
              &DescentOptions::update,
              {{Update::kMomentum, "momentum"},
               {Update::kAdam, "adam"},
               {Update::kCorrectedAdam, "adam_bc"}},
              "adam: steps over the root of the second moment; adam_bc: the noise's variance is "
              "taken out of it")
      .number("second_moment", &DescentOptions::second_moment, "adam: its beta_2 in [0, 1)")
      .range(0, below(1))
      .number("adam_floor",
              &DescentOptions::adam_floor,
              "adam: the least root of a second moment; auto: 1e-8, for adam_bc a fifth of the "
              "noise")
      .positive();
  add_clip_rule_option_with_layers(table);
  add_output_options(table);
}

double default_clip_radius(const PublicProblem& problem) {
  // At the typical slope, near that of the start, no row of norm R is clipped, with a tenth
  // to spare: the bias of clipping sets in sharply where labels are hard to tell (found on the
  // diabetes data; see docs/studies/defaults.md).
  constexpr double kToSpare = 1.1;
  if (problem.network) {
    // Without bounded rows, what worked on MNIST and CIFAR-10 (docs/studies/networks.md).
    const double radius = problem.network_slope > 0 ? kToSpare * problem.network_slope : 0.3;
    return radius * problem.loss.largest_weight;
  }
  const double R = std::isfinite(problem.row_norm) ? problem.row_norm : 1;
  return kToSpare * R * problem.loss.typical_first;
}

// The rule, from public facts alone. Write s for the standard deviation that one full-batch release
// with the whole budget would have on the mean gradient, h = sum_t eta_t / (1 - momentum) for the
// run's horizon ("time" in gradient flow), D for the distance from 0 to a good model.
//   - Optimization error after time h: about D^2 / (2h).
//   - T releases have standard deviation s sqrt(T) each; their sum moves the model like one release
//     of s h in flat directions, whatever T, and costs about d h s^2 / 4 in the objective.
//   - Both together are least at h = D sqrt(2/d) / s.
Horizon horizon_of(const PublicFacts& facts, double clip_radius) {
  const PublicProblem& problem = facts.problem;
  // Nothing public bounds a network's curvature, and most of its gradients are clipped: what
  // counts is how far clipped ones carry it, and that noise carries it away. Steps of 4 radii, and
  // the less of them the more noise, are what worked on MNIST and CIFAR-10, not a derived rule
  // (docs/studies/networks.md).
  if (problem.network) {
    const double reach = std::clamp(3000 / facts.single_release_multiplier, 300.0, 3000.0);
    return {clip_radius / 4, reach / clip_radius};
  }
  const double R = std::isfinite(problem.row_norm) ? problem.row_norm : 1;
  const auto n = static_cast<double>(problem.n);
  const auto d = static_cast<double>(problem.dimension);
  const double s =
      sum_sensitivity(problem.relation, clip_radius) * facts.single_release_multiplier / n;
  const double L = problem.loss.working_second() * R * R +
                   std::max(0.0, problem.regularizer.curvature(problem.dimension).highest);
  const double D = 6 / R;
  const double longest = 2000 / L;
  return {L, s > 0 ? std::clamp(D * std::sqrt(2 / d) / s, 5 / L, longest) : longest};
}

// Longer runs with smaller steps gave no better networks, and take longer.
constexpr std::int64_t kNetworkSteps = 500;

DescentOptions with_defaults(DescentOptions options, const PublicFacts& facts) {
  if (!options.clip_radius) options.clip_radius = default_clip_radius(facts.problem);
  const auto [L, h] = horizon_of(facts, *options.clip_radius);

  // A falling schedule covers half the time of a constant one.
  const double mean_share = options.schedule == Schedule::kConstant ? 1.0 : 0.5;
  const double per_step = mean_share / (1 - options.momentum);
  if (facts.problem.network && !options.steps && !options.step_size) {
    options.steps = kNetworkSteps;
    options.step_size = h / (static_cast<double>(kNetworkSteps) * per_step);
  }
  if (!options.steps && !options.step_size) {
    const double full_steps = h * L / per_step;  // at the largest stable step, 1/L
    options.steps = std::clamp<std::int64_t>(std::llround(full_steps), 30, 400);
  }
  if (!options.steps)
    options.steps =
        std::clamp<std::int64_t>(std::llround(h / (*options.step_size * per_step)), 1, 10'000);
  if (!options.step_size)
    options.step_size = std::min(h / (static_cast<double>(*options.steps) * per_step), 1 / L);
  fill_output(options, *options.steps, facts.coin);
  return options;
}

}  // namespace sotto
