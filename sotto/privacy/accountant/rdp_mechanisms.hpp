#pragma once

// Renyi curves of single releases: each function is epsilon(alpha) of (alpha, epsilon)-RDP [Mir17]
// at alpha = 1 + beta, beta > 0. Claims and proofs: rdp.proof.md.

namespace sotto::internal {

/// Gaussian noise: alpha / (2 z^2). O(1).
double rdp_gaussian(double z, double beta);

/// Laplace noise of scale z x sensitivity [Mir17, Prop. 6]. O(1).
double rdp_laplace(double z, double beta);

/// Any epsilon-DP mechanism: the curve of randomized response, which dominates it [KOV15, BS16].
/// O(1).
double rdp_pure(double epsilon, double beta);

/// Any epsilon-bounded-range mechanism: the worst two-point pair, in closed form [DDR20], and never
/// more than alpha epsilon^2 / 8 [CR21]. O(1).
double rdp_bounded_range(double epsilon, double beta);

/// A Gaussian on a Poisson batch under zero-out or add-remove: the pair (1-q) N(0, z^2) + q N(1,
/// z^2) against N(0, z^2), the worse direction at every order [MTZ19]. About 100 evaluations of an
/// integrand, more for z < 1. Relative accuracy about 1e-12, also where the value is tiny.
double rdp_poisson_gaussian(double rate, double z, double beta);

/// The same under replace-one: (1-q) N(0, z^2) + q N(1/2, z^2) against (1-q) N(0, z^2) + q N(-1/2,
/// z^2); both directions are equal by reflection.
double rdp_poisson_gaussian_replace(double rate, double z, double beta);

/// An epsilon-DP mechanism on a Poisson batch under zero-out or add-remove: the worse direction of
/// the pair ((1-q) Q + q P, Q) with (P, Q) randomized response [ZDW22]. O(1).
double rdp_poisson_pure(double rate, double epsilon, double beta);

/// epsilon of an epsilon-DP mechanism after sampling at `rate`: log(1 + q (e^epsilon - 1)) [BBG18].
double amplified_pure(double rate, double epsilon);

}  // namespace sotto::internal
