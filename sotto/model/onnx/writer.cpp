// A trained model as an ONNX graph.

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "sotto/core/directed_text.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/json.hpp"
#include "sotto/model/model_json.hpp"
#include "sotto/model/onnx/graph.hpp"
#include "sotto/model/onnx/onnx.hpp"

namespace sotto::onnx_file {
namespace {

using Dims = std::vector<std::int64_t>;

Attribute ints(const char* name, std::vector<std::int64_t> values) {
  Attribute attribute;
  attribute.name = name;
  attribute.kind = AttributeKind::kInts;
  attribute.integers = std::move(values);
  return attribute;
}

Attribute integer(const char* name, std::int64_t value) {
  Attribute attribute;
  attribute.name = name;
  attribute.kind = AttributeKind::kInt;
  attribute.integer = value;
  return attribute;
}

Attribute number(const char* name, double value) {
  Attribute attribute;
  attribute.name = name;
  attribute.kind = AttributeKind::kFloat;
  attribute.number = value;
  return attribute;
}

class Writer {
 public:
  /// An input of the given shape; flat ones have no height and width in the file.
  explicit Writer(const ImageShape& input) : shape_(input), flat_(is_flat(input)) {
    Dims dims{kFree};
    const Dims own = dims_of(input, flat_);
    dims.insert(dims.end(), own.begin(), own.end());
    graph_.inputs.push_back({"input", dims, true});
    last_ = "input";
  }

  /// (x - mean) / deviation by channel.
  void put_constants(const std::vector<double>& mean, const std::vector<double>& deviation) {
    Dims dims{shape_.channels};
    if (!flat_) dims.insert(dims.end(), {1, 1});
    if (!mean.empty()) put("Sub", {last_, constant("mean", dims, mean)});
    if (!deviation.empty()) put("Div", {last_, constant("deviation", dims, deviation)});
  }

  void put_layer(const LayerSpec& layer,
                 const ImageShape& out,
                 const double* w,
                 std::size_t number);

  std::string put(const std::string& op,
                  std::vector<std::string> inputs,
                  std::vector<Attribute> attributes = {}) {
    Node node;
    node.op = op;
    node.name = fmt::format("{}_{}", op, graph_.nodes.size() + 1);
    node.inputs = std::move(inputs);
    node.outputs = {fmt::format("value_{}", graph_.nodes.size() + 1)};
    node.attributes = std::move(attributes);
    last_ = node.outputs[0];
    graph_.nodes.push_back(std::move(node));
    return last_;
  }

  std::string constant(const std::string& name,
                       Dims dims,
                       std::vector<double> values,
                       bool whole = false) {
    auto tensor = std::make_shared<Tensor>();
    tensor->dims = std::move(dims);
    tensor->values = std::move(values);
    tensor->whole = whole;
    graph_.constants[name] = std::move(tensor);
    return name;
  }

  const std::string& last() const { return last_; }
  void set_outputs(std::int64_t count) { shape_ = {count, 1, 1}; }

  Graph finish() && {
    if (!flat_) flatten();
    if (graph_.nodes.empty()) put("Identity", {last_});
    graph_.nodes.back().outputs[0] = "scores";
    graph_.outputs.push_back({"scores", {kFree, shape_.channels}, true});
    return std::move(graph_);
  }

 private:
  static bool is_flat(const ImageShape& shape) { return shape.height == 1 && shape.width == 1; }
  static Dims dims_of(const ImageShape& shape, bool flat) {
    return flat ? Dims{shape.channels} : Dims{shape.channels, shape.height, shape.width};
  }

  void flatten() {
    put("Flatten", {last_}, {integer("axis", 1)});
    shape_ = {shape_.size(), 1, 1};
    flat_ = true;
  }

  void to_shape(const std::string& name, Dims dims) {
    std::vector<double> values(dims.begin(), dims.end());
    put("Reshape", {last_, constant(name, {std::ssize(dims)}, std::move(values), true)});
  }

  /// Convolutions and pools need height and width in the file even if both are 1.
  void need_image(const std::string& prefix) {
    if (!flat_) return;
    to_shape(prefix + ".image", {0, shape_.channels, shape_.height, shape_.width});
    flat_ = false;
  }

  std::vector<Attribute> window(const LayerSpec& layer) const {
    const Pair p = layer.padding;
    return {ints("kernel_shape", {layer.kernel.y, layer.kernel.x}),
            ints("strides", {layer.stride.y, layer.stride.x}),
            ints("pads", {p.y, p.x, p.y, p.x})};
  }

  void put_gelu(const std::string& prefix) {
    const std::string x = last_;
    put("Div", {x, constant(prefix + ".root_two", {}, {std::sqrt(2.0)})});
    put("Erf", {last_});
    put("Add", {last_, constant(prefix + ".one", {}, {1})});
    put("Mul", {x, last_});
    put("Mul", {last_, constant(prefix + ".half", {}, {0.5})});
  }

