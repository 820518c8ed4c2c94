// A person watches noisy progress and stops the run at the worst moment (promise.proof.md).

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "sotto/privacy/calibrate.hpp"
#include "sotto/privacy/ledger.hpp"

namespace sotto {
namespace {

constexpr int kSteps = 256;
constexpr int kRuns = 60'000;
constexpr Target kBudget{2, 1e-3};
/// Stop where the privacy loss is this far above the price that is claimed at the moment.
constexpr double kMargin = 0.1;

Event steps(std::int64_t count, double z) {
  return Event::repeat(count, Event::gaussian(z, Relation::kZeroOut));
}

double multiplier() {
  static const double z = *calibrate_noise([](double m) { return steps(kSteps, m); }, kBudget);
  return z;
}

/// What a rule of pricing says of a run that was stopped after step t, for all t.
using Prices = std::vector<double>;

/// What the ledger says.
Prices ledger_prices() {
  LedgerOptions options;
  options.budget = {kBudget.epsilon, kBudget.delta * (1 + 1e-9)};
  options.plan = steps(kSteps, multiplier());
  options.planned_samples = kSteps;
  auto ledger = Ledger::open(options);
  EXPECT_TRUE(ledger) << ledger.error().message;
  Prices prices;
  for (int t = 1; t <= kSteps; ++t) {
    EXPECT_TRUE(ledger->charge(Event::gaussian(multiplier(), Relation::kZeroOut), 1));
    prices.push_back(ledger->price());
  }
  return prices;
}

/// The broken twin: the price of what had been released by then.
Prices prefix_prices() {
  Prices prices;
  for (int t = 1; t <= kSteps; ++t) {
    const auto event = *canonical(steps(t, multiplier()));
    prices.push_back(*(*tightest_accountant(event))->epsilon_upper(event, kBudget.delta));
  }
  return prices;
}

/// Σ over runs of (1 - exp(ε(τ) - L_τ))⁺ / runs, an unbiased estimate of a lower bound on the delta
/// that the stopped run has at the claimed epsilons. In the world with the unit each answer is
/// 1/z + N(0, 1), and L_t = Σ (y / z - 1 / (2 z²)). τ: the first t with L_t > ε(t) + margin.
double measured_delta(const Prices& prices) {
  std::mt19937_64 random(20'261'117);
  std::normal_distribution<double> normal;
  const double mu = 1 / multiplier();
  double sum = 0;
  for (int run = 0; run < kRuns; ++run) {
    double loss = 0;
    for (const double epsilon : prices) {
      loss += mu * (mu + normal(random)) - mu * mu / 2;
      if (loss <= epsilon + kMargin) continue;
      sum += 1 - std::exp(epsilon - loss);
      break;
    }
  }
  return sum / kRuns;
}

/// How far a mean of kRuns variables in [0, 1] with mean at most `mean` may lie above it, but for a
/// probability of 1e-6 (Bernstein; the variance is at most the mean).
double deviation(double mean) {
  const double log = std::log(1e6);
  return std::sqrt(2 * mean * log / kRuns) + 2 * log / (3 * kRuns);
}

TEST(Stopping, AtThePlansPriceTheGuaranteeHolds) {
  const Prices prices = ledger_prices();
  ASSERT_EQ(prices.size(), static_cast<std::size_t>(kSteps));
  EXPECT_LE(measured_delta(prices), kBudget.delta + deviation(kBudget.delta));
}

TEST(Stopping, TheTwinThatPricesThePrefixIsCaught) {
  const double delta = measured_delta(prefix_prices());
  RecordProperty("times_the_claim", std::to_string(delta / kBudget.delta));
  EXPECT_GT(delta, kBudget.delta + deviation(kBudget.delta));
  EXPECT_GT(delta, 4 * kBudget.delta);
}

}  // namespace
}  // namespace sotto
