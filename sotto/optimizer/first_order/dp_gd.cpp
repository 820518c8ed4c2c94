// dp-gd and its non-private twin gd: noisy_descent.hpp with full batches.

#include "sotto/optimizer/first_order/methods.hpp"
#include "sotto/optimizer/first_order/noisy_descent.hpp"

namespace sotto {
namespace {

OptionTable<DescentOptions> gd_options() {
  OptionTable<DescentOptions> table;
  add_descent_options(table);
  return table;
}

Expected<ConfiguredMethod> configure_gd(const GivenOptions& given, const PublicFacts& facts) {
  const auto table = gd_options();
  SOTTO_ASSIGN(const DescentOptions asked, table.parse(given));
  SOTTO_TRY(check(asked, facts.problem));
  const DescentOptions options = with_defaults(asked, facts);
  return ConfiguredMethod{std::make_unique<NoisyDescent>(options, Sampling::full()),
                          table.settings(asked, options, given)};
}

}  // namespace

std::vector<MethodInfo> gd_methods() {
  return {{.name = "dp-gd",
           .summary = "gradient descent, full batches, Gaussian noise",
           .needs = {Capability::kGradients},
           .guarantees =
               "(epsilon, delta)-DP; gradient norm O((d ln 1/delta)^(1/4) / (n epsilon)^(1/2))",
           .is_private = true,
           .source = "[WYX17]",
           .page = "dp-gd",
           .options = gd_options().infos(),
           .configure = configure_gd},
          {.name = "gd",
           .summary = "dp-gd without clipping and noise: a reference",
           .needs = {Capability::kGradients},
           .guarantees = "NOT private",
           .is_private = false,
           .source = "",
           .page = "dp-gd",
           .options = gd_options().infos(),
           .configure = configure_gd}};
}

}  // namespace sotto
