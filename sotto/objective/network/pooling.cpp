#include <algorithm>

#include "sotto/objective/network/layer.hpp"

namespace sotto::network {
namespace {

using network_kernels::Pool;

Pool pool_of(const LayerSpec& spec, const Layout& in, const ImageShape& out) {
  const bool global = spec.kind == LayerKind::kGlobalMax || spec.kind == LayerKind::kGlobalAverage;
  const Pair window = global ? Pair{in.shape.height, in.shape.width} : spec.kernel;
  return {in.shape.width,
          out.height,
          out.width,
          in.stride,
          window.y,
          window.x,
          spec.stride.y,
          spec.stride.x};
}

class MaxPool final : public Layer {
 public:
  MaxPool(const LayerSpec& spec, Layout in, ImageShape out_shape, const Kernels& kernels)
      : Layer(in, Layout::of(out_shape)), pool_(pool_of(spec, in, out_shape)), kernels_(kernels) {}

  void forward(const Packed&,
               Memory&,
               Tensor in_values,
               Tensor out_values,
               std::int64_t first,
               std::int64_t count) const override {
    for (std::int64_t e = first; e < first + count; ++e)
      kernels_.max_pool(pool_, in_values(e), out_values(e));
  }

  void backward(const Packed&,
                Memory&,
                const Slopes& slopes,
                std::int64_t first,
                std::int64_t count) const override {
    if (!slopes.din.data) return;
    for (std::int64_t e = first; e < first + count; ++e) {
      std::fill_n(slopes.din(e), in().size(), 0.0F);
      kernels_.max_pool_backward(pool_, slopes.in(e), slopes.out(e), slopes.dout(e), slopes.din(e));
    }
  }

 private:
  Pool pool_;
  const Kernels& kernels_;
};

class AveragePool final : public Layer {
 public:
  AveragePool(const LayerSpec& spec, Layout in, ImageShape out_shape)
      : Layer(in, Layout::of(out_shape)),
        pool_(pool_of(spec, in, out_shape)),
        share_(1 / static_cast<float>(pool_.window_height * pool_.window_width)) {}

  void forward(const Packed&,
               Memory&,
               Tensor in_values,
               Tensor out_values,
               std::int64_t first,
               std::int64_t count) const override {
    for (std::int64_t e = first; e < first + count; ++e) {
      const float* input = in_values(e);
      float* result = out_values(e);
      std::fill_n(result, out().size(), 0.0F);
      for_each_tap([&](std::int64_t from, std::int64_t to) {
        for (std::int64_t c = 0; c < pool_.channels; ++c) result[to + c] += input[from + c];
      });
      for (std::int64_t j = 0; j < out().size(); ++j) result[j] *= share_;
    }
  }

  void backward(const Packed&,
                Memory&,
                const Slopes& slopes,
                std::int64_t first,
                std::int64_t count) const override {
    if (!slopes.din.data) return;
    for (std::int64_t e = first; e < first + count; ++e) {
      const float* dout = slopes.dout(e);
      float* din = slopes.din(e);
      std::fill_n(din, in().size(), 0.0F);
      for_each_tap([&](std::int64_t from, std::int64_t to) {
        for (std::int64_t c = 0; c < pool_.channels; ++c) din[from + c] += dout[to + c] * share_;
      });
    }
  }

 private:
  /// Calls tap(input pixel, output pixel) for every pixel of every window.
  template <class Tap>
  void for_each_tap(const Tap& tap) const {
    for (std::int64_t y = 0; y < pool_.out_height; ++y)
      for (std::int64_t x = 0; x < pool_.out_width; ++x)
        for (std::int64_t ky = 0; ky < pool_.window_height; ++ky)
          for (std::int64_t kx = 0; kx < pool_.window_width; ++kx)
            tap(((y * pool_.stride_y + ky) * pool_.in_width + x * pool_.stride_x + kx) *
                    pool_.channels,
                (y * pool_.out_width + x) * pool_.channels);
  }

  Pool pool_;
  float share_;
};

}  // namespace

std::unique_ptr<Layer> make_pool(const LayerSpec& spec,
                                 Layout in,
                                 ImageShape out,
                                 const Kernels& kernels) {
  if (spec.kind == LayerKind::kMaxPool || spec.kind == LayerKind::kGlobalMax)
    return std::make_unique<MaxPool>(spec, in, out, kernels);
  return std::make_unique<AveragePool>(spec, in, out);
}

}  // namespace sotto::network
