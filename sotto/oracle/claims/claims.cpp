#include "sotto/oracle/claims/claims.hpp"

#include <cmath>
#include <limits>

#include "sotto/core/check.hpp"

namespace sotto {
namespace {

constexpr double kUnit = std::numeric_limits<double>::epsilon() / 2;

/// How far one unit moves a sum of terms of size 1.
double motion(Relation relation) { return relation == Relation::kReplaceOne ? 2 : 1; }

}  // namespace

std::int64_t Claims::most_units() const {
  return facts_.relation == Relation::kAddRemove ? kMostUnits : std::int64_t{facts_.n};
}

double Claims::rounding(SumKind kind, const Sampling& sampling, double radius) const {
  const std::int64_t d = facts_.dimension;
  return sum_geometry(facts_.sum_shape(), kind, sampling.rate)
      .rounding_error(most_units(), radius, kind == SumKind::kMatrix ? d * d : d);
}

SensitivityClaim Claims::claim(const TermBounds& bounds,
                               const Sampling& sampling,
                               double rounding) const {
  // Both neighbours' sums carry a rounding error (per_example_sum.proof.md).
  return {bounds.sensitivity(facts_.relation, sampling) + 2 * rounding, facts_.relation, sampling};
}

SensitivityClaim Claims::of_vectors(const TermBounds& bounds, const Sampling& sampling) const {
  return claim(bounds, sampling, rounding(SumKind::kVector, sampling, bounds.radius));
}

SensitivityClaim Claims::of(const GradientQuery& query) const {
  return of_vectors(released_bounds(query, facts_), query.sampling);
}

SensitivityClaim Claims::of(const GradientPairQuery& query) const {
  return of_vectors(bounds_of(query, facts_), query.sampling);
}

SensitivityClaim Claims::of(const LossQuery& query) const {
  return of_vectors(bounds_of(query, facts_), query.sampling);
}

SensitivityClaim Claims::of(const SelectionQuery& query) const {
  return of_vectors(bounds_of(query, facts_), Sampling::full());
}

SensitivityClaim Claims::of(const HessianQuery& query) const {
  const TermBounds bounds = bounds_of(query, facts_);
  return claim(bounds, query.sampling, rounding(SumKind::kMatrix, query.sampling, bounds.radius));
}

SensitivityClaim Claims::of(const JointQuery& query) const {
  const TermBounds bounds = bounds_of(query, facts_);
  const double scale = query.hessian_scale;
  // The gradients' sums are cut as the Hessians' are.
  const double gradients = sum_geometry(facts_.sum_shape(), SumKind::kMatrix, query.sampling.rate)
                               .rounding_error(most_units(), bounds.radius, facts_.dimension);
  const double hessians = rounding(SumKind::kMatrix, query.sampling, bounds.radius * scale) / scale;
  return claim(bounds, query.sampling, std::hypot(gradients, hessians));
}

SensitivityClaim Claims::of(const HessianOperatorQuery& query) const {
  return claim(bounds_of(query, facts_), query.sampling, 0);
}

ProductBounds Claims::products_of(const HessianOperatorQuery& query) const {
  const double radius = bounds_of(query, facts_).radius;
  return {rounding(SumKind::kVector, query.sampling, radius),
          static_cast<double>(most_units()) * radius * (1 + 1e-6)};
}

SensitivityClaim Claims::of(const DecreaseQuery&) const {
  // A decrease in units of its clip moves by at most 1, or 2 under replace-one; its rounding
  // errors, relative to the sum's size, are far below 1e-6 for any number of units that Sotto
  // handles.
  return claim({1, 2}, Sampling::full(), rounding(SumKind::kVector, Sampling::full(), 1) + 1e-6);
}

SensitivityClaim Claims::of(const VertexQuery&, bool as_doubles) const {
  // A sum of up to 2^63 as a double is off by at most 2^10, in both worlds.
  const double steps = motion(facts_.relation) * static_cast<double>(kCoordinateSteps);
  return {as_doubles ? steps + 0x1p11 : steps, facts_.relation, Sampling::full()};
}

SensitivityClaim Claims::of(const ListedVertexQuery& query) const {
  double size = static_cast<double>(most_units()) * query.clip_max;  // of a coordinate's sum
  if (query.public_part)
    size += static_cast<double>(facts_.n) * query.public_part->lpNorm<Eigen::Infinity>();
  const double longest = query.vertices.cwiseAbs().rowwise().sum().maxCoeff();
  const double rounding = 2 * (static_cast<double>(facts_.dimension) + 8) * kUnit * longest * size;
  return {motion(facts_.relation) * query.clip_max * longest * (1 + 1e-12) + 2 * rounding,
          facts_.relation,
          Sampling::full()};
}

SensitivityClaim Claims::of(const GapQuery& query) const {
  SOTTO_CHECK(query.set.bounded() && query.at.size() == facts_.dimension);
  const double reach = reach_of(query);
  double error = 0;
  if (!query.in_max_norm) error = reach * rounding(SumKind::kVector, Sampling::full(), query.clip);
  double size = static_cast<double>(most_units()) * query.clip;
  if (query.public_part) size += static_cast<double>(facts_.n) * query.public_part->norm();
  error += 4 * (static_cast<double>(facts_.dimension) + 8) * kUnit *
           (reach + 2 * query.at.norm() + query.set.largest_l1(facts_.dimension)) * size;
  return {motion(facts_.relation) * query.clip * reach * (1 + 1e-9) + 2 * error,
          facts_.relation,
          Sampling::full()};
}

}  // namespace sotto
