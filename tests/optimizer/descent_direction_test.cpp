#include "sotto/optimizer/first_order/descent_direction.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sotto {
namespace {

constexpr double kExactDirection = 1e-12;

TEST(DescentDirection, Momentum) {
  DescentOptions options;
  options.momentum = 0.5;
  DescentDirection direction(options, 2);
  const Vector g{{1, -2}};
  EXPECT_EQ(direction.next(g, 0), g);
  EXPECT_EQ(direction.next(g, 0), 1.5 * g);
}

TEST(DescentDirection, AdamByHand) {
  DescentOptions options;
  options.update = Update::kAdam;
  options.momentum = 0.9;
  options.second_moment = 0.99;
  DescentDirection direction(options, 1);
  // The first step is the sign; with m = 0.09 + 0.2 and v = 0.0099 + 0.04 the second follows.
  EXPECT_NEAR(direction.next(Vector{{1}}, 0)[0], 1, kExactDirection);
  const double m = (0.9 * 0.1 + 0.1 * 2) / (1 - 0.81);
  const double v = (0.99 * 0.01 + 0.01 * 4) / (1 - 0.9801);
  EXPECT_NEAR(direction.next(Vector{{2}}, 0)[0], m / std::sqrt(v), kExactDirection);
}

TEST(DescentDirection, BiasCorrectionTakesTheNoiseOut) {
  DescentOptions options;
  options.update = Update::kCorrectedAdam;
  options.momentum = 0;
  DescentDirection direction(options, 2);
  // Second moment 25, of which 16 is noise; and one that is all noise, held up by the floor.
  const Vector found = direction.next(Vector{{5, 4}}, 4);
  EXPECT_NEAR(found[0], 5.0 / 3, kExactDirection);
  EXPECT_NEAR(found[1], 4 / (0.2 * 4), kExactDirection);
}

}  // namespace
}  // namespace sotto
