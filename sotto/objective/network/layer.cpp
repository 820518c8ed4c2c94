#include "sotto/objective/network/layer.hpp"

namespace sotto::network {
namespace {

class Flatten final : public Layer {
 public:
  explicit Flatten(Layout in)
      : Layer(in, Layout::of({in.shape.size(), 1, 1})), feature_of_(features_of(in)) {}

  void forward(const Packed&,
               Memory&,
               Tensor in_values,
               Tensor out_values,
               std::int64_t first,
               std::int64_t count) const override {
    for (std::int64_t e = first; e < first + count; ++e)
      for (std::size_t j = 0; j < feature_of_.size(); ++j)
        if (feature_of_[j] >= 0) out_values(e)[feature_of_[j]] = in_values(e)[j];
  }

  void backward(const Packed&,
                Memory&,
                const Slopes& slopes,
                std::int64_t first,
                std::int64_t count) const override {
    if (!slopes.din.data) return;
    for (std::int64_t e = first; e < first + count; ++e)
      for (std::size_t j = 0; j < feature_of_.size(); ++j)
        slopes.din(e)[j] = feature_of_[j] < 0 ? 0 : slopes.dout(e)[feature_of_[j]];
  }

 private:
  std::vector<std::int32_t> feature_of_;
};

}  // namespace

std::unique_ptr<Layer> make_flatten(Layout in) { return std::make_unique<Flatten>(in); }

Memory Layer::make_memory(std::int64_t) const { return {}; }

void Layer::pack(const double*, bool, Packed&) const {}

std::vector<std::int32_t> features_of(const Layout& layout) {
  std::vector<std::int32_t> features(to_size(layout.size()), -1);
  const std::int64_t pixels = layout.pixels();
  for (std::int64_t p = 0; p < pixels; ++p)
    for (std::int64_t c = 0; c < layout.shape.channels; ++c)
      features[to_size(p * layout.stride + c)] = static_cast<std::int32_t>(c * pixels + p);
  return features;
}

bool in_order(const std::vector<std::int32_t>& places) {
  for (std::size_t j = 0; j < places.size(); ++j)
    if (places[j] != static_cast<std::int32_t>(j)) return false;
  return true;
}

std::vector<std::int32_t> multiples(std::int64_t count, std::int64_t step) {
  std::vector<std::int32_t> result;
  for (std::int64_t i = 0; i < count; ++i) result.push_back(static_cast<std::int32_t>(i * step));
  return result;
}

}  // namespace sotto::network
