#pragma once

#include "sotto/geometry/loss_info.hpp"

namespace sotto {

/// Bounds on the gradients of a linear model on one row that follow the public weights w, for rows
/// of norm at most R (proofs: slope_bound.proof.md). Not finite where the loss has no bound.

/// sup ‖∇ℓ(w; x, y)‖ over rows and labels. For the logistic loss R σ(R‖w‖), which is R/2 at w = 0.
double gradient_bound(const LossInfo& loss, double R, double length_of_w);

/// An upper bound, at most 0.2 % above it, on sup ‖∇ℓ(w; x, y) - ∇ℓ(w; x', y')‖ over two rows and
/// labels: how far a replaced row moves a sum of gradients. For the logistic loss R at w = 0 and
/// below 2 gradient_bound everywhere else; other losses have twice their bound. Costs up to
/// two milliseconds for the logistic loss.
double gradient_diameter(const LossInfo& loss, double R, double length_of_w);

/// The values that a loss takes at w over rows and labels. For the logistic loss its width is R‖w‖:
/// at w = 0 every data set has the same loss. Infinite where the loss has no bound.
struct LossRange {
  double lowest;
  double highest;
};
LossRange loss_range(const LossInfo& loss, double R, double length_of_w);

}  // namespace sotto
