// Convolution without copies of patches: a tap of an output pixel lies at (offset of the pixel) +
// (offset of the tap) in the padded input, which is all that the product kernels need.

#include <algorithm>

#include "sotto/objective/network/layer.hpp"

namespace sotto::network {
namespace {

class Conv final : public Layer {
 public:
  Conv(const LayerSpec& spec, Layout in, ImageShape out_shape, const Kernels& kernels)
      : Layer(in, Layout::of(out_shape)),
        kernels_(kernels),
        spec_(spec),
        padded_height_(in.shape.height + 2 * spec.padding.y),
        padded_width_(in.shape.width + 2 * spec.padding.x),
        copies_(spec.padding != Pair{}),
        channels_(in.shape.channels),
        outputs_(spec.outputs),
        outputs_padded_(out().stride),
        windows_(spec.kernel.y * spec.kernel.x) {
    for (std::int64_t y = 0; y < out_shape.height; ++y)
      for (std::int64_t x = 0; x < out_shape.width; ++x)
        pixels_.push_back(offset(y * spec.stride.y, x * spec.stride.x));
    for (std::int64_t ky = 0; ky < spec.kernel.y; ++ky)
      for (std::int64_t kx = 0; kx < spec.kernel.x; ++kx) {
        windows_at_.push_back(offset(ky, kx));
        for (std::int64_t c = 0; c < channels_; ++c)
          taps_.push_back(offset(ky, kx) + static_cast<std::int32_t>(c));
      }
    out_rows_ = multiples(out().pixels(), outputs_padded_);
    tap_rows_ = multiples(taps(), outputs_padded_);
    output_list_ = multiples(outputs_, 1);
  }

  GradientForm gradient() const override {
    GradientForm form;
    form.kind = GradientKind::kDense;
    form.dense = (taps() + (spec_.bias ? 1 : 0)) * outputs_padded_;
    return form;
  }

  std::vector<std::int32_t> places() const override {
    std::vector<std::int32_t> places(to_size(gradient().dense), -1);
    for (std::int64_t s = 0; s < taps(); ++s)
      for (std::int64_t o = 0; o < outputs_; ++o)
        places[to_size(s * outputs_padded_ + o)] = static_cast<std::int32_t>(weight(s, o));
    if (spec_.bias)
      for (std::int64_t o = 0; o < outputs_; ++o)
        places[to_size(taps() * outputs_padded_ + o)] =
            static_cast<std::int32_t>(weight_count() + o);
    return places;
  }

  Memory make_memory(std::int64_t chunk) const override {
    Memory memory;
    if (copies_) memory.input = Buffer(chunk * padded_size());
    memory.delta = Buffer(padded_size());
    memory.panel = Buffer(out().pixels() * network_kernels::kPanel);
    return memory;
  }

  void pack(const double* w, bool backward, Packed& packed) const override {
    if (packed.forward.size() == 0) packed.forward = Buffer(taps() * outputs_padded_);
    for_each_panel(outputs_padded_, [&](std::int64_t c, std::int64_t width) {
      float* panel = packed.forward.data() + c * taps();
      for (std::int64_t s = 0; s < taps(); ++s)
        for (std::int64_t o = c; o < std::min(c + width, outputs_); ++o)
          if (const std::int64_t place = weight(s, o); place >= 0)
            panel[s * width + o - c] = static_cast<float>(w[place]);
    });
    if (packed.bias.size() == 0) packed.bias = Buffer(outputs_padded_);
    if (spec_.bias)
      for (std::int64_t o = 0; o < outputs_; ++o)
        packed.bias.data()[o] = static_cast<float>(w[weight_count() + o]);
    if (!backward) return;
    // For every window place one factor of outputs x input channels.
    const std::int64_t factor = outputs_ * in().stride;
    if (packed.backward.size() == 0) packed.backward = Buffer(windows_ * factor);
    for (std::int64_t k = 0; k < windows_; ++k)
      for_each_panel(in().stride, [&](std::int64_t c, std::int64_t width) {
        float* panel = packed.backward.data() + k * factor + c * outputs_;
        for (std::int64_t o = 0; o < outputs_; ++o)
          for (std::int64_t q = c; q < std::min(c + width, channels_); ++q)
            if (const std::int64_t place = weight(k * channels_ + q, o); place >= 0)
              panel[o * width + q - c] = static_cast<float>(w[place]);
      });
  }

  void forward(const Packed& packed,
               Memory& memory,
               Tensor in_values,
               Tensor out_values,
               std::int64_t first,
               std::int64_t count) const override {
    for (std::int64_t e = first; e < first + count; ++e) {
      const float* input = in_values(e);
      if (copies_) {
        float* copy = memory.input.data() + e * padded_size();
        copy_inside(input, copy);
        input = copy;
      }
      for_each_panel(outputs_padded_, [&](std::int64_t c, std::int64_t width) {
        kernels_.multiply({input,
                           pixels_.data(),
                           out().pixels(),
                           taps_.data(),
                           taps(),
                           packed.forward.data() + c * taps(),
                           width,
                           out_values(e) + c,
                           out_rows_.data(),
                           width},
                          packed.bias.data() + c);
      });
    }
  }

