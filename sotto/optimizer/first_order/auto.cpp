// auto: picks a method from public facts. The rule and how it was found:
// docs/reference/methods/auto.md.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/optimizer/first_order/methods.hpp"

namespace sotto {
namespace {

struct AutoOptions {
  std::optional<double> most_passes;
};

OptionTable<AutoOptions> auto_options() {
  OptionTable<AutoOptions> table;
  table
      .number("most_passes",
              &AutoOptions::most_passes,
              "passes over the data that may be made, at least 8; open: as many as help")
      .at_least(8);
  return table;
}

constexpr std::int64_t kFewUnits = 10'000;
constexpr double kPasses = 6;

/// dp-sgd as it came out best of the methods on random batches, dp-srm among them: constant steps
/// of at most 1/L over the horizon of descent_defaults.cpp, the last 30 % averaged. Networks have
/// rules of their own there.
GivenOptions batch_options(const PublicFacts& facts, double most_passes) {
  const auto n = static_cast<double>(facts.problem.n);
  if (facts.problem.network) {
    const double batch = std::min(std::max(256.0, 8 * std::sqrt(n)), most_passes * n / 500);
    return {{"steps", "500"}, {"expected_batch", fmt::format("{:.0f}", std::max(1.0, batch))}};
  }
  const auto [L, h] = horizon_of(facts, default_clip_radius(facts.problem));
  const double steps = std::round(std::clamp(h * L, 20.0, 5000.0));
  return {{"steps", fmt::format("{:.0f}", steps)},
          {"expected_batch", fmt::format("{:.0f}", std::clamp(kPasses * n / steps, 1.0, n))},
          {"momentum", "0"},
          {"schedule", "constant"},
          {"average", "0.3"}};
}

Expected<ConfiguredMethod> configure_auto(const GivenOptions& given, const PublicFacts& facts) {
  const auto table = auto_options();
  SOTTO_ASSIGN(const AutoOptions asked, table.parse(given));
  const bool few_passes = asked.most_passes && *asked.most_passes < 400;
  const bool batches = few_passes || facts.problem.n >= kFewUnits;
  const MethodInfo chosen = batches ? sgd_methods().front() : gd_methods().front();
  AutoOptions resolved = asked;
  if (!resolved.most_passes) resolved.most_passes = batches && !facts.problem.network ? 8 : 400;
  const GivenOptions options =
      batches ? batch_options(facts, *resolved.most_passes) : GivenOptions{};
  SOTTO_ASSIGN(ConfiguredMethod method, chosen.configure(options, facts));
  std::vector<Setting> settings = table.settings(asked, resolved, given);
  settings.push_back({"chosen_method", chosen.name, Origin::kRule});
  settings.push_back({"reason",
                      batches ? "random batches end where full ones do, in fewer passes; gradient "
                                "differences (dp-srm) gained nothing at equal cost"
                              : "few units: a pass is cheap, a batch would be a handful",
                      Origin::kRule});
  for (Setting setting : method.settings) {
    if (setting.origin == Origin::kGiven)
      setting.origin = Origin::kRule;  // by this rule, not by the user
    settings.push_back(std::move(setting));
  }
  method.settings = std::move(settings);
  return method;
}

}  // namespace

std::vector<MethodInfo> auto_methods() {
  return {{.name = "auto",
           .summary = "picks dp-sgd or dp-gd and their settings from public facts",
           .needs = {Capability::kGradients},
           .guarantees = "(epsilon, delta)-DP",
           .is_private = true,
           .source = "",
           .page = "auto",
           .options = auto_options().infos(),
           .configure = configure_auto}};
}

}  // namespace sotto
