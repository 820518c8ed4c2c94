#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sotto/model/onnx/graph.hpp"
#include "sotto/model/onnx/onnx.hpp"

// Turns a graph into a network by running it on descriptions of values instead of on numbers;
// private to this folder.

namespace sotto::onnx_file {

/// What is known about a value. An activation is the output of the last layer so far, in some
/// shape; the roles after it are halves of layers that exporters write out as arithmetic.
enum class Role {
  kConstant,
  kExtents,  ///< whole numbers made of a shape
  kActivation,
  kGeluArgument,  ///< x / √2
  kGeluErf,       ///< erf(x / √2)
  kGeluGate,      ///< 1 + erf(x / √2), or half of it
  kGeluTwice,     ///< x (1 + erf(x / √2))
  kMean,          ///< over all features of an example
  kCentered,
  kSquared,
  kVariance,
  kVarianceFloor,  ///< variance + 1e-5
  kDeviation,      ///< its root
};

/// A whole number, or the number of examples.
struct Extent {
  std::int64_t value = 0;
  bool batch = false;
};

struct Value {
  Role role = Role::kConstant;
  TensorPtr tensor;                ///< kConstant
  std::vector<Extent> extents;     ///< kExtents
  std::int64_t version = 0;        ///< of which state of the chain it is made
  std::vector<std::int64_t> dims;  ///< of one example
  bool halved = false;             ///< kGeluGate
  bool listed = false;             ///< has been a list of features since the last layer
};

/// A layer with its parameters.
struct Draft {
  LayerSpec spec;
  std::vector<double> weights;
  std::vector<double> biases;
};

/// Layers must form a chain: every layer takes what the layer before it gave. A value that is used
/// after another layer has been put on it is stale, and using it is refused as a branch.
class Reader {
 public:
  Reader(const Graph& graph, const OnnxReading& reading) : graph_(graph), reading_(reading) {}

  Expected<OnnxNetwork> read();

 private:
  using Handler = Expected<Value> (Reader::*)(const Node&);
  static const std::map<std::string, Handler>& handlers();

  Expected<void> read_input();
  Expected<void> read_node(const Node& node);
  Expected<OnnxNetwork> finish();
  void choose_loss(NetworkSpec& spec) const;

  // Constants and extents.
  Expected<Value> constant(const Node& node);
  Expected<Value> identity(const Node& node);
  Expected<Value> shape(const Node& node);
  Expected<Value> gather(const Node& node);
  Expected<Value> concat(const Node& node);
  Expected<Value> transpose(const Node& node);
  Expected<Value> change_rank(const Node& node);  ///< Squeeze, Unsqueeze
  Expected<Value> reshape(const Node& node);
  Expected<Value> flatten(const Node& node);
  Expected<Value> pad(const Node& node);
  Expected<Value> cast(const Node& node);

  // Layers.
  Expected<Value> conv(const Node& node);
  Expected<Value> gemm(const Node& node);
  Expected<Value> matmul(const Node& node);
  Expected<Value> activation(const Node& node);
  Expected<Value> pool(const Node& node);
  Expected<Value> global_pool(const Node& node);
  Expected<Value> instance_norm(const Node& node);
  Expected<Value> layer_norm(const Node& node);
  Expected<Value> batch_norm(const Node& node);
  Expected<Value> softmax(const Node& node);

  // Arithmetic (arithmetic.cpp).
  Expected<Value> add(const Node& node);
  Expected<Value> subtract(const Node& node);
  Expected<Value> multiply(const Node& node);
  Expected<Value> divide(const Node& node);
  Expected<Value> power(const Node& node);
  Expected<Value> square_root(const Node& node);
  Expected<Value> erf(const Node& node);
  Expected<Value> reduce_mean(const Node& node);
  Expected<Value> scale(const Value& x, const Value& factor, bool divides);
  Expected<Value> shift(const Value& x, const Value& term, bool subtracts);
  Expected<Value> normalized(const Value& x);
  bool feeds_erf(const Node& node) const;

  // What handlers are made of.
  Expected<Value> input(const Node& node, std::size_t index) const;
  Expected<Value> live(const Node& node, std::size_t index) const;  ///< and need_live
  Expected<TensorPtr> constant_input(const Node& node, std::size_t index) const;
  Expected<std::vector<std::int64_t>> axes_of(const Node& node, std::size_t index);
  Expected<Value> reshaped(const Value& x, std::vector<std::int64_t> dims);
  Expected<Value> put(Draft draft, ImageShape out, std::vector<std::int64_t> dims);
  Expected<void> flatten_shape();
  Expected<Value> linear(const Value& x, Draft draft);
  Expected<void> need_head(const Value& x) const;   ///< made of the last layer's output
  Expected<void> need_live(const Value& x) const;   ///< the last layer's output
  Expected<void> need_image(const Value& x) const;  ///< in the shape that the layer gave it
  Expected<void> window(const Node& node, LayerSpec& layer, bool conv);
  Value head(std::vector<std::int64_t> dims) const;
  Value partial(Role role, const Value& of) const;
  std::optional<std::vector<double>> by_channel(const Tensor& tensor, const Value& x) const;
  std::optional<std::vector<double>> by_feature(const Tensor& tensor, const Value& x) const;

  std::int64_t integer(const Node& node, const char* name, std::int64_t otherwise);
  double number(const Node& node, const char* name, double otherwise);
  std::string text(const Node& node, const char* name, const std::string& otherwise);
  std::vector<std::int64_t> integers(const Node& node,
                                     const char* name,
                                     std::vector<std::int64_t> otherwise);

  const Graph& graph_;
  OnnxReading reading_;
  std::map<std::string, Value> values_;
  std::map<std::string, int> erf_inputs_;
  std::int64_t batch_ = kFree;
  ImageShape input_;
  std::vector<double> gain_, offset_;  ///< input x channel: gain · x + offset; empty: 1 and 0
  std::vector<Draft> layers_;
  ImageShape shape_;          ///< after layers_
  std::int64_t version_ = 0;  ///< grows with every change of the chain
  std::string last_;          ///< Softmax, LogSoftmax: nothing may follow
  std::string wrong_attribute_;
  std::vector<std::string> notes_;
};

constexpr std::int64_t kMostExtent = 1'000'000;  ///< as in model files
constexpr std::int64_t kMostFeatures = std::int64_t{1} << 28;
constexpr double kVarianceFloorValue = 1e-5;  ///< the one that the engine has

tl::unexpected<Error> refuse(std::string text);
/// Whether two constants are the same up to float32.
bool same(double a, double b);
/// A constant with one number.
std::optional<double> scalar(const Value& value);
std::vector<std::int64_t> whole_values(const Tensor& tensor);
/// [rows][columns] to [columns][rows].
std::vector<double> transposed(const std::vector<double>& values,
                               std::size_t rows,
                               std::size_t columns);

}  // namespace sotto::onnx_file
