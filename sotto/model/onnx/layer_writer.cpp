#include "sotto/model/onnx/layer_writer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace sotto::onnx_file {

GraphBuilder::Dims LayerWriter::dims_of(const ImageShape& shape, bool flat) {
  return flat ? Dims{shape.channels} : Dims{shape.channels, shape.height, shape.width};
}

GraphBuilder::Dims LayerWriter::input_dims(const ImageShape& input) {
  Dims dims = dims_of(input, is_flat(input));
  dims.insert(dims.begin(), kFree);
  return dims;
}

void LayerWriter::put_constants(const std::vector<double>& mean,
                                const std::vector<double>& deviation) {
  Dims dims{shape_.channels};
  if (!flat_) dims.insert(dims.end(), {1, 1});
  if (!mean.empty()) builder_.put("Sub", {last(), builder_.constant("mean", dims, mean)});
  if (!deviation.empty())
    builder_.put("Div", {last(), builder_.constant("deviation", dims, deviation)});
}

void LayerWriter::flatten() {
  builder_.put("Flatten", {last()}, {integer("axis", 1)});
  shape_ = {shape_.size(), 1, 1};
  flat_ = true;
}

void LayerWriter::to_shape(const std::string& name, Dims dims) {
  std::vector<double> values(dims.begin(), dims.end());
  builder_.put("Reshape",
               {last(), builder_.whole_constant(name, {std::ssize(dims)}, std::move(values))});
}

void LayerWriter::need_image(const std::string& prefix) {
  if (!flat_) return;
  to_shape(prefix + ".image", {0, shape_.channels, shape_.height, shape_.width});
  flat_ = false;
}

std::vector<Attribute> LayerWriter::window(const LayerSpec& layer) const {
  const Pair p = layer.padding;
  return {integers("kernel_shape", {layer.kernel.y, layer.kernel.x}),
          integers("strides", {layer.stride.y, layer.stride.x}),
          integers("pads", {p.y, p.x, p.y, p.x})};
}

void LayerWriter::put_gelu(const std::string& prefix) {
  const std::string x = last();
  builder_.put("Div", {x, builder_.constant(prefix + ".root_two", {}, {std::sqrt(2.0)})});
  builder_.put("Erf", {last()});
  builder_.put("Add", {last(), builder_.constant(prefix + ".one", {}, {1})});
  builder_.put("Mul", {x, last()});
  builder_.put("Mul", {last(), builder_.constant(prefix + ".half", {}, {0.5})});
}

void LayerWriter::put_groupnorm(const LayerSpec& layer,
                                const std::string& prefix,
                                const double* w) {
  const auto groups = static_cast<std::size_t>(layer.groups);
  const auto channels = static_cast<std::size_t>(shape_.channels);
  to_shape(prefix + ".groups", {0, layer.groups, -1});
  builder_.put(
      "InstanceNormalization",
      {last(),
       builder_.constant(prefix + ".ones", {layer.groups}, std::vector<double>(groups, 1)),
       builder_.constant(prefix + ".zeros", {layer.groups}, std::vector<double>(groups, 0))},
      {number("epsilon", 1e-5)});
  Dims back = dims_of(shape_, flat_);
  back.insert(back.begin(), 0);
  to_shape(prefix + ".shape", back);
  Dims dims{shape_.channels};
  if (!flat_) dims.insert(dims.end(), {1, 1});
  builder_.put("Mul", {last(), builder_.constant(prefix + ".weight", dims, {w, w + channels})});
  builder_.put(
      "Add", {last(), builder_.constant(prefix + ".bias", dims, {w + channels, w + 2 * channels})});
}

void LayerWriter::put_layernorm(const std::string& prefix, const double* w) {
  const Dims dims = dims_of(shape_, flat_);
  Dims axes(dims.size());
  std::iota(axes.begin(), axes.end(), 1);
  const auto features = static_cast<std::size_t>(shape_.size());
  const std::string x = last();
  builder_.put("ReduceMean", {x}, {integers("axes", axes), integer("keepdims", 1)});
  const std::string centered = builder_.put("Sub", {x, last()});
  builder_.put("Pow", {centered, builder_.constant(prefix + ".two", {}, {2})});
  builder_.put("ReduceMean", {last()}, {integers("axes", axes), integer("keepdims", 1)});
  builder_.put("Add", {last(), builder_.constant(prefix + ".floor", {}, {1e-5})});
  builder_.put("Sqrt", {last()});
  builder_.put("Div", {centered, last()});
  builder_.put("Mul", {last(), builder_.constant(prefix + ".weight", dims, {w, w + features})});
  builder_.put(
      "Add", {last(), builder_.constant(prefix + ".bias", dims, {w + features, w + 2 * features})});
}

void LayerWriter::put_layer(const LayerSpec& layer,
                            const ImageShape& out,
                            const double* w,
                            std::size_t count) {
  const std::string prefix = fmt::format("layer{}", count);
  switch (layer.kind) {
    case LayerKind::kLinear: {
      if (!flat_) flatten();
      const std::int64_t weights = layer.outputs * shape_.size();
      std::vector<std::string> inputs{
          last(),
          builder_.constant(prefix + ".weight", {layer.outputs, shape_.size()}, {w, w + weights})};
      if (layer.bias)
        inputs.push_back(builder_.constant(
            prefix + ".bias", {layer.outputs}, {w + weights, w + weights + layer.outputs}));
      builder_.put("Gemm", inputs, {number("alpha", 1), number("beta", 1), integer("transB", 1)});
      break;
    }
    case LayerKind::kConv: {
      need_image(prefix);
      const Dims dims{
          layer.outputs, shape_.channels / layer.groups, layer.kernel.y, layer.kernel.x};
      const std::int64_t weights = dims[0] * dims[1] * dims[2] * dims[3];
      std::vector<std::string> inputs{
          last(), builder_.constant(prefix + ".weight", dims, {w, w + weights})};
      if (layer.bias)
        inputs.push_back(builder_.constant(
            prefix + ".bias", {layer.outputs}, {w + weights, w + weights + layer.outputs}));
      auto attributes = window(layer);
      attributes.push_back(integers("dilations", {1, 1}));
      attributes.push_back(integer("group", layer.groups));
      builder_.put("Conv", inputs, attributes);
      break;
    }
    case LayerKind::kRelu:
      builder_.put("Relu", {last()});
      break;
    case LayerKind::kTanh:
      builder_.put("Tanh", {last()});
      break;
    case LayerKind::kSigmoid:
      builder_.put("Sigmoid", {last()});
      break;
    case LayerKind::kGelu:
      put_gelu(prefix);
      break;
    case LayerKind::kMaxPool:
    case LayerKind::kAveragePool:
      need_image(prefix);
      builder_.put(
          layer.kind == LayerKind::kMaxPool ? "MaxPool" : "AveragePool", {last()}, window(layer));
      break;
    case LayerKind::kGlobalMax:
    case LayerKind::kGlobalAverage:
      need_image(prefix);
      builder_.put(layer.kind == LayerKind::kGlobalMax ? "GlobalMaxPool" : "GlobalAveragePool",
                   {last()});
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

std::int64_t LayerWriter::finish() {
  if (!flat_) flatten();
  if (builder_.is_empty()) builder_.put("Identity", {last()});
  return shape_.channels;
}

}  // namespace sotto::onnx_file
