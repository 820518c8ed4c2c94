#include "sotto/random/exponential.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/random/golden/exponential.hpp"
#include "tests/support/statistics.hpp"

namespace sotto {
namespace {

using internal::exp_minus;
using internal::Fraction;

TEST(ExpMinus, AgreesWithMultiplePrecisionWithinTheProvedError) {
  for (const ExponentialGolden& golden : kExponentialGolden) {
    const Fraction expected = (Fraction{golden.high} << 64) | golden.low;
    const Fraction found = exp_minus(golden.steps);
    const Fraction error = std::max(expected, found) - std::min(expected, found);
    EXPECT_LE(error, Fraction{1} << 18) << golden.steps;
  }
}

TEST(ExpMinus, EndsOfTheRange) {
  EXPECT_GE(exp_minus(0), ~Fraction{0} - 64);
  EXPECT_EQ(exp_minus(std::uint64_t{1} << 37), Fraction{0});
  EXPECT_EQ(exp_minus(~std::uint64_t{0}), Fraction{0});
}

double laplace_cdf(double x) { return x < 0 ? std::exp(x) / 2 : 1 - std::exp(-x) / 2; }

TEST(FlooredLaplace, IsLaplace) {
  Stream stream = Stream::seeded(1, Purpose::kNoise);
  for (const int bits : {12, 29, 30}) {
    std::vector<double> sample(50000);
    for (double& x : sample) {
      x = std::ldexp(static_cast<double>(sample_floored_laplace(stream, bits)) + 0.5, -bits);
    }
    const double critical = testing::kolmogorov_critical(sample.size());
    EXPECT_LT(testing::kolmogorov_distance(sample, laplace_cdf), critical);
    for (const double wrong : {1 / 1.5, 1.5}) {
      EXPECT_GT(testing::kolmogorov_distance(sample,
                                             [wrong](double x) { return laplace_cdf(wrong * x); }),
                critical);
    }
  }
}

// At scale 1 every integer's probability can be seen: exp(-k) (1 - 1/e) / 2 for k >= 0, mirrored at
// -1/2.
TEST(FlooredLaplace, PointProbabilitiesAtTheSmallestScale) {
  Stream stream = Stream::seeded(2, Purpose::kNoise);
  constexpr int kDraws = 200000;
  std::vector<std::int64_t> counts(13);  // -6, ..., 5 and the rest
  for (int i = 0; i < kDraws; ++i) {
    const std::int64_t k = sample_floored_laplace(stream, 0);
    ++counts[k >= -6 && k <= 5 ? static_cast<std::size_t>(k + 6) : 12];
  }
  std::vector<double> expected;
  for (int k = -6; k <= 5; ++k) {
    expected.push_back(kDraws * std::exp(-(k < 0 ? -1 - k : k)) * (1 - std::exp(-1.0)) / 2);
  }
  expected.push_back(kDraws * std::exp(-6.0));
  EXPECT_LT(testing::chi_square(counts, expected), testing::chi_square_critical(12));
}

}  // namespace
}  // namespace sotto
