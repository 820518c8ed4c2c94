// dp-srm: recursive_descent.hpp with one anchor and a fresh gradient mixed into every difference.

#include <algorithm>
#include <cmath>

#include "sotto/optimizer/first_order/methods.hpp"
#include "sotto/optimizer/first_order/recursive_options.hpp"

namespace sotto {
namespace {

OptionTable<RecursiveOptions> srm_options() {
  OptionTable<RecursiveOptions> table;
  table.number("mixture", &RecursiveOptions::mixture, "weight gamma of the fresh gradient in (0, 1]")
      .word("clipping",
            &RecursiveOptions::clipping,
            {"separate", "together"},
            "clip gradient and difference separately, or their combination once, to the same bound");
  add_recursive_options(table);
  return table;
}

Expected<ConfiguredMethod> configure_srm(const GivenOptions& given, const PublicFacts& facts) {
  const auto table = srm_options();
  SOTTO_ASSIGN(const RecursiveOptions asked, table.parse(given));
  const PublicProblem& problem = facts.problem;
  SOTTO_TRY(check(asked, problem));
  RecursiveOptions options = asked;
  const double R = std::isfinite(problem.row_norm) ? problem.row_norm : 1;
  if (!options.clip_radius) options.clip_radius = R * problem.loss.typical_first;
  if (!options.difference_clip) options.difference_clip = 2 * *options.clip_radius;
  const Horizon horizon = horizon_of(facts, *options.clip_radius);
  // Few passes over the data: an anchor, and six passes' worth of differences.
  if (!options.steps) options.steps = 40;
  const auto n = static_cast<double>(problem.n);
  if (!options.expected_batch)
    options.expected_batch = std::clamp<std::int64_t>(
        std::llround(6 * n / static_cast<double>(std::max<std::int64_t>(1, *options.steps - 1))),
        1,
        problem.n);
  if (!options.anchor_batch) options.anchor_batch = problem.n;
  if (!options.anchor_share) options.anchor_share = 0.1;
  if (!options.mixture) options.mixture = 0.2;
  if (!options.step_size)
    options.step_size = std::min(horizon.length / static_cast<double>(*options.steps),
                                 1 / horizon.smoothness);
  fill_output(options, *options.steps, facts.coin);
  return ConfiguredMethod{std::make_unique<RecursiveDescent>(options, problem),
                          table.settings(asked, options, given)};
}

}  // namespace

std::vector<MethodInfo> srm_methods() {
  return {{.name = "dp-srm",
           .summary = "recursive momentum: gradients corrected by differences",
           .needs = "gradient pairs",
           .guarantees = "(epsilon, delta)-DP; gradient norm O((sqrt(d ln 1/delta) / (n epsilon))^(2/3))",
           .is_private = true,
           .source = "[WJEG23]",
           .page = "dp-srm",
           .options = srm_options().infos(),
           .configure = configure_srm}};
}

}  // namespace sotto
