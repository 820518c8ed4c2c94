// private-spiderboost: recursive_descent.hpp with an anchor a phase and pure differences in
// between.

#include <algorithm>
#include <cmath>

#include "sotto/optimizer/first_order/methods.hpp"
#include "sotto/optimizer/first_order/recursive_options.hpp"

namespace sotto {
namespace {

OptionTable<RecursiveOptions> spiderboost_options() {
  OptionTable<RecursiveOptions> table;
  table.integer("phase", &RecursiveOptions::phase, "steps of a phase; each begins with an anchor")
      .at_least(1);
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
  fill_recursive(options, facts, 1, 6);  // all differences together are six passes
  // Forty anchors. A difference's noise is proportional to the last step, which holds the noise of
  // all differences before it in its phase: the paper's phases, n² epsilon² / (T d ln(1/delta))
  // steps, diverge with steps as long as these (docs/studies/defaults.md).
  if (!options.phase)
    options.phase =
        std::max<std::int64_t>(4, std::llround(static_cast<double>(*options.steps) / 40));
  if (!options.anchor_share) options.anchor_share = 0.5;
  fill_output(options, *options.steps, facts.coin);
  return ConfiguredMethod{std::make_unique<RecursiveDescent>(options, problem),
                          table.settings(asked, options, given)};
}

}  // namespace

std::vector<MethodInfo> spiderboost_methods() {
  return {{.name = "private-spiderboost",
           .summary = "phases of gradient differences between full-batch anchors",
           .needs = {Capability::kPairs},
           .guarantees =
               "(epsilon, delta)-DP; gradient norm O((sqrt(d ln 1/delta) / (n epsilon))^(2/3))",
           .is_private = true,
           .source = "[ABGGMU23]",
           .page = "private-spiderboost",
           .options = spiderboost_options().infos(),
           .configure = configure_spiderboost}};
}

}  // namespace sotto
