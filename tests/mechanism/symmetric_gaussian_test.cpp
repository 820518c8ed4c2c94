#include "sotto/mechanism/symmetric_gaussian.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sotto/audit/made_up_claim.hpp"
#include "tests/support/receipts.hpp"
#include "tests/support/statistics.hpp"

namespace sotto {
namespace {

using testing::ReceiptBook;

constexpr double kNoise = 0.8;
constexpr double kSensitivity = 3;
constexpr int kRows = 6;

Event event() { return Event::gaussian(kNoise, Relation::kZeroOut); }

Released<Matrix> release(Matrix value, Receipt receipt, Stream& noise) {
  return SymmetricGaussianMechanism::release(
      {std::move(value), MadeUpClaim::of(kSensitivity, Relation::kZeroOut)},
      std::move(receipt),
      kNoise,
      noise);
}

TEST(SymmetricGaussian, VariancesAreThoseOfTheOrthogonalEnsemble) {
  const Matrix value = Matrix::Constant(kRows, kRows, 7);
  constexpr int kDraws = 4000;
  ReceiptBook receipts(event(), 21, kDraws);
  Stream noise = Stream::seeded(1, Purpose::kNoise);
  std::vector<double> diagonal;
  std::vector<double> lower;
  for (int i = 0; i < kDraws; ++i) {
    const Matrix added = release(value, receipts.next(), noise).value() - value;
    for (int r = 0; r < kRows; ++r) {
      diagonal.push_back(added(r, r));
      for (int c = 0; c < r; ++c) lower.push_back(added(r, c));
    }
  }
  const auto distance = [](const std::vector<double>& sample, double sigma) {
    return testing::kolmogorov_distance(
        sample, [sigma](double x) { return testing::normal_cdf(x / sigma); });
  };
  const double s = kNoise * kSensitivity;
  EXPECT_LT(distance(diagonal, s), testing::kolmogorov_critical(diagonal.size()));
  EXPECT_LT(distance(lower, s / std::sqrt(2.0)), testing::kolmogorov_critical(lower.size()));
  // Power: neither passes with the other's variance.
  EXPECT_GT(distance(diagonal, s / std::sqrt(2.0)), testing::kolmogorov_critical(diagonal.size()));
  EXPECT_GT(distance(lower, s), testing::kolmogorov_critical(lower.size()));
}

TEST(SymmetricGaussian, ResultIsSymmetricAndReadsTheLowerTriangleOnly) {
  Matrix value = Matrix::Zero(3, 3);
  value(0, 2) = 1e9;
  Stream noise = Stream::seeded(2, Purpose::kNoise);
  const Matrix result = release(value, testing::test_receipt(event(), 6), noise).value();
  EXPECT_EQ(result, result.transpose());
  EXPECT_LT(result.cwiseAbs().maxCoeff(), 100);
}

TEST(SymmetricGaussian, RefusesTooFewSamplesOrAnotherEvent) {
  Stream noise = Stream::seeded(3, Purpose::kNoise);
  const Matrix value = Matrix::Zero(3, 3);
  EXPECT_THROW(release(value, testing::test_receipt(event(), 5), noise), std::logic_error);
  const Event other = Event::gaussian(1, Relation::kZeroOut);
  EXPECT_THROW(release(value, testing::test_receipt(other, 6), noise), std::logic_error);
  EXPECT_THROW(release(Matrix::Zero(2, 3), testing::test_receipt(event(), 6), noise),
               std::logic_error);
}

}  // namespace
}  // namespace sotto
