// Broken twins of the first-order methods must be caught.

#include <gtest/gtest.h>

#include "sotto/audit/judge.hpp"
#include "tests/support/zoo/first_order.hpp"

namespace sotto {
namespace {

using namespace testing::zoo;

TEST(FirstOrderZoo, EveryBrokenTwinIsCaught) {
  for (const Case& broken : {difference_not_clipped(),
                             noise_from_the_data(),
                             one_release_too_many(),
                             step_by_true_loss()})
    expect_caught(broken, 1.15, {0.99, 0.1});
}

/// The same attacks on what the library does instead: nothing to see. Each judgement is wrong with
/// probability 1e-6 at most.
TEST(FirstOrderZoo, TheCorrectTwinsAreNot) {
  const double mu = claimed_mu();
  // A difference clipped to C2 and noise for the reach: 20 releases of shift at most the reach.
  Scores clipped;
  collect(
      [&](int world, std::int64_t run) {
        Dice dice(world, run);
        double sum = 0;
        for (int t = 0; t < kReleases; ++t)
          sum += world + std::sqrt(kReleases) / mu * dice.normal();
        return sum;
      },
      5000,
      clipped);
  const auto judged = judge(clipped, *gaussian_claim(kEpsilon, kDelta), {1 - 1e-6, 0.1});
  ASSERT_TRUE(judged);
  EXPECT_LE(judged->lower_bound, kEpsilon);
}

}  // namespace
}  // namespace sotto
