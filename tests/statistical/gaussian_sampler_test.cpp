// The rounded Gaussian sampler against its law, with 10^7 draws.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "sotto/random/gaussian.hpp"
#include "tests/support/statistics.hpp"

namespace sotto {
namespace {

constexpr std::size_t kSamplerDraws = 10000000;

const std::vector<std::int64_t>& draws() {
  static const std::vector<std::int64_t> sample = [] {
    std::vector<std::int64_t> result(kSamplerDraws);
    Stream stream = Stream::seeded(20240601, Purpose::kNoise);
    sample_rounded_gaussian(stream, result);
    return result;
  }();
  return sample;
}

double in_sigmas(std::int64_t k) { return std::ldexp(static_cast<double>(k), -34); }

// Whether the mean of x^power over the draws, times scale^power, is as for a standard normal:
// within the two-sided limit of its (normal) sampling error.
bool moment_passes(int power, double scale) {
  long double sum = 0;
  for (const std::int64_t k : draws()) sum += std::pow(in_sigmas(k) * scale, power);
  const auto normal_moment = [](int p) {  // (p - 1)!! for even p
    double product = p % 2 == 0 ? 1 : 0;
    for (int i = p - 1; i > 1; i -= 2) product *= i;
    return product;
  };
  const double expected = normal_moment(power);
  const double deviation = std::sqrt((normal_moment(2 * power) - expected * expected) /
                                     static_cast<double>(kSamplerDraws));
  return std::abs(static_cast<double>(sum / kSamplerDraws) - expected) <
         testing::two_sided_z(testing::kFalseAlarm) * deviation;
}

TEST(RoundedGaussianLaw, Moments) {
  for (const int power : {1, 2, 3, 4, 6}) EXPECT_TRUE(moment_passes(power, 1)) << power;
  for (const double wrong : {0.95, 1 / 0.95}) {
    EXPECT_FALSE(moment_passes(2, wrong));
    EXPECT_FALSE(moment_passes(4, wrong));
  }
}

TEST(RoundedGaussianLaw, KolmogorovSmirnov) {
  constexpr std::size_t kPart = 4000000;
  std::vector<double> sample(kPart);
  for (std::size_t i = 0; i < kPart; ++i) sample[i] = in_sigmas(draws()[i]);
  const double critical = testing::kolmogorov_critical(kPart);
  const auto distance = [&](double sigma) {
    return testing::kolmogorov_distance(
        sample, [sigma](double x) { return testing::normal_cdf(x / sigma); });
  };
  EXPECT_LT(distance(1), critical);
  EXPECT_GT(distance(0.95), critical);
  EXPECT_GT(distance(1.05), critical);
}

TEST(RoundedGaussianLaw, Tails) {
  for (const double edge : {2.0, 3.0, 4.0, 5.0}) {
    std::int64_t above = 0;
    std::int64_t below = 0;
    for (const std::int64_t k : draws()) {
      above += in_sigmas(k) > edge;
      below += in_sigmas(k) < -edge;
    }
    const double p = testing::normal_cdf(-edge);
    EXPECT_TRUE(testing::plausible(above, kSamplerDraws, p)) << edge;
    EXPECT_TRUE(testing::plausible(below, kSamplerDraws, p)) << edge;
    // Power, where there are enough draws for it: the tail of a law 5% wider.
    if (edge < 4.5) {
      EXPECT_FALSE(testing::plausible(above, kSamplerDraws, testing::normal_cdf(-edge / 1.05)));
    }
  }
}

// The last bits carry no structure: the density is flat over 256 steps, separately for each sign.
TEST(RoundedGaussianLaw, LowBitsAreUniform) {
  std::vector<std::int64_t> counts(512);
  for (const std::int64_t k : draws())
    ++counts[static_cast<std::size_t>((k & 255) + (k < 0 ? 256 : 0))];
  EXPECT_LT(testing::chi_square(counts, std::vector<double>(512, kSamplerDraws / 512.0)),
            testing::chi_square_critical(511));
}

// Lanes and groups of the kernel do not share randomness: products and products of squares of
// samples some places apart are uncorrelated.
TEST(RoundedGaussianLaw, SamplesAreUncorrelated) {
  for (const std::size_t lag : {1, 2, 4, 8, 12, 16, 32, 512}) {
    long double linear = 0;
    long double quadratic = 0;
    for (std::size_t i = 0; i + lag < kSamplerDraws; ++i) {
      const double x = in_sigmas(draws()[i]);
      const double y = in_sigmas(draws()[i + lag]);
      linear += x * y;
      quadratic += (x * x - 1) * (y * y - 1);
    }
    const double n = static_cast<double>(kSamplerDraws - lag);
    const double limit = testing::two_sided_z(testing::kFalseAlarm) * std::sqrt(n);
    EXPECT_LT(std::abs(static_cast<double>(linear)), limit) << lag;
    EXPECT_LT(std::abs(static_cast<double>(quadratic)), 2 * limit) << lag;
  }
}

}  // namespace
}  // namespace sotto
