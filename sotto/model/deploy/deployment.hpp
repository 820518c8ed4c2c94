#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/data/encoding.hpp"
#include "sotto/model/model.hpp"
#include "sotto/model/model_kind.hpp"

// A model inside another program: what the exporters to ONNX, SQL and C are made of.

namespace sotto::deploy {

/// What is around a model's layers.
struct Deployment {
  std::optional<Encoding> encoding;  ///< none: rows are numbers, for want of a schema
  std::int64_t features = 0;         ///< that the layers take, without an intercept
  std::int64_t outputs = 1;          ///< of the last layer: scores
  ModelKind kind;
  std::vector<std::string> classes;  ///< empty: it predicts numbers
  LossSpec loss;                     ///< of a linear model: how its score becomes a number
  bool linear = true;
  bool bias = false;    ///< of a linear model: a further feature, 1, which counts in its rows' norm
  double row_norm = 0;  ///< longer rows are scaled down to it; 0: none are
};

/// Checks that the model's parts fit each other and that its weights are finite (kBadData).
Expected<Deployment> deployment_of(const Model& model);

/// A layer of numbers without places.
struct Layer {
  enum class Kind { kLinear, kRelu, kTanh, kSigmoid, kGelu };
  Kind kind = Kind::kLinear;
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  std::vector<double> weights;  ///< [output][input]
  std::vector<double> biases;   ///< empty: none
};

/// The layers of a model that `features` numbers go through; a linear model is one. The weights of
/// a network are those of predict, which computes in float32. kUsage names a layer that is none of
/// these, and `instead`: what to export to.
Expected<std::vector<Layer>> layers_of(const Model& model, const std::string& instead);

/// How C and SQL write a number: it reads back to the last bit, and is never a whole one.
std::string literal(double value);

/// statement_facts() for comments, a line each: JSON without characters that nobody sees, and
/// without those that comments of C or SQL could end with.
Expected<std::vector<std::string>> fact_lines(const Model& model);

/// Rounded as tables store numbers.
inline double in_single(double value) { return static_cast<double>(static_cast<float>(value)); }

}  // namespace sotto::deploy
