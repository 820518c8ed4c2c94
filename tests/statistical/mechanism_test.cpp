// Attempts to falsify the mechanisms' privacy claims on neighbouring inputs.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sotto/audit/made_up_claim.hpp"
#include "sotto/mechanism/gaussian.hpp"
#include "sotto/mechanism/symmetric_gaussian.hpp"
#include "tests/support/distinguish.hpp"
#include "tests/support/receipts.hpp"

namespace sotto {
namespace {

constexpr double kNoise = 1;
constexpr Eigen::Index kBlock = 1000000;
constexpr int kBlocks = 10;  // 10^7 draws an input

// 10^7 releases of a number under a claim of sensitivity 1 / scale, whose noise is therefore
// `scale` times too small if the truth is 1. Each coordinate of a release is one draw.
std::vector<double> release(double value, double claimed_sensitivity, std::uint64_t seed) {
  const Event event = Event::gaussian(kNoise, Relation::kZeroOut);
  testing::ReceiptBook receipts(event, kBlock, kBlocks);
  Stream noise = Stream::seeded(seed, Purpose::kNoise);
  std::vector<double> sample;
  sample.reserve(static_cast<std::size_t>(kBlock) * kBlocks);
  for (int block = 0; block < kBlocks; ++block) {
    const auto released = GaussianMechanism::release(
        {Vector::Constant(kBlock, value), MadeUpClaim::of(claimed_sensitivity, Relation::kZeroOut)},
        receipts.next(),
        kNoise,
        noise);
    sample.insert(sample.end(), released.value().begin(), released.value().end());
  }
  return sample;
}

testing::EventCounts half_lines(const std::vector<double>& sample,
                                const std::vector<double>& edges) {
  testing::EventCounts counts{std::vector<std::int64_t>(edges.size()),
                              static_cast<std::int64_t>(sample.size())};
  for (const double x : sample) {
    for (std::size_t i = 0; i < edges.size(); ++i) counts.hits[i] += x > edges[i];
  }
  return counts;
}

// delta(epsilon) of the Gaussian mechanism with noise multiplier 1 / mu [BW18].
double gaussian_delta(double epsilon, double mu) {
  return testing::normal_cdf(mu / 2 - epsilon / mu) -
         std::exp(epsilon) * testing::normal_cdf(-mu / 2 - epsilon / mu);
}

TEST(Falsification, GaussianKeepsItsCurveAndNoiseFivePercentLowIsCaught) {
  const std::vector<double> edges = {0.75, 1.5, 2.5};  // 1/2 + epsilon: the best tests
  const std::vector<double> epsilons = {0.25, 1, 2};
  const auto here = half_lines(release(0, 1, 1), edges);
  const auto there = half_lines(release(1, 1, 2), edges);
  const auto low_here = half_lines(release(0, 0.95, 3), edges);
  const auto low_there = half_lines(release(1, 0.95, 4), edges);
  for (const double epsilon : epsilons) {
    const double delta = gaussian_delta(epsilon, 1 / kNoise);
    EXPECT_LE(testing::epsilon_lower_bound(here, there, delta), epsilon);
    EXPECT_GT(testing::epsilon_lower_bound(low_here, low_there, delta), epsilon);
  }
}

TEST(Falsification, ReportedSigmaIsTheRealOneWithinFivePercent) {
  const std::vector<double> sample = release(0, 1, 5);
  long double squares = 0;
  for (const double x : sample) squares += x * x;
  const double n = static_cast<double>(sample.size());
  const double sigma = released_sigma(MadeUpClaim::of(1, Relation::kZeroOut), kNoise, kBlock);
  const auto passes = [&](double claimed) {
    const double ratio = static_cast<double>(squares) / (n * claimed * claimed);
    return std::abs(ratio - 1) < testing::two_sided_z(testing::kFalseAlarm) * std::sqrt(2 / n);
  };
  EXPECT_TRUE(passes(sigma));
  EXPECT_FALSE(passes(sigma * 0.95));
  EXPECT_FALSE(passes(sigma * 1.05));
}

// Along any direction of Frobenius norm 1 the noise has variance s^2, so that every neighbour is
// equally hard to tell; here x x^T for x = e_1, (e_1 + e_2) / sqrt 2 and a spread x.
TEST(Falsification, SymmetricNoiseIsTheSameInEveryDirection) {
  constexpr int kRows = 4;
  constexpr int kDraws = 100000;
  testing::ReceiptBook receipts(Event::gaussian(kNoise, Relation::kZeroOut), 10, kDraws);
  Stream noise = Stream::seeded(6, Purpose::kNoise);
  Matrix directions = Matrix::Zero(kRows, 3);
  directions(0, 0) = 1;
  directions(0, 1) = directions(1, 1) = std::sqrt(0.5);
  directions.col(2).setConstant(0.5);
  Eigen::Array3d squares = Eigen::Array3d::Zero();
  double diagonal = 0;
  double lower = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Matrix added = SymmetricGaussianMechanism::release(
                             {Matrix::Zero(kRows, kRows), MadeUpClaim::of(1, Relation::kZeroOut)},
                             receipts.next(),
                             kNoise,
                             noise)
                             .value();
    for (int j = 0; j < 3; ++j) {
      const double along = directions.col(j).dot(added * directions.col(j));
      squares[j] += along * along;
    }
    diagonal += added(1, 1) * added(1, 1);
    lower += added(2, 1) * added(2, 1);
  }
  const auto passes = [](double sum, double variance) {
    return std::abs(sum / (kDraws * variance) - 1) <
           testing::two_sided_z(testing::kFalseAlarm) * std::sqrt(2.0 / kDraws);
  };
  for (int j = 0; j < 3; ++j) EXPECT_TRUE(passes(squares[j], 1)) << j;
  EXPECT_TRUE(passes(diagonal, 1));
  EXPECT_TRUE(passes(lower, 0.5));
  // Power: noise of variance 1 everywhere, as in a copied triangle, would fail.
  EXPECT_FALSE(passes(lower, 1));
  EXPECT_FALSE(passes(diagonal, 1 / 1.05));
}

}  // namespace
}  // namespace sotto
