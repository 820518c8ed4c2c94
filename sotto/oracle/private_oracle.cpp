#include "sotto/oracle/private_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/mechanism/carried.hpp"
#include "sotto/mechanism/exponential.hpp"
#include "sotto/mechanism/gaussian.hpp"
#include "sotto/oracle/api/sensitivity.hpp"

namespace sotto {
PrivateOracle::PrivateOracle(
    const Engine& engine, PublicProblem problem, Ledger& ledger, Stream sampling, Stream noise)
    : engine_(engine),
      problem_(std::move(problem)),
      claims_(problem_),
      ledger_(ledger),
      batches_(engine.units(), sum_shape(problem_), std::move(sampling)),
      noise_(std::move(noise)),
      sums_(engine, sum_shape(problem_)) {
  SOTTO_CHECK(problem_.n > 0 && problem_.dimension == engine.parameters());
  SOTTO_CHECK(problem_.relation == Relation::kAddRemove || problem_.n == engine.units());
  SOTTO_CHECK(engine.units() <= Claims::kMostUnits);
  SOTTO_CHECK(!engine.offers().has(Capability::kHessians) || engine.is_convex() ||
              !problem_.convex());
  SOTTO_CHECK(!problem_.linear_rows || engine.is_linear_within(row_bound(problem_)));
}

double PrivateOracle::gradient_sigma(const GradientQuery& query) const {
  return released_sigma(claims_.of(query), query.noise_multiplier, gradient_entries(query)) /
         expected_batch(query.sampling);
}

std::int64_t PrivateOracle::gradient_entries(const GradientQuery& query) const {
  return problem_.dimension + (query.count_share > 0 ? 1 : 0);
}

Expected<Receipt> PrivateOracle::buy(const Event& release,
                                     std::int64_t samples,
                                     const SensitivityClaim& claim) {
  SOTTO_TRY(check_carried(release, samples, claim.sensitivity()));
  return ledger_.charge(release, samples);
}

Expected<Released<Vector>> PrivateOracle::gradient(const GradientQuery& query) {
  SOTTO_CHECK(query.count_share >= 0 && query.count_share <= 1);
  const double radius = bounds_of(query, problem_).radius;
  const SensitivityClaim claim = claims_.of(query);
  SOTTO_ASSIGN(Receipt receipt,
               buy(event_of(query, problem_.relation), gradient_entries(query), claim));
  Vector sum;
  const auto batch = batches_.draw(query.sampling);
  if (query.rule == ClipRule::kLayers)
    sums_.clipped_layer_gradients(batch, query.at, radius, sum);
  else
    sums_.clipped_gradients(batch, query.at, radius, sum);
  visit(query.sampling, 1);
  const double count_unit = query.count_share * radius;
  if (query.count_share > 0) {
    sum.conservativeResize(problem_.dimension + 1);
    sum[problem_.dimension] = count_unit * static_cast<double>(sums_.unclipped_less_clipped());
  }
  auto answer = release_mean(std::move(sum), claim, std::move(receipt), query.noise_multiplier);
  if (query.count_share == 0) return answer;
  return std::move(answer).map([&](Vector value) -> Vector {
    value[problem_.dimension] /= 2 * count_unit;
    return value;
  });
}

Expected<Released<Vector>> PrivateOracle::gradient_pair(const GradientPairQuery& query) {
  const PairBounds bounds = bounds_of(query, problem_);
  const SensitivityClaim claim = claims_.of(query);
  SOTTO_ASSIGN(Receipt receipt, buy(event_of(query, problem_.relation), problem_.dimension, claim));
  Vector sum;
  sums_.clipped_gradient_pairs(
      batches_.draw(query.sampling), query.at, query.before, bounds.clip, sum);
  visit(query.sampling, 2);
  return release_mean(std::move(sum), claim, std::move(receipt), query.noise_multiplier);
}

Expected<Released<std::int64_t>> PrivateOracle::select(const SelectionQuery& query) {
  SOTTO_CHECK(!query.candidates.empty());
  const TermBounds bounds = bounds_of(query, problem_);
  const SensitivityClaim claim = claims_.of(query);
  SOTTO_ASSIGN(Receipt receipt, buy(event_of(query, problem_.relation), 1, claim));
  Vector scores(std::ssize(query.candidates));
  const std::vector<double> added = claims_.public_sums(query);
  const auto everything = batches_.draw(Sampling::full());
  for (Eigen::Index k = 0; k < scores.size(); ++k) {
    const auto index = static_cast<std::size_t>(k);
    const Vector& candidate = query.candidates[index];
    if (query.origin) {
      scores[k] = -sums_.clipped_differences(everything, candidate, *query.origin, bounds.radius);
    } else {
      const LossQuery loss{candidate, Sampling::full(), query.clip, 0, query.rule};
      const double floor = bounds_of(loss, problem_).floor;
      scores[k] = -sums_.clipped_losses(everything, candidate, bounds.radius, floor);
    }
    scores[k] -= added[index];
    visit(Sampling::full(), 0);
  }
  // Without a unit every sum of losses shrinks; another unit may raise some and lower others, and
  // so may any unit in sums of changes.
  const bool monotone = problem_.relation != Relation::kReplaceOne && !query.origin;
  const ScoreMotion motion = monotone ? ScoreMotion::kMonotone : ScoreMotion::kAny;
  return ExponentialMechanism::release(Sensitive<Vector>(std::move(scores), claim),
                                       std::move(receipt),
                                       query.epsilon,
                                       motion,
                                       noise_);
}

Expected<Released<double>> PrivateOracle::loss(const LossQuery& query) {
  const TermBounds bounds = bounds_of(query, problem_);
  const SensitivityClaim claim = claims_.of(query);
  SOTTO_ASSIGN(Receipt receipt, buy(event_of(query, problem_.relation), 1, claim));
  // What every record is known to contribute is taken off before the sum and put back after the
  // noise: a mechanism's values saturate far from 0, in units of a noise that may be tiny here.
  const double known = bounds.floor;
  const double sum =
      sums_.clipped_losses(batches_.draw(query.sampling), query.at, bounds.radius, known);
  visit(query.sampling, 0);
  return release_mean(Vector::Constant(1, sum), claim, std::move(receipt), query.noise_multiplier)
      .map([known](const Vector& value) { return known + value[0]; });
}

Released<Vector> PrivateOracle::release_mean(Vector sum,
                                             const SensitivityClaim& claim,
                                             Receipt receipt,
                                             double noise_multiplier) {
  const double batch = expected_batch(claim.sampling());
  return GaussianMechanism::release(
             Sensitive<Vector>(std::move(sum), claim), std::move(receipt), noise_multiplier, noise_)
      .map([&](Vector value) -> Vector {
        value *= 1 / batch;  // in place, and faster than as many divisions
        return value;
      });
}

void PrivateOracle::visit(const Sampling& sampling, int gradients) {
  gradient_evaluations_ += gradients * expected_batch(sampling);
  row_visits_ += expected_batch(sampling);
}

double PrivateOracle::expected_batch(const Sampling& sampling) const {
  return sampling.rate * static_cast<double>(problem_.n);
}

void PrivateOracle::archive(Archive& state) {
  state("evaluations", gradient_evaluations_, 0, kInfinity)("visits", row_visits_, 0, kInfinity)(
      "batches", batches_);
  archive_position(state, noise_);
}

}  // namespace sotto
