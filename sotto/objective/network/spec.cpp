#include "sotto/objective/network/spec.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "sotto/core/check.hpp"

namespace sotto {
namespace {

constexpr std::int64_t kMostNumbers = std::int64_t{1} << 28;  ///< of one activation
constexpr std::int64_t kMostParameters = std::int64_t{1} << 28;
constexpr std::size_t kMostLayers = 10'000;

bool has_parameters(LayerKind kind) {
  return kind == LayerKind::kLinear || kind == LayerKind::kConv || kind == LayerKind::kGroupNorm ||
         kind == LayerKind::kLayerNorm;
}

bool flat(const ImageShape& shape) { return shape.height == 1 && shape.width == 1; }

/// The extent after sliding a window; 0 if it does not fit.
std::int64_t slide(std::int64_t extent,
                   std::int64_t window,
                   std::int64_t stride,
                   std::int64_t padding) {
  const std::int64_t room = extent + 2 * padding - window;
  return room < 0 ? 0 : room / stride + 1;
}

std::string describe(const ImageShape& shape) {
  return flat(shape) ? fmt::format("{} features", shape.channels)
                     : fmt::format("{} x {} x {}", shape.channels, shape.height, shape.width);
}

/// The shape after a layer, or why it does not fit.
Expected<ImageShape> after(const LayerSpec& layer, const ImageShape& in) {
  const auto refuse = [](std::string text) { return fail(ErrorKind::kBadData, std::move(text)); };
  switch (layer.kind) {
    case LayerKind::kLinear:
      if (!flat(in))
        return refuse(
            fmt::format("a linear layer needs a list of features, but its input is {}. "
                        "Put \"flatten\" before it.",
                        describe(in)));
      return ImageShape{layer.outputs, 1, 1};
    case LayerKind::kConv: {
      if (in.channels % layer.groups != 0 || layer.outputs % layer.groups != 0)
        return refuse(
            fmt::format("the groups of a convolution must divide its input channels ({}) "
                        "and its outputs ({}), but are {}.",
                        in.channels,
                        layer.outputs,
                        layer.groups));
      const ImageShape out{layer.outputs,
                           slide(in.height, layer.kernel.y, layer.stride.y, layer.padding.y),
                           slide(in.width, layer.kernel.x, layer.stride.x, layer.padding.x)};
      if (out.height < 1 || out.width < 1)
        return refuse(fmt::format("the kernel is larger than its input, {}.", describe(in)));
      return out;
    }
    case LayerKind::kMaxPool:
    case LayerKind::kAveragePool: {
      const ImageShape out{in.channels,
                           slide(in.height, layer.kernel.y, layer.stride.y, 0),
                           slide(in.width, layer.kernel.x, layer.stride.x, 0)};
      if (out.height < 1 || out.width < 1)
        return refuse(fmt::format("the window is larger than its input, {}.", describe(in)));
      return out;
    }
    case LayerKind::kGlobalMax:
    case LayerKind::kGlobalAverage:
      return ImageShape{in.channels, 1, 1};
    case LayerKind::kFlatten:
      return ImageShape{in.size(), 1, 1};
    case LayerKind::kGroupNorm:
      if (in.channels % layer.groups != 0)
        return refuse(
            fmt::format("the groups of a groupnorm must divide its channels ({}), but "
                        "are {}.",
                        in.channels,
                        layer.groups));
      return in;
    case LayerKind::kRelu:
    case LayerKind::kTanh:
    case LayerKind::kSigmoid:
    case LayerKind::kGelu:
    case LayerKind::kLayerNorm:
    case LayerKind::kDropout:
      return in;
  }
  SOTTO_CHECK(false && "unknown layer");
}

ParameterRange range_of(const LayerSpec& layer, const ImageShape& in, std::int64_t begin) {
  switch (layer.kind) {
    case LayerKind::kLinear:
      return {begin, layer.outputs * in.size(), layer.bias ? layer.outputs : 0};
    case LayerKind::kConv:
      return {begin,
              layer.outputs * (in.channels / layer.groups) * layer.kernel.y * layer.kernel.x,
              layer.bias ? layer.outputs : 0};
    case LayerKind::kGroupNorm:
      return {begin, in.channels, in.channels};
    case LayerKind::kLayerNorm:
      return {begin, in.size(), in.size()};
    default:
      return {begin, 0, 0};
  }
}

}  // namespace

Expected<std::vector<ImageShape>> shapes_of(const NetworkSpec& spec) {
  const auto refuse = [](std::string text) { return fail(ErrorKind::kBadData, std::move(text)); };
  const auto fits = [](const ImageShape& s) {
    return s.channels >= 1 && s.height >= 1 && s.width >= 1 && s.channels <= kMostNumbers &&
           s.height <= kMostNumbers / s.channels &&
           s.width <= kMostNumbers / (s.channels * s.height);
  };
  if (!fits(spec.input)) return refuse("the input's extents must be positive and not huge.");
  for (const auto* each : {&spec.mean, &spec.deviation})
    if (!each->empty() && std::ssize(*each) != spec.input.channels)
      return refuse(fmt::format("mean and deviation must have one number a channel ({}).",
                                spec.input.channels));
  if (spec.layers.size() > kMostLayers) return refuse("there are far too many layers.");
  std::vector<ImageShape> shapes{spec.input};
  std::int64_t parameters = 0;
  bool trains = false;
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    const LayerSpec& layer = spec.layers[i];
    auto out = after(layer, shapes.back());
    if (!out) return refuse(fmt::format("layer {}: {}", i + 1, out.error().message));
    const ImageShape& in = shapes.back();
    // One factor of a product at a time, so that no product overflows.
    const std::int64_t taps = layer.kind == LayerKind::kLinear ? in.size()
                              : layer.kind == LayerKind::kConv ? in.channels / layer.groups
                                                               : 1;
    if (!fits(*out) || layer.kernel.y > kMostNumbers / std::max<std::int64_t>(1, layer.kernel.x) ||
        taps > kMostParameters / std::max<std::int64_t>(1, layer.kernel.y * layer.kernel.x) ||
        (has_parameters(layer.kind) &&
         std::max<std::int64_t>(1, layer.outputs) >
             kMostParameters /
                 std::max<std::int64_t>(
                     1, taps * std::max<std::int64_t>(1, layer.kernel.y * layer.kernel.x))))
      return refuse(fmt::format("layer {} is too large.", i + 1));
    const ParameterRange range = range_of(layer, in, parameters);
    parameters += range.count();
    trains = trains || (range.count() > 0 && !layer.frozen);
    if (parameters > kMostParameters)
      return refuse(fmt::format("the network has more than {} parameters.", kMostParameters));
    shapes.push_back(*out);
  }
  if (!trains) return refuse("no layer has parameters to train.");
  if (!flat(shapes.back()))
    return refuse(
        fmt::format("the last layer gives {}, but a loss needs a list of outputs. End "
                    "with \"flatten\" and a linear layer.",
                    describe(shapes.back())));
  if (spec.loss != NetworkLoss::kSoftmax && shapes.back().channels != 1)
    return refuse(fmt::format("this loss needs one output, but the last layer gives {}.",
                              shapes.back().channels));
  if (spec.loss == NetworkLoss::kSoftmax && shapes.back().channels < 2)
    return refuse("the softmax loss needs at least two outputs.");
  return shapes;
}

