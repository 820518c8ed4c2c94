#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/vector.hpp"

namespace sotto {

/// What one example looks like between two layers: channels x height x width, or a flat list of
/// features (height = width = 1).
struct ImageShape {
  std::int64_t channels = 0;
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t size() const { return channels * height * width; }
  bool operator==(const ImageShape&) const = default;
};

enum class LayerKind {
  kLinear,
  kConv,
  kRelu,
  kTanh,
  kSigmoid,
  kGelu,
  kMaxPool,
  kAveragePool,
  kGlobalMax,
  kGlobalAverage,
  kFlatten,
  kGroupNorm,
  kLayerNorm,
  kDropout,  ///< does nothing: the noise regularizes already, and masks would be secrets to draw
};

struct Pair {
  std::int64_t y = 0;
  std::int64_t x = 0;
  bool operator==(const Pair&) const = default;
};

/// One layer as a model file states it; fields that a kind does not have are left alone.
struct LayerSpec {
  LayerKind kind = LayerKind::kRelu;
  std::int64_t outputs = 0;  ///< linear, conv
  Pair kernel{};             ///< conv, pools
  Pair stride{1, 1};
  Pair padding{};           ///< conv
  std::int64_t groups = 1;  ///< conv, groupnorm
  bool bias = true;         ///< linear, conv
  bool frozen = false;      ///< its parameters are public constants and not trained
  bool operator==(const LayerSpec&) const = default;
};

enum class NetworkLoss {
  kSoftmax,   ///< cross-entropy of softmax, one output a class
  kLogistic,  ///< one output, labels ±1
  kSquared,   ///< (output - label)² / 2, one output
};

/// A network: layers that treat every example alone, so that an example has a gradient of its own.
/// All of it is public.
struct NetworkSpec {
  ImageShape input;
  std::vector<double> mean;       ///< by channel, subtracted from the input; empty: 0
  std::vector<double> deviation;  ///< by channel, the input is divided by it; empty: 1
  std::vector<LayerSpec> layers;
  NetworkLoss loss = NetworkLoss::kSoftmax;
  /// Public constants that the losses of each class's rows are multiplied by, in the order of
  /// stored labels; empty: 1 (loss/class_weights.proof.md).
  std::vector<double> class_weights;
  bool operator==(const NetworkSpec&) const = default;
};

/// Reads a model file (docs/reference/model_files.md):
///   input = [1, 28, 28]
///   mean = [0.1307]
///   deviation = [0.3081]
///   loss = "softmax"
///   layers = ["conv 16 8x8 stride 2 pad 3", "relu", "maxpool 2 stride 1", "flatten", "linear 10"]
/// kBadData, with the layer's number, for anything else; batch normalization is refused with the
/// reason and its replacement. `path` is for messages only.
Expected<NetworkSpec> parse_network(const std::string& text, const std::string& path);
/// The text that parse_network reads back as the same network.
std::string to_text(const NetworkSpec& spec);
std::string to_text(const LayerSpec& layer);
/// One layer, e.g. "conv 16 3x3 pad 1"; kBadData names what is wrong, without file and number.
Expected<LayerSpec> parse_layer(std::string_view text);

/// mnist-cnn4, cifar-cnn5, cifar-cnn6, softmax, or mlp:WIDTH,WIDTH,… (hidden layers with ReLU); the
/// last two take the number of features from the data, all take the number of classes (2 and more;
/// 0 for regression). kUsage for another name, or for data that does not fit.
Expected<NetworkSpec> builtin_network(const std::string& name,
                                      std::int64_t features,
                                      std::int64_t classes);
bool is_builtin_network(const std::string& name);
/// Their names, with the widths of one mlp for all.
std::vector<std::string> builtin_networks();
/// The numbers of a row that a built-in network for images takes; 0 for any other name.
std::int64_t builtin_features(const std::string& name);

/// The shape before the first layer and after each; kBadData if a layer does not fit its input.
Expected<std::vector<ImageShape>> shapes_of(const NetworkSpec& spec);

/// Where a layer's parameters lie in the parameter vector: weights first, then biases, each in the
/// order of PyTorch ([out][in][y][x]).
struct ParameterRange {
  std::int64_t begin = 0;
  std::int64_t weights = 0;
  std::int64_t biases = 0;
  std::int64_t count() const { return weights + biases; }
};

/// How many classes its outputs stand for; 0: it predicts numbers. The spec must pass shapes_of.
std::size_t class_count(const NetworkSpec& spec);

/// One range a layer, frozen ones too. The spec must pass shapes_of.
std::vector<ParameterRange> parameter_ranges(const NetworkSpec& spec);
/// Of all layers.
std::int64_t parameter_count(const NetworkSpec& spec);

/// Initial weights: uniform in ±1/sqrt(fan in) for linear layers and convolutions (what PyTorch
/// does), 1 and 0 for the normalizations. The seed is public: it has nothing to do with the data.
Vector initial_weights(const NetworkSpec& spec, std::uint64_t seed);

}  // namespace sotto
