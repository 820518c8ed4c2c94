#include "sotto/audit/attacker.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/oracle/private_oracle.hpp"

namespace sotto {
namespace {

constexpr double kZ = 1;
constexpr int kQueries = 2000;

/// The mean log-likelihood ratio of one answer in a world. For a Gaussian release whose mean moves
/// by t standard deviations between the worlds it is t²/2 in world 1 and -t²/2 in world 0.
template <class Ask>
double mean_ratio(const Worlds& worlds, int world, const Ask& ask) {
  LedgerOptions options;
  options.budget.delta = 1e-5;
  options.plan = Event::repeat(kQueries, Event::gaussian(kZ, worlds.problem().relation));
  options.planned_samples = 1 << 30;
  Ledger ledger = Ledger::open(options).value();
  PrivateOracle oracle(worlds.engine(world),
                       worlds.problem(),
                       ledger,
                       Stream::seeded(1, Purpose::kSampling),
                       Stream::seeded(2, Purpose::kNoise));
  Attacker attacker(oracle, worlds);
  for (int k = 0; k < kQueries; ++k) EXPECT_TRUE(ask(attacker));
  return attacker.log_likelihood_ratio() / kQueries;
}

// Five standard errors of a ratio with standard deviation t <= 1.
constexpr double kSlack = 5 / 44.7;

TEST(Attacker, ReadsHessiansAndPairsLikeTheBestTest) {
  const Worlds worlds(Relation::kZeroOut, Canary::kDirection, 20, 3);
  const Vector w = Vector::Zero(3);
  // At w = 0 the canary's Hessian has norm 1/4 and its gradient 1/2: clipped to those, each moves
  // its sum by a whole sensitivity.
  const auto hessian = [&](Oracle& oracle) {
    return oracle.hessian({w, Sampling::full(), 0.24, kZ}).has_value();
  };
  const auto pair = [&](Oracle& oracle) {
    return oracle.gradient_and_hessian({w, Sampling::full(), 0.5, 0.3, kZ}).has_value();
  };
  for (const int world : {0, 1}) {
    const double sign = world == 1 ? 1 : -1;
    EXPECT_NEAR(mean_ratio(worlds, world, hessian), sign * 0.5, kSlack);
    EXPECT_NEAR(mean_ratio(worlds, world, pair), sign * 0.5, kSlack);
  }
  // Half a sensitivity: a quarter of the ratio.
  const auto wide = [&](Oracle& oracle) {
    return oracle.hessian({w, Sampling::full(), 0.5, kZ}).has_value();
  };
  EXPECT_NEAR(mean_ratio(worlds, 1, wide), 0.125, kSlack / 2);
}

}  // namespace
}  // namespace sotto