  void put_groupnorm(const LayerSpec& layer, const std::string& prefix, const double* w) {
    const auto groups = static_cast<std::size_t>(layer.groups);
    const auto channels = static_cast<std::size_t>(shape_.channels);
    to_shape(prefix + ".groups", {0, layer.groups, -1});
    put("InstanceNormalization",
        {last_,
         constant(prefix + ".ones", {layer.groups}, std::vector<double>(groups, 1)),
         constant(prefix + ".zeros", {layer.groups}, std::vector<double>(groups, 0))},
        {number("epsilon", 1e-5)});
    Dims back = dims_of(shape_, flat_);
    back.insert(back.begin(), 0);
    to_shape(prefix + ".shape", back);
    Dims dims{shape_.channels};
    if (!flat_) dims.insert(dims.end(), {1, 1});
    put("Mul", {last_, constant(prefix + ".weight", dims, {w, w + channels})});
    put("Add", {last_, constant(prefix + ".bias", dims, {w + channels, w + 2 * channels})});
  }

  void put_layernorm(const std::string& prefix, const double* w) {
    const Dims dims = dims_of(shape_, flat_);
    Dims axes(dims.size());
    std::iota(axes.begin(), axes.end(), 1);
    const auto features = static_cast<std::size_t>(shape_.size());
    const std::string x = last_;
    put("ReduceMean", {x}, {ints("axes", axes), integer("keepdims", 1)});
    const std::string centered = put("Sub", {x, last_});
    put("Pow", {centered, constant(prefix + ".two", {}, {2})});
    put("ReduceMean", {last_}, {ints("axes", axes), integer("keepdims", 1)});
    put("Add", {last_, constant(prefix + ".floor", {}, {1e-5})});
    put("Sqrt", {last_});
    put("Div", {centered, last_});
    put("Mul", {last_, constant(prefix + ".weight", dims, {w, w + features})});
    put("Add", {last_, constant(prefix + ".bias", dims, {w + features, w + 2 * features})});
  }

