#include "sotto/optimizer/first_order/recursive_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/optimizer/first_order/noisy_descent.hpp"
#include "sotto/optimizer/parts/clip_rule_option.hpp"
#include "sotto/optimizer/parts/sampling_option.hpp"

namespace sotto {

void add_recursive_options(OptionTable<RecursiveOptions>& table) {
  table.integer("steps", &RecursiveOptions::steps, "number of steps T, each with one release")
      .number("step_size", &RecursiveOptions::step_size, "step size eta at the start")
      .word("schedule",
            &RecursiveOptions::schedule,
            {"constant", "linear", "cosine", "inverse_sqrt"},
            "how the step size falls; linear and cosine end at zero")
      .number("clip_radius",
              &RecursiveOptions::clip_radius,
              "per-unit gradients are clipped to this L2 norm C1")
      .number("difference_clip",
              &RecursiveOptions::difference_clip,
              "per-unit gradient differences are clipped to this L2 norm C2")
      .word("difference_bound",
            &RecursiveOptions::difference_bound,
            {"adaptive", "fixed"},
            "adaptive: the smaller of C2 and what the last step allows, L1 |w_t - w_(t-1)|")
      .number(
          "smoothness",
          &RecursiveOptions::smoothness,
          "L1, how fast a unit's gradient changes with the model; clipping enforces what it says")
      .integer("expected_batch",
               &RecursiveOptions::expected_batch,
               "expected number of units a difference's batch; n: all of them")
      .integer("anchor_batch",
               &RecursiveOptions::anchor_batch,
               "expected number of units an anchor's batch; n: all of them")
      .number("anchor_share", &RecursiveOptions::anchor_share, "the anchors' share of the budget");
  add_sampling_option(table);
  add_clip_rule_option(table);
  add_output_options(table);
}

Expected<void> check(const RecursiveOptions& options, const PublicProblem& problem) {
  const auto refuse = [](std::string_view name, auto value, std::string_view rule) {
    return fail(ErrorKind::kUsage, fmt::format("{} {}, but is {}.", dashed(name), rule, value));
  };
  if (options.steps && (*options.steps < 1 || *options.steps > 100'000'000))
    return refuse("steps", *options.steps, "must lie between 1 and 100,000,000");
  for (const auto& [name, value] : {std::pair{"step_size", options.step_size},
                                    {"clip_radius", options.clip_radius},
                                    {"difference_clip", options.difference_clip},
                                    {"smoothness", options.smoothness},
                                    {"accuracy", options.accuracy},
                                    {"n0", options.n0},
                                    {"gap", options.gap}})
    if (value && !(std::isfinite(*value) && *value > 0))
      return refuse(name, *value, "must be finite and > 0");
  for (const auto& [name, value] : {std::pair{"expected_batch", options.expected_batch},
                                    {"anchor_batch", options.anchor_batch}})
    if (value && (*value < 1 || *value > problem.n))
      return refuse(
          name, *value, fmt::format("must lie between 1 and the number of units, {}", problem.n));
  if (options.mixture && !(*options.mixture > 0 && *options.mixture <= 1))
    return refuse("mixture", *options.mixture, "must lie in (0, 1]");
  if (options.anchor_share && !(*options.anchor_share > 0 && *options.anchor_share < 1))
    return refuse("anchor_share", *options.anchor_share, "must lie between 0 and 1");
  if (options.phase && *options.phase < 1)
    return refuse("phase", *options.phase, "must be at least 1");
  SOTTO_TRY(check_clip_rule(options.clip_rule, problem));
  SOTTO_TRY(check_sampling(options.sampling, problem));
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
