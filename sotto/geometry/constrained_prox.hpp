#pragma once

#include "sotto/core/error.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/geometry/constraint_set.hpp"
#include "sotto/geometry/regularizer.hpp"

namespace sotto {

/// argmin_u step · s(u) + ‖u - w‖²/2 over the set, where s is the regularizer's part that is not
/// smooth: the prox step of a composite objective on a set.
///
/// Prox followed by projection is exact for
///   no such part, any set;
///   any part and the l2 ball (the part is positively homogeneous, the projection radial [Yu13]);
///   l1 and a box (both act by coordinate, and in one dimension clamping the minimizer is exact);
///   l1 and the l1 ball or a group ball, group l1 and a group ball of the same groups (thresholds
///   add up);
///   l1 and the simplex, on which it is linear.
/// Everything else is refused by make(): there the composition is not the minimizer.
class ConstrainedProx {
 public:
  /// Fails (kUsage) with the reason where no exact composition is known.
  static Expected<ConstrainedProx> make(ConstraintPtr set, const Regularizer& regularizer);

  /// Replaces w by the minimizer; step >= 0.
  void apply(double step, Vector& w) const;

  /// (w - apply(step, w - step · gradient)) / step: the generalized projected gradient, zero
  /// exactly at stationary points; `gradient` includes the regularizer's smooth part.
  Vector projected_gradient(const Vector& w, const Vector& gradient, double step) const;

 private:
  ConstrainedProx(ConstraintPtr set, const Regularizer& regularizer);

  ConstraintPtr set_;
  Regularizer regularizer_;
};

}  // namespace sotto
