#pragma once

#include <cstdint>
#include <functional>

#include "sotto/core/vector.hpp"

namespace sotto {

// The trust-region subproblem: minimize g'h + h'Hh/2 over ||h|| <= r, for any symmetric H. A step h
// is a global solution if and only if some multiplier lambda >= 0 has
//   (H + lambda I) h = -g,   lambda (r - ||h||) = 0,   H + lambda I positive semidefinite
// [CGT00, section 7.2]. Pure mathematics: its arguments are public or released.

/// How far a step is from the three conditions, each relative to the problem's scale
/// ||g|| + (||H|| + lambda) r (the last one: ||H|| + lambda).
struct KktResiduals {
  double stationarity = 0;     ///< ||(H + lambda I) h + g||
  double complementarity = 0;  ///< lambda |r - ||h|| |, and what ||h|| exceeds r by
  double curvature = 0;        ///< what H + lambda I lacks to be positive semidefinite
  double largest() const;
};

struct TrustRegionStep {
  Vector step;                     ///< h
  double multiplier = 0;           ///< lambda
  double smallest_eigenvalue = 0;  ///< of H; by Lanczos the smallest Ritz value, never below it,
                                   ///< and no bound on it from below (lowest_eigenpair.hpp)
  /// g has (nearly) nothing along the lowest eigenvectors, and the step was completed along them.
  bool hard_case = false;
  KktResiduals residuals;
  std::int64_t products = 0;  ///< with H; Lanczos only
};

/// H = vectors · diag(values) · vectors', values ascending: made once and used for the step, the
/// curvature test and Newton directions alike.
struct SymmetricEigen {
  Vector values;
  Matrix vectors;
};

/// O(d^3). Only the lower triangle is read; its entries must be finite.
SymmetricEigen symmetric_eigen(const Matrix& H);

/// The exact solution, hard and near-hard cases included: O(d^2). `radius` > 0, everything finite.
/// In the hard case both completions are optimal: the one that goes down along g is taken, then the
/// one whose largest entry along the eigenvector is positive.
TrustRegionStep solve_trust_region(const SymmetricEigen& H, const Vector& g, double radius);

/// v -> H v for a symmetric H. Called with orthonormal vectors only, each orthogonal to all earlier
/// ones, so that noise may be drawn lazily (algorithm of the lazy GOE operator).
using SymmetricOperator = std::function<void(const Vector& v, Vector& product)>;

struct LanczosOptions {
  std::int64_t most_products = 400;
  double tolerance = 1e-9;  ///< of the KKT residuals
  std::uint64_t seed = 1;   ///< of the probe, a public random vector
};

/// The same problem through products with H alone, in a Krylov space with full
/// re-orthogonalization: O(d m) memory for m products, and nothing of size d x d. The space starts
/// from g and from one random probe, which finds the lowest eigenvector where g has nothing along
/// it (hard case). All that is returned lies in the space that the products span. With m = d it is
/// the dense solution. Ends at options.most_products with the residuals that it has.
TrustRegionStep solve_trust_region(const SymmetricOperator& H,
                                   const Vector& g,
                                   double radius,
                                   const LanczosOptions& options = {});

}  // namespace sotto
