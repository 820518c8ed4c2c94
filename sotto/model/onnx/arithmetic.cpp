// GELU and LayerNorm as exporters write them out, and constants that belong to a layer next to
// them.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/model/onnx/reader.hpp"

namespace sotto::onnx_file {
namespace {

constexpr std::int64_t kMostNormalized = std::int64_t{1} << 22;  ///< features of one LayerNorm

bool is_norm(const Draft& draft) {
  return draft.spec.kind == LayerKind::kGroupNorm || draft.spec.kind == LayerKind::kLayerNorm;
}

}  // namespace

bool Reader::feeds_erf(const Node& node) const {
  return !node.outputs.empty() && erf_inputs_.contains(node.outputs[0]);
}

/// One value a channel of x (the first of its dims), if the constant is that.
std::optional<std::vector<double>> Reader::by_channel(const Tensor& tensor, const Value& x) const {
  if (x.dims.empty()) return {};
  const auto channels = static_cast<std::size_t>(x.dims[0]);
  if (tensor.values.size() == 1) return std::vector<double>(channels, tensor.values[0]);
  if (tensor.values.size() != channels) return {};
  // Right-aligned as broadcasting does: the channels' extent must stand where x has it.
  const std::size_t from_right = x.dims.size() - 1;
  if (tensor.dims.size() <= from_right) return {};
  if (tensor.dims[tensor.dims.size() - 1 - from_right] != x.dims[0]) return {};
  return tensor.values;
}

/// One value a feature of x, if the constant is that or can be spread to it.
std::optional<std::vector<double>> Reader::by_feature(const Tensor& tensor, const Value& x) const {
  const std::int64_t features = bounded_product(x.dims, kMostNormalized);
  if (features < 1) return {};
  if (std::ssize(tensor.values) == features && tensor.values.size() > 1) {
    auto dims = tensor.dims;
    while (dims.size() > x.dims.size() && dims.front() == 1) dims.erase(dims.begin());
    if (dims == x.dims) return tensor.values;
  }
  const auto channels = by_channel(tensor, x);
  if (!channels) return {};
  std::vector<double> all;
  const auto pixels = static_cast<std::size_t>(features) / channels->size();
  for (const double value : *channels) all.insert(all.end(), pixels, value);
  return all;
}

/// x · factor or x / factor, for a constant: of the input it is part of the public constants, of a
/// normalization part of its gains.
Expected<Value> Reader::scale(const Value& x, const Value& factor, bool divides) {
  const auto apply = [&](double& value, double by) { value = divides ? value / by : value * by; };
  if (layers_.empty()) {
    const auto factors = by_channel(*factor.tensor, x);
    if (!factors || x.dims[0] != shape_.channels)
      return refuse("constants before the first layer must be one number, or one a channel.");
    for (std::size_t c = 0; c < factors->size(); ++c) {
      apply(gain_[c], (*factors)[c]);
      apply(offset_[c], (*factors)[c]);
    }
    ++version_;
    return head(x.dims);
  }
  Draft& last = layers_.back();
  if (!is_norm(last))
    return refuse(
        "values are multiplied by a constant, which is supported before the first layer and after "
        "a "
        "normalization only. Put the constant into the weights of the layer before it.");
  const auto factors = last.spec.kind == LayerKind::kGroupNorm ? by_channel(*factor.tensor, x)
                                                               : by_feature(*factor.tensor, x);
  if (!factors || factors->size() != last.weights.size())
    return refuse("the gains of a normalization have another shape than its channels or features.");
  for (std::size_t c = 0; c < factors->size(); ++c) {
    apply(last.weights[c], (*factors)[c]);
    apply(last.biases[c], (*factors)[c]);
  }
  ++version_;
  return head(x.dims);
}

/// x + term or x - term, for a constant: of the input, of a normalization, or a bias.
Expected<Value> Reader::shift(const Value& x, const Value& term, bool subtracts) {
  const double sign = subtracts ? -1 : 1;
  if (layers_.empty()) {
    const auto terms = by_channel(*term.tensor, x);
    if (!terms || x.dims[0] != shape_.channels)
      return refuse("constants before the first layer must be one number, or one a channel.");
    for (std::size_t c = 0; c < terms->size(); ++c) offset_[c] += sign * (*terms)[c];
    ++version_;
    return head(x.dims);
  }
  Draft& last = layers_.back();
  const bool has_bias =
      last.spec.kind == LayerKind::kLinear || last.spec.kind == LayerKind::kConv || is_norm(last);
  if (!has_bias)
    return refuse(
        "a constant is added, which is supported before the first layer and after a convolution, a "
        "linear layer or a normalization only.");
  const auto terms = last.spec.kind == LayerKind::kLayerNorm ? by_feature(*term.tensor, x)
                                                             : by_channel(*term.tensor, x);
  const std::size_t count =
      is_norm(last) ? last.weights.size() : static_cast<std::size_t>(last.spec.outputs);
  if (!terms || terms->size() != count)
    return refuse("the constant that is added has another shape than a bias of that layer.");
  last.biases.resize(count);
  last.spec.bias = true;
  for (std::size_t c = 0; c < count; ++c) last.biases[c] += sign * (*terms)[c];
  ++version_;
  return head(x.dims);
}

Expected<Value> Reader::normalized(const Value& x) {
  const std::int64_t features = bounded_product(x.dims, kMostNormalized);
  if (features < 1)
    return refuse(fmt::format("a LayerNorm of more than {} features.", kMostNormalized));
  Draft draft;
  draft.spec.kind = LayerKind::kLayerNorm;
  draft.weights.assign(static_cast<std::size_t>(features), 1);
  draft.biases.assign(static_cast<std::size_t>(features), 0);
  return put(std::move(draft), shape_, x.dims);
}

Expected<Value> Reader::add(const Node& node) {
  SOTTO_ASSIGN(Value a, input(node, 0));
  SOTTO_ASSIGN(Value b, input(node, 1));
  if (a.role == Role::kConstant) std::swap(a, b);
  if (b.role != Role::kConstant)
    return refuse("two computed values are added: the layers must form a chain, without branches.");
  const auto number = scalar(b);
  if (a.role == Role::kGeluErf && number && same(*number, 1)) return partial(Role::kGeluGate, a);
  if (a.role == Role::kVariance && number) {
    if (!same(*number, kVarianceFloorValue))
      return refuse(
          fmt::format("a LayerNorm adds {} to the variance, but Sotto's adds 1e-5. Export the "
                      "network with eps=1e-5.",
                      *number));
    return partial(Role::kVarianceFloor, a);
  }
  SOTTO_TRY(need_live(a));
  return shift(a, b, false);
}

Expected<Value> Reader::subtract(const Node& node) {
  SOTTO_ASSIGN(const Value a, input(node, 0));
  SOTTO_ASSIGN(const Value b, input(node, 1));
  if (a.role == Role::kActivation && b.role == Role::kMean && a.version == b.version &&
      a.dims == b.dims)
    return partial(Role::kCentered, a);
  if (b.role != Role::kConstant)
    return refuse("two computed values are subtracted, which is supported in a LayerNorm only.");
  SOTTO_TRY(need_live(a));
  return shift(a, b, true);
}

Expected<Value> Reader::multiply(const Node& node) {
  SOTTO_ASSIGN(Value a, input(node, 0));
  SOTTO_ASSIGN(Value b, input(node, 1));
  if (a.role == Role::kConstant || (a.role == Role::kGeluGate && b.role == Role::kActivation))
    std::swap(a, b);
  if (a.role == Role::kActivation && b.role == Role::kGeluGate && a.version == b.version) {
    if (!b.halved) return partial(Role::kGeluTwice, a);
    SOTTO_TRY(need_head(a));
    Draft draft;
    draft.spec.kind = LayerKind::kGelu;
    return put(std::move(draft), shape_, a.dims);
  }
  if (a.role == Role::kCentered && b.role == Role::kCentered && a.version == b.version)
    return partial(Role::kSquared, a);
  if (b.role != Role::kConstant)
    return refuse("two computed values are multiplied, which is supported in GELU only.");
  const auto number = scalar(b);
  if (number && same(*number, 0.5)) {
    if (a.role == Role::kGeluTwice) {
      SOTTO_TRY(need_head(a));
      Draft draft;
      draft.spec.kind = LayerKind::kGelu;
      return put(std::move(draft), shape_, a.dims);
    }
    if (a.role == Role::kGeluGate && !a.halved) {
      Value gate = a;
      gate.halved = true;
      return gate;
    }
  }
  if (a.role == Role::kActivation && number && feeds_erf(node) && same(*number, std::sqrt(0.5)))
    return partial(Role::kGeluArgument, a);
  SOTTO_TRY(need_live(a));
  return scale(a, b, false);
}

Expected<Value> Reader::divide(const Node& node) {
  SOTTO_ASSIGN(const Value a, input(node, 0));
  SOTTO_ASSIGN(const Value b, input(node, 1));
  if (a.role == Role::kCentered && b.role == Role::kDeviation && a.version == b.version) {
    SOTTO_TRY(need_head(a));
    return normalized(a);
  }
  if (b.role != Role::kConstant)
    return refuse("a value is divided by a computed one, which is supported in a LayerNorm only.");
  for (const double value : b.tensor->values)
    if (value == 0) return refuse("values are divided by 0.");
  const auto number = scalar(b);
  if (a.role == Role::kActivation && number && feeds_erf(node) && same(*number, std::sqrt(2.0)))
    return partial(Role::kGeluArgument, a);
  SOTTO_TRY(need_live(a));
  return scale(a, b, true);
}

Expected<Value> Reader::power(const Node& node) {
  SOTTO_ASSIGN(const Value a, input(node, 0));
  SOTTO_ASSIGN(const Value b, input(node, 1));
  const auto number = scalar(b);
  if (a.role != Role::kCentered || !number || *number != 2)
    return refuse("powers are supported in a LayerNorm only.");
  return partial(Role::kSquared, a);
}

Expected<Value> Reader::square_root(const Node& node) {
  SOTTO_ASSIGN(const Value a, input(node, 0));
  if (a.role != Role::kVarianceFloor) return refuse("roots are supported in a LayerNorm only.");
  return partial(Role::kDeviation, a);
}

Expected<Value> Reader::erf(const Node& node) {
  SOTTO_ASSIGN(const Value a, input(node, 0));
  if (a.role != Role::kGeluArgument) return refuse("Erf is supported in GELU only.");
  return partial(Role::kGeluErf, a);
}

/// Over everything: the mean of a LayerNorm; over the pixels: global average pooling.
Expected<Value> Reader::reduce_mean(const Node& node) {
  SOTTO_ASSIGN(const Value x, input(node, 0));
  SOTTO_ASSIGN(std::vector<std::int64_t> axes, axes_of(node, 1));
  const auto rank = std::ssize(x.dims) + 1;
  for (std::int64_t& axis : axes)
    if (axis < 0) axis += rank;
  std::sort(axes.begin(), axes.end());
  const bool keep = integer(node, "keepdims", 1) != 0;
  std::vector<std::int64_t> all;
  for (std::int64_t axis = 1; axis < rank; ++axis) all.push_back(axis);
  if (x.role == Role::kSquared && keep && axes == all) return partial(Role::kVariance, x);
  if (x.role == Role::kActivation && keep && axes == all) return partial(Role::kMean, x);
  if (x.role == Role::kActivation && rank == 4 && axes == std::vector<std::int64_t>{2, 3}) {
    SOTTO_TRY(need_live(x));
    SOTTO_TRY(need_image(x));
    Draft draft;
    draft.spec.kind = LayerKind::kGlobalAverage;
    std::vector<std::int64_t> dims{x.dims[0]};
    if (keep) dims.insert(dims.end(), {1, 1});
    return put(std::move(draft), {x.dims[0], 1, 1}, std::move(dims));
  }
  return refuse("means are supported over the pixels (global average pooling) or in a LayerNorm.");
}

}  // namespace sotto::onnx_file
