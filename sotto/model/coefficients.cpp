#include "sotto/model/coefficients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sotto/data/schema.hpp"
#include "sotto/objective/network/spec.hpp"

namespace sotto {
namespace {

Expected<Schema> schema_of(const Model& model) {
  auto schema = Schema::parse(model.schema, "the model's schema");
  if (!schema) return fail(ErrorKind::kBadData, schema.error().message);
  return schema;
}

/// The bounds of each feature that is a column's number, in the order of Schema::feature_names().
std::vector<std::optional<std::pair<double, double>>> bounds_of(const Schema& schema) {
  std::vector<std::optional<std::pair<double, double>>> bounds;
  for (const auto& column : schema.columns) {
    const std::size_t before = bounds.size();
    bounds.resize(before + column.features());
    if (column.kind == Schema::Kind::kNumeric && column.edges.empty() &&
        column.scale == Schema::Column::Scale::kLinear)
      bounds[before] = std::pair(column.min, column.max);
  }
  return bounds;
}

std::string feature_name(const Model& model, std::size_t j) {
  return j < model.feature_names.size() ? model.feature_names[j] : fmt::format("feature {}", j + 1);
}

/// Whether it is a linear model of several classes, of rows as they are.
bool is_linear_in_classes(const NetworkSpec& spec) {
  return spec.loss == NetworkLoss::kSoftmax && spec.mean.empty() && spec.deviation.empty() &&
         spec.layers.size() == 1 && spec.layers.front().kind == LayerKind::kLinear;
}

}  // namespace

Expected<std::vector<Coefficient>> coefficients(const Model& model) {
  if (model.w.size() < (model.bias ? 1 : 0))
    return fail(ErrorKind::kBadData, "the model has no weights. Train again.");
  const auto features = static_cast<std::size_t>(model.w.size()) - (model.bias ? 1 : 0);
  std::vector<Coefficient> result;
  for (std::size_t j = 0; j < features; ++j)
    result.push_back({feature_name(model, j), model.w[static_cast<Eigen::Index>(j)]});
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

double ClassCoefficient::spread() const {
  const auto [low, high] = std::minmax_element(weights.begin(), weights.end());
  return *high - *low;
}

Expected<std::optional<ClassCoefficients>> class_coefficients(const Model& model) {
  if (model.network.empty()) return std::optional<ClassCoefficients>();
  SOTTO_ASSIGN(const NetworkSpec spec, parse_network(model.network, "the model's network"));
  SOTTO_TRY(shapes_of(spec));
  if (!is_linear_in_classes(spec)) return std::optional<ClassCoefficients>();
  if (model.w.size() != parameter_count(spec))
    return fail(ErrorKind::kBadData,
                fmt::format("the model has {} weights, but its network has {} parameters.",
                            model.w.size(),
                            parameter_count(spec)));
  const auto classes = static_cast<std::size_t>(spec.layers.front().outputs);
  const auto features = static_cast<std::size_t>(spec.input.size());
  const auto against_mean = [](std::vector<double> weights) {
    // Each divided before it is added: a sum of finite weights may be none.
    double mean = 0;
    for (const double each : weights) mean += each / static_cast<double>(weights.size());
    for (double& each : weights) each -= mean;
    return weights;
  };
  const auto column = [&](std::size_t begin, std::size_t step) {
    std::vector<double> weights(classes);
    for (std::size_t c = 0; c < classes; ++c)
      weights[c] = model.w[static_cast<Eigen::Index>(begin + c * step)];
    return against_mean(std::move(weights));
  };
  ClassCoefficients result;
  for (std::size_t j = 0; j < features; ++j)
    result.features.push_back({feature_name(model, j), column(j, features)});
  if (spec.layers.front().bias)
    result.intercept = ClassCoefficient{"intercept", column(classes * features, 1)};
  return std::optional(std::move(result));
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
