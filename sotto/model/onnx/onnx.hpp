#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/model/model.hpp"
#include "sotto/objective/network/spec.hpp"

// Networks as ONNX files: what PyTorch exports (opset 11 and later) becomes a network with weights,
// and a trained model goes back. Only proto.cpp knows the file format itself.

namespace sotto {

struct OnnxNetwork {
  NetworkSpec spec;
  Vector weights;                  ///< of all layers, in the order of parameter_ranges(spec)
  std::vector<std::string> notes;  ///< what was read in another way than it stands
  std::optional<PrivacyStatement> privacy;  ///< if Sotto wrote the file
};

struct OnnxReading {
  /// One output means a number to be predicted (squared loss); otherwise the sign of one output
  /// tells two classes apart (logistic loss). Several outputs are classes (softmax).
  bool regression = false;
};

/// Reads a chain of supported layers: Conv, Gemm, MatMul and Add, Relu, Tanh, Sigmoid, GELU (as
/// Gelu or by Erf), MaxPool, AveragePool, GlobalMaxPool, GlobalAveragePool, Flatten and Reshape,
/// GroupNorm (by InstanceNormalization), LayerNormalization (also as exporters write it out),
/// Dropout (as identity). Constants that are taken from the input and divide it before the first
/// layer become mean and deviation; a Softmax, LogSoftmax or (one output) Sigmoid at the end
/// belongs to the loss and is left out. The first dimension is the batch, whatever number it has.
///
/// kBadData names the node and the reason, for BatchNormalization also the replacement, for
/// anything unknown the list of what is supported. Every damaged file ends there too. Memory: about
/// ten times the file. `path` is for messages only.
Expected<OnnxNetwork> network_from_onnx(std::string_view bytes,
                                        const std::string& path,
                                        const OnnxReading& reading = {});
Expected<OnnxNetwork> load_onnx(const std::string& path, const OnnxReading& reading = {});

/// What an exported file takes.
enum class OnnxInput {
  kColumns,   ///< a tensor per column of the model's schema, if it has one
  kFeatures,  ///< the encoded features, or pixels
};

/// The bytes of an ONNX file (opset 13).
///
/// Of columns: an input of shape (batch, 1) by the name of each that has features, strings or
/// float64, where NaN is a missing value. Outputs are `scores`; of a classifier `class`, the
/// class's name, and `probabilities`, if it has any; otherwise `prediction`. Numbers are float64
/// and agree with predict to 1e-6. A row that the schema does not allow gets NaN and an empty name.
/// kUsage names a column that the operators of ONNX can't encode.
///
/// Of features: float32, and `scores` are a network's last layer, or <w, x> of a linear model (with
/// its intercept and row norm, if any). Input constants are part of it.
///
/// The privacy statement, the method, the loss and the class names are in metadata_props under
/// names that begin with `sotto.`. kBadData if the model's network and weights do not fit each
/// other.
Expected<std::string> to_onnx(const Model& model, OnnxInput input = OnnxInput::kFeatures);
Expected<void> save_onnx(const Model& model,
                         const std::string& path,
                         OnnxInput input = OnnxInput::kFeatures);

/// Whether a path is meant as an ONNX file: it ends in .onnx.
bool is_onnx_path(std::string_view path);

}  // namespace sotto
