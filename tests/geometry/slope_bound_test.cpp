#include "sotto/geometry/slope_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace sotto {
namespace {

const LossInfo kLogistic = loss_info({LossKind::kLogistic});

TEST(SlopeBound, AgreesWithTheTableOfTheDesign) {
  // algorithms.md 2.1, computed by an independent prototype; three digits.
  for (const auto& [W, bound, diameter] : {std::tuple{0.0, 0.5, 1.0},
                                           {0.5, 0.623, 1.029},
                                           {1.0, 0.731, 1.099},
                                           {2.0, 0.881, 1.270},
                                           {5.0, 0.993, 1.617},
                                           {10.0, 1.0, 1.821},
                                           {50.0, 1.0, 1.981}}) {
    EXPECT_NEAR(gradient_bound(kLogistic, 1, W), bound, 6e-4) << W;
    EXPECT_GE(gradient_diameter(kLogistic, 1, W), diameter - 6e-4) << W;
    EXPECT_LE(gradient_diameter(kLogistic, 1, W), diameter * 1.001 + 6e-4) << W;
    EXPECT_DOUBLE_EQ(gradient_bound(kLogistic, 4, W / 4), 4 * gradient_bound(kLogistic, 1, W));
  }
}

/// Random and adversarial rows: their gradients must stay within the bounds, and come close.
TEST(SlopeBound, HoldsForRowsAndIsNearlyReached) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const double R = 1.7;
  for (const double length : {0.0, 0.2, 1.0, 3.0, 20.0}) {
    const double bound = gradient_bound(kLogistic, R, length);
    const double diameter = gradient_diameter(kLogistic, R, length);
    double longest = 0;
    double widest = 0;
    const auto gradient = [&](double along, double across) {
      const double slope = 1 / (1 + std::exp(length * along));
      return std::pair{slope * along, slope * across};
    };
    for (int k = 0; k < 20'000; ++k) {
      double p[2][3];  // two rows in three dimensions, w along the first
      for (auto& row : p) {
        double square = 0;
        for (double& x : row) {
          x = normal(random);
          square += x * x;
        }
        const double r = R * (k % 2 ? 1 : uniform(random)) / std::sqrt(square);
        for (double& x : row) x *= r;
        const double slope = 1 / (1 + std::exp(length * row[0]));
        for (double& x : row) x *= slope;
        longest = std::max(longest, std::hypot(row[0], row[1], row[2]));
      }
      widest =
          std::max(widest, std::hypot(p[0][0] - p[1][0], p[0][1] - p[1][1], p[0][2] - p[1][2]));
    }
    for (int k = 0; k <= 2000; ++k) {  // mirrored rows of full length
      const double a = R * std::cos(M_PI * k / 2000);
      const auto [x, y] = gradient(a, std::sqrt(std::max(0.0, R * R - a * a)));
      longest = std::max(longest, std::hypot(x, y));
      widest = std::max(widest, 2 * y);
    }
    EXPECT_LE(longest, bound);
    EXPECT_GE(longest, 0.999 * bound);
    EXPECT_LE(widest, diameter);
    EXPECT_GE(widest, 0.99 * diameter) << "twice the bound would fail here";
  }
}

TEST(SlopeBound, OtherLossesAreFlatAndSquaredHasNoBound) {
  const LossInfo sigmoid = loss_info({LossKind::kSigmoid});
  EXPECT_DOUBLE_EQ(gradient_bound(sigmoid, 2, 7), 0.5);
  EXPECT_DOUBLE_EQ(gradient_diameter(sigmoid, 2, 7), 1);
  EXPECT_TRUE(std::isinf(gradient_bound(loss_info({LossKind::kSquared}), 1, 1)));
  EXPECT_LE(gradient_diameter(kLogistic, 1, 1e300), 2.0001) << "far out: twice the bound";
}

}  // namespace
}  // namespace sotto
