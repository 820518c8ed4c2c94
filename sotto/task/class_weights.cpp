#include "sotto/task/class_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sotto/core/nearest.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/data/dataset.hpp"
#include "sotto/data/schema.hpp"
#include "sotto/loss/loss_info.hpp"
#include "sotto/objective/network/spec.hpp"

namespace sotto {
namespace {

/// NAME=WEIGHT; none: it is not.
std::optional<ClassWeight> one_in(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == text.npos || equals == 0) return std::nullopt;
  const auto weight = finite_in(text.substr(equals + 1));
  if (!weight) return std::nullopt;
  return ClassWeight{std::string(text.substr(0, equals)), *weight, std::string(text)};
}

/// The stored label of the class with this name.
std::optional<std::size_t> class_called(const std::string& name,
                                        std::size_t classes,
                                        const Dataset& data,
                                        const std::optional<Schema>& schema) {
  const auto& names = data.class_names;
  if (const auto place = std::find(names.begin(), names.end(), name); place != names.end())
    return static_cast<std::size_t>(place - names.begin());
  if (schema)
    if (const auto place = schema->class_called(name)) return place;
  if (classes == 2 && (name == "negative" || name == "positive")) return name == "positive" ? 1 : 0;
  return std::nullopt;
}

}  // namespace

Expected<std::vector<ClassWeight>> parse_class_weights(std::string_view text) {
  std::vector<ClassWeight> weights;
  if (text.ends_with(','))
    return fail(ErrorKind::kUsage,
                fmt::format("‘class_weight’ takes NAME=WEIGHT, such as positive=4, and nothing "
                            "follows the last comma of '{}'.",
                            text));
  for (std::size_t begin = 0; begin < text.size();) {
    // A name may have commas itself.
    std::size_t end = std::min(text.find(',', begin), text.size());
    auto one = one_in(text.substr(begin, end - begin));
    while (!one && end < text.size()) {
      end = std::min(text.find(',', end + 1), text.size());
      one = one_in(text.substr(begin, end - begin));
    }
    if (!one)
      return fail(ErrorKind::kUsage,
                  fmt::format("‘class_weight’ takes NAME=WEIGHT, such as positive=4, but is '{}'.",
                              text.substr(begin)));
    weights.push_back(*std::move(one));
    begin = end + 1;
  }
  return weights;
}

Expected<std::vector<double>> weights_by_class(const std::vector<ClassWeight>& asked,
                                               std::size_t classes,
                                               const Dataset& data) {
  std::vector<double> weights(classes, 1);
  std::vector<bool> seen(classes, false);
  std::optional<Schema> schema;
  if (!data.schema.empty()) {
    SOTTO_ASSIGN(schema, Schema::parse(data.schema, "the schema"));
  }
  std::vector<std::string> known = data.class_names;
  if (known.empty() && classes == 2) known = {"negative", "positive"};
  for (std::size_t k = 0; k < asked.size(); ++k) {
    ClassWeight each = asked[k];
    auto place = class_called(each.name, classes, data, schema);
    // A name with an equals sign before a comma goes on in the next ones.
    std::string longer = each.text;
    for (std::size_t more = k + 1; !place && more < asked.size(); ++more) {
      const std::string name = longer + "," + asked[more].name;
      if ((place = class_called(name, classes, data, schema))) {
        each = {name, asked[more].weight};
        k = more;
      }
      longer += "," + asked[more].text;
    }
    if (!place || *place >= classes)
      return fail(
          ErrorKind::kUsage,
          fmt::format("‘class_weight’ names '{}', which is no class.{} The classes are {}{}.",
                      each.name,
                      did_you_mean(each.name, known),
                      fmt::join(known, ", "),
                      classes == 2 && !data.class_names.empty()
                          ? ", also called negative and positive"
                          : ""));
    if (seen[*place])
      return fail(ErrorKind::kUsage,
                  fmt::format("‘class_weight’ is given twice for the class {}.", each.name));
    if (!is_class_weight(each.weight))
      return fail(ErrorKind::kUsage,
                  fmt::format("the ‘class_weight’ of {} must lie between {:g} and {:g}, but is {}.",
                              each.name,
                              kLeastClassWeight,
                              kMostClassWeight,
                              each.weight));
    seen[*place] = true;
    weights[*place] = each.weight;
  }
  return weights;
}

Expected<void> check_weighable(const LossSpec& loss) {
  if (loss.weights != ClassWeights{})
    return fail(
        ErrorKind::kUsage,
        fmt::format("‘class_weight’ and ‘loss {}’ both weigh the classes. Give one of them.",
                    to_string(loss)));
  LossSpec weighed = loss;
  weighed.weights = {1, kMostClassWeight};
  return check_loss(weighed);
}

Expected<void> weigh_classes(LossSpec& loss,
                             const std::vector<ClassWeight>& asked,
                             const Dataset& data) {
  if (asked.empty()) return {};
  SOTTO_TRY(check_weighable(loss));
  SOTTO_ASSIGN(const auto weights, weights_by_class(asked, 2, data));
  loss.weights = {weights[0], weights[1]};
  return {};
}

Expected<void> weigh_classes(NetworkSpec& spec,
                             const std::vector<ClassWeight>& asked,
                             const Dataset& data) {
  if (asked.empty()) return {};
  const std::size_t classes = class_count(spec);
  if (classes == 0)
    return fail(ErrorKind::kUsage,
                "‘class_weight’ is for classes, but this network predicts numbers.");
  if (!spec.class_weights.empty())
    return fail(ErrorKind::kUsage,
                "‘class_weight’ and the model file (class_weights) both weigh the classes. Give "
                "one of them.");
  SOTTO_ASSIGN(spec.class_weights, weights_by_class(asked, classes, data));
  return {};
}

}  // namespace sotto
