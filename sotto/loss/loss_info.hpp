#pragma once

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

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
  /// Counts: half the Poisson deviance of label and rate min(e^z, threshold), continued linearly
  /// beyond z = ln(threshold); labels clamped to [0, threshold].
  kPoisson,
  kOwn,  ///< a program's own: OwnLoss
};

/// A loss that a program writes itself: ℓ(z, y) >= 0 of the prediction z = ⟨x, w⟩ and the label.
///
/// Its functions are called with predictions and labels of private rows. So they are functions
/// without state, and must do nothing but compute: whatever else one did would be a release that
/// nobody charged.
///
/// Its bounds are a program's word, which nothing here can prove. They set defaults (clip radii,
/// step sizes) and never noise: for such a loss a unit's term is bounded by clipping alone, which
/// is enforced whatever the functions return, and a sensitivity follows from the clip radius alone.
/// A wrong bound costs accuracy, not privacy.
struct OwnLoss {
  std::string name;  ///< of letters, digits and dashes; files say `own:NAME`, of regression
                     ///< `own:NAME:regression`
  bool classification = true;  ///< labels are ±1; else numbers
  double (*value)(double z, double y) noexcept = nullptr;
  double (*first)(double z, double y) noexcept = nullptr;   ///< dℓ/dz
  double (*second)(double z, double y) noexcept = nullptr;  ///< d²ℓ/dz²
  // As in LossInfo, of ℓ in z.
  double sup_first = std::numeric_limits<double>::infinity();
  double inf_second = -1;
  double sup_second = 1;
  double sup_third = std::numeric_limits<double>::infinity();
  double typical_first = 1;

  /// False for the loss of a model file: it has the name alone.
  bool computable() const { return value && first && second; }
};

/// What the losses of two classes' rows are multiplied by: public constants, part of the loss, so
/// that clipping, bounds and curvature see the product (class_weights.proof.md).
struct ClassWeights {
  double negative = 1;
  double positive = 1;
  bool operator==(const ClassWeights&) const = default;
};

/// Class weights lie between these, so that products stay where rounding errors are relative.
inline constexpr double kLeastClassWeight = 1e-6;
inline constexpr double kMostClassWeight = 1e6;
constexpr bool is_class_weight(double weight) {
  return weight >= kLeastClassWeight && weight <= kMostClassWeight;
}

/// A loss with its parameters.
struct LossSpec {
  LossKind kind = LossKind::kLogistic;
  /// Huber, phase retrieval and Poisson only; finite and > 0. Infinite for a Poisson loss whose
  /// largest rate is yet to be declared (LinearFamily takes the schema's).
  double threshold = 1;
  std::shared_ptr<const OwnLoss> own = nullptr;  ///< kOwn only; not null there
  ClassWeights weights{};                        ///< logistic and sigmoid only

  LossSpec() = default;
  LossSpec(LossKind which, double at = 1)  // NOLINT: a kind is a loss
      : kind(which), threshold(at) {
    if (kind == LossKind::kOwn) own = std::make_shared<const OwnLoss>();
  }
  LossSpec(OwnLoss loss)  // NOLINT
      : kind(LossKind::kOwn), own(std::make_shared<const OwnLoss>(std::move(loss))) {}
};

/// Succeeds for losses that can be trained with. A Poisson one has a finite largest rate. Class
/// weights are in their range, and those of a logistic or sigmoid loss. An own one (kUsage
/// otherwise) has a name, all three functions, and bounds that are numbers: finite second
/// derivatives with inf_second <= sup_second > 0, typical_first finite and > 0, sup_first > 0,
/// sup_third >= 0.
Expected<void> check_loss(const LossSpec& loss);

/// What is public about a loss: bounds over every argument of φ (phase retrieval: φ' and φ'' in z).
/// For rows with ‖x‖ <= R multiply bounds of φ' by R, of φ'' by R², of φ''' by R³ to bound
/// gradients, Hessians and the Hessian's Lipschitz constant. Class weights are in them: with a
/// weight of 4 every bound is 4 times as large, so that no method needs to know of weights.
struct LossInfo {
  LossKind kind;
  bool classification;   ///< labels are ±1 and the argument is the margin
  double sup_first;      ///< sup |φ'|
  double inf_second;     ///< inf φ''
  double sup_second;     ///< sup φ''
  double sup_third;      ///< sup |φ'''|; infinite where φ'' jumps
  double typical_first;  ///< |φ'| at the margin 0, where training starts; 1 for regression,
                         ///< its local maximum between 0 and the labels for phase retrieval
  /// False: a program's word (OwnLoss), on which no sensitivity and no certificate may rest.
  bool proven = true;
  /// Of the classes: already in the bounds above.
  double least_weight = 1;
  double largest_weight = 1;
  double sup_abs_second() const { return sup_second > -inf_second ? sup_second : -inf_second; }
  /// sup |φ''|, or where that is infinite φ'' at predictions as large as labels are: for default
  /// step sizes, never for sensitivities.
  double working_second() const;
};

LossInfo loss_info(const LossSpec& loss);

/// The bounds of a loss whose rows are multiplied by weights between these.
LossInfo weighted(LossInfo loss, double least, double largest);

/// Reads "logistic", "sigmoid", "squared", "huber", "phase-retrieval", "poisson" or the last three
/// with ":THRESHOLD", the first two also with " weighted NEGATIVE,POSITIVE", and the name of an
/// OwnLoss, as one that is not computable(). Fails (kUsage) on any other name, on a threshold that
/// is not finite and > 0, and on weights out of their range.
Expected<LossSpec> parse_loss(std::string_view text);

/// The text that parse_loss reads back as the same loss.
std::string to_string(const LossSpec& loss);

}  // namespace sotto
