#include <algorithm>
#include <cmath>

#include "sotto/core/check.hpp"
#include "sotto/objective/network/layer.hpp"

namespace sotto::network {
namespace {

constexpr float kRootHalf = 0.70710678F;
constexpr float kRootTwoPi = 2.50662827F;

class Activation final : public Layer {
 public:
  Activation(LayerKind kind, Layout in, const Kernels& kernels)
      : Layer(in, in), kind_(kind), kernels_(kernels) {}

  void forward(const Packed&,
               Memory&,
               Tensor in_values,
               Tensor out_values,
               std::int64_t first,
               std::int64_t count) const override {
    for (std::int64_t e = first; e < first + count; ++e) {
      const float* x = in_values(e);
      float* y = out_values(e);
      switch (kind_) {
        case LayerKind::kRelu:
          kernels_.relu(x, in().size(), y);
          break;
        case LayerKind::kTanh:
          kernels_.tanh(x, in().size(), y);
          break;
        case LayerKind::kSigmoid:
          kernels_.sigmoid(x, in().size(), y);
          clear_padding(y);
          break;
        default:
          for (std::int64_t j = 0; j < in().size(); ++j)
            y[j] = 0.5F * x[j] * (1 + std::erf(x[j] * kRootHalf));
      }
    }
  }

  void backward(const Packed&,
                Memory&,
                const Slopes& slopes,
                std::int64_t first,
                std::int64_t count) const override {
    if (!slopes.din.data) return;
    for (std::int64_t e = first; e < first + count; ++e) {
      const float* x = slopes.in(e);
      const float* y = slopes.out(e);
      const float* dy = slopes.dout(e);
      float* dx = slopes.din(e);
      const std::int64_t n = in().size();
      switch (kind_) {
        case LayerKind::kRelu:
          kernels_.relu_backward(y, dy, n, dx);
          break;
        case LayerKind::kTanh:
          for (std::int64_t j = 0; j < n; ++j) dx[j] = dy[j] * (1 - y[j] * y[j]);
          break;
        case LayerKind::kSigmoid:
          for (std::int64_t j = 0; j < n; ++j) dx[j] = dy[j] * y[j] * (1 - y[j]);
          break;
        default:
          for (std::int64_t j = 0; j < n; ++j)
            dx[j] = dy[j] * (0.5F * (1 + std::erf(x[j] * kRootHalf)) +
                             x[j] * std::exp(-0.5F * x[j] * x[j]) / kRootTwoPi);
      }
    }
  }

 private:
  /// The sigmoid of a zero is no zero.
  void clear_padding(float* y) const {
    const std::int64_t channels = in().shape.channels;
    const std::int64_t used = in().pixels() * in().stride;
    if (channels < in().stride)
      for (std::int64_t p = 0; p < in().pixels(); ++p)
        std::fill(y + p * in().stride + channels, y + (p + 1) * in().stride, 0.0F);
    std::fill(y + used, y + in().size(), 0.0F);
  }

  LayerKind kind_;
  const Kernels& kernels_;
};

}  // namespace

std::unique_ptr<Layer> make_activation(const LayerSpec& spec, Layout in, const Kernels& kernels) {
  return std::make_unique<Activation>(spec.kind, in, kernels);
}

}  // namespace sotto::network
