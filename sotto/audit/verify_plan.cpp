// The plan of a record, made again from its settings.

#include <fmt/format.h>

#include <algorithm>

#include "sotto/audit/record_checks.hpp"
#include "sotto/core/dense_limit.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/option_names.hpp"
#include "sotto/core/version.hpp"
#include "sotto/geometry/constraint_set.hpp"
#include "sotto/geometry/regularizer.hpp"
#include "sotto/loss/loss_info.hpp"
#include "sotto/optimizer/registry.hpp"

namespace sotto {
namespace {

using nlohmann::json;

/// The set that the record names. A polytope is in a file, which is not opened here, whatever a
/// record says: a segment stands in for it. All settings are given, so that none follows from the
/// set, and what is released on a polytope depends on neither the number nor the place of its
/// vertices.
ConstraintPtr constraint_of(const std::string& text, std::int64_t dimension) {
  if (text.starts_with("polytope")) {
    Matrix ends(2, dimension);
    ends.row(0).setConstant(1);
    ends.row(1).setConstant(-1);
    return polytope(std::move(ends));
  }
  auto constraint = parse_constraint(text);
  return constraint ? *std::move(constraint) : nullptr;
}

}  // namespace

void check_plan(const json& record, const json& statement, Relation relation, Checks& checks) {
  const auto name = value<std::string>(record, "method");
  const auto settings = value<json>(record, "settings");
  const auto dimension = value<std::int64_t>(record, "dimension");
  const auto n = value<std::int64_t>(statement, "public_n");
  const auto multiplier = value<double>(record, "noise_multiplier");
  const auto stated = events_of(record, "plan", relation);
  if (!name || !settings || !settings->is_array() || !dimension || !n || *n < 1 || !multiplier ||
      !stated || states_no_rule(statement))
    return;
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
  constexpr double kLargest = 1e100;
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  if (!(*multiplier > 1 / kLargest && *multiplier < kLargest) || *n > kMost || *dimension < 1 ||
      *dimension > kMost || !check_weights(*dimension))
    return checks.require("settings", false, "a number is out of range");
  // `auto` states what it chose, and the settings of that.
  const std::string chosen = listed(record, "settings", "chosen_method").value_or(*name);
  const auto method = find_method(*name == "auto" ? chosen : *name);
  if (!method)
    return checks.flag("settings",
                       "there is no method " + chosen +
                           " in this program: whether its plan follows from them is not known");
  PublicFacts facts;
  facts.problem.n = *n;
  facts.problem.dimension = *dimension;
  facts.problem.relation = relation;
  const auto row_norm = number_in<double>(listed(record, "options", "row_norm").value_or(""));
  facts.problem.row_norm = row_norm && *row_norm > 0 ? *row_norm : 1;
  facts.problem.row_max = 1;
  // A person of whom one row is used is a row.
  facts.problem.linear_rows = value<std::string>(statement, "unit").value_or("row") == "row" ||
                              value<std::int64_t>(statement, "most_rows") == 1;
  facts.problem.network = value<std::string>(record, "loss") == "network";
  if (facts.problem.network) facts.problem.linear_rows = false;
  if (const auto loss = parse_loss(value<std::string>(record, "loss").value_or("")))
    facts.problem.loss = loss_info(*loss);
  const bool has_bias = listed(record, "options", "bias").has_value() && !facts.problem.network;
  if (auto regularizer = Regularizer::parse(value<std::string>(record, "regularizer").value_or("")))
    facts.problem.regularizer =
        has_bias ? regularizer->on_first(*dimension - 1) : *std::move(regularizer);
  facts.problem.linear_rows = facts.problem.linear_rows && facts.problem.loss.proven;
  if (const auto set = value<std::string>(record, "constraint"))
    facts.problem.constraint = constraint_of(*set, *dimension);
  facts.single_release_multiplier = 1;
  facts.delta = value<double>(record, "delta").value_or(0);
  facts.epsilon = value<double>(record, "epsilon_budget").value_or(0);
  GivenOptions given;
  given.settled = true;
  // Follows from the theory, which would refuse it beside itself.
  const bool theory = listed(record, "settings", "sample_sizes") == "theory";
  for (const json& each : *settings) {
    const auto option = value<std::string>(each, "name");
    const auto text = value<std::string>(each, "value");
    if (!option || !text || *text == "none" || *text == "auto") continue;
    if (theory && *option == "expected_batch") continue;
    const bool known = std::any_of((*method)->options.begin(),
                                   (*method)->options.end(),
                                   [&](const auto& info) { return info.name == *option; });
    if (known) given.emplace_back(*option, *text);
  }
  for (const auto& info : (*method)->options)
    if (ours)
      checks.require(
          "settings", listed(record, "settings", info.name).has_value(), info.name + " is missing");
  const auto configured = (*method)->configure(given, facts);
  // The bounds of a program's own loss are in no file.
  if (!configured && !facts.problem.loss.proven)
    return checks.flag("settings", "the loss is a program's own: no plan can be made of them here");
  if (!configured) return cannot(with_flags(configured.error().message));
  const Plan plan = configured->optimizer->plan(facts.problem, *multiplier);
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
    checks.require("noise_multiplier", *multiplier == 1, "with a filter it is 1, a unit");
  }
  // How many products Lanczos makes follows from the bound on rows, which a schema may have set.
  const bool counted = row_norm || listed(record, "settings", "solver") != "lanczos";
  if (const auto samples = value<std::int64_t>(record, "planned_noise_samples"); samples && counted)
    checks.require("settings",
                   *samples == plan.noise_samples,
                   fmt::format("with them the method draws {} noise samples, the record plans {}",
                               plan.noise_samples,
                               *samples));
}

}  // namespace sotto
