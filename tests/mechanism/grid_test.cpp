#include "sotto/mechanism/grid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "sotto/random/gaussian.hpp"

namespace sotto::internal {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 62;

TEST(ToGrid, RoundsToTheNearestStep) {
  EXPECT_EQ(to_grid(0, 0.1), 0);
  EXPECT_EQ(to_grid(0.26, 0.1), 3);
  EXPECT_EQ(to_grid(-0.26, 0.1), -3);
  EXPECT_EQ(to_grid(7, 2), 4);  // 3.5 to even
  EXPECT_EQ(to_grid(1e-320, 0.1), 0);
}

TEST(ToGrid, IsTotal) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(to_grid(std::nan(""), 0.1), 0);
  EXPECT_EQ(to_grid(infinity, 0.1), kLargest);
  EXPECT_EQ(to_grid(-infinity, 0.1), -kLargest);
  EXPECT_EQ(to_grid(1e300, 0.1), kLargest);
  EXPECT_EQ(to_grid(-std::numeric_limits<double>::max(), 0x1p-800), -kLargest);
  EXPECT_THROW(to_grid(1, 0), std::logic_error);
  EXPECT_THROW(to_grid(1, infinity), std::logic_error);
}

// Against exact integer arithmetic: value and unit are integers times powers of two.
TEST(ToGrid, ErrorIsBelowTheClaimEvenForHugeQuotients) {
  __extension__ using Wide = __int128;
  Stream stream = Stream::seeded(1, Purpose::kData);
  for (int i = 0; i < 100000; ++i) {
    const auto unit = static_cast<std::int64_t>(stream.next() >> 11) | 1;
    const int shift = static_cast<int>(stream.below(62));  // quotients up to 2^62
    const auto mantissa = static_cast<std::int64_t>(stream.next() >> 11);
    const Wide value = static_cast<Wide>(mantissa) << shift;
    if (value / unit >= kLargest - 1) continue;
    const std::int64_t steps =
        to_grid(std::ldexp(static_cast<double>(mantissa), shift), static_cast<double>(unit));
    const Wide error = static_cast<Wide>(steps) * unit - value;
    EXPECT_LE(std::abs(static_cast<double>(error)) / static_cast<double>(unit), kGridRounding);
  }
}

TEST(ToGrid, NeverWidensADistanceByMoreThanTheRounding) {
  Stream stream = Stream::seeded(2, Purpose::kData);
  const double unit = 0.1;
  for (int i = 0; i < 100000; ++i) {
    const double scale = std::ldexp(1.0, static_cast<int>(stream.below(70)));
    const double x = (stream.uniform() - 0.5) * scale;
    const double y = x + stream.uniform();
    EXPECT_LE(static_cast<double>(to_grid(y, unit) - to_grid(x, unit)),
              (y - x) / unit * (1 + 1e-15) + 2 * kGridRounding);
  }
}

TEST(GridUnit, CoversSensitivityAndRounding) {
  for (const double sensitivity : {1e-6, 1.0, 3.7e5}) {
    for (const double reach : {2.0, 1e3, 0x1p34}) {
      const long double unit = grid_unit(sensitivity, reach, 1);
      EXPECT_LE(sensitivity / unit + 1, static_cast<long double>(reach));
      EXPECT_GE(sensitivity / unit + 1, static_cast<long double>(reach) * (1 - 1e-13L));
    }
  }
  EXPECT_THROW(grid_unit(0, 10, 1), std::logic_error);
  EXPECT_THROW(grid_unit(1, 10, 6), std::logic_error);
}

TEST(GaussianUnit, NoiseIsTheMultiplierTimesTheSensitivityOfTheRoundedValue) {
  for (const double z : {0.3, 1.0, 50.0}) {
    for (const std::int64_t d : {1, 100, 10000000}) {
      const long double unit = gaussian_unit(2.5, z, d);
      const long double sensitivity =
          2.5L / unit + 2 * kGridRounding * std::sqrt(static_cast<long double>(d));
      EXPECT_LE(z * sensitivity, static_cast<long double>(kGaussianSteps));
      EXPECT_NEAR(static_cast<double>(z * sensitivity / kGaussianSteps), 1, 1e-12);
    }
  }
  EXPECT_THROW(gaussian_unit(1, 0x1p34, 1), std::logic_error);
  EXPECT_THROW(gaussian_unit(1, 0, 1), std::logic_error);
  EXPECT_THROW(gaussian_unit(1, -1, 1), std::logic_error);
}

TEST(AddGaussianNoise, ResultsLieOnTheGrid) {
  Stream stream = Stream::seeded(3, Purpose::kNoise);
  std::vector<double> values(3000, 12.34);
  add_rounded_gaussian(stream, values, 0x1p-34);  // standard deviation 1
  for (const double x : values) EXPECT_EQ(x * 0x1p34, std::nearbyint(x * 0x1p34));
}

}  // namespace
}  // namespace sotto::internal
