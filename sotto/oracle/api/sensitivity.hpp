#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sotto/loss/joint_bound.hpp"
#include "sotto/loss/slope_bound.hpp"
#include "sotto/oracle/api/public_problem.hpp"
#include "sotto/oracle/api/query.hpp"
#include "sotto/oracle/api/second_order.hpp"

namespace sotto {

/// How long one unit's term in a sum is at most, and how far two of them are apart. Functions of
/// public values alone (proofs: loss/slope_bound.proof.md, oracle/gradient_pair.proof.md).
struct TermBounds {
  double radius = 0;  ///< what terms are clipped to
  double diameter = 0;
  /// Losses: what every record's is known to reach. It is taken off each of them before the sum and
  /// put back as a public number after the noise, so that a null, which adds nothing, is no farther
  /// from a record than two records are.
  double floor = 0;

  /// How far one unit moves the exact sum, in the sense of the event that is charged. Under
  /// replace-one a Poisson batch may lack the unit altogether, so that not only the two terms'
  /// distance counts: the accountants' pair has them at ±1/2 sensitivity around nothing.
  double sensitivity(Relation relation, const Sampling& sampling) const {
    if (relation != Relation::kReplaceOne) return radius;
    return sampling.kind == Sampling::Kind::kPoisson ? 2 * radius : diameter;
  }
};

/// The declared bound on row norms with room for their rounding: a table's norms are rounded up, so
/// that a row right at the bound reports a hair more.
inline double row_bound(const PublicProblem& problem) { return problem.row_norm * (1 + 1e-8); }

inline bool follows_the_model(ClipRule rule, const PublicProblem& problem) {
  return rule == ClipRule::kGlm && problem.linear_rows && problem.loss.proven &&
         std::isfinite(problem.row_norm);
}

inline TermBounds bounds_of(const GradientQuery& query, const PublicProblem& problem) {
  double radius = query.clip_radius;
  if (!follows_the_model(query.rule, problem)) return {radius, 2 * radius};
  const double R = row_bound(problem);
  const double length = query.at.norm();
  radius = std::min(radius, gradient_bound(problem.loss, R, length));
  if (problem.relation != Relation::kReplaceOne) return {radius, 2 * radius};
  return {radius, std::min(2 * radius, gradient_diameter(problem.loss, R, length))};
}

/// Of a unit's gradient and its count, where there is one, as one vector.
inline TermBounds released_bounds(const GradientQuery& query, const PublicProblem& problem) {
  const TermBounds bounds = bounds_of(query, problem);
  if (query.count_share == 0) return bounds;
  const double both =
      bounds.radius * std::sqrt(1 + query.count_share * query.count_share) * (1 + 0x1p-50);
  return {both, 2 * both};
}

/// The clip that is applied, whose reach() is the radius of the bounds.
struct PairBounds : TermBounds {
  PairClip clip;
};

inline PairBounds bounds_of(const GradientPairQuery& query, const PublicProblem& problem) {
  PairBounds bounds{{query.clip.reach(), 2 * query.clip.reach()}, query.clip};
  if (!follows_the_model(query.rule, problem)) return bounds;
  const double R = row_bound(problem);
  const PointPair points{query.at.norm(), query.before.norm(), (query.at - query.before).norm()};
  const double mixture = query.clip.mixture;
  const auto mix = [&](double gradient, double difference) {
    return (mixture > 0 ? mixture * gradient : 0) + (mixture < 1 ? (1 - mixture) * difference : 0);
  };
  PairClip& clip = bounds.clip;
  const double gradient = gradient_bound(problem.loss, R, points.length);
  const double difference = difference_bound(problem.loss, R, points);
  if (clip.together) {  // clips no more than before: only what no combination reaches is cut off
    const double shrink = std::min(1.0, mix(gradient, difference) / query.clip.reach());
    clip.radius *= shrink;
    clip.difference_radius *= shrink;
  } else {
    clip.radius = std::min(clip.radius, gradient);
    clip.difference_radius = std::min(clip.difference_radius, difference);
  }
  bounds.radius = clip.reach();
  bounds.diameter = 2 * bounds.radius;
  if (problem.relation != Relation::kReplaceOne) return bounds;
  double apart = gradient_diameter(problem.loss, R, points.length);
  double differences_apart = difference_diameter(problem.loss, R, points);
  if (!clip.together) {
    apart = std::min(apart, 2 * clip.radius);
    differences_apart = std::min(differences_apart, 2 * clip.difference_radius);
  }
  bounds.diameter = std::min(bounds.diameter, mix(apart, differences_apart));
  return bounds;
}

/// Losses less their floor lie in [0, radius], and a null's is 0 there.
inline TermBounds bounds_of(const LossQuery& query, const PublicProblem& problem) {
  if (!follows_the_model(query.rule, problem)) return {query.clip, query.clip};
  const double R = row_bound(problem);
  const double length = query.at.norm();
  const double floor = std::min(query.clip, loss_range(problem.loss, R, length).lowest);
  const double radius = std::max(std::min(query.clip - floor, loss_spread(problem.loss, R, length)),
                                 1e-15 * query.clip);
  return {radius, radius, floor};
}

/// Of every candidate's sum; changes against an origin lie in [-clip, clip].
inline TermBounds bounds_of(const SelectionQuery& query, const PublicProblem& problem) {
  if (query.origin) return {query.clip, 2 * query.clip};
  TermBounds bounds;
  for (const Vector& candidate : query.candidates) {
    const TermBounds each =
        bounds_of(LossQuery{candidate, Sampling::full(), query.clip, 0, query.rule}, problem);
    bounds.radius = std::max(bounds.radius, each.radius);
    bounds.diameter = std::max(bounds.diameter, each.diameter);
  }
  return bounds;
}

/// Of Hessians in the Frobenius norm.
inline TermBounds hessian_bounds(const Vector& at,
                                 double radius,
                                 ClipRule rule,
                                 const PublicProblem& problem) {
  if (!follows_the_model(rule, problem)) {
    // Positive semidefinite matrices have no obtuse angles between them.
    const double factor = problem.convex() ? std::numbers::sqrt2 * (1 + 0x1p-50) : 2;
    return {radius, factor * radius};
  }
  const double length = at.norm();
  const double R = row_bound(problem);
  radius = std::min(radius, hessian_bound(problem.loss, R, length));
  return {radius, hessian_diameter(problem.loss, R, length, radius)};
}
inline TermBounds bounds_of(const HessianQuery& query, const PublicProblem& problem) {
  return hessian_bounds(query.at, query.clip_radius, query.rule, problem);
}
inline TermBounds bounds_of(const HessianOperatorQuery& query, const PublicProblem& problem) {
  return hessian_bounds(query.at, query.clip_radius, query.rule, problem);
}

/// Of a gradient and a Hessian in their joint norm.
inline TermBounds bounds_of(const JointQuery& query, const PublicProblem& problem) {
  TermBounds bounds{query.clip_radius, 2 * query.clip_radius};
  if (!follows_the_model(query.rule, problem)) return bounds;
  const double length = query.at.norm();
  const double R = row_bound(problem);
  const double scale = query.hessian_scale;
  bounds.radius = std::min(bounds.radius, joint_bound(problem.loss, R, length, scale));
  bounds.diameter = 2 * bounds.radius;
  if (problem.relation == Relation::kReplaceOne)  // others don't look at it, and it takes time
    bounds.diameter = std::min(bounds.diameter, joint_diameter(problem.loss, R, length, scale));
  return bounds;
}

}  // namespace sotto
