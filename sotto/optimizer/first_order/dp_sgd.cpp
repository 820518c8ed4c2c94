// dp-sgd and its non-private twin sgd: noisy_descent.hpp with random batches.

#include <cmath>

#include "sotto/optimizer/first_order/methods.hpp"
#include "sotto/optimizer/first_order/noisy_descent.hpp"
#include "sotto/optimizer/parts/sampling_option.hpp"

namespace sotto {
namespace {

OptionTable<DescentOptions> sgd_options() {
  OptionTable<DescentOptions> table;
  add_descent_options(table);
  table
      .integer("expected_batch",
               &DescentOptions::expected_batch,
               "expected number of units per batch; the realized number stays secret")
      .number("epochs", &DescentOptions::epochs, "passes over the data, instead of steps")
      .positive();
  add_sampling_option(table);
  return table;
}

Expected<ConfiguredMethod> configure_sgd(const GivenOptions& given, const PublicFacts& facts) {
  const auto table = sgd_options();
  SOTTO_ASSIGN(DescentOptions asked, table.parse(given));
  SOTTO_TRY(check(asked, facts.problem));
  DescentOptions open = asked;
  const auto n = static_cast<double>(facts.problem.n);
  // Large batches: the noise that matters hardly depends on the batch, the sampling variance does.
  if (!open.expected_batch)
    open.expected_batch = std::min<std::int64_t>(
        facts.problem.n, std::max<std::int64_t>(256, std::llround(8 * std::sqrt(n))));
  const auto batch = static_cast<double>(*open.expected_batch);
  if (open.epochs) open.steps = std::max<std::int64_t>(1, std::llround(*open.epochs * n / batch));
  const DescentOptions options = with_defaults(open, facts);
  const Sampling sampling = sampling_of(options.sampling, *options.expected_batch, facts.problem.n);
  return ConfiguredMethod{std::make_unique<NoisyDescent>(options, sampling),
                          table.settings(asked, options, given)};
}

}  // namespace

std::vector<MethodInfo> sgd_methods() {
  return {{.name = "dp-sgd",
           .summary = "gradient descent on random batches, amplified by sampling",
           .needs = {Capability::kGradients},
           .guarantees = "(epsilon, delta)-DP",
           .is_private = true,
           .source = "[ACGMMTZ16]",
           .page = "dp-sgd",
           .options = sgd_options().infos(),
           .configure = configure_sgd},
          {.name = "sgd",
           .summary = "dp-sgd without clipping and noise: a reference",
           .needs = {Capability::kGradients},
           .guarantees = "NOT private",
           .is_private = false,
           .source = "",
           .page = "dp-sgd",
           .options = sgd_options().infos(),
           .configure = configure_sgd}};
}

}  // namespace sotto
