#pragma once

// The network engine's formulas written down naively, in float64 and in PyTorch's order: forward
// passes only, so that gradients follow by central differences, independently of any backward code.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "sotto/data/table.hpp"
#include "sotto/objective/network/spec.hpp"

namespace sotto::testing {

using Values = std::vector<double>;

class ReferenceNetwork {
 public:
  explicit ReferenceNetwork(NetworkSpec spec)
      : spec_(std::move(spec)), shapes_(*shapes_of(spec_)), ranges_(parameter_ranges(spec_)) {}

  /// The outputs for one row, at the parameters of the whole network.
  Values outputs(const float* row, const Vector& w) const {
    Values x(static_cast<std::size_t>(spec_.input.size()));
    const std::int64_t pixels = spec_.input.height * spec_.input.width;
    for (std::size_t j = 0; j < x.size(); ++j) {
      const std::size_t channel = j / static_cast<std::size_t>(pixels);
      const double mean = spec_.mean.empty() ? 0 : spec_.mean[channel];
      const double deviation = spec_.deviation.empty() ? 1 : spec_.deviation[channel];
      x[j] = (row[j] - mean) / deviation;
    }
    for (std::size_t i = 0; i < spec_.layers.size(); ++i)
      x = apply(spec_.layers[i], shapes_[i], shapes_[i + 1], w.data() + ranges_[i].begin, x);
    return x;
  }

  double loss(const float* row, double label, const Vector& w) const {
    if (spec_.class_weights.empty()) return unweighted(row, label, w);
    const bool softmax = spec_.loss == NetworkLoss::kSoftmax;
    return spec_.class_weights[static_cast<std::size_t>(softmax ? label : label > 0)] *
           unweighted(row, label, w);
  }
  double unweighted(const float* row, double label, const Vector& w) const {
    const Values z = outputs(row, w);
    if (spec_.loss == NetworkLoss::kLogistic) return std::log1p(std::exp(-label * z[0]));
    if (spec_.loss == NetworkLoss::kSquared) return (z[0] - label) * (z[0] - label) / 2;
    double sum = 0;
    for (const double each : z) sum += std::exp(each);
    return std::log(sum) - z[static_cast<std::size_t>(label)];
  }

  /// By central differences.
  Vector gradient(const float* row, double label, Vector w, double step = 1e-5) const {
    Vector g(w.size());
    for (Eigen::Index j = 0; j < w.size(); ++j) {
      const double here = w[j];
      w[j] = here + step;
      const double up = loss(row, label, w);
      w[j] = here - step;
      g[j] = (up - loss(row, label, w)) / (2 * step);
      w[j] = here;
    }
    return g;
  }

