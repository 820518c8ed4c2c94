#include "sotto/optimizer/first_order/recursive_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/optimizer/first_order/methods.hpp"
#include "sotto/optimizer/first_order/noisy_descent.hpp"
#include "sotto/optimizer/parts/clip_rule_option.hpp"
#include "sotto/optimizer/parts/sampling_option.hpp"

namespace sotto {

void add_recursive_options(OptionTable<RecursiveOptions>& table) {
  table.integer("steps", &RecursiveOptions::steps, "number of steps T, each with one release")
      .range(1, kMostSteps)
      .number("step_size", &RecursiveOptions::step_size, "step size eta at the start")
      .positive()
      .choice("schedule",
              &RecursiveOptions::schedule,
              kSchedules,
              "how the step size falls; linear and cosine end at zero")
      .number("clip_radius",
              &RecursiveOptions::clip_radius,
              "per-unit gradients are clipped to this L2 norm C1")
      .positive()
      .number("difference_clip",
              &RecursiveOptions::difference_clip,
              "per-unit gradient differences are clipped to this L2 norm C2")
      .positive()
      .choice("difference_bound",
              &RecursiveOptions::adaptive_bound,
              {{true, "adaptive"}, {false, "fixed"}},
              "adaptive: the smaller of C2 and what the last step allows, L1 |w_t - w_(t-1)|")
      .number(
          "smoothness",
          &RecursiveOptions::smoothness,
          "L1, how fast a unit's gradient changes with the model; clipping enforces what it says")
      .positive()
      .integer("expected_batch",
               &RecursiveOptions::expected_batch,
               "expected number of units a difference's batch; n: all of them")
      .integer("anchor_batch",
               &RecursiveOptions::anchor_batch,
               "expected number of units per anchor batch; n: all of them")
      .number("anchor_share", &RecursiveOptions::anchor_share, "the anchors' share of the budget")
      .range(above(0), below(1));
  add_sampling_option(table);
  add_clip_rule_option(table);
  add_output_options(table);
}

Expected<void> check(const RecursiveOptions& options, const PublicProblem& problem) {
  SOTTO_TRY(check_batch("expected_batch", options.expected_batch, problem));
  SOTTO_TRY(check_batch("anchor_batch", options.anchor_batch, problem));
  SOTTO_TRY(check(options.clip_rule, problem));
  SOTTO_TRY(check(options.sampling, problem));
  return check(static_cast<const OutputOptions&>(options), options.steps);
}

void fill_recursive(RecursiveOptions& options,
                    const PublicFacts& facts,
                    double step_share,
                    double passes) {
  const PublicProblem& problem = facts.problem;
  if (!options.clip_radius) options.clip_radius = default_clip_radius(problem);
  if (!options.smoothness) options.smoothness = data_smoothness(problem);
  if (!options.difference_clip) options.difference_clip = 2 * *options.clip_radius;
  const Horizon horizon = horizon_of(facts, *options.clip_radius);
  const double longest_step = step_share / horizon.smoothness;
  if (!options.steps)
    options.steps = std::clamp<std::int64_t>(
        std::llround(horizon.length / options.step_size.value_or(longest_step)), 20, 5000);
  const auto steps = static_cast<double>(*options.steps);
  if (!options.step_size) options.step_size = std::min(horizon.length / steps, longest_step);
  if (!options.expected_batch)
    options.expected_batch = std::clamp<std::int64_t>(
        std::llround(passes * static_cast<double>(problem.n) / std::max(1.0, steps - 1)),
        1,
        problem.n);
  if (!options.anchor_batch) options.anchor_batch = problem.n;
}

}  // namespace sotto
