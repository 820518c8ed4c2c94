// The private oracle's answers about Hessians and along candidate steps: hessian.proof.md.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "sotto/core/check.hpp"
#include "sotto/core/dense_limit.hpp"
#include "sotto/loss/joint_bound.hpp"
#include "sotto/mechanism/gaussian.hpp"
#include "sotto/mechanism/joint_gaussian.hpp"
#include "sotto/mechanism/lazy_operator.hpp"
#include "sotto/mechanism/sparse_vector.hpp"
#include "sotto/mechanism/symmetric_gaussian.hpp"
#include "sotto/oracle/api/sensitivity.hpp"
#include "sotto/oracle/private_oracle.hpp"

namespace sotto {

Expected<Released<NoisyHessian>> PrivateOracle::hessian(const HessianQuery& query) {
  if (!engine_.offers().has(Capability::kHessians)) return no_second_order();
  SOTTO_TRY(check_dense_hessian(problem_.dimension));
  const TermBounds bounds = bounds_of(query, problem_);
  const std::int64_t samples = samples_of(query, problem_.dimension);
  const SensitivityClaim bound = claims_.of(query);
  SOTTO_ASSIGN(Receipt receipt, buy(event_of(query, problem_.relation), samples, bound));
  Matrix sum;
  sums_.clipped_hessians(
      batches_.draw(query.sampling, SumKind::kMatrix), query.at, bounds.radius, sum);
  visit(query.sampling, 0);
  const double batch = expected_batch(query.sampling);
  const double sigma = released_sigma(bound, query.noise_multiplier, samples) / batch;
  return SymmetricGaussianMechanism::release(Sensitive<Matrix>(std::move(sum), bound),
                                             std::move(receipt),
                                             query.noise_multiplier,
                                             noise_)
      .map([&](Matrix value) {
        return NoisyHessian{value / batch, sigma};
      });
}

Expected<Released<NoisyGradientHessian>> PrivateOracle::gradient_and_hessian(
    const JointQuery& query) {
  if (!engine_.offers().has(Capability::kHessians)) return no_second_order();
  SOTTO_TRY(check_dense_hessian(problem_.dimension));
  const double scale = query.hessian_scale;
  const TermBounds bounds = bounds_of(query, problem_);
  const std::int64_t samples = samples_of(query, problem_.dimension);
  const SensitivityClaim bound = claims_.of(query);
  SOTTO_ASSIGN(Receipt receipt, buy(event_of(query, problem_.relation), samples, bound));
  GradientHessian sum;
  sum.hessian_scale = scale;
  sums_.clipped_pairs(batches_.draw(query.sampling, SumKind::kMatrix),
                      query.at,
                      bounds.radius,
                      scale,
                      sum.gradient,
                      sum.hessian);
  visit(query.sampling, 1);
  const double batch = expected_batch(query.sampling);
  const double sigma = released_sigma(bound, query.noise_multiplier, samples) / batch;
  return JointGaussianMechanism::release(Sensitive<GradientHessian>(std::move(sum), bound),
                                         std::move(receipt),
                                         query.noise_multiplier,
                                         noise_)
      .map([&](GradientHessian value) {
        return NoisyGradientHessian{
            value.gradient / batch, value.hessian / batch, sigma, sigma * scale};
      });
}

Expected<std::unique_ptr<NoisyOperator>> PrivateOracle::hessian_operator(
    const HessianOperatorQuery& query) {
  if (!engine_.offers().has(Capability::kHessians)) return no_second_order();
  SOTTO_CHECK(query.max_products > 0);
  const TermBounds bounds = bounds_of(query, problem_);
  const SensitivityClaim bound = claims_.of(query);
  SOTTO_ASSIGN(
      Receipt receipt,
      buy(event_of(query, problem_.relation), samples_of(query, problem_.dimension), bound));
  // One batch for all products: it is kept with the operator, as secret as before.
  const PerExampleSum::Batch drawn = batches_.draw(query.sampling);
  std::vector<std::int64_t> units(drawn.indices.begin(), drawn.indices.end());
  SymmetricProduct product = [this,
                              at = query.at,
                              sampling = query.sampling,
                              all = drawn.all,
                              units = std::move(units),
                              range = drawn.range,
                              r = bounds.radius](const Vector& v, Vector& result) {
    sums_.clipped_hessian_products({all, units, range}, at, r, v, result);
    visit(sampling, 0);
  };
  return std::make_unique<LazySymmetricOperator>(
      Sensitive<SymmetricProduct>(std::move(product), bound),
      std::move(receipt),
      query.noise_multiplier,
      problem_.dimension,
      query.max_products,
      claims_.products_of(query),
      expected_batch(query.sampling),
      noise_);
}

namespace {

/// Before anything is charged: a change of loss is measured in steps of how far a candidate is.
Expected<void> check_candidates(const DecreaseQuery& query) {
  if (query.candidates.empty())
    return fail(ErrorKind::kUsage, "a line search was asked to choose among no candidates.");
  for (std::size_t k = 0; k < query.candidates.size(); ++k)
    if (const double clip = decrease_clip(query, k); !(clip > 0) || !std::isfinite(clip))
      return fail(
          ErrorKind::kUsage,
          fmt::format("candidate {} of a line search does not differ from the point that it "
                      "starts at, or is infinitely far from it.",
                      k + 1));
  return {};
}

}  // namespace

Expected<Released<std::int64_t>> PrivateOracle::first_decrease(const DecreaseQuery& query) {
  SOTTO_CHECK(query.candidates.size() == query.needed.size() && query.slope_clip > 0);
  SOTTO_TRY(check_candidates(query));
  const SensitivityClaim bound = claims_.of(query);
  SOTTO_ASSIGN(
      Receipt receipt,
      buy(event_of(query, problem_.relation), samples_of(query, problem_.dimension), bound));
  const auto n = static_cast<double>(problem_.n);
  SparseVectorSession session(std::move(receipt), query.epsilon, bound, 0, noise_);
  const auto everything = batches_.draw(Sampling::full());
  for (std::size_t k = 0; k < query.candidates.size(); ++k) {
    const Vector& candidate = query.candidates[k];
    const double clip = decrease_clip(query, k);
    const double decrease = -sums_.clipped_differences(everything, candidate, query.at, clip);
    visit(Sampling::full(), 0);
    Released<bool> above =
        session.is_above(Sensitive<double>((decrease - n * query.needed[k]) / clip, bound));
    if (above.value())
      return std::move(above).map([k](bool) { return static_cast<std::int64_t>(k); });
    if (k + 1 == query.candidates.size())
      return std::move(above).map([](bool) { return std::int64_t{-1}; });
  }
  SOTTO_CHECK(false && "check_candidates() wants one");
}

}  // namespace sotto
