#pragma once

#include "sotto/loss/loss_info.hpp"

namespace sotto {

/// Bounds on Hessians, and on gradient and Hessian together, of a linear model on one row of norm
/// at most R at public weights w (proofs: joint_bound.proof.md). Infinite where the loss has no
/// bound. They say how much noise a release needs; nothing here looks at data.

/// sup ‖∇²ℓ(w; x, y)‖_F over rows and labels. For the logistic loss R²/4.
double hessian_bound(const LossInfo& loss, double R, double length_of_w);

/// A bound on ‖∇²ℓ(w; x, y) - ∇²ℓ(w; x', y')‖_F after each was clipped to `radius`. sqrt(2) radius
/// for convex losses, whose Hessians are positive semidefinite; at most 2 radius.
double hessian_diameter(const LossInfo& loss, double R, double length_of_w, double radius);

/// sup of the joint norm sqrt(‖g‖² + ‖H‖_F² / hessian_scale²) of a row's gradient and Hessian.
double joint_bound(const LossInfo& loss, double R, double length_of_w, double hessian_scale);

/// A bound on the joint distance of two rows' pairs: below 2 joint_bound for the logistic loss. At
/// most 0.5 % above the supremum there; costs up to a millisecond.
double joint_diameter(const LossInfo& loss, double R, double length_of_w, double hessian_scale);

/// The smallest hessian_scale at which the joint norm's global bound (over all w) is the gradient's
/// own: the Hessian costs nothing beyond that. R / sqrt(11.09) for the logistic loss, R / sqrt(2)
/// for the sigmoid; infinite for losses without a bound.
double free_hessian_scale(const LossInfo& loss, double R);

/// What a joint release costs: by how much the noise on the gradient grows against a release of the
/// gradient alone at the same multiplier. `replace_one`: for that relation.
double joint_cost(
    const LossInfo& loss, double R, double length_of_w, double hessian_scale, bool replace_one);

/// The hessian_scale h with the least noise in a Newton-like step of about `step_length`: the step
/// solves with (H + E_H) and (g + E_g), so that the noise that matters is E_g + E_H s, of variance
/// D(h)² (1 + h² step_length² / 2) a coordinate, where D is the joint sensitivity. Searched on a
/// grid of ratio 1.19 around free_hessian_scale, which is returned for losses without a bound (if
/// it is finite, else R).
double hessian_scale_for_step(
    const LossInfo& loss, double R, double length_of_w, double step_length, bool replace_one);

/// The hessian_scale at which a test of ‖g‖ against `gradient_tolerance` and one of the smallest
/// eigenvalue against `curvature_tolerance` drown in noise at the same budget: noise norms
/// s sqrt(d) and s h sqrt(2 d) in the ratio of the tolerances.
double hessian_scale_for_tolerances(double gradient_tolerance, double curvature_tolerance);

}  // namespace sotto
