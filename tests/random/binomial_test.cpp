#include "sotto/random/binomial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/random/golden/binomial_cdf.hpp"

namespace sotto::internal {
namespace {

TEST(BinomialCdf, AgreesWithMultiplePrecisionWithinTheProvedError) {
  for (const BinomialGolden& golden : kBinomialGolden) {
    const std::vector<Fraction> cdf = binomial_cdf(golden.bits, golden.rate);
    const Fraction expected = (Fraction{golden.high} << 64) | golden.low;
    const Fraction found = golden.k < cdf.size() ? cdf[golden.k] : ~Fraction{0};
    const Fraction error = std::max(expected, found) - std::min(expected, found);
    // 2^-109 + 2^(bits - 126)
    EXPECT_LE(error, (Fraction{1} << 19) + (Fraction{1} << (golden.bits + 2)))
        << golden.bits << " bits, k = " << golden.k;
  }
}

TEST(BinomialCdf, IncreasesAndLeavesAlmostNothingOver) {
  for (const int bits : {6, 10, 20, 30, 40}) {
    const std::vector<Fraction> cdf =
        binomial_cdf(bits, std::min(1.0 / 16, 5.5 / std::ldexp(1, bits)));
    EXPECT_TRUE(std::is_sorted(cdf.begin(), cdf.end()));
    EXPECT_LE(~cdf.back(), (Fraction{1} << 19) + (Fraction{1} << (bits + 2)));
  }
}

TEST(BinomialCdf, RefusesWhatItsErrorBoundDoesNotCover) {
  EXPECT_THROW(binomial_cdf(6, 0.2), std::logic_error);
  EXPECT_THROW(binomial_cdf(10, 0.01), std::logic_error);
  EXPECT_THROW(binomial_cdf(10, 0), std::logic_error);
}

}  // namespace
}  // namespace sotto::internal
