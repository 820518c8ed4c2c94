#include "sotto/model/coefficients.hpp"

#include <fmt/format.h>

#include "sotto/data/schema.hpp"

namespace sotto {
namespace {

Expected<Schema> schema_of(const Model& model) {
  auto schema = Schema::parse(model.schema, "the model's schema");
  if (!schema) return fail(ErrorKind::kBadData, schema.error().message);
  return schema;
}

/// The bounds of each feature, in the order of Schema::feature_names().
std::vector<std::optional<std::pair<double, double>>> bounds_of(const Schema& schema) {
  std::vector<std::optional<std::pair<double, double>>> bounds;
  for (const auto& column : schema.columns) {
    const std::size_t before = bounds.size();
    if (column.kind == Schema::Kind::kNumeric)
      bounds.emplace_back(std::pair(column.min, column.max));
    if (column.kind == Schema::Kind::kOneHot) bounds.emplace_back();
    if (column.kind == Schema::Kind::kCategorical) bounds.resize(before + column.values.size());
    bounds.resize(bounds.size() + (column.other ? 1 : 0) + (column.missing_indicator ? 1 : 0));
  }
  return bounds;
}

}  // namespace

Expected<std::vector<Coefficient>> coefficients(const Model& model) {
  if (model.w.size() < (model.bias ? 1 : 0))
    return fail(ErrorKind::kBadData, "the model has no weights. Train again.");
  const auto features = static_cast<std::size_t>(model.w.size()) - (model.bias ? 1 : 0);
  std::vector<Coefficient> result;
  for (std::size_t j = 0; j < features; ++j)
    result.push_back(
        {j < model.feature_names.size() ? model.feature_names[j] : fmt::format("feature {}", j + 1),
         model.w[static_cast<Eigen::Index>(j)]});
  if (!model.schema.empty()) {
    SOTTO_ASSIGN(const Schema schema, schema_of(model));
    const auto bounds = bounds_of(schema);
    if (bounds.size() != features)
      return fail(ErrorKind::kBadData,
                  fmt::format("the model has {} features, but its schema declares {}. Train again.",
                              features,
                              bounds.size()));
    for (std::size_t j = 0; j < features; ++j) result[j].bounds = bounds[j];
  }
  if (model.bias) result.push_back({"intercept", model.w[model.w.size() - 1]});
  return result;
}

Expected<std::vector<std::string>> full_class_names(const Model& model) {
  if (!model.schema.empty()) {
    SOTTO_ASSIGN(const Schema schema, schema_of(model));
    return schema.class_names();
  }
  if (!model.class_names.empty()) return model.class_names;
  if (model.network.empty() && loss_info(model.loss).classification)
    return std::vector<std::string>{"-1", "+1"};
  return std::vector<std::string>();
}

}  // namespace sotto
