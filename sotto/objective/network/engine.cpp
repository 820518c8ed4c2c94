#include "sotto/objective/network/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "sotto/core/check.hpp"
#include "sotto/objective/network/layer.hpp"
#include "sotto/objective/network/scratch.hpp"

namespace sotto {

using network::GradientKind;
using network::Layer;
using network::Layout;
using network::Slopes;
using network::Tensor;
using network::to_size;

namespace {

// A block's gradients; they are written once and read once.
constexpr std::int64_t kBlockBytes = 6 << 20;
constexpr std::int64_t kLargestBlock = 32;
/// Where all gradients are kept as factors: a block's sum costs more than its examples.
constexpr std::int64_t kLargestFactoredBlock = 128;
/// Rows lie anywhere in the memory: it is asked for one so many examples before it is needed.
constexpr std::int64_t kPrefetch = 4;

/// Convolutions read an image's channels one by one: no padding is needed. A linear layer may take
/// the numbers in the order in which the rows have them.
Layout input_layout(const NetworkSpec& spec) {
  const ImageShape& in = spec.input;
  for (const LayerSpec& layer : spec.layers) {
    if (layer.kind == LayerKind::kFlatten || layer.kind == LayerKind::kDropout) continue;
    if (layer.kind == LayerKind::kConv && in.height * in.width > 1) return {in, in.channels};
    if (layer.kind == LayerKind::kLinear) return Layout::of({in.size(), 1, 1});
    break;
  }
  return Layout::of(in);
}

std::unique_ptr<Layer> make_layer(const NetworkSpec& spec,
                                  std::size_t i,
                                  const Layout& in,
                                  const ImageShape& out,
                                  const network_kernels::Kernels& kernels) {
  const LayerSpec& layer = spec.layers[i];
  switch (layer.kind) {
    case LayerKind::kLinear:
      return network::make_linear(layer, in, kernels);
    case LayerKind::kConv:
      return network::make_conv(layer, in, out, kernels);
    case LayerKind::kRelu:
    case LayerKind::kTanh:
    case LayerKind::kSigmoid:
    case LayerKind::kGelu:
      return network::make_activation(layer, in, kernels);
    case LayerKind::kMaxPool:
    case LayerKind::kAveragePool:
    case LayerKind::kGlobalMax:
    case LayerKind::kGlobalAverage:
      return network::make_pool(layer, in, out, kernels);
    case LayerKind::kGroupNorm:
    case LayerKind::kLayerNorm:
      return network::make_normalization(layer, in);
    case LayerKind::kFlatten:
      return in.pixels() == 1 ? nullptr : network::make_flatten(in);
    case LayerKind::kDropout:
      return nullptr;
  }
  SOTTO_CHECK(false && "unknown layer");
}

Expected<void> check_labels(const Table& table, NetworkLoss loss, std::int64_t outputs) {
  for (const float label : table.labels()) {
    const bool fits =
        loss == NetworkLoss::kSoftmax
            ? label >= 0 && label < static_cast<float>(outputs) && label == std::floor(label)
            : loss == NetworkLoss::kSquared || label == 1 || label == -1;
    if (!fits)
      return fail(
          ErrorKind::kBadData,
          loss == NetworkLoss::kSoftmax
              ? fmt::format("the network has {} outputs, one per class, but the labels have "
                            "other classes. Change the last layer.",
                            outputs)
              : "the logistic loss needs two classes.");
  }
  return {};
}

}  // namespace

NetworkEngine::NetworkEngine(const Table& table,
                             const NetworkSpec& spec,
                             const network_kernels::Kernels& kernels)
    : table_(table), spec_(spec), kernels_(kernels) {}

NetworkEngine::~NetworkEngine() = default;

Expected<std::unique_ptr<NetworkEngine>> NetworkEngine::make(
    const Table& table,
    const NetworkSpec& spec,
    const Vector& frozen,
    const network_kernels::Kernels& kernels) {
  SOTTO_ASSIGN(const auto shapes, shapes_of(spec));
  SOTTO_CHECK(frozen.size() == 0 || frozen.size() == parameter_count(spec));
  if (table.sparse())
    return fail(ErrorKind::kUsage, "networks need dense rows, but the table is sparse.");
  if (table.dim() != spec.input.size())
    return fail(
        ErrorKind::kBadData,
        fmt::format("the network takes {} numbers per example ({} x {} x {}), but a row has "
                    "{}.",
                    spec.input.size(),
                    spec.input.channels,
                    spec.input.height,
                    spec.input.width,
                    table.dim()));
  SOTTO_TRY(check_labels(table, spec.loss, shapes.back().channels));
  std::unique_ptr<NetworkEngine> engine(new NetworkEngine(table, spec, kernels));
  engine->build(frozen);
  return engine;
}

Expected<std::unique_ptr<NetworkEngine>> NetworkEngine::make(std::unique_ptr<const Table> table,
                                                             const NetworkSpec& spec) {
  SOTTO_ASSIGN(std::unique_ptr<NetworkEngine> engine, make(*table, spec));
  engine->kept_ = std::move(table);
  return engine;
}

void NetworkEngine::build(const Vector& frozen) {
  const auto shapes = *shapes_of(spec_);
  const auto ranges = parameter_ranges(spec_);
  const Layout input = input_layout(spec_);
  Layout layout = input;
  first_trained_ = std::numeric_limits<std::size_t>::max();
  bool found_tail = false;
  std::int64_t gradient_floats = 1;
  for (std::size_t i = 0; i < spec_.layers.size(); ++i) {
    auto layer = make_layer(spec_, i, layout, shapes[i + 1], kernels_);
    if (!layer) continue;
    const std::size_t place = layers_.size();
    if (spec_.layers[i].kind == LayerKind::kLinear && !found_tail) {
      first_tail_ = place;
      found_tail = true;
    }
    trained_of_.push_back(-1);
    if (ranges[i].count() > 0 && !spec_.layers[i].frozen) {
      first_trained_ = std::min(first_trained_, place);
      trained_of_.back() = static_cast<int>(trained_.size());
      trained_.push_back({place, parameters_, ranges[i].count(), layer->places()});
      trained_.back().in_order = network::in_order(trained_.back().places);
      trained_.back().summed = summed_size_;
      summed_size_ += std::ssize(trained_.back().places);
      parameters_ += ranges[i].count();
      const auto form = layer->gradient();
      gradient_floats += form.dense + form.left + form.right;
    } else if (ranges[i].count() > 0) {
      SOTTO_CHECK(frozen.size() > 0 && "frozen layers need their parameters");
    }
    layout = layer->out();
    ranges_.push_back(ranges[i]);
    layers_.push_back(std::move(layer));
  }
  if (!found_tail) first_tail_ = layers_.size();
  outputs_ = shapes.back().channels;
  frozen_ = frozen;
  const bool factored = std::all_of(trained_.begin(), trained_.end(), [&](const Trained& each) {
    return layers_[each.layer]->gradient().kind == network::GradientKind::kFactored;
  });
  const std::int64_t bytes = 4 * gradient_floats + (table_.has_units() ? 8 * summed_size_ : 0);
  block_size_ = std::clamp<std::int64_t>(kBlockBytes / bytes / kChunk * kChunk,
                                         kChunk,
                                         factored ? kLargestFactoredBlock : kLargestBlock);
  capacity_ = block_size_ + (table_.has_units() ? kChunk : 0);

  const auto features = network::features_of(input);
  input_places_.assign(to_size(spec_.input.size()), 0);
  for (std::size_t j = 0; j < features.size(); ++j)
    if (features[j] >= 0) input_places_[to_size(features[j])] = static_cast<std::int32_t>(j);
  input_in_order_ = network::in_order(input_places_);
  reads_rows_ = layers_.front()->reads_rows();
  rows_in_place_ = reads_rows_ && input_in_order_ && spec_.mean.empty() &&
                   spec_.deviation.empty() && table_.stride() == layers_.front()->in().size();
  if (spec_.mean.empty() && spec_.deviation.empty()) return;
  const std::int64_t pixels = spec_.input.height * spec_.input.width;
  for (std::int64_t column = 0; column < spec_.input.size(); ++column) {
    const auto channel = to_size(column / pixels);
    const double mean = spec_.mean.empty() ? 0 : spec_.mean[channel];
    const double deviation = spec_.deviation.empty() ? 1 : spec_.deviation[channel];
    input_scale_.push_back(static_cast<float>(1 / deviation));
    input_shift_.push_back(static_cast<float>(-mean / deviation));
  }
}

NetworkEngine::Storage NetworkEngine::make_storage() const {
  Storage storage;
  for (const Trained& each : trained_) {
    const auto form = layers_[each.layer]->gradient();
    Storage::Slot slot;
    slot.dense = network::Buffer(capacity_ * form.dense);
    slot.left = network::Buffer(capacity_ * form.left);
    if (!shares_inputs(each)) slot.right = network::Buffer(capacity_ * form.right);
    storage.slots.push_back(std::move(slot));
  }
  return storage;
}

std::unique_ptr<Engine::Workspace> NetworkEngine::make_workspace() const {
  auto scratch = std::make_unique<Scratch>();
  // Between per-example layers one example's slopes are enough: they are used at once.
  const auto add = [&](const Layout& layout, bool keeps_slopes) {
    scratch->values.emplace_back(kChunk * layout.size());
    scratch->value_of.push_back({scratch->values.back().data(), layout.size()});
    scratch->slopes.emplace_back((keeps_slopes ? kChunk : 1) * layout.size());
    scratch->slope_of.push_back({scratch->slopes.back().data(), keeps_slopes ? layout.size() : 0});
  };
  add(layers_.front()->in(), false);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    add(layers_[i]->out(), i + 1 >= first_tail_);
    scratch->memory.push_back(layers_[i]->make_memory(kChunk));
  }
  scratch->storage[0] = make_storage();
  if (reads_rows_) scratch->inputs.resize(to_size(capacity_));
  if (reads_rows_ && !rows_in_place_)
    scratch->loaded = network::Buffer(capacity_ * layers_.front()->in().size());
  return scratch;
}

