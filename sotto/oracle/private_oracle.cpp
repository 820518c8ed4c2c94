#include "sotto/oracle/private_oracle.hpp"

#include <utility>

#include "sotto/core/check.hpp"
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
}

Expected<Released<Vector>> PrivateOracle::gradient(const GradientQuery& query) {
  SOTTO_ASSIGN(Receipt receipt,
               ledger_.charge(event_of(query, problem_.relation), problem_.dimension));
  Vector sum;
  sums_.clipped_gradients(batches_.draw(query.sampling), query.at, query.clip_radius, sum);
  gradient_evaluations_ += expected_batch(query.sampling);
  Released<Vector> noisy_sum = GaussianMechanism::release(
      Sensitive<Vector>(std::move(sum), claim(query.clip_radius, query.sampling)),
      std::move(receipt),
      query.noise_multiplier,
      noise_);
  return std::move(noisy_sum).map(
      [&](Vector value) -> Vector { return value / expected_batch(query.sampling); });
}

Expected<Released<double>> PrivateOracle::loss(const LossQuery& query) {
  SOTTO_ASSIGN(Receipt receipt, ledger_.charge(event_of(query, problem_.relation), 1));
  const double sum = sums_.clipped_losses(batches_.draw(query.sampling), query.at, query.clip);
  // A loss lies in [0, clip], so replacing a unit moves the sum by at most clip, not 2 clip.
  SensitivityClaim bounded = claim(query.clip, query.sampling);
  if (problem_.relation == Relation::kReplaceOne) bounded.sensitivity -= query.clip;
  Released<Vector> noisy_sum =
      GaussianMechanism::release(Sensitive<Vector>(Vector::Constant(1, sum), bounded),
                                 std::move(receipt),
                                 query.noise_multiplier,
                                 noise_);
  return std::move(noisy_sum).map(
      [&](const Vector& value) { return value[0] / expected_batch(query.sampling); });
}

SensitivityClaim PrivateOracle::claim(double radius, const Sampling& sampling) const {
  // Both neighbours' sums carry a rounding error (per_example_sum.proof.md). Under add-remove the
  // number of units is private, so the bound is for the largest that Sotto handles.
  const std::int64_t most = problem_.relation == Relation::kAddRemove ? kMostUnits : problem_.n;
  return {sum_sensitivity(problem_.relation, radius) + 2 * sums_.rounding_error(most, radius),
          problem_.relation,
          sampling};
}

double PrivateOracle::expected_batch(const Sampling& sampling) const {
  return sampling.rate * static_cast<double>(problem_.n);
}

}  // namespace sotto
