#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "sotto/core/vector.hpp"
#include "sotto/geometry/constraint_set.hpp"
#include "sotto/geometry/vertex_path.hpp"
#include "sotto/privacy/event.hpp"

namespace sotto {

/// Gradients by coordinate are summed as integers, so many steps to the clip.
inline constexpr std::int64_t kCoordinateSteps = std::int64_t{1} << 31;

/// How a vertex is chosen.
enum class VertexRule {
  kExponential,  ///< the exponential mechanism: bounded range, epsilon²/8 in zCDP
  kNoisyMax,     ///< report-noisy-max with exponential noise: epsilon-DP and no more
};

/// The vertex v of an l1 ball or a simplex where ⟨v, G⟩ is about least, G being the mean gradient
/// of the data part at `at`, each unit's gradient scaled to entries of at most clip_max, plus a
/// public part. Full batch. Scores are sums of integers of sensitivity clip_max, twice that under
/// replace-one: oracle/coordinate_sums.proof.md.
struct VertexQuery {
  const VertexPath& at;
  const ConstraintSet& set;
  double clip_max = 0;
  double epsilon = 0;
  VertexRule rule = VertexRule::kExponential;
  /// The regularizer's gradient: coordinates and their entries. Empty: nothing.
  std::span<const std::pair<std::int64_t, double>> public_part = {};
};

/// The same for a polytope with listed vertices, at any point; the answer is a row of `vertices`.
/// A score has the sensitivity clip_max times the largest l1 norm of a vertex.
struct ListedVertexQuery {
  const Vector& at;
  const Matrix& vertices;
  double clip_max = 0;
  double epsilon = 0;
  VertexRule rule = VertexRule::kExponential;
  const Vector* public_part = nullptr;  ///< the regularizer's gradient
};

/// The Frank–Wolfe gap max ⟨at - v, G⟩ over a bounded set, G as above (in_max_norm) or with each
/// unit's gradient clipped to the Euclidean norm `clip`, plus Gaussian noise: a certificate of how
/// far `at` is from stationary, if no gradient is clipped. One unit moves it by at most clip times
/// reach_of(query): oracle/coordinate_sums.proof.md.
struct GapQuery {
  const Vector& at;
  const ConstraintSet& set;
  bool in_max_norm = true;
  double clip = 0;
  double noise_multiplier = 0;
  const Vector* public_part = nullptr;  ///< the regularizer's gradient
};

/// A bound on the distance from `at` to any point of the set, in the dual of the norm in which
/// gradients are clipped: l1 (in_max_norm), or Euclidean.
inline double reach_of(const GapQuery& query) {
  const std::int64_t d = query.at.size();
  if (query.in_max_norm) return query.at.lpNorm<1>() + query.set.largest_l1(d);
  Vector nearest = query.at;
  query.set.project(nearest);
  return query.set.diameter(d) + (query.at - nearest).norm();
}

/// The gap and the standard deviation of its noise, which is public.
struct NoisyGap {
  double value = 0;
  double deviation = 0;
};

inline Event event_of(const VertexQuery& query, Relation relation) {
  return query.rule == VertexRule::kExponential ? Event::exponential(query.epsilon, relation)
                                                : Event::sparse_vector(query.epsilon, relation);
}
inline Event event_of(const ListedVertexQuery& query, Relation relation) {
  return query.rule == VertexRule::kExponential ? Event::exponential(query.epsilon, relation)
                                                : Event::sparse_vector(query.epsilon, relation);
}
inline Event event_of(const GapQuery& query, Relation relation) {
  return Event::gaussian(query.noise_multiplier, relation);
}

}  // namespace sotto
