#include "sotto/training/thinned.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sotto {
namespace {

TEST(Thinned, KeepsEveryStepOfAShortRun) {
  Thinned<int> points(8);
  for (int step = 1; step <= 8; ++step) points.offer(step, [&] { return step; });
  EXPECT_EQ(points.take(), (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Thinned, KeepsEvenlySpacedStepsOfALongOne) {
  Thinned<int> points(8);
  int made = 0;
  for (int step = 1; step <= 1000; ++step)
    points.offer(step, [&] {
      ++made;
      return step;
    });
  const std::vector<int> kept = points.take();
  ASSERT_GE(kept.size(), 4u);
  ASSERT_LE(kept.size(), 8u);
  for (std::size_t k = 0; k < kept.size(); ++k)
    EXPECT_EQ(kept[k], static_cast<int>(k + 1) * kept.front());
  EXPECT_LT(made, 60) << "points that are not kept are not made";
}

TEST(Thinned, KeepsTheBeginningWhereThereIsRoom) {
  Thinned<int> points(32);
  for (int step = 1; step <= 10'000; ++step) points.offer(step, [&] { return step; });
  const std::vector<int> kept = points.take();
  EXPECT_LE(kept.size(), 32u);
  EXPECT_GE(kept.size(), 16u);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  for (const int power : {1, 2, 4, 8, 16, 32, 64, 128})
    EXPECT_EQ(std::count(kept.begin(), kept.end(), power), 1) << power;
}

TEST(Thinned, OfNoneKeepsNone) {
  Thinned<int> points(0);
  for (int step = 1; step <= 10; ++step) points.offer(step, [&] { return step; });
  EXPECT_TRUE(points.take().empty());
}

}  // namespace
}  // namespace sotto
