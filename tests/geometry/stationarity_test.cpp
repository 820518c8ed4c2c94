#include "sotto/geometry/stationarity.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <random>

namespace sotto {
namespace {

TEST(Stationarity, BoundsOnNormsAgreeWithScipy) {
  // scipy.stats.ncx2: the noncentrality at which cdf(x, d, nc) = miss, by brentq.
  struct Golden {
    double observed, sigma;
    std::int64_t d;
    double miss, bound;
  };
  for (const Golden& g : {Golden{1.0, 0.1, 3, 0.05, 1.15517535894},
                          Golden{0.08, 0.01, 54, 0.001, 0.0774088489011},
                          Golden{0.5, 0.05, 123, 0.025, 0.302114647798},
                          Golden{3.0, 0.2, 10, 0.01, 3.4089806777},
                          Golden{0.2, 0.001, 54, 0.05, 0.201512851675}}) {
    EXPECT_NEAR(norm_upper_bound(g.observed, g.sigma, g.d, g.miss), g.bound, 1e-6 * g.bound);
  }
}

TEST(Stationarity, WithoutNoiseTheNormIsTheNorm) {
  EXPECT_EQ(norm_upper_bound(0.3, 0, 10, 0.05), 0.3);
  EXPECT_EQ(norm_estimate(0.3, 0, 10), 0.3);
  EXPECT_EQ(norm_estimate(0.1, 1, 10), 0) << "noise explains all of it";
}

TEST(Stationarity, LuckyNoiseIsNotASmallGradient) {
  const double floor = norm_upper_bound(std::sqrt(50.0), 1, 50, 0.05);
  EXPECT_EQ(norm_upper_bound(1, 1, 50, 0.05), floor);
  EXPECT_GT(floor, 0);
}

TEST(Stationarity, ConcentrationTakesOverForLongVectors) {
  // Both sides of the switch between the exact law and the concentration bound.
  const double exact = norm_upper_bound(std::sqrt(0.99e5), 1, 90'000, 0.01);
  const double bound = norm_upper_bound(std::sqrt(1.01e5), 1, 92'000, 0.01);
  EXPECT_GT(bound, 0.95 * exact);
  EXPECT_LT(bound, 1.2 * exact);
}

// 4,000 draws each; the bounds miss at most 5 % of them in expectation: 280 misses or more have
// probability below 1e-7 (binomial). The power twin, half the noise, misses far more.
TEST(Stationarity, TheBoundsHoldAtTheirRate) {
  std::mt19937_64 dice(5);
  std::normal_distribution<double> normal;
  const std::int64_t d = 20;
  for (const double length : {0.0, 0.5, 3.0, 20.0}) {
    int misses = 0, twin = 0;
    for (int k = 0; k < 4000; ++k) {
      double squares = 0;
      for (int j = 0; j < d; ++j) {
        const double x = (j == 0 ? length : 0) + normal(dice);
        squares += x * x;
      }
      misses += norm_upper_bound(std::sqrt(squares), 1, d, 0.05) < length;
      twin += norm_upper_bound(std::sqrt(squares), 0.5, d, 0.05) < length;
    }
    EXPECT_LT(misses, 280) << length;
    if (length == 20) {
      EXPECT_GT(twin, 280);
    }
  }
  int above = 0, half = 0;
  const double bound = symmetric_noise_bound(1, d, 0.05);
  for (int k = 0; k < 4000; ++k) {
    Eigen::MatrixXd E(d, d);
    for (int i = 0; i < d; ++i)
      for (int j = 0; j <= i; ++j) E(i, j) = normal(dice) * (i == j ? 1 : std::sqrt(0.5));
    const double largest = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(E, Eigen::EigenvaluesOnly)
                               .eigenvalues()[d - 1];
    above += largest > bound;
    half += largest > bound / 2;
  }
  EXPECT_LT(above, 280);
  EXPECT_GT(half, 280);
}

TEST(Stationarity, VerdictsFollowTheNumbers) {
  Certificate c;
  c.confidence = 0.95;
  c.gradient_tolerance = 0.06;
  c.curvature_tolerance = 0.2;
  c.gradient_upper = 0.05;
  c.gradient_floor = 0.03;
  c.curvature_lower = -0.1;
  c.curvature_floor = 0.05;
  decide(c);
  EXPECT_EQ(c.verdict, Certificate::Verdict::kCertified);
  EXPECT_NE(to_string(c).find("certified at confidence 0.95"), std::string::npos);
  c.gradient_upper = 0.07;
  decide(c);
  EXPECT_EQ(c.verdict, Certificate::Verdict::kNotCertified);
  c.gradient_floor = 0.065;
  decide(c);
  EXPECT_EQ(c.verdict, Certificate::Verdict::kBelowNoise);
  c.gradient_upper = 0.05;
  c.curvature_lower = -0.3;
  c.gradient_floor = 0.03;
  decide(c);
  EXPECT_EQ(c.verdict, Certificate::Verdict::kNotCertified);
  c.curvature_floor = 0.25;
  decide(c);
  EXPECT_EQ(c.verdict, Certificate::Verdict::kBelowNoise);
}

}  // namespace
}  // namespace sotto