 private:
  static Values apply(const LayerSpec& layer,
                      const ImageShape& in,
                      const ImageShape& out,
                      const double* w,
                      const Values& x) {
    Values y(static_cast<std::size_t>(out.size()));
    const auto at = [](const ImageShape& s, std::int64_t c, std::int64_t py, std::int64_t px) {
      return static_cast<std::size_t>((c * s.height + py) * s.width + px);
    };
    const auto each = [&](const auto& f) {
      for (std::size_t j = 0; j < x.size(); ++j) y[j] = f(x[j]);
    };
    const auto for_each_output = [&](const auto& f) {
      for (std::int64_t c = 0; c < out.channels; ++c)
        for (std::int64_t py = 0; py < out.height; ++py)
          for (std::int64_t px = 0; px < out.width; ++px) y[at(out, c, py, px)] = f(c, py, px);
    };
    switch (layer.kind) {
      case LayerKind::kLinear:
        for (std::int64_t o = 0; o < out.channels; ++o) {
          double sum = layer.bias ? w[out.channels * in.size() + o] : 0;
          for (std::int64_t i = 0; i < in.size(); ++i)
            sum += w[o * in.size() + i] * x[static_cast<std::size_t>(i)];
          y[static_cast<std::size_t>(o)] = sum;
        }
        return y;
      case LayerKind::kConv: {
        const std::int64_t inside = in.channels / layer.groups;
        const std::int64_t each_group = out.channels / layer.groups;
        const std::int64_t window = layer.kernel.y * layer.kernel.x;
        for_each_output([&](std::int64_t c, std::int64_t py, std::int64_t px) {
          double sum = layer.bias ? w[out.channels * inside * window + c] : 0;
          for (std::int64_t q = 0; q < inside; ++q)
            for (std::int64_t ky = 0; ky < layer.kernel.y; ++ky)
              for (std::int64_t kx = 0; kx < layer.kernel.x; ++kx) {
                const std::int64_t sy = py * layer.stride.y + ky - layer.padding.y;
                const std::int64_t sx = px * layer.stride.x + kx - layer.padding.x;
                if (sy < 0 || sx < 0 || sy >= in.height || sx >= in.width) continue;
                sum += w[((c * inside + q) * layer.kernel.y + ky) * layer.kernel.x + kx] *
                       x[at(in, c / each_group * inside + q, sy, sx)];
              }
          return sum;
        });
        return y;
      }
      case LayerKind::kRelu:
        each([](double v) { return std::max(v, 0.0); });
        return y;
      case LayerKind::kTanh:
        each([](double v) { return std::tanh(v); });
        return y;
      case LayerKind::kSigmoid:
        each([](double v) { return 1 / (1 + std::exp(-v)); });
        return y;
      case LayerKind::kGelu:
        each([](double v) { return v * 0.5 * (1 + std::erf(v / std::numbers::sqrt2)); });
        return y;
      case LayerKind::kMaxPool:
      case LayerKind::kAveragePool:
      case LayerKind::kGlobalMax:
      case LayerKind::kGlobalAverage: {
        const bool global =
            layer.kind == LayerKind::kGlobalMax || layer.kind == LayerKind::kGlobalAverage;
        const bool max = layer.kind == LayerKind::kMaxPool || layer.kind == LayerKind::kGlobalMax;
        const Pair window = global ? Pair{in.height, in.width} : layer.kernel;
        for_each_output([&](std::int64_t c, std::int64_t py, std::int64_t px) {
          double sum = 0;
          double largest = -1e300;
          for (std::int64_t ky = 0; ky < window.y; ++ky)
            for (std::int64_t kx = 0; kx < window.x; ++kx) {
              const double v = x[at(in, c, py * layer.stride.y + ky, px * layer.stride.x + kx)];
              sum += v;
              largest = std::max(largest, v);
            }
          return max ? largest : sum / static_cast<double>(window.y * window.x);
        });
        return y;
      }
      case LayerKind::kFlatten:
      case LayerKind::kDropout:
        return x;
      case LayerKind::kGroupNorm:
      case LayerKind::kLayerNorm: {
        const bool by_feature = layer.kind == LayerKind::kLayerNorm;
        const auto groups = static_cast<std::size_t>(by_feature ? 1 : layer.groups);
        const std::size_t size = x.size() / groups;
        const auto pixels = static_cast<std::size_t>(in.height * in.width);
        const std::size_t gains = by_feature ? x.size() : static_cast<std::size_t>(in.channels);
        for (std::size_t g = 0; g < groups; ++g) {
          double mean = 0;
          double variance = 0;
          for (std::size_t j = g * size; j < (g + 1) * size; ++j)
            mean += x[j] / static_cast<double>(size);
          for (std::size_t j = g * size; j < (g + 1) * size; ++j)
            variance += (x[j] - mean) * (x[j] - mean) / static_cast<double>(size);
          for (std::size_t j = g * size; j < (g + 1) * size; ++j) {
            const std::size_t k = by_feature ? j : j / pixels;
            y[j] = (x[j] - mean) / std::sqrt(variance + 1e-5) * w[k] + w[gains + k];
          }
        }
        return y;
      }
    }
    return y;
  }

  NetworkSpec spec_;
  std::vector<ImageShape> shapes_;
  std::vector<ParameterRange> ranges_;
};

/// A spec from its layers; the loss follows from the outputs.
inline NetworkSpec make_spec(const ImageShape& input,
                             const std::vector<const char*>& layers,
                             NetworkLoss loss = NetworkLoss::kSoftmax,
                             const std::vector<double>& class_weights = {}) {
  NetworkSpec spec;
  spec.class_weights = class_weights;
  spec.input = input;
  spec.loss = loss;
  for (const char* text : layers) spec.layers.push_back(parse_layer(text).value());
  return spec;
}

/// Rows of normal numbers with labels that fit the loss.
inline Table random_rows(const NetworkSpec& spec, std::int64_t rows, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(rows * spec.input.size()));
  for (float& each : values) each = normal(random);
  const std::int64_t outputs = shapes_of(spec)->back().channels;
  std::vector<float> labels;
  for (std::int64_t i = 0; i < rows; ++i)
    labels.push_back(
        spec.loss == NetworkLoss::kSoftmax
            ? static_cast<float>(i % outputs)
            : (spec.loss == NetworkLoss::kLogistic ? (i % 2 ? 1.0F : -1.0F) : normal(random)));
  return TableBuilder::dense(rows, spec.input.size(), values, std::move(labels), {});
}