std::size_t class_count(const NetworkSpec& spec) {
  if (spec.loss == NetworkLoss::kSquared) return 0;
  if (spec.loss == NetworkLoss::kLogistic) return 2;
  return static_cast<std::size_t>(shapes_of(spec)->back().channels);
}

std::vector<ParameterRange> parameter_ranges(const NetworkSpec& spec) {
  const auto shapes = shapes_of(spec);
  SOTTO_CHECK(shapes.has_value());
  std::vector<ParameterRange> ranges;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    ranges.push_back(range_of(spec.layers[i], (*shapes)[i], begin));
    begin += ranges.back().count();
  }
  return ranges;
}

std::int64_t parameter_count(const NetworkSpec& spec) {
  const auto ranges = parameter_ranges(spec);
  return ranges.empty() ? 0 : ranges.back().begin + ranges.back().count();
}

Vector initial_weights(const NetworkSpec& spec, std::uint64_t seed) {
  const auto ranges = parameter_ranges(spec);
  Vector w = Vector::Zero(parameter_count(spec));
  std::mt19937_64 random(seed);  // its numbers are fixed by the standard
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const LayerSpec& layer = spec.layers[i];
    const ParameterRange& range = ranges[i];
    if (layer.kind == LayerKind::kGroupNorm || layer.kind == LayerKind::kLayerNorm) {
      w.segment(range.begin, range.weights).setOnes();
    } else if (range.count() > 0) {
      const double fan_in = static_cast<double>(range.weights) / static_cast<double>(layer.outputs);
      const double bound = 1 / std::sqrt(fan_in);
      for (std::int64_t j = range.begin; j < range.begin + range.count(); ++j)
        w[j] = bound * (2 * (static_cast<double>(random() >> 11) * 0x1p-53) - 1);
    }
  }
  return w;
}

}  // namespace sotto
