// The exact oracle's answers about Hessians and along candidate steps.

#include <utility>
#include <vector>

#include "sotto/core/check.hpp"
#include "sotto/core/dense_limit.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/oracle/exact_oracle.hpp"
#include "sotto/oracle/exact_release.hpp"

namespace sotto {
namespace {

/// H without noise, by products; counts them, as the noisy one does, so that runs without noise
/// take the same path.
class ExactOperator final : public NoisyOperator {
 public:
  ExactOperator(PerExampleSum& sums,
                Vector at,
                PerExampleSum::Batch batch,
                double radius,
                double divisor,
                std::int64_t products,
                Relation relation)
      : sums_(sums),
        at_(std::move(at)),
        all_(batch.all),
        units_(batch.indices.begin(), batch.indices.end()),
        radius_(radius),
        divisor_(divisor),
        left_(products),
        relation_(relation) {}

  std::int64_t dimension() const override { return at_.size(); }
  double sigma() const override { return 0; }
  std::int64_t products_left() const override { return left_; }
  Expected<Released<Vector>> apply(const Vector& v) override {
    Vector product;
    const double length = v.norm();
    sums_.clipped_hessian_products(
        {all_, units_}, at_, radius_, length > 0 ? Vector(v / length) : v, product);
    if (left_ > 0) --left_;
    return ExactRelease::release(Vector(product * (length / divisor_)), relation_);
  }

 private:
  PerExampleSum& sums_;
  Vector at_;
  bool all_;
  std::vector<std::int64_t> units_;
  double radius_;
  double divisor_;
  std::int64_t left_;
  Relation relation_;
};

}  // namespace

Expected<Released<NoisyHessian>> ExactOracle::hessian(const HessianQuery& query) {
  if (!engine_.offers().has(Capability::kHessians)) return no_second_order();
  SOTTO_TRY(check_dense_hessian(problem_.dimension));
  NoisyHessian answer;
  sums_.clipped_hessians(batches_.draw(query.sampling, SumKind::kMatrix),
                         query.at,
                         clips_ ? query.clip_radius : kInfinity,
                         answer.value);
  answer.value /= visit(query.sampling, 0);
  return ExactRelease::release(std::move(answer), problem_.relation);
}

Expected<Released<NoisyGradientHessian>> ExactOracle::gradient_and_hessian(
    const JointQuery& query) {
  if (!engine_.offers().has(Capability::kHessians)) return no_second_order();
  SOTTO_TRY(check_dense_hessian(problem_.dimension));
  NoisyGradientHessian answer;
  sums_.clipped_pairs(batches_.draw(query.sampling, SumKind::kMatrix),
                      query.at,
                      clips_ ? query.clip_radius : kInfinity,
                      query.hessian_scale,
                      answer.gradient,
                      answer.hessian);
  const double batch = visit(query.sampling, 1);
  answer.gradient /= batch;
  answer.hessian /= batch;
  return ExactRelease::release(std::move(answer), problem_.relation);
}

Expected<std::unique_ptr<NoisyOperator>> ExactOracle::hessian_operator(
    const HessianOperatorQuery& query) {
  if (!engine_.offers().has(Capability::kHessians)) return no_second_order();
  const PerExampleSum::Batch batch = batches_.draw(query.sampling);
  return std::make_unique<ExactOperator>(sums_,
                                         query.at,
                                         batch,
                                         clips_ ? query.clip_radius : kInfinity,
                                         visit(query.sampling, 0),
                                         query.max_products,
                                         problem_.relation);
}

Expected<Released<std::int64_t>> ExactOracle::first_decrease(const DecreaseQuery& query) {
  SOTTO_CHECK(query.candidates.size() == query.needed.size() && !query.candidates.empty());
  const auto n = static_cast<double>(problem_.n);
  for (std::size_t k = 0; k < query.candidates.size(); ++k) {
    const double distance = (query.candidates[k] - query.at).norm();
    const double clip = clips_ ? query.slope_clip * distance : kInfinity;
    const double decrease = -sums_.clipped_differences({}, query.candidates[k], query.at, clip);
    visit(Sampling::full(), 0);
    if (decrease >= n * query.needed[k])
      return ExactRelease::release(static_cast<std::int64_t>(k), problem_.relation);
  }
  return ExactRelease::release(std::int64_t{-1}, problem_.relation);
}

}  // namespace sotto
