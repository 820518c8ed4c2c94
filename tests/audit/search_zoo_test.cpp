// A broken twin of the searches for second-order points must be caught.

#include <gtest/gtest.h>

#include "tests/support/zoo/stop_on_true_loss.hpp"

namespace sotto {
namespace {

using namespace testing::zoo;

TEST(SearchZoo, StoppingOnTheTrueLossIsCaught) {
  const Case broken = stop_on_true_loss();
  Scores scores;
  collect(broken.trial(), broken.runs, scores);
  const auto judged = judge(scores, *broken.claim, {0.99, 0.1});
  ASSERT_TRUE(judged);
  EXPECT_GT(judged->lower_bound, broken.claimed);
}

}  // namespace
}  // namespace sotto
