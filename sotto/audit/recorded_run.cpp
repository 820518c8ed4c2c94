#include "sotto/audit/recorded_run.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sotto/audit/record_checks.hpp"
#include "sotto/core/dense_limit.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/geometry/constraint_set.hpp"
#include "sotto/geometry/regularizer.hpp"
#include "sotto/loss/loss_info.hpp"

namespace sotto {
namespace {

using nlohmann::json;

constexpr double kLargest = 1e100;
constexpr std::int64_t kMost = std::int64_t{1} << 53;

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

PublicProblem problem_of(const json& record,
                         std::int64_t n,
                         std::int64_t dimension,
                         Relation relation) {
  const json& statement = record["privacy"];
  PublicProblem problem;
  problem.n = n;
  problem.dimension = dimension;
  problem.relation = relation;
  const auto row_norm = number_in<double>(listed(record, "options", "row_norm").value_or(""));
  problem.row_norm = row_norm && *row_norm > 0 ? *row_norm : 1;
  problem.row_max = 1;
  problem.network = value<std::string>(record, "loss") == "network";
  if (const auto loss = parse_loss(value<std::string>(record, "loss").value_or("")))
    problem.loss = loss_info(*loss);
  // A person of whom one row is used is a row.
  const bool rows = value<std::string>(statement, "unit").value_or("row") == "row" ||
                    value<std::int64_t>(statement, "most_rows") == 1;
  problem.linear_rows = rows && !problem.network && problem.loss.proven;
  const bool has_bias = listed(record, "options", "bias").has_value() && !problem.network;
  if (auto regularizer = Regularizer::parse(value<std::string>(record, "regularizer").value_or("")))
    problem.regularizer = has_bias ? regularizer->on_first(dimension - 1) : *std::move(regularizer);
  if (const auto set = value<std::string>(record, "constraint"))
    problem.constraint = constraint_of(*set, dimension);
  return problem;
}

GivenOptions settings_of(const json& record, const MethodInfo& method) {
  GivenOptions given;
  given.settled = true;
  // Follows from the theory, which would refuse it beside itself.
  const bool theory = listed(record, "settings", "sample_sizes") == "theory";
  for (const json& each : record["settings"]) {
    const auto option = value<std::string>(each, "name");
    const auto text = value<std::string>(each, "value");
    if (!option || !text || *text == "none" || *text == "auto") continue;
    if (theory && *option == "expected_batch") continue;
    const bool known = std::any_of(method.options.begin(),
                                   method.options.end(),
                                   [&](const auto& info) { return info.name == *option; });
    if (known) given.emplace_back(*option, *text);
  }
  return given;
}

}  // namespace

bool describes_its_run(const json& record) {
  const auto settings = value<json>(record, "settings");
  const auto statement = value<json>(record, "privacy");
  const auto n = statement ? value<std::int64_t>(*statement, "public_n") : std::nullopt;
  return value<std::string>(record, "method") && settings && settings->is_array() &&
         value<std::int64_t>(record, "dimension") && n && *n >= 1 &&
         value<double>(record, "noise_multiplier");
}

Expected<RecordedRun> recorded_run(const json& record, Relation relation) {
  RecordedRun run;
  const auto n = record["privacy"]["public_n"].get<std::int64_t>();
  const auto dimension = record["dimension"].get<std::int64_t>();
  run.noise_multiplier = record["noise_multiplier"].get<double>();
  if (!(run.noise_multiplier > 1 / kLargest && run.noise_multiplier < kLargest) || n > kMost ||
      dimension < 1 || dimension > kMost || !check_weights(dimension))
    return fail(ErrorKind::kBadData, "a number is out of range");
  // `auto` states what it chose, and the settings of that.
  run.method_name = record["method"].get<std::string>();
  if (run.method_name == "auto")
    run.method_name = listed(record, "settings", "chosen_method").value_or(run.method_name);
  const auto method = find_method(run.method_name);
  if (!method) return run;
  run.method = *method;
  run.facts.problem = problem_of(record, n, dimension, relation);
  run.facts.single_release_multiplier = 1;
  run.facts.delta = value<double>(record, "delta").value_or(0);
  run.facts.epsilon = value<double>(record, "epsilon_budget").value_or(0);
  run.settings = settings_of(record, **method);
  return run;
}

}  // namespace sotto
