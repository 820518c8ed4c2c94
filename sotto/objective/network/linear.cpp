// A fully connected layer: an example's gradient is slopes ⊗ inputs, kept as these two factors.

#include <algorithm>

#include "sotto/objective/network/layer.hpp"

namespace sotto::network {
namespace {

using network_kernels::Product;

constexpr std::int64_t kMostRows = 64;  ///< examples of a chunk, at most

// From long inputs to few outputs the sums run along the inputs: a panel of outputs would be mostly
// padding.
constexpr std::int64_t kLongInput = 128;
constexpr std::int64_t kFewOutputs = 16;

class Linear final : public Layer {
 public:
  Linear(const LayerSpec& spec, Layout in, const Kernels& kernels)
      : Layer(in, Layout::of({spec.outputs, 1, 1})),
        kernels_(kernels),
        bias_(spec.bias),
        outputs_(spec.outputs),
        features_(in.shape.size()),
        feature_of_(features_of(in)),
        in_rows_(multiples(kMostRows, in.size())),
        out_rows_(multiples(kMostRows, out().size())),
        output_list_(multiples(outputs_, 1)) {
    for (std::size_t i = 0; i < feature_of_.size(); ++i)
      if (feature_of_[i] >= 0) inputs_.push_back(static_cast<std::int32_t>(i));
    along_ = in.pixels() == 1 && features_ >= kLongInput && outputs_ <= kFewOutputs;
  }

  GradientForm gradient() const override {
    GradientForm form;
    form.kind = GradientKind::kFactored;
    form.left = out().size();
    form.right = in().size();
    form.outputs = outputs_;
    form.bias = bias_;
    return form;
  }

  std::vector<std::int32_t> places() const override {
    std::vector<std::int32_t> places;
    for (std::int64_t o = 0; o < outputs_; ++o)
      for (const std::int32_t feature : feature_of_)
        places.push_back(feature < 0 ? -1 : static_cast<std::int32_t>(o * features_ + feature));
    if (bias_)
      for (std::int64_t o = 0; o < outputs_; ++o)
        places.push_back(static_cast<std::int32_t>(outputs_ * features_ + o));
    return places;
  }

  bool reads_rows() const override { return along_; }

  void pack(const double* w, bool backward, Packed& packed) const override {
    if (along_)
      pack_along(w, packed);
    else
      pack_panels(w, packed);
    if (packed.bias.size() == 0) packed.bias = Buffer(out().size());
    if (bias_)
      for (std::int64_t o = 0; o < outputs_; ++o)
        packed.bias.data()[o] = static_cast<float>(w[outputs_ * features_ + o]);
    if (!backward) return;
    if (packed.backward.size() == 0) packed.backward = Buffer(outputs_ * in().size());
    for_each_panel(in().size(), [&](std::int64_t c, std::int64_t width) {
      float* panel = packed.backward.data() + c * outputs_;
      for (std::int64_t o = 0; o < outputs_; ++o)
        for (std::int64_t q = c; q < c + width; ++q)
          if (const std::int32_t feature = feature_of_[to_size(q)]; feature >= 0)
            panel[o * width + q - c] = static_cast<float>(w[o * features_ + feature]);
    });
  }

  void forward(const Packed& packed,
               Memory&,
               Tensor in_values,
               Tensor out_values,
               std::int64_t first,
               std::int64_t count) const override {
    if (along_) {
      const float* rows[kMostRows];
      for (std::int64_t e = 0; e < count; ++e) rows[e] = in_values(first + e);
      forward_rows(packed, rows, {out_values(first), out_values.stride}, count, 0);
      return;
    }
    const auto sums = static_cast<std::int64_t>(inputs_.size());
    for_each_panel(out().size(), [&](std::int64_t c, std::int64_t width) {
      kernels_.multiply({in_values(first),
                         in_rows_.data(),
                         count,
                         inputs_.data(),
                         sums,
                         packed.forward.data() + c * sums,
                         width,
                         out_values(first) + c,
                         out_rows_.data(),
                         width},
                        packed.bias.data() + c);
    });
  }

  void forward_rows(const Packed& packed,
                    const float* const* rows,
                    Tensor out_values,
                    std::int64_t count,
                    std::int64_t upcoming) const override {
    kernels_.multiply_rows(rows,
                           count,
                           upcoming,
                           packed.forward.data(),
                           in().size(),
                           outputs_,
                           packed.bias.data(),
                           out_values.data,
                           out_values.stride);
  }

  void backward(const Packed& packed,
                Memory&,
                const Slopes& slopes,
                std::int64_t first,
                std::int64_t count) const override {
    if (slopes.left.data)
      for (std::int64_t e = first; e < first + count; ++e) {
        std::copy_n(slopes.dout(e), out().size(), slopes.left(e));
        if (slopes.right.data) std::copy_n(slopes.in(e), in().size(), slopes.right(e));
      }
    if (!slopes.din.data) return;
    for_each_panel(in().size(), [&](std::int64_t c, std::int64_t width) {
      kernels_.multiply({slopes.dout(first),
                         out_rows_.data(),
                         count,
                         output_list_.data(),
                         outputs_,
                         packed.backward.data() + c * outputs_,
                         width,
                         slopes.din(first) + c,
                         in_rows_.data(),
                         width},
                        nullptr);
    });
  }

 private:
  void pack_panels(const double* w, Packed& packed) const {
    const auto sums = static_cast<std::int64_t>(inputs_.size());
    if (packed.forward.size() == 0) packed.forward = Buffer(sums * out().size());
    for_each_panel(out().size(), [&](std::int64_t c, std::int64_t width) {
      float* panel = packed.forward.data() + c * sums;
      for (std::int64_t q = c; q < std::min(c + width, outputs_); ++q) {
        const double* row = w + q * features_;
        for (std::int64_t s = 0; s < sums; ++s)
          panel[s * width + q - c] =
              static_cast<float>(row[feature_of_[to_size(inputs_[to_size(s)])]]);
      }
    });
  }

  void pack_along(const double* w, Packed& packed) const {
    const std::int64_t columns = in().size();
    if (packed.forward.size() == 0) packed.forward = Buffer(outputs_ * columns);
    for (std::int64_t o = 0; o < outputs_; ++o) {
      float* target = packed.forward.data() + o * columns;
      const double* row = w + o * features_;
      for (std::int64_t i = 0; i < features_; ++i) target[i] = static_cast<float>(row[i]);
    }
  }

  const Kernels& kernels_;
  bool bias_;
  bool along_ = false;  ///< sums along the inputs
  std::int64_t outputs_;
  std::int64_t features_;
  std::vector<std::int32_t> feature_of_;
  std::vector<std::int32_t> inputs_;  ///< places of the features in an example
  std::vector<std::int32_t> in_rows_, out_rows_, output_list_;
};

}  // namespace

std::unique_ptr<Layer> make_linear(const LayerSpec& spec, Layout in, const Kernels& kernels) {
  return std::make_unique<Linear>(spec, in, kernels);
}

}  // namespace sotto::network