/// Packs w, unless the same numbers are packed already.
const NetworkEngine::Point& NetworkEngine::point_at(std::span<const double> w,
                                                    Scratch& scratch,
                                                    std::size_t which) const {
  SOTTO_CHECK(static_cast<std::int64_t>(w.size()) == parameters_);
  Point& point = scratch.points[which];
  const bool first = point.packed.empty();
  if (!first && std::memcmp(point.w.data(), w.data(), w.size_bytes()) == 0) return point;
  point.w.assign(w.begin(), w.end());
  point.packed.resize(layers_.size());
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const bool backward = i > first_trained_;
    if (trained_of_[i] >= 0)
      layers_[i]->pack(
          w.data() + trained_[to_size(trained_of_[i])].begin, backward, point.packed[i]);
    else if (first && ranges_[i].count() > 0)
      layers_[i]->pack(frozen_.data() + ranges_[i].begin, backward, point.packed[i]);
  }
  return point;
}

/// Asks the memory for an example of the block, if there is one.
void NetworkEngine::prefetch_input(const Block& block, std::int64_t example) const {
  if (example >= block.count) return;
  constexpr std::size_t kLine = 64 / sizeof(float);
  const float* row = table_.row(block[example]);
  for (std::size_t j = 0; j < input_places_.size(); j += kLine) __builtin_prefetch(row + j);
}

