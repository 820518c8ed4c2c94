// The plan of a record, made again from its settings.

#include <fmt/format.h>

#include "sotto/audit/record_checks.hpp"
#include "sotto/audit/recorded_run.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/option_names.hpp"
#include "sotto/core/version.hpp"

namespace sotto {

using nlohmann::json;

void check_plan(const json& record, const json& statement, Relation relation, Checks& checks) {
  const auto stated = events_of(record, "plan", relation);
  if (!stated || states_no_rule(statement) || !describes_its_run(record)) return;
  const bool by_plan = value<std::string>(statement, "rule") == "plan";
  // Other versions may have had other settings.
  const bool ours = value<std::string>(record, "version") == kVersion;
  const auto cannot = [&](const std::string& why) {
    const std::string text = "the plan can't be made again from them: " + why;
    if (ours)
      checks.require("settings", false, text);
    else
      checks.flag("settings", text);
  };
  const auto run = recorded_run(record, relation);
  if (!run) return checks.require("settings", false, run.error().message);
  if (!run->method)
    return checks.flag("settings",
                       "there is no method " + run->method_name +
                           " in this program: whether its plan follows from them is not known");
  for (const auto& info : run->method->options)
    if (ours)
      checks.require(
          "settings", listed(record, "settings", info.name).has_value(), info.name + " is missing");
  const auto configured = run->method->configure(run->settings, run->facts);
  // The bounds of a program's own loss are in no file.
  if (!configured && !run->facts.problem.loss.proven)
    return checks.flag("settings", "the loss is a program's own: no plan can be made of them here");
  if (!configured) return cannot(with_flags(configured.error().message));
  const Plan plan = configured->optimizer->plan(run->facts.problem, run->noise_multiplier);
  if (plan.filter.empty() != by_plan)
    return cannot("the method has a filter and the record a plan, or the other way round");
  if (by_plan) {
    const auto made = canonical(plan.event);
    if (!made) return cannot(with_flags(made.error().message));
    checks.require("settings",
                   same(*made, *stated),
                   fmt::format("with them the method plans {}, but the record says {}",
                               to_string(to_event(*made)),
                               to_string(to_event(*stated))));
  } else {
    checks.require("settings",
                   plan.filter == value<std::string>(statement, "accountant"),
                   "the method's filter is " + plan.filter);
    checks.require("noise_multiplier", run->noise_multiplier == 1, "with a filter it is 1, a unit");
  }
  // How many products Lanczos makes follows from the bound on rows, which a schema may have set.
  const bool counted = number_in<double>(listed(record, "options", "row_norm").value_or("")) ||
                       listed(record, "settings", "solver") != "lanczos";
  if (const auto samples = value<std::int64_t>(record, "planned_noise_samples"); samples && counted)
    checks.require("settings",
                   *samples == plan.noise_samples,
                   fmt::format("with them the method draws {} noise samples, the record plans {}",
                               plan.noise_samples,
                               *samples));
}

}  // namespace sotto
