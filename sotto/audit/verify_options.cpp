// What a record's options say of its model: loss, class weights, regularizer, constraint.

#include <fmt/format.h>

#include "sotto/audit/record_checks.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/data/dataset.hpp"
#include "sotto/geometry/regularizer.hpp"
#include "sotto/loss/loss_info.hpp"
#include "sotto/objective/network/spec.hpp"
#include "sotto/task/class_weights.hpp"

namespace sotto {
namespace {

using nlohmann::json;

std::string option_of(const json& record, const char* name) {
  return listed(record, "options", name).value_or("");
}

/// A linear model's loss: what the options leave open, a Poisson loss's largest rate and which
/// class is which, the record may say.
void compare_loss(const json& record, Checks& checks) {
  const std::string said = option_of(record, "loss");
  auto loss = parse_loss(said);
  const auto stated = parse_loss(value<std::string>(record, "loss").value_or(""));
  const auto differs = [&](const std::string& what) {
    checks.require("options", false, "their loss is " + what + ", but the record says another");
  };
  if (!loss || !stated) return differs(said);
  if (!std::isfinite(loss->threshold) && loss->kind == stated->kind)
    loss->threshold = stated->threshold;
  if (const auto weights = asked_class_weights(record, 2)) {
    const bool by_schema = !*weights && weights->error().kind == ErrorKind::kUsage;
    if (!*weights && !by_schema) return checks.require("options", false, weights->error().message);
    if (by_schema) checks.flag("options", weights->error().message);
    loss->weights = by_schema ? stated->weights : ClassWeights{(**weights)[0], (**weights)[1]};
  }
  if (to_string(*loss) != to_string(*stated)) differs(to_string(*loss));
}

/// A network's loss is in its text; the option says whether one that fits itself to the rows
/// predicts numbers.
void compare_network_loss(const json& record, Checks& checks) {
  const std::string said = option_of(record, "loss");
  if (said == "multinomial") return;
  const auto loss = parse_loss(said);
  if (!loss || (loss->kind != LossKind::kLogistic && loss->kind != LossKind::kSquared) ||
      loss->weights != ClassWeights{})
    return checks.require("options", false, "no network has their loss, " + said);
  const auto spec = parse_network(value<std::string>(record, "network").value_or(""), "its text");
  if (spec && is_builtin_network(option_of(record, "model")))
    checks.require("options",
                   (loss->kind == LossKind::kSquared) == (spec->loss == NetworkLoss::kSquared),
                   "their loss is " + said + ", but the network has another");
}

/// Whether somebody may have meant the class `name` by one of several spellings, which are told
/// apart in the schema alone: `p or q`.
bool may_be_spelling(const std::string& spelling, const std::string& name) {
  return name != spelling && (" or " + name + " or ").find(" or " + spelling + " or ") != name.npos;
}

}  // namespace

std::optional<Expected<std::vector<double>>> asked_class_weights(const json& record,
                                                                 std::size_t classes,
                                                                 const std::string& schema) {
  const auto text = listed(record, "options", "class_weight");
  if (!text) return std::nullopt;
  Dataset names;
  names.schema = schema;
  names.class_names =
      value<std::vector<std::string>>(record, "class_names").value_or(std::vector<std::string>());
  const auto asked = parse_class_weights(*text);
  if (!asked) return fail(ErrorKind::kBadData, "their class weights can't be read");
  const auto unsure = [&](const ClassWeight& each) {
    return (each.name == "negative" || each.name == "positive") &&
           std::any_of(names.class_names.begin(), names.class_names.end(), [&](const auto& name) {
             return may_be_spelling(each.name, name);
           });
  };
  auto weights = weights_by_class(*asked, classes, names);
  const bool knows_spellings = !schema.empty() || option_of(record, "schema").empty();
  if (!knows_spellings && (!weights || std::any_of(asked->begin(), asked->end(), unsure)))
    return fail(ErrorKind::kUsage,
                "they name a class by a spelling that no record has: the model's schema tells it");
  if (!weights) return fail(ErrorKind::kBadData, "their class weights are of no such classes");
  return weights;
}

void check_weights_by_schema(const json& record, const std::string& schema, Checks& checks) {
  std::vector<double> stated;
  std::size_t classes = 2;
  if (const auto text = value<std::string>(record, "network")) {
    const auto spec = parse_network(*text, "the network");
    if (!spec || !shapes_of(*spec)) return;  // told elsewhere
    stated = spec->class_weights;
    classes = class_count(*spec);
  } else {
    const auto loss = parse_loss(value<std::string>(record, "loss").value_or(""));
    if (!loss) return;
    stated = {loss->weights.negative, loss->weights.positive};
  }
  const auto asked = asked_class_weights(record, classes, schema);
  if (!asked) return;  // whether it has weights all the same is told without the model
  checks.require("model: class weights",
                 *asked && **asked == stated,
                 "by its schema they are not those that the options ask for");
}

void check_model_options(const json& record, Checks& checks) {
  // They have values in every command.
  for (const char* name : {"loss", "regularizer", "constraint"})
    checks.require(
        "options", listed(record, "options", name).has_value(), fmt::format("{} is missing", name));
  const bool network =
      !option_of(record, "model").empty() || option_of(record, "loss") == "multinomial";
  if (network)
    checks.require("options",
                   value<std::string>(record, "loss") == "network",
                   "they name a network, but the record is that of a linear model");
  const std::string regularizer = option_of(record, "regularizer");
  const auto read = Regularizer::parse(regularizer);
  checks.require(
      "options",
      read && value<std::string>(record, "regularizer") == read->to_string(),
      fmt::format("their regularizer is {}, but the record says something else", regularizer));
  const std::string constraint = option_of(record, "constraint");
  checks.require("options",
                 constraint == value<std::string>(record, "constraint").value_or("none"),
                 "their constraint is not that of the record");
  if (network) {
    checks.require("options", constraint == "none", "a network's weights are kept in no set");
    return compare_network_loss(record, checks);
  }
  const auto dimension = value<double>(record, "dimension");
  if (const auto text = listed(record, "options", "dim"))
    checks.require("options",
                   dimension && typed_number(*text) ==
                                    *dimension - (listed(record, "options", "bias") ? 1 : 0),
                   "their number of features is not that of the record");
  compare_loss(record, checks);
}

}  // namespace sotto
