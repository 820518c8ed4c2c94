#pragma once

// Queries about curvature and along candidate steps: what second-order methods ask.

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "sotto/core/error.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/oracle/api/query.hpp"
#include "sotto/release/noisy_operator.hpp"
#include "sotto/release/released.hpp"

namespace sotto {

/// The mean Hessian of the data part at `at`: per-unit Hessians clipped to clip_radius in the
/// Frobenius norm, summed over a batch, noised like the Gaussian orthogonal ensemble, divided by
/// the public expected batch size. Sensitivity of the sum: clip_radius; under replace-one sqrt(2)
/// clip_radius where the loss is convex and the batch is not Poisson, else at most twice
/// clip_radius (oracle/hessian.proof.md).
struct HessianQuery {
  const Vector& at;
  Sampling sampling;
  double clip_radius = 0;
  double noise_multiplier = 0;
  /// kGlm: the radius is at most the loss's own bound (loss/joint_bound.hpp).
  ClipRule rule = ClipRule::kFlat;
};

/// A released mean Hessian.
struct NoisyHessian {
  Matrix value;
  /// Its noise has standard deviation sigma on the diagonal and sigma / sqrt(2) off it; public. Its
  /// spectral norm is about sigma sqrt(2 d). 0 from an exact oracle.
  double sigma = 0;
};

/// Gradient and Hessian of the same batch as one release: per-unit pairs are clipped jointly to
/// clip_radius in the norm sqrt(|g|^2 + |H|_F^2 / hessian_scale^2), and the Hessian's noise is
/// hessian_scale times the gradient's. hessian_scale has the unit of Hessian / gradient, that is,
/// of a row's norm; kappa of algorithms.md 2.4 is (R / hessian_scale)^2. loss/joint_bound.hpp
/// chooses it and says what it costs.
struct JointQuery {
  const Vector& at;
  Sampling sampling;
  double clip_radius = 0;
  double hessian_scale = 0;
  double noise_multiplier = 0;
  ClipRule rule = ClipRule::kFlat;
};

/// A released mean gradient and mean Hessian.
struct NoisyGradientHessian {
  Vector gradient;
  Matrix hessian;
  double gradient_sigma = 0;  ///< of each coordinate; public, 0 from an exact oracle
  double hessian_sigma = 0;   ///< as in NoisyHessian
};

/// The noisy mean Hessian of HessianQuery as an operator that is never formed: for dimensions where
/// a d x d matrix is too much. One release, paid when it is opened.
struct HessianOperatorQuery {
  const Vector& at;
  Sampling sampling;
  double clip_radius = 0;
  double noise_multiplier = 0;
  ClipRule rule = ClipRule::kFlat;
  /// How many linearly independent vectors may be multiplied; bounds memory and noise samples, not
  /// the privacy cost.
  std::int64_t max_products = 64;
};

/// The first of the candidates at which the mean loss falls enough, by the sparse vector technique
/// (full batch): candidate k is accepted if the mean loss at `at` less that at the candidate, both
/// of the data part, is at least needed[k], as far as the noise allows.
///
/// Per-unit differences are clipped to +-slope_clip x |candidate - at|: the loss's slope times the
/// row's norm is a bound that clips nothing. Every difference is compared in units of its own clip,
/// so that short steps get little noise.
struct DecreaseQuery {
  const Vector& at;
  std::span<const Vector> candidates;
  std::span<const double> needed;  ///< public, one a candidate; the regularizer's part included
  double slope_clip = 0;
  double epsilon = 0;  ///< at least 2^-20
};

/// What a unit's change of loss is clipped to on the way to candidate k.
inline double decrease_clip(const DecreaseQuery& query, std::size_t k) {
  return query.slope_clip * (query.candidates[k] - query.at).norm();
}

inline Event event_of(const DecreaseQuery& query, Relation relation) {
  return Event::sparse_vector(query.epsilon, relation);
}

/// Noise samples that answering draws at most; plans add them up.
inline std::int64_t samples_of(const GradientQuery&, std::int64_t dimension) { return dimension; }
inline std::int64_t samples_of(const GradientPairQuery&, std::int64_t dimension) {
  return dimension;
}
inline std::int64_t samples_of(const LossQuery&, std::int64_t) { return 1; }
inline std::int64_t samples_of(const SelectionQuery&, std::int64_t) { return 1; }
inline std::int64_t samples_of(const HessianQuery&, std::int64_t dimension) {
  return dimension * (dimension + 1) / 2;
}
inline std::int64_t samples_of(const JointQuery&, std::int64_t dimension) {
  return dimension + dimension * (dimension + 1) / 2;
}
inline std::int64_t samples_of(const HessianOperatorQuery& query, std::int64_t dimension) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return query.max_products > kMost / (dimension + 1) ? kMost
                                                      : query.max_products * (dimension + 1);
}
inline std::int64_t samples_of(const DecreaseQuery& query, std::int64_t) {
  return 1 + std::ssize(query.candidates);
}

}  // namespace sotto
