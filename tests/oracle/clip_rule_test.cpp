#include "sotto/oracle/clip_rule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace sotto {
namespace {

TEST(ClipRule, ScalesOntoTheBallAndNeverAbove) {
  std::vector<double> norms;
  for (double norm = 1e-300; norm < 1e300; norm *= 7.3) norms.push_back(norm);
  norms.push_back(1.0);
  norms.push_back(std::nextafter(1.0, 2.0));
  std::vector<double> weights(norms.size());
  clip_weights(norms, 1.0, weights);
  for (std::size_t k = 0; k < norms.size(); ++k) {
    EXPECT_GE(weights[k], 0);
    EXPECT_LE(weights[k], 1);
    EXPECT_LE(weights[k] * norms[k], 1.0);
    if (norms[k] < 0.999) {
      EXPECT_EQ(weights[k], 1);
    } else if (norms[k] > 0x1p959) {
      EXPECT_TRUE(weights[k] == 0 || std::abs(weights[k] * norms[k] - 1) < 1e-14);
    } else if (norms[k] > 1.001) {
      EXPECT_NEAR(weights[k] * norms[k], 1.0, 1e-14);
    }
  }
}

// A quotient among the smallest numbers of double is rounded to a multiple of 2^-1074: half of one
// became a whole one, and a row counted twice.
TEST(ClipRule, TinyQuotientsDoNotRoundUp) {
  for (const double radius : {1e-140, 9.7e-13, 1e-300, 1.0}) {
    std::vector<double> norms;
    for (double share = 0x1p-1070; share < 1; share *= 1.37)
      if (const double norm = radius / share; std::isfinite(norm)) norms.push_back(norm);
    std::vector<double> weights(norms.size());
    clip_weights(norms, radius, weights);
    for (std::size_t k = 0; k < norms.size(); ++k)
      EXPECT_LE(weights[k] * norms[k], radius) << norms[k];
  }
}

TEST(ClipRule, ABrokenRowGetsNoWeight) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> norms = {std::nan(""), infinity, 0, 1};
  std::vector<double> weights(4);
  clip_weights(norms, 2, weights);
  EXPECT_EQ(weights, (std::vector<double>{0, 0, 1, 1}));
  clip_weights(norms, infinity, weights);
  EXPECT_EQ(weights, (std::vector<double>{0, 0, 1, 1}));
}

}  // namespace
}  // namespace sotto
