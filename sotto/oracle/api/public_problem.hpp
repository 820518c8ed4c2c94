#pragma once

#include <cstdint>
#include <limits>

#include "sotto/core/capabilities.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/geometry/constraint_set.hpp"
#include "sotto/geometry/regularizer.hpp"
#include "sotto/loss/loss_info.hpp"
#include "sotto/privacy/neighbours.hpp"
#include "sotto/privacy/public_count.hpp"

namespace sotto {

/// What is public about a problem: all that defaults, plans and step sizes may depend on.
///
///   F(w) = (1/n) sum_i loss(w; unit i) + regularizer(w)
struct PublicProblem {
  PublicCount n;               ///< of units: counted (counted_as_public), or declared
  std::int64_t dimension = 0;  ///< parameters of the model
  double row_norm = 0;  ///< declared bound R on the rows' norms; infinity if none was declared
  LossInfo loss = loss_info({});
  Regularizer regularizer;
  /// The weights must stay in it; null: anywhere.
  ConstraintPtr constraint;
  /// Declared bound on the absolute entries of a row, for step sizes, clip radii and certificates
  /// (clipping enforces what privacy needs); infinity if none was declared.
  double row_max = std::numeric_limits<double>::infinity();
  Relation relation = Relation::kZeroOut;
  /// Every unit is one row of a linear model with a loss whose bounds are proven, and row_norm,
  /// where finite, is enforced: sensitivities may follow the iterate (ClipRule::kGlm), and gaps can
  /// be certified.
  bool linear_rows = false;
  /// A network: no bound on gradients follows from the rows, and training starts at `start`.
  bool network = false;
  /// Of a network on rows with a declared bound: the norm of the longest row's gradient where all
  /// outputs are equal, for clip radii (NetworkFamily). 0: nothing public tells it.
  double network_slope = 0;
  /// Every unit's Hessian is positive semidefinite at every point; this is proven.
  bool convex() const { return !network && loss.proven && loss.inf_second >= 0; }
  /// What every engine of such a model offers.
  Capabilities offers() const {
    const Capabilities all = {Capability::kGradients,
                              Capability::kPairs,
                              Capability::kCoordinates,
                              Capability::kHessians,
                              Capability::kLosses};
    return network ? all.without({Capability::kHessians}) : all;
  }
  Vector start;  ///< empty: 0
  Vector first_iterate() const {
    return start.size() == 0 ? Vector(Vector::Zero(dimension)) : start;
  }
};

}  // namespace sotto
