// What each operator does to the chain.

#include <fmt/format.h>

#include "sotto/model/onnx/reader.hpp"

namespace sotto::onnx_file {
namespace {

std::int64_t slide(std::int64_t extent,
                   std::int64_t window,
                   std::int64_t stride,
                   std::int64_t pad) {
  const std::int64_t room = extent + 2 * pad - window;
  return room < 0 ? 0 : room / stride + 1;
}

}  // namespace

const std::map<std::string, Reader::Handler>& Reader::handlers() {
  static const std::map<std::string, Handler> all = {
      {"Constant", &Reader::constant},
      {"Identity", &Reader::identity},
      {"Dropout", &Reader::identity},
      {"Shape", &Reader::shape},
      {"Gather", &Reader::gather},
      {"Concat", &Reader::concat},
      {"Transpose", &Reader::transpose},
      {"Squeeze", &Reader::change_rank},
      {"Unsqueeze", &Reader::change_rank},
      {"Reshape", &Reader::reshape},
      {"Flatten", &Reader::flatten},
      {"Pad", &Reader::pad},
      {"Cast", &Reader::cast},
      {"Conv", &Reader::conv},
      {"Gemm", &Reader::gemm},
      {"MatMul", &Reader::matmul},
      {"Relu", &Reader::activation},
      {"Tanh", &Reader::activation},
      {"Sigmoid", &Reader::activation},
      {"Gelu", &Reader::activation},
      {"MaxPool", &Reader::pool},
      {"AveragePool", &Reader::pool},
      {"GlobalMaxPool", &Reader::global_pool},
      {"GlobalAveragePool", &Reader::global_pool},
      {"InstanceNormalization", &Reader::instance_norm},
      {"LayerNormalization", &Reader::layer_norm},
      {"BatchNormalization", &Reader::batch_norm},
      {"Softmax", &Reader::softmax},
      {"LogSoftmax", &Reader::softmax},
      {"Add", &Reader::add},
      {"Sub", &Reader::subtract},
      {"Mul", &Reader::multiply},
      {"Div", &Reader::divide},
      {"Pow", &Reader::power},
      {"Sqrt", &Reader::square_root},
      {"Erf", &Reader::erf},
      {"ReduceMean", &Reader::reduce_mean}};
  return all;
}

/// kernel_shape, strides, pads, dilations, auto_pad, ceil_mode.
Expected<void> Reader::window(const Node& node, LayerSpec& layer, bool conv) {
  const auto kernel = integers(node, "kernel_shape", {layer.kernel.y, layer.kernel.x});
  const auto strides = integers(node, "strides", {1, 1});
  const auto pads = integers(node, "pads", {0, 0, 0, 0});
  const auto dilations = integers(node, "dilations", {1, 1});
  const std::string automatic = text(node, "auto_pad", "NOTSET");
  if (kernel.size() != 2 || strides.size() != 2 || pads.size() != 4 || dilations.size() != 2)
    return refuse("it must be two-dimensional (batch, channels, height, width).");
  for (const auto* list : {&kernel, &strides, &dilations})
    for (const std::int64_t each : *list)
      if (each < 1 || each > kMostExtent) return refuse("a window or stride is out of range.");
  for (const std::int64_t each : pads)
    if (each < 0 || each > kMostExtent) return refuse("a padding is out of range.");
  if (dilations[0] != 1 || dilations[1] != 1) return refuse("dilations are not supported.");
  if (automatic != "NOTSET" && automatic != "VALID")
    return refuse("automatic padding is not supported. Export with explicit padding.");
  if (pads[0] != pads[2] || pads[1] != pads[3])
    return refuse("padding must be the same on both sides.");
  if (!conv && (pads[0] != 0 || pads[1] != 0))
    return refuse("pooling with padding is not supported.");
  if (conv && Pair{kernel[0], kernel[1]} != layer.kernel)
    return refuse("its kernel_shape differs from its weights.");
  layer.kernel = {kernel[0], kernel[1]};
  layer.stride = {strides[0], strides[1]};
  layer.padding = {pads[0], pads[1]};
  if (integer(node, "ceil_mode", 0) != 0 && ((shape_.height - kernel[0]) % strides[0] != 0 ||
                                             (shape_.width - kernel[1]) % strides[1] != 0))
    return refuse("ceil_mode is not supported where windows don't fit.");
  return {};
}

Expected<Value> Reader::conv(const Node& node) {
  SOTTO_ASSIGN(const Value x, live(node, 0));
  SOTTO_TRY(need_image(x));
  SOTTO_ASSIGN(const TensorPtr weights, constant_input(node, 1));
  const auto& dims = weights->dims;
  Draft draft;
  draft.spec.kind = LayerKind::kConv;
  draft.spec.groups = integer(node, "group", 1);
  if (dims.size() != 4 || weights->values.empty() || weights->whole)
    return refuse("its weights must be (outputs, channels, height, width) in float32.");
  draft.spec.outputs = dims[0];
  draft.spec.kernel = {dims[2], dims[3]};
  if (draft.spec.groups < 1 || draft.spec.groups > kMostExtent || dims[0] > kMostExtent ||
      dims[1] > kMostExtent || dims[1] * draft.spec.groups != shape_.channels)
    return refuse(fmt::format("its weights don't fit its input of {} channels.", shape_.channels));
  SOTTO_TRY(window(node, draft.spec, true));
  draft.weights = weights->values;
  draft.spec.bias = node.inputs.size() > 2 && !node.inputs[2].empty();
  if (draft.spec.bias) {
    SOTTO_ASSIGN(const TensorPtr bias, constant_input(node, 2));
    if (std::ssize(bias->values) != dims[0]) return refuse("its bias has a wrong size.");
    draft.biases = bias->values;
  }
  const LayerSpec& layer = draft.spec;
  const ImageShape out{layer.outputs,
                       slide(shape_.height, layer.kernel.y, layer.stride.y, layer.padding.y),
                       slide(shape_.width, layer.kernel.x, layer.stride.x, layer.padding.x)};
  std::vector<std::int64_t> out_dims{out.channels, out.height, out.width};
  if (bounded_product(out_dims, kMostFeatures) < 1)
    return refuse("its kernel is larger than its input, or its output is huge.");
  return put(std::move(draft), out, std::move(out_dims));
}

Expected<Value> Reader::linear(const Value& x, Draft draft) {
  draft.spec.kind = LayerKind::kLinear;
  const std::int64_t features = shape_.size();
  if (x.dims.size() != 1 || x.dims[0] != features)
    return refuse("a linear layer needs a list of features: put a Flatten before it.");
  if (draft.spec.outputs < 1 || draft.spec.outputs > kMostExtent)
    return refuse("the number of outputs of a linear layer is out of range.");
  SOTTO_TRY(flatten_shape());
  const std::int64_t outputs = draft.spec.outputs;
  return put(std::move(draft), {outputs, 1, 1}, {outputs});
}

Expected<Value> Reader::gemm(const Node& node) {
  SOTTO_ASSIGN(const Value x, live(node, 0));
  SOTTO_ASSIGN(const TensorPtr weights, constant_input(node, 1));
  const bool turned = integer(node, "transB", 0) != 0;
  if (integer(node, "transA", 0) != 0 || number(node, "alpha", 1) != 1 ||
      number(node, "beta", 1) != 1)
    return refuse("alpha and beta must be 1 and transA 0.");
  if (weights->dims.size() != 2 || weights->dims[turned ? 1 : 0] != shape_.size())
    return refuse(fmt::format("its weights don't fit its input of {} features.", shape_.size()));
  Draft draft;
  draft.spec.outputs = weights->dims[turned ? 0 : 1];
  draft.weights = turned ? weights->values
                         : transposed(weights->values,
                                      static_cast<std::size_t>(weights->dims[0]),
                                      static_cast<std::size_t>(weights->dims[1]));
  draft.spec.bias = node.inputs.size() > 2 && !node.inputs[2].empty();
  if (draft.spec.bias) {
    SOTTO_ASSIGN(const TensorPtr bias, constant_input(node, 2));
    const bool one = bias->values.size() == 1;
    if (!one && (std::ssize(bias->values) != draft.spec.outputs || bias->dims.back() == 1))
      return refuse("its bias has a wrong size.");
    if (draft.spec.outputs > kMostExtent) return refuse("it has too many outputs.");
    draft.biases =
        one ? std::vector<double>(static_cast<std::size_t>(draft.spec.outputs), bias->values[0])
            : bias->values;
  }
  return linear(x, std::move(draft));
}

Expected<Value> Reader::matmul(const Node& node) {
  SOTTO_ASSIGN(const Value x, live(node, 0));
  SOTTO_ASSIGN(const TensorPtr weights, constant_input(node, 1));
  if (weights->dims.size() != 2 || weights->dims[0] != shape_.size())
    return refuse(fmt::format("its weights don't fit its input of {} features.", shape_.size()));
  Draft draft;
  draft.spec.outputs = weights->dims[1];
  draft.spec.bias = false;
  draft.weights = transposed(weights->values,
                             static_cast<std::size_t>(weights->dims[0]),
                             static_cast<std::size_t>(weights->dims[1]));
  return linear(x, std::move(draft));
}

Expected<Value> Reader::activation(const Node& node) {
  SOTTO_ASSIGN(const Value x, live(node, 0));
  Draft draft;
  draft.spec.kind = node.op == "Relu"      ? LayerKind::kRelu
                    : node.op == "Tanh"    ? LayerKind::kTanh
                    : node.op == "Sigmoid" ? LayerKind::kSigmoid
                                           : LayerKind::kGelu;
  if (node.op == "Gelu" && text(node, "approximate", "none") != "none")
    return refuse("the approximation by tanh is not supported. Export GELU(approximate='none').");
  return put(std::move(draft), shape_, x.dims);
}

Expected<Value> Reader::pool(const Node& node) {
  SOTTO_ASSIGN(const Value x, live(node, 0));
  SOTTO_TRY(need_image(x));
  Draft draft;
  draft.spec.kind = node.op == "MaxPool" ? LayerKind::kMaxPool : LayerKind::kAveragePool;
  SOTTO_TRY(window(node, draft.spec, false));
  const LayerSpec& layer = draft.spec;
  const ImageShape out{shape_.channels,
                       slide(shape_.height, layer.kernel.y, layer.stride.y, 0),
                       slide(shape_.width, layer.kernel.x, layer.stride.x, 0)};
  if (out.height < 1 || out.width < 1) return refuse("its window is larger than its input.");
  return put(std::move(draft), out, {out.channels, out.height, out.width});
}

Expected<Value> Reader::global_pool(const Node& node) {
  SOTTO_ASSIGN(const Value x, live(node, 0));
  SOTTO_TRY(need_image(x));
  Draft draft;
  draft.spec.kind = node.op == "GlobalMaxPool" ? LayerKind::kGlobalMax : LayerKind::kGlobalAverage;
  return put(std::move(draft), {shape_.channels, 1, 1}, {shape_.channels, 1, 1});
}

/// GroupNorm: exporters turn the groups into channels, normalize these and turn them back.
Expected<Value> Reader::instance_norm(const Node& node) {
  SOTTO_ASSIGN(const Value x, live(node, 0));
  SOTTO_ASSIGN(const TensorPtr gains, constant_input(node, 1));
  SOTTO_ASSIGN(const TensorPtr shifts, constant_input(node, 2));
  const double floor = number(node, "epsilon", kVarianceFloorValue);
  if (!same(floor, kVarianceFloorValue))
    return refuse(
        fmt::format("it adds {} to the variance, but Sotto's GroupNorm adds 1e-5. Export "
                    "the network with eps=1e-5.",
                    floor));
  if (x.listed) {  // groups of features, not of channels
    SOTTO_TRY(flatten_shape());
  }
  if (x.dims.size() < 2 || shape_.channels % x.dims[0] != 0)
    return refuse("its groups must divide the channels.");
  const auto groups = static_cast<std::size_t>(x.dims[0]);
  if (gains->values.size() != groups || shifts->values.size() != groups)
    return refuse("it must have one gain and one shift a channel.");
  Draft draft;
  draft.spec.kind = LayerKind::kGroupNorm;
  draft.spec.groups = x.dims[0];
  const std::size_t inside = static_cast<std::size_t>(shape_.channels) / groups;
  for (std::size_t g = 0; g < groups; ++g) {
    draft.weights.insert(draft.weights.end(), inside, gains->values[g]);
    draft.biases.insert(draft.biases.end(), inside, shifts->values[g]);
  }
  return put(std::move(draft), shape_, x.dims);
}

Expected<Value> Reader::layer_norm(const Node& node) {
  SOTTO_ASSIGN(const Value x, live(node, 0));
  SOTTO_ASSIGN(const Value gains, input(node, 1));
  std::int64_t axis = integer(node, "axis", -1);
  if (axis < 0) axis += std::ssize(x.dims) + 1;
  if (axis != 1)
    return refuse(
        "it normalizes over some dimensions only; supported is LayerNorm over all features of an "
        "example (channels, height and width together), or GroupNorm.");
  const double floor = number(node, "epsilon", kVarianceFloorValue);
  if (!same(floor, kVarianceFloorValue))
    return refuse(
        fmt::format("it adds {} to the variance, but Sotto's LayerNorm adds 1e-5. Export "
                    "the network with eps=1e-5.",
                    floor));
  if (gains.role != Role::kConstant) return refuse("its gains must be a constant.");
  SOTTO_ASSIGN(const Value y, normalized(x));
  SOTTO_ASSIGN(const Value scaled, scale(y, gains, false));
  if (node.inputs.size() < 3 || node.inputs[2].empty()) return scaled;
  SOTTO_ASSIGN(const Value shifts, input(node, 2));
  if (shifts.role != Role::kConstant) return refuse("its shifts must be a constant.");
  return shift(scaled, shifts, false);
}

Expected<Value> Reader::batch_norm(const Node&) {
  return refuse(
      "batch normalization mixes the examples of a batch: no example has a gradient of its own, so "
      "that none can be clipped. Use GroupNorm or LayerNorm in its place. (After eval() PyTorch "
      "folds it into the convolution before it; such a file is accepted.)");
}

Expected<Value> Reader::softmax(const Node& node) {
  SOTTO_ASSIGN(const Value x, live(node, 0));
  const std::int64_t axis = integer(node, "axis", -1);
  if (x.dims.size() != 1 || x.dims[0] < 2 || (axis != -1 && axis != 1))
    return refuse("it must be over the outputs of the last layer, two or more.");
  last_ = node.op;
  return x;
}

}  // namespace sotto::onnx_file