void NetworkEngine::load_input(std::int64_t row, float* input) const {
  const float* from = table_.row(row);
  if (input_in_order_) {
    const std::size_t count = input_places_.size();
    if (input_scale_.empty())
      std::copy_n(from, count, input);
    else
      kernels_.scale_and_shift(from, input_scale_.data(), input_shift_.data(), count, input);
    return;
  }
  if (input_scale_.empty()) {
    for (std::size_t j = 0; j < input_places_.size(); ++j) input[input_places_[j]] = from[j];
    return;
  }
  for (std::size_t j = 0; j < input_places_.size(); ++j)
    input[input_places_[j]] = from[j] * input_scale_[j] + input_shift_[j];
}

/// Where the first layer finds examples [begin, begin + count) of the block, from `place` on; tells
/// how many more places are known already.
std::int64_t NetworkEngine::fetch_inputs(const Block& block,
                                         std::int64_t begin,
                                         std::int64_t count,
                                         std::int64_t place,
                                         Scratch& s) const {
  const float** inputs = s.inputs.data() + place;
  if (rows_in_place_) {
    const std::int64_t upcoming =
        std::min({kChunk, block.count - begin - count, capacity_ - place - count});
    for (std::int64_t e = 0; e < count + upcoming; ++e) inputs[e] = table_.row(block[begin + e]);
    return upcoming;
  }
  const std::int64_t size = layers_.front()->in().size();
  for (std::int64_t e = 0; e < count; ++e) {
    float* loaded = s.loaded.data() + (place + e) * size;
    prefetch_input(block, begin + e + kPrefetch);
    load_input(block[begin + e], loaded);
    inputs[e] = loaded;
  }
  return 0;
}

