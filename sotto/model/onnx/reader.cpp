#include "sotto/model/onnx/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/file.hpp"
#include "sotto/core/json.hpp"
#include "sotto/model/model_json.hpp"

namespace sotto::onnx_file {
namespace {

constexpr std::int64_t kFirstOpset = 11;
constexpr std::int64_t kLastOpset = 21;

constexpr const char* kSupported =
    "Supported: Conv, Gemm, MatMul, Add, Sub, Mul, Div (by constants), Relu, Tanh, Sigmoid, Gelu, "
    "Erf (in GELU), MaxPool, AveragePool, GlobalMaxPool, GlobalAveragePool, ReduceMean, Flatten, "
    "Reshape, Squeeze, Unsqueeze, InstanceNormalization (as GroupNorm), LayerNormalization, "
    "Dropout, "
    "Identity, Constant, Pad (of nothing), and a last Softmax or LogSoftmax";

template <class T>
const Attribute* find(const T& attributes, const char* name) {
  for (const auto& each : attributes)
    if (each.name == name) return &each;
  return nullptr;
}

bool all_are(const std::vector<double>& values, double value) {
  return std::all_of(values.begin(), values.end(), [&](double v) { return v == value; });
}

}  // namespace

tl::unexpected<Error> refuse(std::string text) {
  return fail(ErrorKind::kBadData, std::move(text));
}

bool same(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

std::optional<double> scalar(const Value& value) {
  if (value.role != Role::kConstant || value.tensor->values.size() != 1) return {};
  return value.tensor->values[0];
}

std::vector<std::int64_t> whole_values(const Tensor& tensor) {
  std::vector<std::int64_t> values;
  for (const double value : tensor.values)
    values.push_back(static_cast<std::int64_t>(std::clamp(std::trunc(value), -1e15, 1e15)));
  return values;
}

std::int64_t Reader::integer(const Node& node, const char* name, std::int64_t otherwise) {
  const Attribute* attribute = find(node.attributes, name);
  if (!attribute) return otherwise;
  if (attribute->kind != AttributeKind::kInt) wrong_attribute_ = name;
  return attribute->integer;
}

double Reader::number(const Node& node, const char* name, double otherwise) {
  const Attribute* attribute = find(node.attributes, name);
  if (!attribute) return otherwise;
  if (attribute->kind != AttributeKind::kFloat) wrong_attribute_ = name;
  return attribute->number;
}

std::string Reader::text(const Node& node, const char* name, const std::string& otherwise) {
  const Attribute* attribute = find(node.attributes, name);
  if (!attribute) return otherwise;
  if (attribute->kind != AttributeKind::kText) wrong_attribute_ = name;
  return attribute->text;
}

std::vector<std::int64_t> Reader::integers(const Node& node,
                                           const char* name,
                                           std::vector<std::int64_t> otherwise) {
  const Attribute* attribute = find(node.attributes, name);
  if (!attribute) return otherwise;
  if (attribute->kind != AttributeKind::kInts) wrong_attribute_ = name;
  return attribute->integers;
}

Expected<Value> Reader::input(const Node& node, std::size_t index) const {
  if (index >= node.inputs.size() || node.inputs[index].empty())
    return refuse(fmt::format("its input {} is missing.", index + 1));
  const auto found = values_.find(node.inputs[index]);
  if (found == values_.end())
    return refuse(fmt::format(
        "its input '{}' is neither a constant of this file nor made by a node before it.",
        shown(node.inputs[index])));
  return found->second;
}

Expected<void> Reader::need_head(const Value& x) const {
  if (!last_.empty()) return refuse(fmt::format("nothing may follow a {}.", last_));
  if (x.version != version_)
    return refuse("the network branches here: the layers must form a chain.");
  return {};
}

Expected<void> Reader::need_live(const Value& x) const {
  if (x.role != Role::kActivation)
    return refuse("its input is not the output of a supported layer.");
  return need_head(x);
}

Expected<Value> Reader::live(const Node& node, std::size_t index) const {
  SOTTO_ASSIGN(Value x, input(node, index));
  SOTTO_TRY(need_live(x));
  return x;
}

Expected<void> Reader::need_image(const Value& x) const {
  if (x.dims != std::vector<std::int64_t>{shape_.channels, shape_.height, shape_.width})
    return refuse(
        "it needs an image (batch, channels, height, width) as the layer before gave it.");
  return {};
}

Expected<TensorPtr> Reader::constant_input(const Node& node, std::size_t index) const {
  SOTTO_ASSIGN(const Value value, input(node, index));
  if (value.role != Role::kConstant)
    return refuse(fmt::format("its input {} must be a constant.", index + 1));
  return value.tensor;
}

/// From the attribute, or (later opsets) from an input.
Expected<std::vector<std::int64_t>> Reader::axes_of(const Node& node, std::size_t index) {
  if (index < node.inputs.size() && !node.inputs[index].empty()) {
    SOTTO_ASSIGN(const TensorPtr axes, constant_input(node, index));
    return whole_values(*axes);
  }
  return integers(node, "axes", {});
}

Value Reader::head(std::vector<std::int64_t> dims) const {
  Value value;
  value.role = Role::kActivation;
  value.version = version_;
  value.dims = std::move(dims);
  return value;
}

Value Reader::partial(Role role, const Value& of) const {
  Value value;
  value.role = role;
  value.version = of.version;
  value.dims = of.dims;
  return value;
}

Expected<Value> Reader::put(Draft draft, ImageShape out, std::vector<std::int64_t> dims) {
  layers_.push_back(std::move(draft));
  shape_ = out;
  ++version_;
  return head(std::move(dims));
}

/// Reshaping to a list costs nothing until a layer needs the list.
Expected<void> Reader::flatten_shape() {
  if (shape_.height * shape_.width == 1) return {};
  Draft draft;
  draft.spec.kind = LayerKind::kFlatten;
  SOTTO_TRY(put(std::move(draft), {shape_.size(), 1, 1}, {shape_.size()}));
  return {};
}

Expected<Value> Reader::reshaped(const Value& x, std::vector<std::int64_t> dims) {
  if (bounded_product(dims, kMostFeatures) != bounded_product(x.dims, kMostFeatures))
    return refuse("it changes the number of values of an example: examples would be mixed or cut.");
  // A flat input may be declared an image, since its order is the same.
  if (layers_.empty() && x.version == version_ && dims.size() == 3 && shape_.height == 1 &&
      shape_.width == 1 && shape_.channels > 1) {
    if (!all_are(gain_, gain_[0]) || !all_are(offset_, offset_[0]))
      return refuse("constants of single features can't become constants of channels.");
    input_ = shape_ = {dims[0], dims[1], dims[2]};
    gain_.assign(static_cast<std::size_t>(dims[0]), gain_[0]);
    offset_.assign(static_cast<std::size_t>(dims[0]), offset_[0]);
  }
  Value value = x;
  value.dims = std::move(dims);
  const bool as_given =
      value.dims == std::vector<std::int64_t>{shape_.channels, shape_.height, shape_.width};
  value.listed = !as_given && (x.listed || value.dims.size() == 1);
  return value;
}

Expected<void> Reader::read_input() {
  if (graph_.opset < kFirstOpset || graph_.opset > kLastOpset)
    return refuse(
        fmt::format("its operator set is {}, but {} to {} are read. Export with opset_version=17.",
                    graph_.opset,
                    kFirstOpset,
                    kLastOpset));
  if (graph_.inputs.size() != 1 || graph_.outputs.size() != 1)
    return refuse(fmt::format("a network must have one input and one output, but has {} and {}.",
                              graph_.inputs.size(),
                              graph_.outputs.size()));
  const Port& port = graph_.inputs[0];
  std::vector<std::int64_t> dims;
  if (!port.dims.empty()) dims.assign(port.dims.begin() + 1, port.dims.end());
  const bool fixed = std::all_of(
      dims.begin(), dims.end(), [](std::int64_t d) { return d >= 1 && d <= kMostExtent; });
  if (dims.empty() || dims.size() > 3 || !fixed || !port.is_float() ||
      bounded_product(dims, kMostFeatures) < 1)
    return refuse(
        "its input must be float32 with a batch dimension first and fixed dimensions after it: "
        "batch, channels, height, width; or batch, features.");
  batch_ = port.dims[0];
  if (dims.size() == 1) input_ = {dims[0], 1, 1};
  if (dims.size() == 2) input_ = {1, dims[0], dims[1]};
  if (dims.size() == 3) input_ = {dims[0], dims[1], dims[2]};
  shape_ = input_;
  gain_.assign(static_cast<std::size_t>(input_.channels), 1);
  offset_.assign(static_cast<std::size_t>(input_.channels), 0);
  for (const auto& [name, tensor] : graph_.constants) {
    Value value;
    value.tensor = tensor;
    values_[name] = std::move(value);
  }
  values_[port.name] = head(dims);
  for (const auto& node : graph_.nodes)
    if (node.op == "Erf" && !node.inputs.empty()) ++erf_inputs_[node.inputs[0]];
  return {};
}

Expected<void> Reader::read_node(const Node& node) {
  const auto handler = handlers().find(node.op);
  if (handler == handlers().end())
    return refuse(fmt::format("this operator is not supported. {}.", kSupported));
  wrong_attribute_.clear();
  auto value = (this->*handler->second)(node);
  if (!wrong_attribute_.empty())
    return refuse(fmt::format("its attribute '{}' has a wrong type.", wrong_attribute_));
  if (!value) return tl::unexpected<Error>(value.error());
  if (node.outputs.empty() || node.outputs[0].empty()) return {};
  if (!values_.emplace(node.outputs[0], *std::move(value)).second)
    return refuse(fmt::format("its output '{}' has been made before.", shown(node.outputs[0])));
  return {};
}

void Reader::choose_loss(NetworkSpec& spec) const {
  const auto stated = graph_.metadata.find("sotto.loss");
  const bool regression =
      reading_.regression || (stated != graph_.metadata.end() && stated->second == "squared");
  spec.loss = shape_.channels > 1 ? NetworkLoss::kSoftmax
              : regression        ? NetworkLoss::kSquared
                                  : NetworkLoss::kLogistic;
}

Expected<OnnxNetwork> Reader::finish() {
  const auto output = values_.find(graph_.outputs[0].name);
  if (output == values_.end() || output->second.role != Role::kActivation ||
      output->second.version != version_)
    return refuse("its output is not what the last layer gives.");
  if (output->second.dims.size() > 1 &&
      output->second.dims[0] != bounded_product(output->second.dims, kMostFeatures))
    return refuse(
        "its output must be a list of numbers (batch, outputs). End with a linear layer.");
  SOTTO_TRY(flatten_shape());
  OnnxNetwork network;
  network.spec.input = input_;
  choose_loss(network.spec);
  if (network.spec.loss == NetworkLoss::kLogistic && !layers_.empty() &&
      layers_.back().spec.kind == LayerKind::kSigmoid) {
    layers_.pop_back();
    notes_.push_back("the last Sigmoid is part of the logistic loss; the network ends before it");
  }
  if (!last_.empty())
    notes_.push_back(
        fmt::format("the last {} is part of the softmax loss; the network ends before it", last_));
  if (!all_are(gain_, 1) || !all_are(offset_, 0))
    for (std::size_t c = 0; c < gain_.size(); ++c) {
      network.spec.mean.push_back(-offset_[c] / gain_[c]);
      network.spec.deviation.push_back(1 / gain_[c]);
      if (!(gain_[c] > 0) || !std::isfinite(network.spec.mean.back()) ||
          !std::isfinite(network.spec.deviation.back()) || !(network.spec.deviation.back() > 0))
        return refuse("the input is multiplied by a constant that is not positive and finite.");
    }
  std::vector<double> all;
  for (const Draft& layer : layers_) {
    network.spec.layers.push_back(layer.spec);
    all.insert(all.end(), layer.weights.begin(), layer.weights.end());
    all.insert(all.end(), layer.biases.begin(), layer.biases.end());
  }
  SOTTO_TRY(shapes_of(network.spec));
  if (std::ssize(all) != parameter_count(network.spec))
    return refuse("the weights don't fit the layers.");
  if (!std::all_of(all.begin(), all.end(), [](double w) { return std::isfinite(w); }))
    return refuse("a weight is not a finite number.");
  network.weights = Eigen::Map<const Vector>(all.data(), std::ssize(all));
  network.notes = std::move(notes_);
  return network;
}

Expected<OnnxNetwork> Reader::read() {
  SOTTO_TRY(read_input());
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const Node& node = graph_.nodes[i];
    if (auto done = read_node(node); !done)
      return refuse(fmt::format("node {} ({}{}): {}",
                                i + 1,
                                shown(node.op),
                                node.name.empty() ? "" : " '" + shown(node.name) + "'",
                                done.error().message));
  }
  return finish();
}

}  // namespace sotto::onnx_file

