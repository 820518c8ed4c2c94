#include "sotto/report/chart.hpp"

#include <gtest/gtest.h>

#include "sotto/core/numbers.hpp"

namespace sotto {
namespace {

std::pair<double, double> range_of(double low, double high) {
  return log_y_range({"t", "x", "y", true, {{"s", {{1, low}, {2, high}, {3, 0}, {4, kInfinity}}}}});
}

TEST(Chart, LogRangesEndAtRoundNumbers) {
  EXPECT_EQ(range_of(0.049, 0.7), std::make_pair(0.02, 1.0));
  EXPECT_EQ(range_of(0.051, 0.49), std::make_pair(0.05, 0.5));
  EXPECT_EQ(range_of(0.2, 20), std::make_pair(0.2, 20.0));
  EXPECT_EQ(range_of(3, 3), std::make_pair(2.0, 5.0));
  const auto [low, high] = range_of(1, 1);
  EXPECT_LT(low, 1);
  EXPECT_GT(high, 1);
}

TEST(Chart, LogRangesHoldBands) {
  const Chart chart{"t", "x", "y", true, {{"s", {{1, 1}}, {{0.03, 40}}}}};
  EXPECT_EQ(log_y_range(chart), std::make_pair(0.02, 50.0));
}

TEST(Chart, LogRangesOfXLeaveOutWhatIsNotDrawn) {
  const Chart chart{"t", "x", "y", true, {{"s", {{0, 1}, {0.04, 1}, {30, 1}, {4000, 0}}}}, true};
  EXPECT_EQ(log_x_range(chart), std::make_pair(0.02, 50.0));
}

TEST(Chart, KnowsWhatItCanDraw) {
  EXPECT_TRUE(has_points({"t", "x", "y", false, {{"s", {{0, 0}}}}}));
  EXPECT_FALSE(has_points({"t", "x", "y", true, {{"s", {{0, 0}}}}}));
  EXPECT_FALSE(has_points({"t", "x", "y", false, {{"s", {{0, kInfinity}}}}}));
  EXPECT_FALSE(has_points({"t", "x", "y"}));
}

}  // namespace
}  // namespace sotto
