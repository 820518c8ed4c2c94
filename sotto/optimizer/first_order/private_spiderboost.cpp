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
  table.integer("phase", &RecursiveOptions::phase, "steps of a phase; each begins with an anchor");
  add_recursive_options(table);
  return table;
}

/// The paper's n² epsilon² / (T d ln(1/delta)), with 1/m² for epsilon² / ln(1/delta): m, the noise
/// multiplier of one release with the whole budget, is known where epsilon is not. Within a fifth
/// of the paper's number for epsilon up to 1.
std::int64_t phase_of(const PublicFacts& facts, std::int64_t steps) {
  const double root =
      static_cast<double>(facts.problem.n) / std::max(facts.single_release_multiplier, 1e-300);
  const double phase =
      root * root / (static_cast<double>(steps) * static_cast<double>(facts.problem.dimension));
  return std::llround(std::clamp(phase, 1.0, static_cast<double>(steps)));
}

Expected<ConfiguredMethod> configure_spiderboost(const GivenOptions& given,
                                                 const PublicFacts& facts) {
  const auto table = spiderboost_options();
  SOTTO_ASSIGN(const RecursiveOptions asked, table.parse(given));
  const PublicProblem& problem = facts.problem;
  SOTTO_TRY(check(asked, problem));
  RecursiveOptions options = asked;
  options.mixture = 0;
  fill_recursive(options, facts, 1, 2);  // all differences together are two passes
  if (!options.phase) options.phase = phase_of(facts, *options.steps);
  if (!options.anchor_share) options.anchor_share = 0.5;
  fill_output(options, *options.steps, facts.coin);
  return ConfiguredMethod{std::make_unique<RecursiveDescent>(options, problem),
                          table.settings(asked, options, given)};
}

}  // namespace

std::vector<MethodInfo> spiderboost_methods() {
  return {{.name = "private-spiderboost",
           .summary = "phases of gradient differences between full-batch anchors",
           .needs = "gradient pairs",
           .guarantees =
               "(epsilon, delta)-DP; gradient norm O((sqrt(d ln 1/delta) / (n epsilon))^(2/3))",
           .is_private = true,
           .source = "[ABGGMU23]",
           .page = "private-spiderboost",
           .options = spiderboost_options().infos(),
           .configure = configure_spiderboost,
           .resumable = true}};
}

}  // namespace sotto
