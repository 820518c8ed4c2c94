#include "sotto/model/deploy/deployment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/text.hpp"
#include "sotto/data/schema.hpp"
#include "sotto/model/statement.hpp"
#include "sotto/objective/network/spec.hpp"

namespace sotto::deploy {
namespace {

tl::unexpected<Error> not_itself(std::int64_t has, const char* whose, std::int64_t needs) {
  return fail(ErrorKind::kBadData,
              fmt::format("the model contradicts itself: it has {} features, but its {} says {}. "
                          "Train again.",
                          has,
                          whose,
                          needs));
}

Expected<void> describe_encoding(const Model& model, Deployment& result) {
  const auto schema = Schema::parse(model.schema, "the model's schema");
  if (!schema) return fail(ErrorKind::kBadData, schema.error().message);
  result.encoding = encoding_of(*schema);
  if (result.encoding->features != result.features)
    return not_itself(result.features, "schema", result.encoding->features);
  // Rows within the schema's own bound are never scaled.
  if (result.row_norm >= schema->row_norm_bound(result.bias)) result.row_norm = 0;
  return {};
}

/// Linear layers and what is done to single numbers.
std::optional<Layer::Kind> plain_kind(LayerKind kind) {
  switch (kind) {
    case LayerKind::kLinear:
      return Layer::Kind::kLinear;
    case LayerKind::kRelu:
      return Layer::Kind::kRelu;
    case LayerKind::kTanh:
      return Layer::Kind::kTanh;
    case LayerKind::kSigmoid:
      return Layer::Kind::kSigmoid;
    case LayerKind::kGelu:
      return Layer::Kind::kGelu;
    default:
      return std::nullopt;
  }
}

/// (x - mean) / deviation by channel, as a layer with one weight per feature would be large: it is
/// taken into the first linear layer.
void take_in_constants(const NetworkSpec& spec, Layer& first) {
  const auto per_channel = static_cast<std::size_t>(spec.input.height * spec.input.width);
  const auto inputs = static_cast<std::size_t>(first.inputs);
  if (first.biases.empty()) first.biases.resize(static_cast<std::size_t>(first.outputs));
  for (std::size_t o = 0; o < first.biases.size(); ++o)
    for (std::size_t i = 0; i < inputs; ++i) {
      double& weight = first.weights[o * inputs + i];
      if (!spec.deviation.empty()) weight /= spec.deviation[i / per_channel];
      if (!spec.mean.empty()) first.biases[o] -= weight * spec.mean[i / per_channel];
    }
}

Expected<std::vector<Layer>> network_layers(const Model& model, const std::string& instead) {
  SOTTO_ASSIGN(const NetworkSpec spec, parse_network(model.network, "the model's network"));
  SOTTO_ASSIGN(const auto shapes, shapes_of(spec));
  const auto ranges = parameter_ranges(spec);
  std::vector<Layer> layers;
  for (std::size_t k = 0; k < spec.layers.size(); ++k) {
    const LayerSpec& from = spec.layers[k];
    if (from.kind == LayerKind::kFlatten || from.kind == LayerKind::kDropout) continue;
    const auto kind = plain_kind(from.kind);
    if (!kind)
      return fail(ErrorKind::kUsage,
                  fmt::format("layer {} of the network, '{}', can't be written in this format. {}",
                              k + 1,
                              to_text(from),
                              instead));
    Layer& layer =
        layers.emplace_back(Layer{*kind, shapes[k].size(), shapes[k + 1].size(), {}, {}});
    const double* w = model.w.data() + ranges[k].begin;
    std::transform(w, w + ranges[k].weights, std::back_inserter(layer.weights), in_single);
    w += ranges[k].weights;
    std::transform(w, w + ranges[k].biases, std::back_inserter(layer.biases), in_single);
  }
  if (spec.mean.empty() && spec.deviation.empty()) return layers;
  if (layers.empty() || layers.front().kind != Layer::Kind::kLinear)
    return fail(ErrorKind::kUsage,
                fmt::format("the network changes its input by ‘mean’ and ‘deviation’ before a "
                            "layer that is not linear, which can't be written in this format. {}",
                            instead));
  take_in_constants(spec, layers.front());
  return layers;
}

}  // namespace

Expected<Deployment> deployment_of(const Model& model) {
  if (!model.w.allFinite())
    return fail(ErrorKind::kBadData, "a weight of the model is not a finite number. Train again.");
  Deployment result;
  SOTTO_ASSIGN(result.kind, kind_of(model));
  result.linear = model.network.empty();
  result.loss = model.loss;
  if (result.linear) {
    result.bias = model.bias;
    result.row_norm = model.row_norm;
    result.features = model.w.size() - (model.bias ? 1 : 0);
    if (result.features < 1) return fail(ErrorKind::kBadData, "the model has no weights.");
  } else {
    SOTTO_ASSIGN(const NetworkSpec spec, parse_network(model.network, "the model's network"));
    SOTTO_ASSIGN(const auto shapes, shapes_of(spec));
    if (model.w.size() != parameter_count(spec))
      return fail(ErrorKind::kBadData,
                  fmt::format("the model has {} weights, but its network has {} parameters.",
                              model.w.size(),
                              parameter_count(spec)));
    result.features = shapes.front().size();
    result.outputs = shapes.back().size();
  }
  if (!model.schema.empty()) SOTTO_TRY(describe_encoding(model, result));
  if (result.kind.classes) {
    const auto classes = static_cast<std::size_t>(std::max<std::int64_t>(2, result.outputs));
    SOTTO_ASSIGN(result.classes, all_class_names(model, classes));
  }
  return result;
}

Expected<std::vector<Layer>> layers_of(const Model& model, const std::string& instead) {
  if (!model.network.empty()) return network_layers(model, instead);
  const std::int64_t features = model.w.size() - (model.bias ? 1 : 0);
  const double* w = model.w.data();
  Layer layer{Layer::Kind::kLinear, features, 1, {w, w + features}, {}};
  if (model.bias) layer.biases = {w[features]};
  return std::vector<Layer>{std::move(layer)};
}

Expected<std::vector<std::string>> fact_lines(const Model& model) {
  SOTTO_ASSIGN(const auto facts, statement_facts(model));
  std::vector<std::string> lines;
  for (const auto& [key, value] : facts) {
    const bool is_json = value.starts_with('{') || value.starts_with('[');
    std::string line = key + " ";
    for (const char c : is_json ? escaped_json(value) : on_one_line(value)) {
      if (is_json && c == '/')
        line += "\\/";
      else if (is_json && c == '?')
        line += "\\u003f";
      else if (is_json && c == '*')
        line += "\\u002a";
      else
        line += c;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string literal(double value) {
  std::string text = fmt::format("{:.17g}", value);
  if (const std::string shortest = fmt::format("{}", value); shortest.size() < text.size())
    text = shortest;
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

}  // namespace sotto::deploy
