#include "sotto/audit/confidence.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sotto {
namespace {

double binomial_cdf(std::int64_t k, std::int64_t n, double p) {
  double sum = 0;
  double term = std::pow(1 - p, static_cast<double>(n));
  for (std::int64_t i = 0; i <= k; ++i) {
    sum += term;
    term *= static_cast<double>(n - i) / static_cast<double>(i + 1) * p / (1 - p);
  }
  return sum;
}

TEST(Confidence, ClopperPearsonInvertsTheBinomial) {
  for (const std::int64_t hits : {0, 1, 7, 19, 20}) {
    const double upper = probability_upper(hits, 20, 0.03);
    const double lower = probability_lower(hits, 20, 0.03);
    if (hits < 20) {
      EXPECT_NEAR(binomial_cdf(hits, 20, upper), 0.03, 1e-12);
    } else {
      EXPECT_EQ(upper, 1);
    }
    if (hits > 0) {
      EXPECT_NEAR(1 - binomial_cdf(hits - 1, 20, lower), 0.03, 1e-12);
    } else {
      EXPECT_EQ(lower, 0);
    }
  }
}

// Exact coverage of the bound on a + b, summed over all outcomes, for unequal a and b.
TEST(Confidence, TotalErrorCoversUnequalErrorRates) {
  constexpr std::int64_t n = 40;
  constexpr double alpha = 0.05;
  for (const double a : {0.02, 0.1, 0.4, 0.8})
    for (const double b : {0.01, 0.3, 0.5}) {
      double wrong = 0;
      for (std::int64_t i = 0; i <= n; ++i)
        for (std::int64_t j = 0; j <= n; ++j) {
          if (bound_total_error({i, n, j, n}, alpha) >= a + b) continue;
          const auto mass = [](std::int64_t k, double p) {
            return binomial_cdf(k, n, p) - (k > 0 ? binomial_cdf(k - 1, n, p) : 0);
          };
          wrong += mass(i, a) * mass(j, b);
        }
      EXPECT_LE(wrong, alpha * (1 + 1e-9)) << a << " " << b;
    }
}

TEST(Confidence, PlainBoundIsTheDefinition) {
  // Randomized response of epsilon 1: errors 1 / (1 + e) each.
  const double error = 1 / (1 + std::exp(1.0));
  EXPECT_NEAR(plain_epsilon_bound({error, error}, 0), 1, 1e-12);
  EXPECT_LT(plain_epsilon_bound({error, error}, 0.01), 1);
  EXPECT_NEAR(plain_epsilon_bound({0.8, 0.1}, 0), std::log(0.2 / 0.1), 1e-12)
      << "the other direction";
  EXPECT_EQ(plain_epsilon_bound({0.5, 0.5}, 0), 0);
  EXPECT_EQ(plain_epsilon_bound({1, 1}, 0), 0);
}

TEST(Confidence, GaussianBoundsMeetOnTheCurve) {
  for (const double mu : {0.1, 0.268051, 2.0}) {
    const double half = normal_cdf(-mu / 2);
    EXPECT_NEAR(gaussian_mu_bound(2 * half), mu, 1e-12);
    EXPECT_NEAR(gaussian_mu_bound({half, half}), mu, 1e-12);
    EXPECT_NEAR(gaussian_mu_bound({normal_cdf(-1.3), normal_cdf(1.3 - mu)}), mu, 1e-12);
  }
  EXPECT_EQ(gaussian_mu_bound(1.0), 0);
  EXPECT_EQ(gaussian_mu_bound({0.7, 0.7}), 0);
}

}  // namespace
}  // namespace sotto
