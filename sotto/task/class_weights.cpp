#include "sotto/task/class_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sotto/core/nearest.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/data/dataset.hpp"
#include "sotto/data/schema.hpp"
#include "sotto/loss/loss_info.hpp"

namespace sotto {
namespace {

Expected<ClassWeight> parse_one(std::string_view text) {
  const std::size_t equals = std::min(text.rfind('='), text.size());
  const auto weight = finite_in(text.substr(std::min(equals + 1, text.size())));
  if (equals == 0 || !weight)
    return fail(
        ErrorKind::kUsage,
        fmt::format("‘class_weight’ takes NAME=WEIGHT, such as positive=4, but is '{}'.", text));
  if (!is_class_weight(*weight))
    return fail(ErrorKind::kUsage,
                fmt::format("the ‘class_weight’ of {} must lie between {:g} and {:g}, but is {}.",
                            text.substr(0, equals),
                            kLeastClassWeight,
                            kMostClassWeight,
                            *weight));
  return ClassWeight{std::string(text.substr(0, equals)), *weight};
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
  for (std::size_t begin = 0; begin < text.size();) {
    // A name may have commas itself.
    std::size_t end = std::min(text.find(',', begin), text.size());
    while (end < text.size() && text.substr(begin, end - begin).find('=') == text.npos)
      end = std::min(text.find(',', end + 1), text.size());
    SOTTO_ASSIGN(ClassWeight one, parse_one(text.substr(begin, end - begin)));
    weights.push_back(std::move(one));
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
  for (const ClassWeight& each : asked) {
    const auto place = class_called(each.name, classes, data, schema);
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
    seen[*place] = true;
    weights[*place] = each.weight;
  }
  return weights;
}

}  // namespace sotto
