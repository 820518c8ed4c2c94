#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "sotto/objective/network/network_kernels.hpp"
#include "sotto/objective/network/spec.hpp"

// The layers of the network engine; private to it. A layer works on a few consecutive examples of a
// chunk at a time and never mixes them.

namespace sotto::network {

inline std::size_t to_size(std::int64_t n) { return static_cast<std::size_t>(n); }

/// Floats at the start of a cache line, zero at first.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t count) : size_(count) {
    if (count == 0) return;
    data_.reset(new (std::align_val_t{64}) float[to_size(count)]);
    clear();
  }
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }
  void clear() { std::memset(data_.get(), 0, to_size(size_) * sizeof(float)); }

 private:
  struct Free {
    void operator()(float* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  std::unique_ptr<float[], Free> data_;
  std::int64_t size_ = 0;
};

/// How one example's numbers lie in memory: pixel after pixel, channels innermost, `stride` floats
/// a pixel. Floats that hold no channel are 0.
struct Layout {
  ImageShape shape;
  std::int64_t stride = 0;

  static Layout of(const ImageShape& shape) {
    return {shape, network_kernels::padded(shape.channels)};
  }
  std::int64_t pixels() const { return shape.height * shape.width; }
  std::int64_t size() const { return network_kernels::padded(pixels() * stride); }
};

/// One array an example.
struct Tensor {
  float* data = nullptr;
  std::int64_t stride = 0;
  float* operator()(std::int64_t example) const { return data + example * stride; }
};

/// A layer's weights as its kernels want them.
struct Packed {
  Buffer forward;
  Buffer backward;
  Buffer bias;
};

/// A layer's memory for one chunk.
struct Memory {
  Buffer input;  ///< conv: padded inputs, one per example
  Buffer delta;  ///< conv: slopes of one padded input
  Buffer panel;  ///< conv: a panel of slopes
};

/// How a layer's per-example gradient is kept for a block.
enum class GradientKind {
  kNone,
  kDense,     ///< as it is
  kFactored,  ///< of a linear layer: slopes ⊗ (inputs, 1)
};

struct GradientForm {
  GradientKind kind = GradientKind::kNone;
  std::int64_t dense = 0;  ///< floats of a dense gradient, a multiple of kWidth
  std::int64_t left = 0;   ///< factored: slopes (padded) and inputs (padded)
  std::int64_t right = 0;
  std::int64_t outputs = 0;  ///< factored: slopes without padding
  bool bias = false;         ///< factored: with the constant-one input
};

/// What backward reads and writes; a null `din` or gradient is not wanted.
struct Slopes {
  Tensor in, out, dout, din;
  Tensor gradient;     ///< dense
  Tensor left, right;  ///< factored
};

class Layer {
 public:
  Layer(Layout in, Layout out) : in_(in), out_(out) {}
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  const Layout& in() const { return in_; }
  const Layout& out() const { return out_; }

  virtual GradientForm gradient() const { return {}; }
  /// The place of a dense gradient's number j, or of a factored one's (o, i) at o · right + i with
  /// the biases behind all of them, among the layer's parameters; -1: padding.
  virtual std::vector<std::int32_t> places() const { return {}; }

  /// Whether forward_rows may take the place of forward: the inputs of an example are then wanted
  /// as one array in the order of the features, wherever it lies, and nowhere else.
  virtual bool reads_rows() const { return false; }
  /// The list has `upcoming` more rows, which will be asked for next.
  virtual void forward_rows(const Packed&,
                            const float* const* /*rows*/,
                            Tensor /*out*/,
                            std::int64_t /*count*/,
                            std::int64_t /*upcoming*/) const {}

  virtual Memory make_memory(std::int64_t chunk) const;
  /// `w`: the layer's parameters. `backward`: slopes of the input will be wanted.
  virtual void pack(const double* w, bool backward, Packed& packed) const;

  virtual void forward(const Packed& packed,
                       Memory& memory,
                       Tensor in,
                       Tensor out,
                       std::int64_t first,
                       std::int64_t count) const = 0;
  virtual void backward(const Packed& packed,
                        Memory& memory,
                        const Slopes& slopes,
                        std::int64_t first,
                        std::int64_t count) const = 0;

 private:
  Layout in_;
  Layout out_;
};

using network_kernels::Kernels;

std::unique_ptr<Layer> make_linear(const LayerSpec&, Layout in, const Kernels&);
std::unique_ptr<Layer> make_conv(const LayerSpec&, Layout in, ImageShape out, const Kernels&);
std::unique_ptr<Layer> make_activation(const LayerSpec&, Layout in, const Kernels&);
std::unique_ptr<Layer> make_pool(const LayerSpec&, Layout in, ImageShape out, const Kernels&);
std::unique_ptr<Layer> make_normalization(const LayerSpec&, Layout in);
/// From any layout to the plain list of features.
std::unique_ptr<Layer> make_flatten(Layout in);

/// For each float of a layout the number of its feature in the order channel, row, column; -1 for
/// padding.
std::vector<std::int32_t> features_of(const Layout& layout);

/// 0, step, 2 step, …
std::vector<std::int32_t> multiples(std::int64_t count, std::int64_t step);

/// Σ numbers², in float64.
double sum_squares(std::span<const double> numbers);

/// Whether the places are 0, 1, 2, …
bool in_order(const std::vector<std::int32_t>& places);

/// Panels of a right factor with `columns` columns (a multiple of kWidth): calls
/// panel(first column, width).
template <class Panel>
void for_each_panel(std::int64_t columns, const Panel& panel) {
  using network_kernels::kPanel;
  for (std::int64_t c = 0; c < columns; c += kPanel)
    panel(c, columns - c < kPanel ? network_kernels::kWidth : kPanel);
}

}  // namespace sotto::network
