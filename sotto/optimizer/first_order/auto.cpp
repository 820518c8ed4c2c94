// auto: picks a method from public facts. The rule and how it was found: docs/methods/auto.md.

#include <fmt/format.h>

#include "sotto/optimizer/first_order/methods.hpp"

namespace sotto {
namespace {

struct AutoOptions {
  std::optional<double> most_passes;
};

OptionTable<AutoOptions> auto_options() {
  OptionTable<AutoOptions> table;
  table.number("most_passes",
               &AutoOptions::most_passes,
               "passes over the data that may be made, at least 8; open: as many as help");
  return table;
}

// dp-srm and dp-gd end up at the same objective where batches are large enough to be worth drawing,
// and dp-srm makes a tenth of the passes; on few units a batch would be a handful, and a pass is
// cheap.
constexpr std::int64_t kFewUnits = 10'000;

Expected<ConfiguredMethod> configure_auto(const GivenOptions& given, const PublicFacts& facts) {
  const auto table = auto_options();
  SOTTO_ASSIGN(const AutoOptions asked, table.parse(given));
  if (asked.most_passes && !(*asked.most_passes >= 8))
    return fail(ErrorKind::kUsage,
                fmt::format("--most-passes must be at least 8, but is {}.", *asked.most_passes));
  const bool few_passes = asked.most_passes && *asked.most_passes < 400;
  const bool recursive = few_passes || facts.problem.n >= kFewUnits;
  const MethodInfo chosen = recursive ? srm_methods().front() : gd_methods().front();
  SOTTO_ASSIGN(ConfiguredMethod method, chosen.configure({}, facts));
  AutoOptions resolved = asked;
  if (!resolved.most_passes) resolved.most_passes = recursive ? 8 : 400;
  std::vector<Setting> settings = table.settings(asked, resolved, given);
  settings.push_back({"chosen_method", chosen.name, "rule"});
  for (const Setting& setting : method.settings) settings.push_back(setting);
  method.settings = std::move(settings);
  return method;
}

}  // namespace

std::vector<MethodInfo> auto_methods() {
  return {{.name = "auto",
           .summary = "picks dp-srm or dp-gd and their settings from public facts",
           .needs = "gradient pairs",
           .guarantees = "(epsilon, delta)-DP",
           .is_private = true,
           .source = "",
           .page = "auto",
           .options = auto_options().infos(),
           .configure = configure_auto,
           .resumable = true}};
}

}  // namespace sotto