/// Every layer kind in a small network, by name.
struct NamedSpec {
  const char* name;
  NetworkSpec spec;
};

inline std::vector<NamedSpec> layer_zoo() {
  const auto soft = NetworkLoss::kSoftmax;
  return {
      {"linear", make_spec({13, 1, 1}, {"linear 9", "linear 5"})},
      {"linear_nobias", make_spec({13, 1, 1}, {"linear 9 nobias", "linear 5"})},
      {"long_input", make_spec({131, 1, 1}, {"linear 7"})},
      {"long_input_nobias", make_spec({136, 1, 1}, {"linear 16 nobias", "tanh", "linear 3"})},
      {"long_inside", make_spec({9, 1, 1}, {"linear 130", "tanh", "linear 5"})},
      {"relu", make_spec({11, 1, 1}, {"linear 19", "relu", "linear 4"})},
      {"tanh", make_spec({11, 1, 1}, {"linear 19", "tanh", "linear 4"})},
      {"sigmoid", make_spec({11, 1, 1}, {"linear 19", "sigmoid", "linear 4"})},
      {"gelu", make_spec({11, 1, 1}, {"linear 19", "gelu", "linear 4"})},
      {"conv", make_spec({3, 7, 6}, {"conv 5 3x2", "flatten", "linear 4"})},
      {"conv_stride_pad",
       make_spec({2, 9, 8}, {"conv 18 4x3 stride 2x3 pad 2x1", "tanh", "flatten", "linear 4"})},
      {"conv_groups",
       make_spec({4, 6, 6}, {"conv 6 3 groups 2 pad 1", "sigmoid", "flatten", "linear 4"})},
      {"conv_twice",
       make_spec(
           {1, 10, 10},
           {"conv 9 3 stride 2 pad 1", "tanh", "conv 20 2 nobias", "tanh", "flatten", "linear 3"})},
      {"maxpool",
       make_spec({2, 8, 8},
                 {"conv 7 3",
                  "relu",
                  "maxpool 2 stride 1",
                  "conv 5 2 stride 2",
                  "relu",
                  "maxpool 2",
                  "flatten",
                  "linear 3"})},
      {"avgpool",
       make_spec({2, 8, 8}, {"conv 7 3", "avgpool 2x3 stride 1", "flatten", "linear 3"})},
      {"pool_first", make_spec({3, 6, 6}, {"maxpool 2", "conv 5 2", "flatten", "linear 3"})},
      {"globalavg", make_spec({2, 6, 6}, {"conv 7 3", "tanh", "globalavg", "linear 3"})},
      {"globalmax", make_spec({2, 6, 6}, {"conv 7 3", "globalmax", "linear 3"})},
      {"groupnorm",
       make_spec({2, 6, 6}, {"conv 6 3", "groupnorm 3", "relu", "flatten", "linear 3"})},
      {"layernorm", make_spec({2, 6, 6}, {"conv 6 3", "layernorm", "tanh", "flatten", "linear 3"})},
      {"layernorm_flat", make_spec({10, 1, 1}, {"linear 12", "layernorm", "relu", "linear 3"})},
      {"groupnorm_flat", make_spec({2, 4, 4}, {"conv 3 3", "flatten", "groupnorm 4", "linear 3"})},
      {"flatten_last", make_spec({1, 4, 4}, {"conv 1 3", "flatten"})},
      {"flatten_first", make_spec({2, 3, 3}, {"flatten", "linear 6", "relu", "linear 3"})},
      {"dropout", make_spec({9, 1, 1}, {"linear 6", "dropout", "relu", "linear 3"}, soft)},
      {"logistic", make_spec({9, 1, 1}, {"linear 6", "tanh", "linear 1"}, NetworkLoss::kLogistic)},
      {"squared", make_spec({9, 1, 1}, {"linear 6", "tanh", "linear 1"}, NetworkLoss::kSquared)},
      {"weighted_softmax", make_spec({9, 1, 1}, {"linear 3"}, soft, {0.5, 1, 3})},
      {"weighted_logistic",
       make_spec({9, 1, 1}, {"linear 4", "tanh", "linear 1"}, NetworkLoss::kLogistic, {0.25, 2})},
  };
}

}  // namespace sotto::testing
