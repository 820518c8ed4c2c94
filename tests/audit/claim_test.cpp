#include "sotto/audit/claim.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sotto/privacy/accountant/zcdp.hpp"

namespace sotto {
namespace {

constexpr double kDelta = 1e-5;
constexpr double kMu = 0.268051;  // of (1, 1e-5) [BW18]

EventFamily gaussians(int count) {
  return [=](double z) { return Event::repeat(count, Event::gaussian(z, Relation::kZeroOut)); };
}

TEST(Claim, GaussianRefutesUpToTheRealEpsilon) {
  const auto claim = gaussian_claim(1, kDelta);
  const double half = normal_cdf(-kMu / 2);
  EXPECT_NEAR(*claim->largest_refuted(2 * half), 1, 2e-5);
  EXPECT_NEAR(*claim->largest_refuted(ErrorBounds{half, half}), 1, 2e-5);
  EXPECT_NEAR(claim->trade_off(half), half, 1e-6);
  EXPECT_EQ(claim->trade_off(0), 1);
  EXPECT_EQ(claim->trade_off(1), 0);
}

// The numerical family must agree with the closed form where both apply, up to the width of the
// accountant's interval (above) and of the search for the noise (below).
TEST(Claim, EventCurveAgreesWithTheGaussianOne) {
  const auto by_event = event_claim(1, kDelta, gaussians(20), std::sqrt(20.0) / kMu);
  ASSERT_TRUE(by_event) << by_event.error().message;
  const auto closed = gaussian_claim(1, kDelta);
  for (const double total : {0.95, 0.8934, 0.8}) {
    const double numeric = *(*by_event)->largest_refuted(total);
    const double exact = *closed->largest_refuted(total);
    EXPECT_LE(numeric, exact * (1 + 1e-3));
    EXPECT_GT(numeric, exact * 0.99);
  }
  const ErrorBounds tail{0.05, normal_cdf(normal_quantile(0.95) - 0.4)};
  EXPECT_LE(*(*by_event)->largest_refuted(tail), *closed->largest_refuted(tail) * (1 + 1e-3));
  EXPECT_GT(*(*by_event)->largest_refuted(tail), *closed->largest_refuted(tail) * 0.97);
  EXPECT_NEAR((*by_event)->trade_off(0.3), closed->trade_off(0.3), 1e-3);
}

TEST(Claim, NothingIsRefutedByAUselessTest) {
  const auto by_event = event_claim(1, kDelta, gaussians(20), std::sqrt(20.0) / kMu);
  ASSERT_TRUE(by_event);
  EXPECT_EQ(*(*by_event)->largest_refuted(1.0), 0);
  EXPECT_EQ(*gaussian_claim(1, kDelta)->largest_refuted(1.0), 0);
  EXPECT_EQ(*plain_claim(1, kDelta)->largest_refuted(1.0), 0);
}

// A Gaussian is mu^2/2-zCDP: no test of it may refute that, good ones most of it, and a Gaussian of
// half the noise is caught.
TEST(Claim, ZcdpIsNotRefutedByAGaussianAndNearlyReached) {
  const double mu = 1.2;
  const auto claimed = [](double of_mu) { return zcdp_epsilon(of_mu * of_mu / 2, kDelta); };
  const auto claim = zcdp_claim(claimed(mu), kDelta);
  const auto refuted_by = [&](double of_mu, double x) {
    return *claim->largest_refuted(ErrorBounds{normal_cdf(-x), normal_cdf(x - of_mu)});
  };
  double best = 0, best_of_twin = 0;
  for (double x = -2; x < 5; x += 0.1) {
    best = std::max(best, refuted_by(mu, x));
    best_of_twin = std::max(best_of_twin, refuted_by(2 * mu, x));
    const double alpha = normal_cdf(-x);
    EXPECT_LE(claim->trade_off(alpha), normal_cdf(x - mu) + 1e-12);
    EXPECT_GE(claim->halfway(alpha), claim->trade_off(alpha));
  }
  EXPECT_LE(best, claimed(mu) * (1 + 1e-9));
  EXPECT_GT(best, 0.7 * claimed(mu));
  EXPECT_GT(best_of_twin, 1.3 * claimed(mu));
  EXPECT_LE(*claim->largest_refuted(2 * normal_cdf(-mu / 2)), claimed(mu));
  EXPECT_EQ(*claim->largest_refuted(1.0), 0);
}

TEST(Claim, PlainCurve) {
  const auto claim = plain_claim(1, 0);
  const double error = 1 / (1 + std::exp(1.0));
  EXPECT_NEAR(*claim->largest_refuted(2 * error), 1, 1e-12);
  EXPECT_NEAR(claim->trade_off(error), error, 1e-12);
}

TEST(Claim, TheSharpestIsTaken) {
  EXPECT_STREQ((*sharpest_claim(1, kDelta, gaussians(3), 5))->curve(), "gaussian");
  const EventFamily sampled = [](double z) {
    return Event::repeat(3, Event::poisson(0.1, Event::gaussian(z, Relation::kZeroOut)));
  };
  EXPECT_STREQ((*sharpest_claim(1, kDelta, sampled, 5))->curve(), "pld");
  const EventFamily fixed = [](double z) {
    return Event::fixed_size(10, 100, Event::gaussian(z, Relation::kReplaceOne));
  };
  EXPECT_STREQ((*sharpest_claim(1, kDelta, fixed, 5))->curve(), "pld");
  // PLD has no pair for it.
  const EventFamily fixed_laplace = [](double z) {
    return Event::fixed_size(10, 100, Event::laplace(z, Relation::kZeroOut));
  };
  EXPECT_STREQ((*sharpest_claim(1, kDelta, fixed_laplace, 5))->curve(), "plain");
}

}  // namespace
}  // namespace sotto
