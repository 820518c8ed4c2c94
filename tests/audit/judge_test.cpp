#include "sotto/audit/judge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/zoo/zoo.hpp"

namespace sotto {
namespace {

using testing::zoo::Dice;

Scores gaussian_scores(double mu, std::int64_t runs, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Scores scores;
  for (int world = 0; world < 2; ++world)
    for (std::int64_t i = 0; i < runs; ++i)
      scores.world[world].push_back(world * mu + normal(random));
  return scores;
}

TEST(Judge, CollectContinuesWhereItStopped) {
  const Trial trial = [](int world, std::int64_t run) {
    return static_cast<double>(10 * run + world);
  };
  Scores parts, whole;
  collect(trial, 3, parts);
  collect(trial, 7, parts);
  collect(trial, 5, parts);  // nothing to add
  collect(trial, 7, whole);
  EXPECT_EQ(parts.world[0], whole.world[0]);
  EXPECT_EQ(parts.world[1], whole.world[1]);
  EXPECT_EQ(parts.world[1][6], 61);
}

// mu(1, 1e-5) = 0.268051 [BW18].
TEST(Judge, TightForTheGaussianAndHigherForLessNoise) {
  const auto claim = gaussian_claim(1, 1e-5);
  const auto correct = judge(gaussian_scores(0.268051, 30000), *claim, {0.95, 0.1});
  ASSERT_TRUE(correct);
  EXPECT_GT(correct->lower_bound, 0.85);
  EXPECT_LT(correct->plain_bound, correct->lower_bound);
  const auto broken = judge(gaussian_scores(0.268051 / 0.7, 30000), *claim, {0.99, 0.1});
  ASSERT_TRUE(broken);
  EXPECT_GT(broken->lower_bound, 1.2);
}

// 400 audits of a mechanism that is exactly as private as claimed: alarms come with probability at
// most 5 % each, so more than 46 of them with probability below 1e-6.
TEST(Judge, FalseAlarmsAreAsRareAsStated) {
  const auto claim = gaussian_claim(1, 1e-5);
  int alarms = 0;
  for (unsigned k = 0; k < 400; ++k) {
    const auto judged = judge(gaussian_scores(0.268051, 400, 1000 + k), *claim, {0.95, 0.1});
    ASSERT_TRUE(judged);
    alarms += judged->lower_bound > 1;
  }
  EXPECT_LE(alarms, 46);
  EXPECT_GE(alarms, 1) << "a bound that is never wrong is not tight";
}

TEST(Judge, FindsRareEvents) {
  // 3 % of the runs of world 1 give themselves away; otherwise the worlds are equal.
  Scores scores;
  collect(
      [](int world, std::int64_t run) {
        Dice dice(world, run);
        return world == 1 && dice.chance(0.03) ? 100 : dice.normal();
      },
      20000,
      scores);
  const auto judged = judge(scores, *gaussian_claim(1, 1e-5), {0.99, 0.5});
  ASSERT_TRUE(judged);
  EXPECT_FALSE(judged->by_total_error);
  EXPECT_GT(judged->lower_bound, 3);
  EXPECT_GT(judged->plain_bound, 3);
}

TEST(Judge, FailedRunsAreNoEvidence) {
  Scores scores;
  collect([](int, std::int64_t) { return std::nan(""); }, 1000, scores);
  const auto judged = judge(scores, *gaussian_claim(1, 1e-5), {});
  ASSERT_TRUE(judged);
  EXPECT_EQ(judged->lower_bound, 0);
}

TEST(Judge, RunsNeededAreEnough) {
  const auto claim = gaussian_claim(1, 1e-5);
  const JudgeOptions options{0.95, 0.1};
  const std::int64_t runs = runs_needed(*claim, options, 1.3, 0.9);
  const double mu = gaussian_largest_mu(1.3, 1e-5);
  int found = 0;
  for (unsigned k = 0; k < 60; ++k)
    found += judge(gaussian_scores(mu, runs, 5000 + k), *claim, options)->lower_bound > 1;
  // 54 are expected; fewer than 36 have probability below 1e-6 at a power of 0.87.
  EXPECT_GE(found, 36);
  EXPECT_GT(runs_needed(*claim, options, 1.1, 0.9), 5 * runs);
}

TEST(Judge, RocLiesBelowTheClaimedCurve) {
  const auto claim = gaussian_claim(1, 1e-5);
  const auto curve = roc(gaussian_scores(0.268051, 50000), *claim, 51);
  ASSERT_EQ(curve.size(), 51u);
  EXPECT_EQ(curve.front().false_alarm, 0);
  EXPECT_EQ(curve.back().detected, 1);
  for (const RocPoint& point : curve) EXPECT_NEAR(point.detected, point.claimed, 0.015);
}

}  // namespace
}  // namespace sotto