/// Examples [begin, begin + count) of the block, to the outputs.
void NetworkEngine::forward(const Point& point,
                            const Block& block,
                            std::int64_t begin,
                            std::int64_t count,
                            std::int64_t place,
                            Scratch& s) const {
  const auto layer = [&](std::size_t i, std::int64_t first, std::int64_t examples) {
    layers_[i]->forward(
        point.packed[i], s.memory[i], s.value_of[i], s.value_of[i + 1], first, examples);
  };
  if (reads_rows_) {
    const std::int64_t upcoming = fetch_inputs(block, begin, count, place, s);
    layers_.front()->forward_rows(
        point.packed.front(), s.inputs.data() + place, s.value_of[1], count, upcoming);
    for (std::size_t i = 1; i < layers_.size(); ++i) layer(i, 0, count);
    return;
  }
  for (std::int64_t e = 0; e < count; ++e) {
    prefetch_input(block, begin + e + kPrefetch);
    load_input(block[begin + e], s.value_of[0](e));
    for (std::size_t i = 0; i < first_tail_; ++i) layer(i, e, 1);
  }
  for (std::size_t i = first_tail_; i < layers_.size(); ++i) layer(i, 0, count);
}

/// From the slopes of the outputs to per-example gradients at their places of the block.
void NetworkEngine::backward(const Point& point,
                             std::int64_t place,
                             std::int64_t count,
                             Storage& storage,
                             Scratch& s) const {
  const auto layer = [&](std::size_t i, std::int64_t first, std::int64_t examples) {
    Slopes slopes{s.value_of[i], s.value_of[i + 1], s.slope_of[i + 1], {}, {}, {}, {}};
    if (i > first_trained_) slopes.din = s.slope_of[i];
    if (trained_of_[i] >= 0) {
      auto& slot = storage.slots[to_size(trained_of_[i])];
      const auto form = layers_[i]->gradient();
      if (form.kind == GradientKind::kDense)
        slopes.gradient = {slot.dense.data() + place * form.dense, form.dense};
      else {
        slopes.left = {slot.left.data() + place * form.left, form.left};
        if (!(i == 0 && reads_rows_))
          slopes.right = {slot.right.data() + place * form.right, form.right};
      }
    }
    layers_[i]->backward(point.packed[i], s.memory[i], slopes, first, examples);
  };
  const std::size_t last_single = std::max(first_tail_, first_trained_);
  for (std::size_t i = layers_.size(); i-- > last_single;) layer(i, 0, count);
  for (std::int64_t e = 0; e < count; ++e)
    for (std::size_t i = first_tail_; i-- > first_trained_;) layer(i, e, 1);
}

void NetworkEngine::run_chunk(const Point& point,
                              const Block& rows,
                              std::int64_t begin,
                              std::int64_t count,
                              std::int64_t place,
                              Storage& storage,
                              Scratch& s) const {
  forward(point, rows, begin, count, place, s);
  for (std::int64_t e = 0; e < count; ++e)
    slopes_of(s.value_of.back()(e), label_of(rows[begin + e]), s.slope_of.back()(e));
  backward(point, place, count, storage, s);
}

ImageShape NetworkEngine::frozen_shape() const { return layers_[first_trained_]->in().shape; }

void NetworkEngine::evaluate_frozen(const Block& block,
                                    Workspace& workspace,
                                    std::span<float> features) const {
  const Layout& layout = layers_[first_trained_]->in();
  const std::int64_t width = layout.shape.size();
  SOTTO_CHECK(static_cast<std::int64_t>(features.size()) >= block.count * width);
  auto& s = static_cast<Scratch&>(workspace);
  const std::vector<double> any(to_size(parameters_));
  const Point& point = point_at(any, s, 0);
  const auto feature_of = network::features_of(layout);
  for (std::int64_t k = 0; k < block.count; ++k) {
    load_input(block[k], s.value_of[0](0));
    for (std::size_t i = 0; i < first_trained_; ++i)
      layers_[i]->forward(point.packed[i], s.memory[i], s.value_of[i], s.value_of[i + 1], 0, 1);
    const float* values = s.value_of[first_trained_](0);
    for (std::size_t j = 0; j < feature_of.size(); ++j)
      if (feature_of[j] >= 0) features[to_size(k * width + feature_of[j])] = values[j];
  }
}

void NetworkEngine::evaluate_outputs(const Block& block,
                                     std::span<const double> w,
                                     Workspace& workspace,
                                     std::span<double> outputs) const {
  SOTTO_CHECK(static_cast<std::int64_t>(outputs.size()) >= block.count * outputs_);
  auto& s = static_cast<Scratch&>(workspace);
  const Point& point = point_at(w, s, 0);
  s.count = 0;
  for (std::int64_t begin = 0; begin < block.count; begin += kChunk) {
    const std::int64_t count = std::min(kChunk, block.count - begin);
    forward(point, block, begin, count, 0, s);
    for (std::int64_t e = 0; e < count; ++e)
      std::copy_n(s.value_of.back()(e), outputs_, outputs.data() + (begin + e) * outputs_);
  }
}

}  // namespace sotto
