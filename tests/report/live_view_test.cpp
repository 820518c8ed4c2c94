#include "sotto/report/live_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

namespace sotto {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Sparkline, IsLogarithmicAndShowsTheLastValues) {
  EXPECT_EQ(sparkline({1e-7, 1e-3, 1e-2, 1e-1}, 3, false), "_=#");
  EXPECT_EQ(sparkline({1, 10}, 9, true), "▁█");
  EXPECT_EQ(sparkline({1, 0, std::nan(""), 10}, 9, false), "_  #");
  EXPECT_EQ(sparkline({}, 9, false), "");
  EXPECT_EQ(sparkline({5, 5}, 9, false), "==") << "no range: the middle";
}

TEST(Duration, ReadsLikeAClock) {
  EXPECT_EQ(duration_text(0.04), "0.0 s");
  EXPECT_EQ(duration_text(75), "1 min 15 s");
  EXPECT_EQ(duration_text(7380), "2 h 3 min");
  EXPECT_EQ(duration_text(INFINITY), "-");
}

TEST(LiveView, ShowsHowFarAndWhatWasReleased) {
  LiveView view("dp-gd", 1.0);
  for (int step = 1; step <= 50; ++step) view.step(step, 200, 0.5, 1.0 / step, step, 0.1 * step);
  const auto lines = view.lines(100, false);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0], AllOf(HasSubstr("dp-gd ["), HasSubstr("step 50/200, 15 s left")));
  EXPECT_THAT(lines[1],
              AllOf(HasSubstr("costs epsilon 1, 25% of it released"), HasSubstr("50 passes")));
  EXPECT_THAT(lines[2], AllOf(HasSubstr("2.000e-02"), HasSubstr("#"), HasSubstr("_")));
}

TEST(LiveView, ShowsThePlansPriceAndSpeedAndCountsFromWhereTheProgramBegan) {
  LiveView view("dp-sgd", 0.731);
  // Continued at step 100: ten steps of a tenth of a second here, 1000 rows each.
  for (int step = 101; step <= 110; ++step)
    view.step(step, 200, 0.5, 1, step, 0.1 * (step - 100), 1000.0 * step);
  const auto lines = view.lines(120, false);
  EXPECT_THAT(lines[0], HasSubstr("step 110/200, 9.0 s left"));
  EXPECT_THAT(lines[1],
              AllOf(HasSubstr("costs epsilon 0.731, 55%"), HasSubstr("10000 examples/s")));
}

TEST(LiveView, MarksAKnownSeed) {
  LiveView view("dp-sgd", 0.731, true);
  view.step(1, 10, 0.1, 1, 1, 1);
  EXPECT_NE(view.lines(120, false)[1].find("0.731 IF ITS SEED IS SECRET"), std::string::npos);
}

TEST(LiveView, FitsAnyWidthAndAnyNumberOfSteps) {
  LiveView view("private-spiderboost", 1.0);
  for (int step = 1; step <= 100'000; ++step) view.step(step, 100'000, 0.5, 1.0 / step, 1, 1);
  for (const std::size_t width : {20u, 49u, 79u, 200u})
    for (const auto& line : view.lines(width, false)) EXPECT_LE(line.size(), width);
}

TEST(LiveView, MarksRunsWithoutPrivacyAndThoseWithoutGradients) {
  LiveView view("gd", std::nullopt);
  view.step(1, 2, 0.5, 0, 1, 1);
  const auto lines = view.lines(79, false);
  EXPECT_THAT(lines[1], HasSubstr("NOT private"));
  EXPECT_THAT(lines[2], HasSubstr("no gradient norms"));
}

}  // namespace
}  // namespace sotto
