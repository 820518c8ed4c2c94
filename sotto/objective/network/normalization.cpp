// GroupNorm and LayerNorm: each example is centred and scaled by its own mean and variance, so that
// it keeps a gradient of its own (batch normalization does not).

#include <algorithm>
#include <cmath>

#include "sotto/objective/network/layer.hpp"

namespace sotto::network {
namespace {

constexpr double kVarianceFloor = 1e-5;

struct Moments {
  double mean = 0;
  double scale = 0;  ///< 1 / sqrt(variance + floor)
};

/// y = (x - mean) · scale · gain + shift, over the channels of a group and all pixels. GroupNorm
/// has one gain and shift per channel, LayerNorm (one group) one per feature.
class Normalization final : public Layer {
 public:
  Normalization(const LayerSpec& spec, Layout in)
      : Layer(in, in),
        by_feature_(spec.kind == LayerKind::kLayerNorm),
        groups_(by_feature_ ? 1 : spec.groups),
        inside_(in.shape.channels / groups_),
        width_(by_feature_ ? in.size() : in.stride) {}

  GradientForm gradient() const override {
    GradientForm form;
    form.kind = GradientKind::kDense;
    form.dense = 2 * width_;
    return form;
  }

  std::vector<std::int32_t> places() const override {
    Layout one = in();
    if (!by_feature_) one.shape.height = one.shape.width = 1;
    std::vector<std::int32_t> places = features_of(one);
    const auto count = static_cast<std::int32_t>(one.shape.size());
    for (std::int64_t j = 0; j < width_; ++j) {
      const std::int32_t place = places[to_size(j)];
      places.push_back(place < 0 ? -1 : place + count);
    }
    return places;
  }

  void pack(const double* w, bool, Packed& packed) const override {
    if (packed.forward.size() == 0) packed.forward = Buffer(2 * width_);
    const auto place = places();
    for (std::size_t j = 0; j < place.size(); ++j)
      if (place[j] >= 0) packed.forward.data()[j] = static_cast<float>(w[place[j]]);
  }

  void forward(const Packed& packed,
               Memory&,
               Tensor in_values,
               Tensor out_values,
               std::int64_t first,
               std::int64_t count) const override {
    const float* gain = packed.forward.data();
    const float* shift = gain + width_;
    for (std::int64_t e = first; e < first + count; ++e) {
      const float* x = in_values(e);
      float* y = out_values(e);
      std::fill_n(y, out().size(), 0.0F);
      for (std::int64_t g = 0; g < groups_; ++g) {
        const Moments m = moments(x, g);
        for_each_value(g, [&](std::int64_t j, std::int64_t k) {
          y[j] = static_cast<float>((x[j] - m.mean) * m.scale) * gain[k] + shift[k];
        });
      }
    }
  }

  void backward(const Packed& packed,
                Memory&,
                const Slopes& slopes,
                std::int64_t first,
                std::int64_t count) const override {
    const float* gain = packed.forward.data();
    for (std::int64_t e = first; e < first + count; ++e) {
      const float* x = slopes.in(e);
      const float* dy = slopes.dout(e);
      if (slopes.gradient.data) std::fill_n(slopes.gradient(e), 2 * width_, 0.0F);
      if (slopes.din.data) std::fill_n(slopes.din(e), in().size(), 0.0F);
      for (std::int64_t g = 0; g < groups_; ++g) {
        const Moments m = moments(x, g);
        if (slopes.gradient.data) {
          float* gradient = slopes.gradient(e);
          for_each_value(g, [&](std::int64_t j, std::int64_t k) {
            gradient[k] += dy[j] * static_cast<float>((x[j] - m.mean) * m.scale);
            gradient[width_ + k] += dy[j];
          });
        }
        if (!slopes.din.data) continue;
        // With z the normalized value and s = dy · gain: dx = scale (s - mean(s) - z mean(s z)).
        double mean_slope = 0;
        double mean_product = 0;
        for_each_value(g, [&](std::int64_t j, std::int64_t k) {
          const double s = static_cast<double>(dy[j]) * gain[k];
          mean_slope += s;
          mean_product += s * (x[j] - m.mean) * m.scale;
        });
        mean_slope /= values();
        mean_product /= values();
        float* dx = slopes.din(e);
        for_each_value(g, [&](std::int64_t j, std::int64_t k) {
          const double s = static_cast<double>(dy[j]) * gain[k];
          const double z = (x[j] - m.mean) * m.scale;
          dx[j] = static_cast<float>(m.scale * (s - mean_slope - z * mean_product));
        });
      }
    }
  }

 private:
  double values() const { return static_cast<double>(inside_ * in().pixels()); }

  /// Calls value(place, place of its gain) for every value of a group.
  template <class Value>
  void for_each_value(std::int64_t group, const Value& value) const {
    for (std::int64_t p = 0; p < in().pixels(); ++p)
      for (std::int64_t c = group * inside_; c < (group + 1) * inside_; ++c)
        value(p * in().stride + c, by_feature_ ? p * in().stride + c : c);
  }

  Moments moments(const float* x, std::int64_t group) const {
    Moments m;
    for_each_value(group, [&](std::int64_t j, std::int64_t) { m.mean += x[j]; });
    m.mean /= values();
    double variance = 0;
    for_each_value(group, [&](std::int64_t j, std::int64_t) {
      variance += (x[j] - m.mean) * (x[j] - m.mean);
    });
    m.scale = 1 / std::sqrt(variance / values() + kVarianceFloor);
    return m;
  }

  bool by_feature_;
  std::int64_t groups_;
  std::int64_t inside_;  ///< channels of a group
  std::int64_t width_;   ///< gains, padded
};

}  // namespace

std::unique_ptr<Layer> make_normalization(const LayerSpec& spec, Layout in) {
  return std::make_unique<Normalization>(spec, in);
}

}  // namespace sotto::network
