#include "sotto/core/sort_doubles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace sotto {
namespace {

TEST(SortDoubles, SortsAsComparisonsDo) {
  std::mt19937_64 random(1);  // a test of equality: any seed must do
  for (const std::size_t size : {0U, 1U, 2U, 300U, 10000U}) {
    std::vector<double> any, near, few;
    while (any.size() < size) {
      const auto value = std::bit_cast<double>(random());
      if (!std::isnan(value)) any.push_back(value);
      near.push_back(1 + static_cast<double>(random() % 1000) * 0x1p-50);
      few.push_back(static_cast<double>(random() % 5) - 2);
    }
    for (std::vector<double> values : {any, near, few}) {
      std::vector<double> sorted = values;
      std::sort(sorted.begin(), sorted.end());
      sort_doubles(values);
      EXPECT_EQ(values, sorted);
    }
  }
}

TEST(SortDoubles, ExtremesAndZeros) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
  std::vector<double> values = {0.0, kInfinity, -kSmallest, -0.0, 1, -kInfinity, kSmallest, -1};
  sort_doubles(values);
  EXPECT_EQ(values,
            (std::vector<double>{-kInfinity, -1, -kSmallest, 0, 0, kSmallest, 1, kInfinity}));
}

}  // namespace
}  // namespace sotto
