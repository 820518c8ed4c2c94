// The settings that nobody gave, made again of those that were given: what `train` would choose.

#include <fmt/format.h>

#include <algorithm>

#include "sotto/audit/record_checks.hpp"
#include "sotto/audit/recorded_run.hpp"
#include "sotto/core/dense_limit.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/option_names.hpp"
#include "sotto/core/version.hpp"
#include "sotto/data/schema.hpp"
#include "sotto/task/linear_family.hpp"
#include "sotto/task/network_family.hpp"
#include "sotto/training/public_facts.hpp"

namespace sotto {
namespace {

using nlohmann::json;

bool is_default(const std::string& origin) { return origin == to_string(Origin::kDefault); }
bool is_rule(const std::string& origin) {
  return origin == to_string(Origin::kRule) || origin.starts_with("rule: ");
}

/// As they are printed, but for the last digits: another machine's may differ.
bool is_same_setting(const std::string& a, const std::string& b) {
  const auto first = number_in(a), second = number_in(b);
  return a == b || (first && second && nearly(*first, *second));
}

/// A default is what the method's table says, whatever else is known.
void check_defaults(const json& record, const MethodInfo& method, Checks& checks) {
  for (const json& each : record["settings"]) {
    const auto name = value<std::string>(each, "name");
    const auto info = std::find_if(method.options.begin(),
                                   method.options.end(),
                                   [&](const OptionInfo& option) { return option.name == name; });
    if (info == method.options.end() ||
        !is_default(value<std::string>(each, "origin").value_or("")))
      continue;
    const std::string text = value<std::string>(each, "value").value_or("");
    checks.require(
        "settings",
        is_same_setting(text, info->default_value),
        fmt::format(
            "{} is {} (default), but its default is {}", info->name, text, info->default_value));
  }
}

/// What may bound the rows of the run, as its options and its schema tell; 0: nothing does. More
/// than one where the format that was read is not told; none where only the model's schema tells.
std::vector<double> row_bounds(const json& record, const std::string* schema, bool network) {
  if (const auto given = typed_number(listed(record, "options", "row_norm").value_or(""));
      given && *given > 0)
    return {*given};
  const bool bias = !network && listed(record, "options", "bias").has_value();
  if (schema) {
    const auto read = Schema::parse(*schema, "the model's schema");
    return read ? std::vector{read->row_norm_bound(bias)} : std::vector<double>();
  }
  if (!listed(record, "options", "schema").value_or("").empty()) return {};
  if (network) return {0};
  // Entries of images lie in [0, 1]. LIBSVM and .npy files have no bound of their own.
  return {0, std::sqrt(value<double>(record, "dimension").value_or(1))};
}

/// The problem as training saw it; none where the record does not tell it: a loss of a program's
/// own, or a polytope's file.
std::optional<PublicProblem> problem_of_training(const json& record,
                                                 const json& statement,
                                                 Relation relation,
                                                 const std::string* schema,
                                                 double row_bound) {
  const auto n = value<std::int64_t>(statement, "public_n");
  const auto dimension = value<std::int64_t>(record, "dimension");
  auto regularizer = Regularizer::parse(value<std::string>(record, "regularizer").value_or(""));
  if (!n || !dimension || !regularizer) return std::nullopt;
  // A person of whom one row is used is a row.
  const bool persons = value<std::string>(statement, "unit") != "row" &&
                       value<std::int64_t>(statement, "most_rows") != 1;
  if (const auto text = value<std::string>(record, "network")) {
    auto spec = parse_network(*text, "the network");
    if (!spec || !shapes_of(*spec) || !check_weights(parameter_count(*spec))) return std::nullopt;
    Dataset facts;
    facts.schema = schema ? *schema : "";
    facts.row_norm_bound = row_bound;
    Vector start = Vector::Zero(parameter_count(*spec));
    const NetworkFamily family(*std::move(spec), std::move(start), *std::move(regularizer), facts);
    return family.problem(*n, relation, persons);
  }
  const auto loss = parse_loss(value<std::string>(record, "loss").value_or(""));
  const std::string set = value<std::string>(record, "constraint").value_or("none");
  if (!loss || !loss_info(*loss).proven || set.starts_with("polytope")) return std::nullopt;
  LinearModel linear;
  linear.loss = *loss;
  linear.regularizer = *std::move(regularizer);
  auto constraint = parse_constraint(set);
  if (!constraint) return std::nullopt;
  linear.constraint = *std::move(constraint);
  linear.bias = listed(record, "options", "bias").has_value();
  linear.row_max = typed_number(listed(record, "options", "row_max").value_or("")).value_or(0);
  linear.row_norm = row_bound;
  linear.features = *dimension - (linear.bias ? 1 : 0);
  return LinearFamily(std::move(linear), Dataset()).problem(*n, relation, persons);
}

/// What was given. Beside it what a coin has drawn, which nobody can draw again.
GivenOptions given_settings(const json& record, const MethodInfo& method) {
  GivenOptions given;
  for (const OptionInfo& info : method.options)
    for (const json& each : record["settings"]) {
      if (value<std::string>(each, "name") != info.name) continue;
      const std::string text = value<std::string>(each, "value").value_or("");
      const bool is_given = value<std::string>(each, "origin") == to_string(Origin::kGiven);
      if (is_given || (info.name == "drawn_steps" && text != "none"))
        given.emplace_back(info.name, text);
    }
  return given;
}

/// The first difference between what is stated and what was made; empty if there is none.
std::string difference(const json& record, const std::vector<Setting>& made) {
  for (const Setting& setting : made) {
    const auto text = listed(record, "settings", setting.name);
    if (!text) return setting.name + " is missing";
    if (!is_same_setting(*text, setting.value))
      return fmt::format("{} is {}, but what was given makes it {} ({})",
                         setting.name,
                         *text,
                         setting.value,
                         to_string(setting.origin));
  }
  for (const json& each : record["settings"]) {
    const auto name = value<std::string>(each, "name");
    const std::string origin = value<std::string>(each, "origin").value_or("");
    const auto found = std::find_if(
        made.begin(), made.end(), [&](const Setting& setting) { return setting.name == name; });
    if (found == made.end()) return name.value_or("one") + " is no setting of the method";
    if (found->name != "drawn_steps" &&
        (is_default(origin) != (found->origin == Origin::kDefault) ||
         is_rule(origin) != (found->origin == Origin::kRule)))
      return fmt::format(
          "{} is said to be {}, but is {}",
          found->name,
          origin,
          found->origin == Origin::kRule ? "made by a rule" : to_string(found->origin));
  }
  return "";
}

}  // namespace

void check_settings(const json& record,
                    const json& statement,
                    Relation relation,
                    const std::string* schema,
                    Checks& checks) {
  if (states_no_rule(statement) || !describes_its_run(record)) return;
  if (value<std::string>(record, "version") != kVersion)
    return checks.flag("settings",
                       "another version chose them: whether defaults and rules are kept is not "
                       "known here");
  const auto run = recorded_run(record, relation);
  const auto method = find_method(value<std::string>(record, "method").value_or(""));
  if (!run || !run->method || !method) return;  // told elsewhere
  check_defaults(record, *run->method, checks);
  // Programs of somebody's own write no options: they may have rows with any bound.
  if (!record.contains("options") || checks.contradicts()) return;
  TrainOptions budget;
  budget.delta = value<double>(record, "delta").value_or(0);
  budget.epsilon = value<double>(record, "epsilon_budget");
  if (!budget.epsilon) budget.noise_multiplier = run->noise_multiplier;
  const bool network = value<std::string>(record, "loss") == "network";
  std::string first;
  for (const double bound : row_bounds(record, schema, network)) {
    const auto problem = problem_of_training(record, statement, relation, schema, bound);
    if (!problem) return;
    std::string why;
    if (const auto facts = public_facts(*problem, budget, 0.5); !facts) {
      why = with_flags(facts.error().message);
    } else {
      const auto made = (*method)->configure(given_settings(record, **method), *facts);
      why = made ? difference(record, made->settings) : with_flags(made.error().message);
    }
    if (why.empty()) return;
    if (first.empty()) first = why;
  }
  checks.require("settings", first.empty(), first);
}

}  // namespace sotto