  Graph graph_;
  ImageShape shape_;
  bool flat_;  ///< the file's tensor is (batch, features)
  std::string last_;
};

void Writer::put_layer(const LayerSpec& layer,
                       const ImageShape& out,
                       const double* w,
                       std::size_t count) {
  const std::string prefix = fmt::format("layer{}", count);
  switch (layer.kind) {
    case LayerKind::kLinear: {
      if (!flat_) flatten();
      const std::int64_t weights = layer.outputs * shape_.size();
      std::vector<std::string> inputs{
          last_, constant(prefix + ".weight", {layer.outputs, shape_.size()}, {w, w + weights})};
      if (layer.bias)
        inputs.push_back(constant(
            prefix + ".bias", {layer.outputs}, {w + weights, w + weights + layer.outputs}));
      put("Gemm", inputs, {number("alpha", 1), number("beta", 1), integer("transB", 1)});
      break;
    }
    case LayerKind::kConv: {
      need_image(prefix);
      const Dims dims{
          layer.outputs, shape_.channels / layer.groups, layer.kernel.y, layer.kernel.x};
      const std::int64_t weights = dims[0] * dims[1] * dims[2] * dims[3];
      std::vector<std::string> inputs{last_, constant(prefix + ".weight", dims, {w, w + weights})};
      if (layer.bias)
        inputs.push_back(constant(
            prefix + ".bias", {layer.outputs}, {w + weights, w + weights + layer.outputs}));
      auto attributes = window(layer);
      attributes.push_back(ints("dilations", {1, 1}));
      attributes.push_back(integer("group", layer.groups));
      put("Conv", inputs, attributes);
      break;
    }
    case LayerKind::kRelu:
      put("Relu", {last_});
      break;
    case LayerKind::kTanh:
      put("Tanh", {last_});
      break;
    case LayerKind::kSigmoid:
      put("Sigmoid", {last_});
      break;
    case LayerKind::kGelu:
      put_gelu(prefix);
      break;
    case LayerKind::kMaxPool:
    case LayerKind::kAveragePool:
      need_image(prefix);
      put(layer.kind == LayerKind::kMaxPool ? "MaxPool" : "AveragePool", {last_}, window(layer));
      break;
    case LayerKind::kGlobalMax:
    case LayerKind::kGlobalAverage:
      need_image(prefix);
      put(layer.kind == LayerKind::kGlobalMax ? "GlobalMaxPool" : "GlobalAveragePool", {last_});
      break;
    case LayerKind::kFlatten:
      if (!flat_) flatten();
      break;
    case LayerKind::kGroupNorm:
      put_groupnorm(layer, prefix, w);
      break;
    case LayerKind::kLayerNorm:
      put_layernorm(prefix, w);
      break;
    case LayerKind::kDropout:
      break;
  }
  shape_ = out;
}

/// <w, x> of a linear model, on rows that are scaled down to the row norm like those it was
/// trained on.
Expected<Graph> linear_graph(const Model& model) {
  const std::int64_t features = model.w.size() - (model.bias ? 1 : 0);
  if (features < 1) return fail(ErrorKind::kBadData, "the model has no weights.");
  Writer writer({features, 1, 1});
  const std::string x = writer.last();
  std::vector<std::string> inputs{
      x, writer.constant("weight", {1, features}, {model.w.data(), model.w.data() + features})};
  if (model.bias) inputs.push_back(writer.constant("bias", {1}, {model.w[features]}));
  std::string scores = writer.put("Gemm", inputs, {integer("transB", 1)});
  if (model.row_norm > 0) {
    // scores · R / max(|row|, R), where the row has a 1 for the intercept.
    const std::string bound = writer.constant("row_norm", {1}, {model.row_norm});
    writer.put("ReduceSumSquare", {x}, {ints("axes", {1}), integer("keepdims", 1)});
    if (model.bias) writer.put("Add", {writer.last(), writer.constant("one", {1}, {1})});
    writer.put("Sqrt", {writer.last()});
    writer.put("Max", {writer.last(), bound});
    const std::string factor = writer.put("Div", {bound, writer.last()});
    scores = writer.put("Mul", {scores, factor});
  }
  if (model.loss.kind == LossKind::kPhaseRetrieval) writer.put("Mul", {scores, scores});
  if (model.loss.kind == LossKind::kPoisson) {
    // Taken before the exponential, which then stays finite: the rate is at most the threshold.
    const std::string last = writer.constant("largest", {1}, {std::log(model.loss.threshold)});
    writer.put("Exp", {writer.put("Min", {scores, last})});
  }
  writer.set_outputs(1);
  return std::move(writer).finish();
}

Expected<Graph> network_graph(const Model& model, std::string& loss) {
  SOTTO_ASSIGN(const NetworkSpec spec, parse_network(model.network, "the model's network"));
  SOTTO_ASSIGN(const auto shapes, shapes_of(spec));
  const auto ranges = parameter_ranges(spec);
  if (model.w.size() != parameter_count(spec))
    return fail(ErrorKind::kBadData,
                fmt::format("the model has {} weights, but its network has {} parameters.",
                            model.w.size(),
                            parameter_count(spec)));
  const char* losses[] = {"softmax", "logistic", "squared"};
  loss = losses[static_cast<int>(spec.loss)];
  Writer writer(spec.input);
  writer.put_constants(spec.mean, spec.deviation);
  for (std::size_t i = 0; i < spec.layers.size(); ++i)
    writer.put_layer(spec.layers[i], shapes[i + 1], model.w.data() + ranges[i].begin, i + 1);
  return std::move(writer).finish();
}

std::string privacy_sentence(const PrivacyStatement& privacy) {
  if (!privacy.is_private) return "Trained by Sotto without differential privacy.";
  return fmt::format(
      "Trained by Sotto with differential privacy: epsilon {}, delta {}, {}, unit {}{}.",
      text_up(privacy.epsilon),
      text_up(privacy.delta),
      to_string(privacy.neighbours),
      privacy.unit,
      privacy.insecure_seed || privacy.unsafe_diagnostics
          ? " (not a guarantee: insecure seed or unsafe diagnostics)"
          : "");
}

/// What the file's readers are told: also what rests on a declaration of somebody.
std::string description_of(const Model& model) {
  std::string text = privacy_sentence(model.privacy);
  if (model.privacy.start_declared_public)
    text += " Its training started from weights that were declared public.";
  if (model.recalibrated)
    text += " Its scores were recalibrated on rows that were declared public.";
  return text;
}

/// As in the model file.
nlohmann::json recalibration_json(const Recalibration& done) {
  return {{"intercept", done.intercept},
          {"method", std::string(to_string(done.method))},
          {"rows", done.rows},
          {"slope", done.slope}};
}

}  // namespace
}  // namespace sotto::onnx_file

namespace sotto {

Expected<std::string> to_onnx(const Model& model) {
  std::string loss = to_string(model.loss);
  SOTTO_ASSIGN(onnx_file::Graph graph,
               model.network.empty() ? onnx_file::linear_graph(model)
                                     : onnx_file::network_graph(model, loss));
  graph.opset = 13;
  graph.description = onnx_file::description_of(model);
  graph.metadata["sotto.privacy"] = json_text(to_json(model.privacy));
  graph.metadata["sotto.method"] = model.method;
  graph.metadata["sotto.loss"] = loss;
  if (model.recalibrated)
    graph.metadata["sotto.recalibrated"] =
        json_text(onnx_file::recalibration_json(*model.recalibrated));
  if (!model.class_names.empty())
    graph.metadata["sotto.class_names"] = json_text(nlohmann::json(model.class_names));
  if (!model.feature_names.empty())
    graph.metadata["sotto.feature_names"] = json_text(nlohmann::json(model.feature_names));
  return onnx_file::serialize(graph);
}

Expected<void> save_onnx(const Model& model, const std::string& path) {
  SOTTO_ASSIGN(const std::string bytes, to_onnx(model));
  return write_file_atomically(path, bytes);
}

}  // namespace sotto
