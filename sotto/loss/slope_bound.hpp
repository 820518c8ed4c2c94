#pragma once

#include "sotto/loss/loss_info.hpp"

namespace sotto {

/// Bounds on the gradients of a linear model on one row that follow the public weights w, for rows
/// of norm at most R (proofs: slope_bound.proof.md). Not finite where the loss has no bound.

/// sup ‖∇ℓ(w; x, y)‖ over rows and labels. For the logistic loss R σ(R‖w‖), which is R/2 at w = 0.
double gradient_bound(const LossInfo& loss, double R, double length_of_w);

/// An upper bound, at most 0.2 % above it, on sup ‖∇ℓ(w; x, y) - ∇ℓ(w; x', y')‖ over two rows and
/// labels: how far a replaced row moves a sum of gradients. For the logistic loss R at w = 0 and
/// below 2 gradient_bound everywhere else; other losses have twice their bound. Costs about a
/// hundred microseconds for the logistic loss.
double gradient_diameter(const LossInfo& loss, double R, double length_of_w);

/// Two public points, as far as the bounds below need them.
struct PointPair {
  double length;         ///< ‖w‖
  double length_before;  ///< ‖w'‖
  double moved;          ///< ‖w - w'‖
};

/// sup ‖∇ℓ(w; x, y) - ∇ℓ(w'; x, y)‖ over rows and labels: R²‖w - w'‖ sup|φ''|, and less where the
/// slopes at both points allow less; never 0. For the logistic loss at most R tanh(R‖w - w'‖/4).
double difference_bound(const LossInfo& loss, double R, const PointPair& points);

/// An upper bound on how far two rows' gradient differences are apart. For convex losses no more
/// than R²‖w - w'‖ sup φ'', not twice that: the differences all point to one side. Infinite for
/// regression, where rounding undoes it: what clipping leaves apart is all that holds.
double difference_diameter(const LossInfo& loss, double R, const PointPair& points);

/// The values that a loss takes at w over rows and labels. For the logistic loss its width is R‖w‖:
/// at w = 0 every data set has the same loss. Infinite where the loss has no bound.
struct LossRange {
  double lowest;
  double highest;
};
LossRange loss_range(const LossInfo& loss, double R, double length_of_w);

/// sup |ℓ(w; x, y) - ℓ(w; x', y')|: the width of that range, and a little for rounding; never 0.
double loss_spread(const LossInfo& loss, double R, double length_of_w);

}  // namespace sotto