namespace sotto {
namespace {

/// Nothing if it is damaged: the statement is for people, the network works without it.
std::optional<PrivacyStatement> statement_of(const std::string& text) {
  const auto json = json_or_discarded(text);
  if (!json.is_object()) return {};
  try {
    auto statement = privacy_from_json(json);
    if (statement) return *statement;
  } catch (const nlohmann::json::exception&) {
  }
  return {};
}

}  // namespace

Expected<OnnxNetwork> network_from_onnx(std::string_view bytes,
                                        const std::string& path,
                                        const OnnxReading& reading) {
  const auto named = [&](const Error& error) {
    return fail(error.kind, fmt::format("{}: {}", path, error.message));
  };
  const auto graph = onnx_file::parse(bytes);
  if (!graph) return named(graph.error());
  auto network = onnx_file::Reader(*graph, reading).read();
  if (!network) return named(network.error());
  if (const auto text = graph->metadata.find("sotto.privacy"); text != graph->metadata.end())
    network->privacy = statement_of(text->second);
  return network;
}

Expected<OnnxNetwork> load_onnx(const std::string& path, const OnnxReading& reading) {
  SOTTO_ASSIGN(const std::string bytes, read_text_file(path));
  return network_from_onnx(bytes, path, reading);
}

bool is_onnx_path(std::string_view path) { return path.ends_with(".onnx"); }

}  // namespace sotto
