#pragma once

#include <string>
#include <string_view>

#include "sotto/core/error.hpp"

namespace sotto {

/// The losses of linear models: a loss is φ(m) of the margin m = y·⟨x, w⟩ with labels y = ±1
/// (classification) or φ(r) of the residual r = ⟨x, w⟩ - y (regression).
enum class LossKind {
  kLogistic,  ///< φ(m) = ln(1 + e^-m)
  kSigmoid,   ///< φ(m) = σ(-m) = 1 / (1 + e^m): bounded, nonconvex, decreasing in the margin
  kSquared,   ///< φ(r) = r² / 2
  kHuber,     ///< φ(r) = r² / 2 for |r| <= threshold, else threshold · (|r| - threshold / 2)
  /// (z² - y)² / 4 of the prediction z = ⟨x, w⟩, labels clamped to [0, threshold]: recovers w up to
  /// its sign from squared measurements; w = 0 is a strict saddle.
  kPhaseRetrieval,
};

/// A loss with its parameter.
struct LossSpec {
  LossKind kind = LossKind::kLogistic;
  double threshold = 1;  ///< Huber and phase retrieval only; finite and > 0
};

/// What is public about a loss: bounds over every argument of φ (phase retrieval: φ' and φ'' in z).
/// For rows with ‖x‖ <= R multiply bounds of φ' by R, of φ'' by R², of φ''' by R³ to bound
/// gradients, Hessians and the Hessian's Lipschitz constant.
struct LossInfo {
  LossKind kind;
  bool classification;   ///< labels are ±1 and the argument is the margin
  double sup_first;      ///< sup |φ'|
  double inf_second;     ///< inf φ''
  double sup_second;     ///< sup φ''
  double sup_third;      ///< sup |φ'''|; infinite where φ'' jumps
  double typical_first;  ///< |φ'| at the margin 0, where training starts; 1 for regression,
                         ///< its local maximum between 0 and the labels for phase retrieval
  double sup_abs_second() const { return sup_second > -inf_second ? sup_second : -inf_second; }
  /// sup |φ''|, or where that is infinite φ'' at predictions as large as labels are: for default
  /// step sizes, never for sensitivities.
  double working_second() const;
};

LossInfo loss_info(const LossSpec& loss);

/// Reads "logistic", "sigmoid", "squared", "huber", "phase-retrieval" or the last two with
/// ":THRESHOLD". Fails (kUsage) on any other name and on a threshold that is not finite and > 0.
Expected<LossSpec> parse_loss(std::string_view text);

/// The text that parse_loss reads back as the same loss.
std::string to_string(const LossSpec& loss);

}  // namespace sotto
