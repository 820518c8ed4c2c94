#include "sotto/oracle/private_oracle.hpp"

#include <algorithm>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/geometry/slope_bound.hpp"
#include "sotto/mechanism/exponential.hpp"
#include "sotto/mechanism/gaussian.hpp"

namespace sotto {
namespace {

constexpr std::int64_t kMostUnits = std::int64_t{1} << 31;

}  // namespace

PrivateOracle::PrivateOracle(
    const Engine& engine, PublicProblem problem, Ledger& ledger, Stream sampling, Stream noise)
    : engine_(engine),
      problem_(std::move(problem)),
      ledger_(ledger),
      batches_(engine.units(), std::move(sampling)),
      noise_(std::move(noise)),
      sums_(engine) {
  SOTTO_CHECK(problem_.n > 0 && problem_.dimension == engine.parameters());
  SOTTO_CHECK(problem_.relation == Relation::kAddRemove || problem_.n == engine.units());
  SOTTO_CHECK(engine.units() <= kMostUnits);
  SOTTO_CHECK(!problem_.linear_rows || engine.is_linear_within(row_bound()));
}

PrivateOracle::Extent PrivateOracle::extent(const GradientQuery& query) const {
  Extent extent{query.clip_radius, 2 * query.clip_radius};
  if (!follows(query.rule)) return extent;
  const double length = query.at.norm();
  extent.radius = std::min(extent.radius, gradient_bound(problem_.loss, row_bound(), length));
  extent.diameter = 2 * extent.radius;
  if (problem_.relation == Relation::kReplaceOne)  // others don't look at it, and it takes time
    extent.diameter =
        std::min(extent.diameter, gradient_diameter(problem_.loss, row_bound(), length));
  return extent;
}

double PrivateOracle::gradient_sigma(const GradientQuery& query) const {
  const auto [radius, diameter] = extent(query);
  return released_sigma(
             claim(radius, diameter, query.sampling), query.noise_multiplier, problem_.dimension) /
         expected_batch(query.sampling);
}

Expected<Released<Vector>> PrivateOracle::gradient(const GradientQuery& query) {
  const auto [radius, diameter] = extent(query);
  SOTTO_ASSIGN(Receipt receipt,
               ledger_.charge(event_of(query, problem_.relation), problem_.dimension));
  Vector sum;
  sums_.clipped_gradients(batches_.draw(query.sampling), query.at, radius, sum);
  visit(query.sampling, 1);
  return release_mean(std::move(sum),
                      claim(radius, diameter, query.sampling),
                      std::move(receipt),
                      query.noise_multiplier);
}

Expected<Released<Vector>> PrivateOracle::gradient_pair(const GradientPairQuery& query) {
  SOTTO_ASSIGN(Receipt receipt,
               ledger_.charge(event_of(query, problem_.relation), problem_.dimension));
  Vector sum;
  sums_.clipped_gradient_pairs(
      batches_.draw(query.sampling), query.at, query.before, query.clip, sum);
  visit(query.sampling, 2);
  const double reach = query.clip.reach();
  return release_mean(std::move(sum),
                      claim(reach, 2 * reach, query.sampling),
                      std::move(receipt),
                      query.noise_multiplier);
}

Expected<Released<std::int64_t>> PrivateOracle::select(const SelectionQuery& query) {
  SOTTO_CHECK(!query.candidates.empty());
  SOTTO_ASSIGN(Receipt receipt, ledger_.charge(event_of(query, problem_.relation), 1));
  Vector scores(std::ssize(query.candidates));
  const auto everything = batches_.draw(Sampling::full());
  for (Eigen::Index k = 0; k < scores.size(); ++k) {
    const auto index = static_cast<std::size_t>(k);
    const Vector& candidate = query.candidates[index];
    scores[k] = query.origin
                    ? -sums_.clipped_differences(everything, candidate, *query.origin, query.clip)
                    : -sums_.clipped_losses(everything, candidate, query.clip);
    if (!query.public_part.empty())
      scores[k] -= static_cast<double>(problem_.n) * query.public_part[index];
    visit(Sampling::full(), 0);
  }
  // Without a unit every sum of losses shrinks; another unit may raise some and lower others, and
  // so may any unit in sums of changes.
  const bool monotone = problem_.relation != Relation::kReplaceOne && !query.origin;
  const ScoreMotion motion = monotone ? ScoreMotion::kMonotone : ScoreMotion::kAny;
  const double diameter = query.origin ? 2 * query.clip : query.clip;
  return ExponentialMechanism::release(
      Sensitive<Vector>(std::move(scores), claim(query.clip, diameter, Sampling::full())),
      std::move(receipt),
      query.epsilon,
      motion,
      noise_);
}

Expected<Released<double>> PrivateOracle::loss(const LossQuery& query) {
  // Losses lie in [0, clip], so two of them are at most clip apart.
  double clip = query.clip;
  double least = 0;
  if (follows(query.rule)) {
    const auto [lowest, highest] = loss_range(problem_.loss, row_bound(), query.at.norm());
    clip = std::min(clip, highest);
    least = std::min(clip, lowest);
  }
  SOTTO_ASSIGN(Receipt receipt, ledger_.charge(event_of(query, problem_.relation), 1));
  // What every unit is known to contribute is taken out before the noise and put back after it: a
  // mechanism's values saturate far from 0, in units of a noise that may be tiny here.
  const double known = least * expected_batch(query.sampling);
  const double sum = sums_.clipped_losses(batches_.draw(query.sampling), query.at, clip) - known;
  visit(query.sampling, 0);
  return release_mean(Vector::Constant(1, sum),
                      claim(clip, clip - least, query.sampling),
                      std::move(receipt),
                      query.noise_multiplier)
      .map([least](const Vector& value) { return least + value[0]; });
}

Released<Vector> PrivateOracle::release_mean(Vector sum,
                                             const SensitivityClaim& claim,
                                             Receipt receipt,
                                             double noise_multiplier) {
  const double batch = expected_batch(claim.sampling);
  return GaussianMechanism::release(
             Sensitive<Vector>(std::move(sum), claim), std::move(receipt), noise_multiplier, noise_)
      .map([&](Vector value) -> Vector { return value / batch; });
}

SensitivityClaim PrivateOracle::claim(double radius,
                                      double diameter,
                                      const Sampling& sampling) const {
  return claim(radius, diameter, sampling, sums_.rounding_error(most_units(), radius));
}

SensitivityClaim PrivateOracle::claim(double radius,
                                      double diameter,
                                      const Sampling& sampling,
                                      double rounding) const {
  // A Poisson batch may also lack the replaced unit: its price rests on terms of at most half the
  // sensitivity, not on their distance alone (clip_rule.proof.md).
  if (sampling.kind == Sampling::Kind::kPoisson) diameter = 2 * radius;
  // Both neighbours' sums carry a rounding error (per_example_sum.proof.md).
  const double motion = problem_.relation == Relation::kReplaceOne ? diameter : radius;
  return {motion + 2 * rounding, problem_.relation, sampling};
}

std::int64_t PrivateOracle::most_units() const {
  // Under add-remove the number of units is private, so bounds are for the largest that Sotto
  // handles.
  return problem_.relation == Relation::kAddRemove ? kMostUnits : problem_.n;
}

double PrivateOracle::row_bound() const {
  // A table's norms are rounded up, so that a row right at the bound reports a hair more.
  return problem_.row_norm * (1 + 1e-8);
}

void PrivateOracle::visit(const Sampling& sampling, int gradients) {
  gradient_evaluations_ += gradients * expected_batch(sampling);
  row_visits_ += expected_batch(sampling);
}

double PrivateOracle::expected_batch(const Sampling& sampling) const {
  return sampling.rate * static_cast<double>(problem_.n);
}

}  // namespace sotto
