#include "sotto/oracle/claims/claims.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/check.hpp"

namespace sotto {
namespace {

constexpr double kUnit = std::numeric_limits<double>::epsilon() / 2;

/// How far one unit moves a sum of terms of size 1.
double motion(Relation relation) { return relation == Relation::kReplaceOne ? 2 : 1; }

/// Whether its numbers agree, as those of Sampling's own makers do: the rounding bound takes the
/// rate, the draw and the price take what the rate stands for.
bool is_sound(const Sampling& sampling) {
  switch (sampling.kind) {
    case Sampling::Kind::kFull:
      return sampling == Sampling::full();
    case Sampling::Kind::kPoisson:
      return sampling.rate > 0 && sampling == Sampling::poisson(sampling.rate);
    case Sampling::Kind::kFixedSize:
      return sampling.batch > 0 && sampling.batch <= sampling.population &&
             sampling == Sampling::fixed_size(sampling.batch, sampling.population);
  }
  return false;
}

}  // namespace

std::int64_t Claims::most_units() const {
  return facts_.relation == Relation::kAddRemove ? kMostUnits : std::int64_t{facts_.n};
}

double Claims::rounding(SumKind kind, const Sampling& sampling, double radius) const {
  const std::int64_t d = facts_.dimension;
  return sum_geometry(sum_shape(facts_), kind, sampling.rate)
      .rounding_error(most_units(), radius, kind == SumKind::kMatrix ? d * d : d);
}

SensitivityClaim Claims::claim(const TermBounds& bounds,
                               const Sampling& sampling,
                               double rounding) const {
  SOTTO_CHECK(is_sound(sampling));
  // Both neighbours' sums carry a rounding error (per_example_sum.proof.md).
  return {bounds.sensitivity(facts_.relation, sampling) + 2 * rounding, facts_.relation, sampling};
}

SensitivityClaim Claims::of_vectors(const TermBounds& bounds, const Sampling& sampling) const {
  return claim(bounds, sampling, rounding(SumKind::kVector, sampling, bounds.radius));
}

SensitivityClaim Claims::of(const GradientQuery& query) const {
  const TermBounds bounds = released_bounds(query, facts_);
  if (query.count_share == 0) return of_vectors(bounds, query.sampling);
  // The count of unclipped units is one more entry.
  return claim(bounds,
               query.sampling,
               sum_geometry(sum_shape(facts_), SumKind::kVector, query.sampling.rate)
                   .rounding_error(most_units(), bounds.radius, facts_.dimension + 1));
}

SensitivityClaim Claims::of(const GradientPairQuery& query) const {
  return of_vectors(bounds_of(query, facts_), query.sampling);
}

SensitivityClaim Claims::of(const LossQuery& query) const {
  return of_vectors(bounds_of(query, facts_), query.sampling);
}

std::vector<double> Claims::public_sums(const SelectionQuery& query) const {
  std::vector<double> sums(query.candidates.size());
  for (std::size_t k = 0; k < sums.size(); ++k) {
    if (!query.origin) {
      const LossQuery loss{query.candidates[k], Sampling::full(), query.clip, 0, query.rule};
      sums[k] = bounds_of(loss, facts_).floor;
    }
    if (!query.public_part.empty()) sums[k] += query.public_part[k];
    sums[k] *= static_cast<double>(facts_.n);
  }
  const double least = *std::min_element(sums.begin(), sums.end());
  for (double& sum : sums) sum -= least;
  return sums;
}

SensitivityClaim Claims::of(const SelectionQuery& query) const {
  const TermBounds bounds = bounds_of(query, facts_);
  // Each score is rounded twice: as a sum, and when its public part is added to it, by up to half a
  // unit in the last place of both together. Where scores move one way only, what counts is how far
  // two of them move apart, so that both of their errors do.
  const std::vector<double> added = public_sums(query);
  const double size = static_cast<double>(most_units()) * bounds.radius * (1 + 1e-9) +
                      *std::max_element(added.begin(), added.end());
  const double error =
      rounding(SumKind::kVector, Sampling::full(), bounds.radius) + 2 * kUnit * size;
  return claim(bounds, Sampling::full(), 2 * error);
}

SensitivityClaim Claims::of(const HessianQuery& query) const {
  const TermBounds bounds = bounds_of(query, facts_);
  return claim(bounds, query.sampling, rounding(SumKind::kMatrix, query.sampling, bounds.radius));
}

SensitivityClaim Claims::of(const JointQuery& query) const {
  const TermBounds bounds = bounds_of(query, facts_);
  const double scale = query.hessian_scale;
  // The gradients' sums are cut as the Hessians' are.
  const double gradients = sum_geometry(sum_shape(facts_), SumKind::kMatrix, query.sampling.rate)
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

SensitivityClaim Claims::of(const DecreaseQuery& query) const {
  // A decrease in units of its clip moves by at most 1, or 2 under replace-one. What is needed is
  // taken off and the rest divided by the clip, each rounded relative to the size of both.
  double size = static_cast<double>(most_units()) * (1 + 1e-9);
  for (std::size_t k = 0; k < query.candidates.size(); ++k)
    size = std::max(size,
                    static_cast<double>(most_units()) * (1 + 1e-9) + static_cast<double>(facts_.n) *
                                                                         std::abs(query.needed[k]) /
                                                                         decrease_clip(query, k));
  return claim(
      {1, 2}, Sampling::full(), rounding(SumKind::kVector, Sampling::full(), 1) + 4 * kUnit * size);
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