  void backward(const Packed& packed,
                Memory& memory,
                const Slopes& slopes,
                std::int64_t first,
                std::int64_t count) const override {
    for (std::int64_t e = first; e < first + count; ++e) {
      if (slopes.gradient.data) weight_gradient(memory, slopes, e);
      if (slopes.din.data) input_slopes(packed, memory, slopes.dout(e), slopes.din(e));
    }
  }

 private:
  std::int32_t offset(std::int64_t y, std::int64_t x) const {
    return static_cast<std::int32_t>((y * padded_width_ + x) * in().stride);
  }
  std::int64_t taps() const { return windows_ * channels_; }
  std::int64_t padded_size() const {
    return network_kernels::padded(padded_height_ * padded_width_ * in().stride);
  }
  std::int64_t weight_count() const { return outputs_ * (channels_ / spec_.groups) * windows_; }

  /// Place of the weight of tap s (window place, then channel) for output o; -1 if they belong to
  /// different groups, whose weights are fixed zeros here.
  std::int64_t weight(std::int64_t s, std::int64_t o) const {
    const std::int64_t inside = channels_ / spec_.groups;
    const std::int64_t channel = s % channels_;
    if (channel / inside != o / (outputs_ / spec_.groups)) return -1;
    return (o * inside + channel % inside) * windows_ + s / channels_;
  }

  void copy_inside(const float* from, float* to) const {
    const std::int64_t row = in().shape.width * in().stride;
    to += offset(spec_.padding.y, spec_.padding.x);
    for (std::int64_t y = 0; y < in().shape.height; ++y)
      std::copy_n(from + y * row, row, to + y * padded_width_ * in().stride);
  }

  void weight_gradient(Memory& memory, const Slopes& slopes, std::int64_t e) const {
    const float* input = copies_ ? memory.input.data() + e * padded_size() : slopes.in(e);
    const float* dout = slopes.dout(e);
    float* gradient = slopes.gradient(e);
    for_each_panel(outputs_padded_, [&](std::int64_t c, std::int64_t width) {
      const float* panel = dout + c;
      std::int64_t stride = outputs_padded_;
      if (outputs_padded_ > network_kernels::kPanel) {  // far apart rows fall on few cache lines
        for (std::int64_t t = 0; t < out().pixels(); ++t)
          std::copy_n(dout + t * outputs_padded_ + c, width, memory.panel.data() + t * width);
        panel = memory.panel.data();
        stride = width;
      }
      kernels_.multiply({input,
                         taps_.data(),
                         taps(),
                         pixels_.data(),
                         out().pixels(),
                         panel,
                         stride,
                         gradient + c,
                         tap_rows_.data(),
                         width},
                        nullptr);
    });
    if (spec_.bias)
      kernels_.column_sums(
          dout, out().pixels(), outputs_padded_, gradient + taps() * outputs_padded_);
    if (spec_.groups > 1)
      for (std::int64_t s = 0; s < taps(); ++s)
        for (std::int64_t o = 0; o < outputs_; ++o)
          if (weight(s, o) < 0) gradient[s * outputs_padded_ + o] = 0;
  }

  /// Every window place adds its share of the slopes to the padded input.
  void input_slopes(const Packed& packed, Memory& memory, const float* dout, float* din) const {
    const std::int64_t factor = outputs_ * in().stride;
    float* target = copies_ ? memory.delta.data() : din;
    std::fill_n(target, padded_size(), 0.0F);
    for (std::int64_t k = 0; k < windows_; ++k)
      for_each_panel(in().stride, [&](std::int64_t c, std::int64_t width) {
        kernels_.multiply_add({dout,
                               out_rows_.data(),
                               out().pixels(),
                               output_list_.data(),
                               outputs_,
                               packed.backward.data() + k * factor + c * outputs_,
                               width,
                               target + windows_at_[to_size(k)] + c,
                               pixels_.data(),
                               width});
      });
    if (!copies_) return;
    const std::int64_t row = in().shape.width * in().stride;
    const float* from = target + offset(spec_.padding.y, spec_.padding.x);
    for (std::int64_t y = 0; y < in().shape.height; ++y)
      std::copy_n(from + y * padded_width_ * in().stride, row, din + y * row);
  }

  const Kernels& kernels_;
  LayerSpec spec_;
  std::int64_t padded_height_, padded_width_;
  bool copies_;  ///< the input is copied into a zero frame
  std::int64_t channels_, outputs_, outputs_padded_, windows_;
  std::vector<std::int32_t> pixels_;      ///< output pixels' offsets in the padded input
  std::vector<std::int32_t> taps_;        ///< taps' offsets: window place, then channel
  std::vector<std::int32_t> windows_at_;  ///< window places' offsets
  std::vector<std::int32_t> out_rows_, tap_rows_, output_list_;
};

}  // namespace

std::unique_ptr<Layer> make_conv(const LayerSpec& spec,
                                 Layout in,
                                 ImageShape out,
                                 const Kernels& kernels) {
  return std::make_unique<Conv>(spec, in, out, kernels);
}

}  // namespace sotto::network
