// dp-srm: recursive_descent.hpp with one anchor and a fresh gradient mixed into every difference.

#include "sotto/optimizer/first_order/methods.hpp"
#include "sotto/optimizer/first_order/recursive_options.hpp"

namespace sotto {
namespace {

OptionTable<RecursiveOptions> srm_options() {
  OptionTable<RecursiveOptions> table;
  table
      .number("mixture", &RecursiveOptions::mixture, "weight gamma of the fresh gradient in (0, 1]")
      .word(
          "clipping",
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
  fill_recursive(options, facts, 1, 6);
  if (!options.mixture) options.mixture = 0.6;
  if (!options.anchor_share) options.anchor_share = 0.05;
  fill_output(options, *options.steps, facts.coin);
  return ConfiguredMethod{std::make_unique<RecursiveDescent>(options, problem),
                          table.settings(asked, options, given)};
}

}  // namespace

std::vector<MethodInfo> srm_methods() {
  return {{.name = "dp-srm",
           .summary = "recursive momentum: gradients corrected by differences",
           .needs = "gradient pairs",
           .guarantees =
               "(epsilon, delta)-DP; gradient norm O((sqrt(d ln 1/delta) / (n epsilon))^(2/3))",
           .is_private = true,
           .source = "[WJEG23]",
           .page = "dp-srm",
           .options = srm_options().infos(),
           .configure = configure_srm,
           .resumable = true}};
}

}  // namespace sotto
