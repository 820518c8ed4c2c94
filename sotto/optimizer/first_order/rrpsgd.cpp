// rrpsgd: noisy_descent.hpp on random batches without momentum, returning an iterate whose number
// is drawn first.
//
// Problem     min_w F(w) = (1/n) sum_i loss(w; i) + r(w), smooth, not necessarily convex
// Update      draw R from P_R(k) ~ 2 gamma_k - L gamma_k^2 on {1, …, T}; then R steps
//             g = (sum_{i in B} clip_C(grad loss_i(w)) + noise) / (expected |B|)
//             w <- w - gamma_t (g + grad r(w)); return w_R
// Privacy     repeat(R, poisson(q, gaussian(z))) or repeat(R, fixed_size(b, n, gaussian(z))): given
//             R, the run makes R releases and no more
// Guarantee   E||grad F(w_R)||^2 = O(sqrt(d ln(n/delta) ln(1/delta)) / (n epsilon))
// Source      [ZZMW17] Alg. 2
// Differs     calibrated for the R steps that are made, not for T; batches of any size with
//             numerical accounting (the paper's one record at a time: expected_batch 1, sampling
//             fixed_size); T from a horizon instead of n²; returns the iterate after step R;
//             clipping enforces the Lipschitz bound (docs/reference/methods/rrpsgd.md)

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/optimizer/first_order/methods.hpp"
#include "sotto/optimizer/parts/clip_rule_option.hpp"
#include "sotto/optimizer/parts/sampling_option.hpp"

namespace sotto {
namespace {

struct RandomRoundOptions {
  std::optional<std::int64_t> steps;
  std::optional<double> step_size;
  Schedule schedule = Schedule::kConstant;
  std::optional<double> clip_radius;
  ClipRule clip_rule = ClipRule::kFlat;
  std::optional<std::int64_t> expected_batch;
  Sampling::Kind sampling = Sampling::Kind::kPoisson;
  std::optional<std::int64_t> drawn_steps;
};

OptionTable<RandomRoundOptions> rrpsgd_options() {
  OptionTable<RandomRoundOptions> table;
  table.integer("steps", &RandomRoundOptions::steps, "the largest number of steps T")
      .range(1, kMostSteps)
      .number(
          "step_size", &RandomRoundOptions::step_size, "step size gamma at the start, below 2/L")
      .positive()
      .choice("schedule",
              &RandomRoundOptions::schedule,
              {{Schedule::kConstant, "constant"}, {Schedule::kInverseSqrt, "inverse_sqrt"}},
              "how the step size falls")
      .number("clip_radius",
              &RandomRoundOptions::clip_radius,
              "per-unit gradients are clipped to this L2 norm C")
      .positive()
      .integer("expected_batch",
               &RandomRoundOptions::expected_batch,
               "expected number of units in a batch; 1 is the paper's method")
      .integer("drawn_steps", &RandomRoundOptions::drawn_steps, "R, drawn before the run from P_R");
  add_sampling_option(table);
  add_clip_rule_option(table);
  return table;
}

/// R from P_R(k) ~ 2 gamma_k - L gamma_k², by inverting its distribution function.
std::int64_t draw_steps(const StepSchedule& gamma, std::int64_t steps, double L, double coin) {
  const auto weight = [&](std::int64_t k) {
    const double g = gamma(k);
    return std::max(0.0, 2 * g - L * g * g);
  };
  double total = 0;
  for (std::int64_t k = 0; k < steps; ++k) total += weight(k);
  double left = coin * total;
  for (std::int64_t k = 0; k < steps; ++k)
    if ((left -= weight(k)) < 0) return k + 1;
  return steps;
}

Expected<ConfiguredMethod> configure_rrpsgd(const GivenOptions& given, const PublicFacts& facts) {
  const auto table = rrpsgd_options();
  SOTTO_ASSIGN(const RandomRoundOptions asked, table.parse(given));
  RandomRoundOptions options = asked;
  const PublicProblem& problem = facts.problem;
  DescentOptions descent;
  descent.steps = options.steps;
  descent.step_size = options.step_size;
  descent.clip_radius = options.clip_radius;
  descent.clip_rule = options.clip_rule;
  descent.expected_batch = options.expected_batch;
  descent.sampling = options.sampling;
  descent.schedule = options.schedule;
  descent.momentum = 0;
  descent.output = OutputKind::kRandom;
  descent.drawn_steps = options.drawn_steps;
  SOTTO_TRY(check(descent, problem));

  if (!options.clip_radius) options.clip_radius = default_clip_radius(problem);
  const Horizon horizon = horizon_of(facts, *options.clip_radius);
  const double longest = 1 / horizon.smoothness;
  // R is T/2 on average, so T steps cover twice the horizon.
  if (!options.steps)
    options.steps = std::clamp<std::int64_t>(
        std::llround(2 * horizon.length / options.step_size.value_or(longest)), 30, 10'000);
  if (!options.step_size)
    options.step_size = std::min(2 * horizon.length / static_cast<double>(*options.steps), longest);
  if (!(*options.step_size < 2 / horizon.smoothness))
    return fail(ErrorKind::kUsage,
                fmt::format("‘step_size’ must be below 2/L = {:.4g}, where the law of the returned "
                            "iterate is defined, but is {}.",
                            2 / horizon.smoothness,
                            *options.step_size));
  const auto n = static_cast<double>(problem.n);
  if (!options.expected_batch)  // ten passes if all T steps are made
    options.expected_batch = std::clamp<std::int64_t>(
        std::llround(10 * n / static_cast<double>(*options.steps)), 1, problem.n);
  const StepSchedule gamma(options.schedule, *options.step_size, *options.steps);
  if (!options.drawn_steps)
    options.drawn_steps = draw_steps(gamma, *options.steps, horizon.smoothness, facts.coin);

  descent.steps = options.steps;
  descent.step_size = options.step_size;
  descent.clip_radius = options.clip_radius;
  descent.drawn_steps = options.drawn_steps;
  return ConfiguredMethod{
      std::make_unique<NoisyDescent>(
          descent, sampling_of(options.sampling, *options.expected_batch, problem.n)),
      table.settings(asked, options, given)};
}

}  // namespace

std::vector<MethodInfo> rrpsgd_methods() {
  return {{.name = "rrpsgd",
           .summary = "random batches, a random iterate drawn first",
           .needs = {Capability::kGradients},
           .guarantees = "(epsilon, delta)-DP; gradient norm O((d ln^2)^(1/4) / (n epsilon)^(1/2))",
           .is_private = true,
           .source = "[ZZMW17]",
           .page = "rrpsgd",
           .options = rrpsgd_options().infos(),
           .configure = configure_rrpsgd}};
}

}  // namespace sotto
