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

/// The declared bound on row norms with room for their rounding: a table's norms are rounded up, so
/// that a row right at the bound reports a hair more.
double row_bound(const PublicProblem& problem) { return problem.row_norm * (1 + 1e-8); }

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
  SOTTO_CHECK(!problem_.linear_rows || engine.is_linear_within(row_bound(problem_)));
}

Expected<Released<Vector>> PrivateOracle::gradient(const GradientQuery& query) {
  const double length = query.at.norm();
  double radius = query.clip_radius;
  double diameter = 2 * radius;
  if (query.rule == ClipRule::kGlm && problem_.linear_rows) {
    radius = std::min(radius, gradient_bound(problem_.loss, row_bound(problem_), length));
    diameter = std::min(2 * radius, gradient_diameter(problem_.loss, row_bound(problem_), length));
  }
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
    scores[k] = -sums_.clipped_losses(everything, query.candidates[index], query.clip);
    if (!query.public_part.empty())
      scores[k] -= static_cast<double>(problem_.n) * query.public_part[index];
    visit(Sampling::full(), 0);
  }
  // Without a unit every sum of losses shrinks; another unit may raise some and lower others.
  const ScoreMotion motion =
      problem_.relation == Relation::kReplaceOne ? ScoreMotion::kAny : ScoreMotion::kMonotone;
  return ExponentialMechanism::release(
      Sensitive<Vector>(std::move(scores), claim(query.clip, query.clip, Sampling::full())),
      std::move(receipt),
      query.epsilon,
      motion,
      noise_);
}

Expected<Released<double>> PrivateOracle::loss(const LossQuery& query) {
  SOTTO_ASSIGN(Receipt receipt, ledger_.charge(event_of(query, problem_.relation), 1));
  const double sum = sums_.clipped_losses(batches_.draw(query.sampling), query.at, query.clip);
  visit(query.sampling, 0);
  // Losses lie in [0, clip], so two of them are at most clip apart.
  return release_mean(Vector::Constant(1, sum),
                      claim(query.clip, query.clip, query.sampling),
                      std::move(receipt),
                      query.noise_multiplier)
      .map([](const Vector& value) { return value[0]; });
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
  // Both neighbours' sums carry a rounding error (per_example_sum.proof.md). Under add-remove the
  // number of units is private, so the bound is for the largest that Sotto handles.
  const double motion = problem_.relation == Relation::kReplaceOne ? diameter : radius;
  return {motion + 2 * sums_.rounding_error(most_units(), radius), problem_.relation, sampling};
}

std::int64_t PrivateOracle::most_units() const {
  return problem_.relation == Relation::kAddRemove ? kMostUnits : problem_.n;
}

void PrivateOracle::visit(const Sampling& sampling, int gradients) {
  gradient_evaluations_ += gradients * expected_batch(sampling);
  row_visits_ += expected_batch(sampling);
}

double PrivateOracle::expected_batch(const Sampling& sampling) const {
  return sampling.rate * static_cast<double>(problem_.n);
}

}  // namespace sotto
