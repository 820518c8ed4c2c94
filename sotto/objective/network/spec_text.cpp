// Model files: TOML with one short line per layer.

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cmath>
#include <sstream>

#include "sotto/core/numbers.hpp"
#include "sotto/core/toml.hpp"
#include "sotto/loss/loss_info.hpp"
#include "sotto/objective/network/spec.hpp"

namespace sotto {
namespace {

constexpr std::int64_t kMostExtent = 1'000'000;

struct KindName {
  LayerKind kind;
  const char* name;
};
constexpr KindName kNames[] = {{LayerKind::kLinear, "linear"},
                               {LayerKind::kConv, "conv"},
                               {LayerKind::kRelu, "relu"},
                               {LayerKind::kTanh, "tanh"},
                               {LayerKind::kSigmoid, "sigmoid"},
                               {LayerKind::kGelu, "gelu"},
                               {LayerKind::kMaxPool, "maxpool"},
                               {LayerKind::kAveragePool, "avgpool"},
                               {LayerKind::kGlobalMax, "globalmax"},
                               {LayerKind::kGlobalAverage, "globalavg"},
                               {LayerKind::kFlatten, "flatten"},
                               {LayerKind::kGroupNorm, "groupnorm"},
                               {LayerKind::kLayerNorm, "layernorm"},
                               {LayerKind::kDropout, "dropout"}};

struct LossName {
  NetworkLoss loss;
  const char* name;
};
constexpr LossName kLosses[] = {{NetworkLoss::kSoftmax, "softmax"},
                                {NetworkLoss::kLogistic, "logistic"},
                                {NetworkLoss::kSquared, "squared"}};

tl::unexpected<Error> bad(std::string text) { return fail(ErrorKind::kBadData, std::move(text)); }

bool parse_whole(std::string_view text, std::int64_t least, std::int64_t& value) {
  const auto number = number_in<std::int64_t>(text);
  value = number.value_or(value);
  return number && value >= least && value <= kMostExtent;
}

/// "3" or "3x5" (height x width).
bool parse_pair(std::string_view text, std::int64_t least, Pair& pair) {
  const std::size_t cross = text.find('x');
  if (cross == text.npos) {
    if (!parse_whole(text, least, pair.y)) return false;
    pair.x = pair.y;
    return true;
  }
  return parse_whole(text.substr(0, cross), least, pair.y) &&
         parse_whole(text.substr(cross + 1), least, pair.x);
}

std::string pair_text(const Pair& pair) {
  return pair.y == pair.x ? fmt::format("{}", pair.y) : fmt::format("{}x{}", pair.y, pair.x);
}

Expected<std::vector<double>> read_numbers(const toml::table& table, const char* name) {
  std::vector<double> numbers;
  if (!table.contains(name)) return numbers;
  const toml::array* array = table[name].as_array();
  if (!array) return bad(fmt::format("{} must be a list of numbers.", name));
  for (const auto& each : *array) {
    const auto number = each.value<double>();
    if (!number || !std::isfinite(*number))
      return bad(fmt::format("{} must be a list of finite numbers.", name));
    numbers.push_back(*number);
  }
  return numbers;
}

Expected<NetworkSpec> read_table(const toml::table& table) {
  for (const auto& [key, value] : table)
    if (key != "input" && key != "mean" && key != "deviation" && key != "loss" &&
        key != "class_weights" && key != "layers")
      return bad(
          fmt::format("unknown key '{}'. A model file has input, layers, loss, class_weights, mean "
                      "and deviation.",
                      key.str()));
  NetworkSpec spec;
  SOTTO_ASSIGN(const auto extents, read_numbers(table, "input"));
  if (extents.size() != 1 && extents.size() != 3)
    return bad("input must be [channels, height, width] or [features].");
  for (const double extent : extents)
    if (!(extent >= 1 && extent <= static_cast<double>(kMostExtent) &&
          extent == std::floor(extent)))
      return bad("input must have whole numbers from 1 to 1,000,000.");
  spec.input.channels = static_cast<std::int64_t>(extents[0]);
  if (extents.size() == 3) {
    spec.input.height = static_cast<std::int64_t>(extents[1]);
    spec.input.width = static_cast<std::int64_t>(extents[2]);
  }
  SOTTO_ASSIGN(spec.mean, read_numbers(table, "mean"));
  SOTTO_ASSIGN(spec.deviation, read_numbers(table, "deviation"));
  for (const double each : spec.deviation)
    if (!(each > 0)) return bad("deviation must have numbers > 0.");
  if (table.contains("loss")) {
    const auto name = table["loss"].value<std::string>();
    bool known = false;
    for (const auto& each : kLosses)
      if (name && *name == each.name) {
        spec.loss = each.loss;
        known = true;
      }
    if (!known) return bad("loss must be \"softmax\", \"logistic\" or \"squared\".");
  }
  const toml::array* layers = table["layers"].as_array();
  if (!layers) return bad("layers must be a list of texts such as \"conv 16 3x3 pad 1\".");
  std::size_t number = 0;
  for (const auto& each : *layers) {
    ++number;
    const auto text = each.value<std::string>();
    if (!text) return bad(fmt::format("layer {} must be a text.", number));
    auto layer = parse_layer(*text);
    if (!layer) return bad(fmt::format("layer {}: {}", number, layer.error().message));
    spec.layers.push_back(*layer);
  }
  SOTTO_TRY(shapes_of(spec));
  SOTTO_ASSIGN(spec.class_weights, read_numbers(table, "class_weights"));
  if (!spec.class_weights.empty() && spec.class_weights.size() != class_count(spec))
    return bad(
        fmt::format("class_weights must be one number per class, {} here.", class_count(spec)));
  for (const double weight : spec.class_weights)
    if (!is_class_weight(weight))
      return bad(fmt::format(
          "class_weights must lie between {:g} and {:g}.", kLeastClassWeight, kMostClassWeight));
  return spec;
}

}  // namespace

Expected<LayerSpec> parse_layer(std::string_view text) {
  std::vector<std::string> words;
  std::istringstream stream{std::string(text.substr(0, 1000))};
  for (std::string word; stream >> word;) words.push_back(word);
  if (words.empty()) return bad("it is empty.");
  LayerSpec layer;
  if (words[0].starts_with("batchnorm"))
    return bad(
        "batch normalization mixes the examples of a batch: no example has a gradient of its own, "
        "so that none can be clipped. Use \"groupnorm GROUPS\" (or \"layernorm\") in its place.");
  bool known = false;
  for (const auto& each : kNames)
    if (words[0] == each.name) {
      layer.kind = each.kind;
      known = true;
    }
  if (!known)
    return bad(fmt::format(
        "unknown layer '{}'. Known: linear, conv, relu, tanh, sigmoid, gelu, "
        "maxpool, avgpool, globalmax, globalavg, flatten, groupnorm, layernorm, dropout.",
        words[0].substr(0, 40)));
  std::size_t next = 1;
  const auto more = [&] { return next < words.size(); };
  const bool conv = layer.kind == LayerKind::kConv;
  const bool pool = layer.kind == LayerKind::kMaxPool || layer.kind == LayerKind::kAveragePool;
  if (conv || layer.kind == LayerKind::kLinear)
    if (!more() || !parse_whole(words[next++], 1, layer.outputs))
      return bad("the number of outputs must follow the name, for example \"linear 10\".");
  if (conv || pool)
    if (!more() || !parse_pair(words[next++], 1, layer.kernel))
      return bad("the window must be given, for example \"maxpool 2\" or \"conv 16 3x3\".");
  if (pool) layer.stride = layer.kernel;
  if (layer.kind == LayerKind::kGroupNorm)
    if (!more() || !parse_whole(words[next++], 1, layer.groups))
      return bad("the number of groups must follow the name, for example \"groupnorm 4\".");
  while (more()) {
    const std::string& word = words[next++];
    const auto value = [&] { return more() ? words[next++] : std::string(); };
    bool ok = false;
    if (word == "stride" && (conv || pool)) ok = parse_pair(value(), 1, layer.stride);
    if (word == "pad" && conv) ok = parse_pair(value(), 0, layer.padding);
    if (word == "groups" && conv) ok = parse_whole(value(), 1, layer.groups);
    if (word == "nobias" && (conv || layer.kind == LayerKind::kLinear)) ok = !(layer.bias = false);
    if (word == "frozen") ok = layer.frozen = true;
    if (!ok)
      return bad(
          fmt::format("'{}' is not understood here. Examples: \"conv 16 8x8 stride 2 pad "
                      "3\", \"maxpool 2 stride 1\", \"linear 10 nobias\".",
                      word.substr(0, 40)));
  }
  return layer;
}

Expected<NetworkSpec> parse_network(const std::string& text, const std::string& path) {
  const auto table = read_toml(text, path);
  if (!table) return bad(table.error().told_of(path));
  auto spec = read_table(*table);
  if (!spec) return bad(fmt::format("{}: {}", path, spec.error().message));
  return spec;
}

std::string to_text(const LayerSpec& layer) {
  std::string text;
  for (const auto& each : kNames)
    if (each.kind == layer.kind) text = each.name;
  const bool pool = layer.kind == LayerKind::kMaxPool || layer.kind == LayerKind::kAveragePool;
  if (layer.kind == LayerKind::kLinear || layer.kind == LayerKind::kConv)
    text += fmt::format(" {}", layer.outputs);
  if (layer.kind == LayerKind::kConv || pool) text += " " + pair_text(layer.kernel);
  if (layer.kind == LayerKind::kGroupNorm) text += fmt::format(" {}", layer.groups);
  if ((layer.kind == LayerKind::kConv && layer.stride != Pair{1, 1}) ||
      (pool && layer.stride != layer.kernel))
    text += " stride " + pair_text(layer.stride);
  if (layer.padding != Pair{}) text += " pad " + pair_text(layer.padding);
  if (layer.kind == LayerKind::kConv && layer.groups != 1)
    text += fmt::format(" groups {}", layer.groups);
  if (!layer.bias) text += " nobias";
  if (layer.frozen) text += " frozen";
  return text;
}

std::string to_text(const NetworkSpec& spec) {
  const ImageShape& in = spec.input;
  std::string text = in.height == 1 && in.width == 1
                         ? fmt::format("input = [{}]\n", in.channels)
                         : fmt::format("input = [{}, {}, {}]\n", in.channels, in.height, in.width);
  if (!spec.mean.empty()) text += fmt::format("mean = [{}]\n", fmt::join(spec.mean, ", "));
  if (!spec.deviation.empty())
    text += fmt::format("deviation = [{}]\n", fmt::join(spec.deviation, ", "));
  for (const auto& each : kLosses)
    if (each.loss == spec.loss) text += fmt::format("loss = \"{}\"\n", each.name);
  if (!spec.class_weights.empty())
    text += fmt::format("class_weights = [{}]\n", fmt::join(spec.class_weights, ", "));
  text += "layers = [\n";
  for (const auto& layer : spec.layers) text += fmt::format("  \"{}\",\n", to_text(layer));
  return text + "]\n";
}

}  // namespace sotto
