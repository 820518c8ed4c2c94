#include "sotto/report/privacy_words.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sotto {
namespace {

TEST(Rounding, KeepsBoundsBounds) {
  EXPECT_EQ(rounded_up(0.99991), "1");
  EXPECT_EQ(rounded_up(1.00001), "1.001");
  EXPECT_EQ(rounded_up(1), "1");
  EXPECT_EQ(rounded_up(0.3), "0.3") << "its binary digits are a little above 0.3";
  EXPECT_EQ(rounded_up(2.00000000001), "2.001");
  EXPECT_EQ(rounded_down(1.99999999999), "1.999");
  EXPECT_EQ(rounded_up(12345.6), "1.235e4");
  EXPECT_EQ(rounded_up(1.23411e-7), "1.235e-7");
  EXPECT_EQ(rounded_down(0.99999), "0.9999");
  EXPECT_EQ(rounded_down(2.71828), "2.718");
  EXPECT_EQ(rounded_down(0), "0");
  EXPECT_EQ(rounded_up(std::numeric_limits<double>::infinity()), "infinite");
  EXPECT_EQ(rounded(std::nan("")), "-");
  EXPECT_EQ(short_text(1e-6), "1e-6");
  EXPECT_EQ(short_text(1e-10), "1e-10");
  EXPECT_EQ(short_text(2.5e7), "2.5e7");
  EXPECT_EQ(short_text(0.5), "0.5");
}

TEST(Rounding, NeverCrossesTheValue) {
  for (int k = 1; k < 2000; ++k) {
    const double value = std::exp(0.013 * k - 13) * (1 + 1e-5 * k);
    EXPECT_GE(std::stod(rounded_up(value)), value);
    EXPECT_LE(std::stod(rounded_up(value)), value * 1.00101);
    EXPECT_LE(std::stod(rounded_down(value)), value);
  }
}

TEST(WithCommas, GroupsThousands) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(1234567), "1,234,567");
  EXPECT_EQ(with_commas(-1234), "-1,234");
}

TEST(BestGuess, IsTheOptimalTestOfRandomizedResponse) {
  // Randomized response is (epsilon, 0)-private and tells the truth with e^eps / (1 + e^eps).
  EXPECT_DOUBLE_EQ(best_guess(0, 0), 0.5);
  EXPECT_NEAR(best_guess(std::log(3), 0), 0.75, 1e-15);
  // Showing the record with probability delta and nothing else: right in delta + (1 - delta)/2.
  EXPECT_DOUBLE_EQ(best_guess(0, 0.2), 0.6);
}

}  // namespace
}  // namespace sotto
