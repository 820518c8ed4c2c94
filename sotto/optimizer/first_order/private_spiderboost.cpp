// private-spiderboost: recursive_descent.hpp with an anchor a phase and pure differences in between.

#include <algorithm>
#include <cmath>

#include "sotto/optimizer/first_order/methods.hpp"
#include "sotto/optimizer/first_order/recursive_options.hpp"

namespace sotto {
namespace {

OptionTable<RecursiveOptions> spiderboost_options() {
  OptionTable<RecursiveOptions> table;
  table.integer("phase", &RecursiveOptions::phase, "steps of a phase; each begins with an anchor");
  add_recursive_options(table);
  return table;
}

Expected<ConfiguredMethod> configure_spiderboost(const GivenOptions& given,
                                                 const PublicFacts& facts) {
  const auto table = spiderboost_options();
  SOTTO_ASSIGN(const RecursiveOptions asked, table.parse(given));
  const PublicProblem& problem = facts.problem;
  SOTTO_TRY(check(asked, problem));
  RecursiveOptions options = asked;
  options.mixture = 0;
  const double R = std::isfinite(problem.row_norm) ? problem.row_norm : 1;
  if (!options.clip_radius) options.clip_radius = R * problem.loss.typical_first;
  if (!options.difference_clip) options.difference_clip = 2 * *options.clip_radius;
  const Horizon horizon = horizon_of(facts, *options.clip_radius);
  if (!options.steps) options.steps = 40;
  if (!options.phase) options.phase = 8;
  const auto n = static_cast<double>(problem.n);
  const auto pairs = static_cast<double>(*options.steps) * (1 - 1 / static_cast<double>(*options.phase));
  if (!options.expected_batch)
    options.expected_batch =
        std::clamp<std::int64_t>(std::llround(6 * n / std::max(1.0, pairs)), 1, problem.n);
  if (!options.anchor_batch) options.anchor_batch = problem.n;
  if (!options.anchor_share) options.anchor_share = 0.5;
  if (!options.step_size)
    options.step_size = std::min(horizon.length / static_cast<double>(*options.steps),
                                 1 / (2 * horizon.smoothness));
  fill_output(options, *options.steps, facts.coin);
  return ConfiguredMethod{std::make_unique<RecursiveDescent>(options, problem),
                          table.settings(asked, options, given)};
}

}  // namespace

std::vector<MethodInfo> spiderboost_methods() {
  return {{.name = "private-spiderboost",
           .summary = "phases of gradient differences between full-batch anchors",
           .needs = "gradient pairs",
           .guarantees = "(epsilon, delta)-DP; gradient norm O((sqrt(d ln 1/delta) / (n epsilon))^(2/3))",
           .is_private = true,
           .source = "[ABGGMU23]",
           .page = "private-spiderboost",
           .options = spiderboost_options().infos(),
           .configure = configure_spiderboost}};
}

}  // namespace sotto
