#include "sotto/privacy/together.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "sotto/privacy/accountant/gaussian.hpp"
#include "tests/support/journals.hpp"

namespace sotto {
namespace {

using ::testing::HasSubstr;

constexpr Relation kRelation = Relation::kZeroOut;

CanonicalEvent gaussians(std::int64_t count, double z, Relation relation = kRelation) {
  return *canonical(Event::repeat(count, Event::gaussian(z, relation)));
}

/// A finished run with noise by hand.
JournalRun planned(const CanonicalEvent& plan, double delta) {
  JournalRun run;
  run.where = "some.journal:1";
  run.relation = plan.relation;
  run.promise.plan = plan;
  run.promise.budget.delta = delta;
  run.closed = true;
  run.charged = {to_event(plan)};
  return run;
}

/// One under a filter that has granted a little.
JournalRun filtered(double epsilon, double delta) {
  JournalRun run = planned(gaussians(1, 100), delta);
  run.promise.rule = PriceRule::kFilter;
  run.promise.budget.epsilon = epsilon;
  run.promise.plan = {kRelation, {}};
  run.promise.limit_by = *find_accountant("gaussian");
  return run;
}

double epsilon_of(double z, double delta) {
  return *gaussian_accountant().epsilon_upper(gaussians(1, z), delta);
}

/// In closed form: T releases with multiplier s are one with s / sqrt(T), and two of s and t are
/// one with 1 / sqrt(1/s² + 1/t²).
TEST(Together, GaussianRunsAreOneGaussian) {
  const auto total =
      price_together({planned(gaussians(4, 6), 1e-6), planned(gaussians(9, 8), 1e-6)});
  ASSERT_TRUE(total) << total.error().message;
  EXPECT_EQ(total->delta, 1e-6);
  EXPECT_EQ(total->paid, 2);
  const double s = 6 / std::sqrt(4.0), t = 8 / std::sqrt(9.0);
  EXPECT_NEAR(total->epsilon, epsilon_of(1 / std::sqrt(1 / (s * s) + 1 / (t * t)), 1e-6), 1e-9);
  // More than the more expensive one alone, less than the sum.
  EXPECT_GT(total->epsilon, std::max(epsilon_of(s, 1e-6), epsilon_of(t, 1e-6)));
  EXPECT_LT(total->epsilon, epsilon_of(s, 1e-6) + epsilon_of(t, 1e-6));
}

/// The limit's delta is taken off; what is left is the plan's.
TEST(Together, LimitsAreAdded) {
  const std::vector<JournalRun> runs = {
      planned(gaussians(1, 4), 1e-6), filtered(0.5, 2e-6), filtered(0.25, 1e-6)};
  const auto total = price_together(runs, 1e-5);
  ASSERT_TRUE(total) << total.error().message;
  EXPECT_NEAR(total->epsilon, 0.75 + epsilon_of(4, 1e-5 - 3e-6), 1e-9);
  EXPECT_GE(total->epsilon, 0.75 + epsilon_of(4, 1e-5 - 3e-6));
  const auto own = price_together(runs);
  ASSERT_TRUE(own);
  EXPECT_NEAR(own->delta, 4e-6, 1e-20);
  EXPECT_GE(own->delta, 3e-6 + 1e-6);
  EXPECT_NEAR(own->epsilon, 0.75 + epsilon_of(4, 1e-6), 1e-6);
}

TEST(Together, ALimitSaysNothingAtASmallerDelta) {
  const std::vector<JournalRun> runs = {filtered(0.5, 1e-6), filtered(0.5, 1e-6)};
  const auto refused = price_together(runs, 1e-6);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(refused.error().message, HasSubstr("Ask at a larger ‘delta’"));
  EXPECT_EQ(price_together(runs)->epsilon, 1);
  EXPECT_FALSE(price_together({filtered(0.5, 1e-6), planned(gaussians(1, 4), 1e-6)}, 1e-6))
      << "nothing is left for the plan";
}

/// One run costs what it costs alone; and a run that released nothing, nothing.
TEST(Together, OfOneRunIsItsPrice) {
  JournalRun unused = planned(gaussians(1, 4), 1e-6);
  unused.charged.clear();
  const JournalRun run = planned(gaussians(3, 5), 1e-6);
  const auto total = price_together({unused, run});
  ASSERT_TRUE(total);
  EXPECT_EQ(total->epsilon, *price(run, 1e-6));
  EXPECT_EQ(total->paid, 1);
  EXPECT_EQ(price_together({unused})->epsilon, 0);
  unused.closed = false;
  EXPECT_EQ(price_together({unused})->paid, 1) << "nobody knows whether lines were lost";
}

/// Each noise sample of every run counts against delta.
TEST(Together, SamplesAddUp) {
  JournalRun run = planned(gaussians(1, 1), 1e-6);
  run.promise.samples = 50'000'000;
  const auto twice = price_together({run, run});
  ASSERT_TRUE(twice);
  const CanonicalEvent both = gaussians(2, 1);
  EXPECT_EQ(twice->epsilon, *epsilon_with_samples(both, 100'000'000, 1e-6, gaussian_accountant()));
  EXPECT_GT(twice->epsilon, *gaussian_accountant().epsilon_upper(both, 1e-6));
}

TEST(Together, WhatCantBeComparedHasNoPrice) {
  const JournalRun run = planned(gaussians(1, 4), 1e-6);
  const auto relations =
      price_together({run, planned(gaussians(1, 4, Relation::kReplaceOne), 1e-6)});
  ASSERT_FALSE(relations);
  EXPECT_EQ(relations.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(relations.error().message, HasSubstr("replace-one"));
  JournalRun rows = run, persons = run;
  rows.unit = "row";
  persons.unit = "patient";
  EXPECT_THAT(price_together({rows, persons}).error().message, HasSubstr("per row"));
  EXPECT_TRUE(price_together({rows, run})) << "an old journal does not say";
  EXPECT_FALSE(price_together({run, rows, persons})) << "wherever it stands";
}

/// Written by ledgers: what the journal states is what is composed.
TEST(Together, RunsOfAJournal) {
  const testing::TempDir dir;
  for (int run = 0; run < 2; ++run) {
    auto ledger = Ledger::open(testing::planned(dir));
    ASSERT_TRUE(ledger) << ledger.error().message;
    for (int step = 0; step < 20; ++step)
      ASSERT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
    ASSERT_TRUE(ledger->close(kFinished));
  }
  const auto runs = read_journal(dir.file("m.journal"));
  ASSERT_TRUE(runs);
  const auto total = price_together(*runs);
  ASSERT_TRUE(total) << total.error().message;
  EXPECT_NEAR(total->epsilon, epsilon_of(9 / std::sqrt(40.0), 1e-5), 1e-6);
}

// A run that was stopped before its first charge costs nothing, whoever adds it up.
TEST(Together, ARunThatReleasedNothingIsFree) {
  const testing::TempDir dir;
  for (int run = 0; run < 2; ++run) {
    auto ledger = Ledger::open(testing::planned(dir));
    ASSERT_TRUE(ledger) << ledger.error().message;
    ASSERT_TRUE(ledger->close(kEndedEarly));
  }
  const auto runs = read_journal(dir.file("m.journal"));
  ASSERT_TRUE(runs);
  const auto total = price_together(*runs, 1e-5);
  ASSERT_TRUE(total) << total.error().message;
  EXPECT_EQ(total->paid, 0);
  EXPECT_EQ(total->epsilon, 0);
  for (const double each : testing::prices(dir.file("m.journal"))) EXPECT_EQ(each, 0);
}

// Plans whose noise samplers use up delta where all are composed: each alone has a price, so that
// all of them have one, the sum at parts of delta.
TEST(Together, WhereSamplersUseUpDeltaPricesAreAdded) {
  JournalRun run = planned(gaussians(1, 0.6), 1e-5);  // epsilon 8.3
  run.promise.samples = 1'000'000;
  const double alone = *price(run, 1e-5 / 3);
  ASSERT_TRUE(std::isfinite(alone));
  const CanonicalEvent all = gaussians(3, 0.6);
  ASSERT_FALSE(std::isfinite(*epsilon_with_samples(all, 3'000'000, 1e-5, gaussian_accountant())));
  const auto total = price_together({run, run, run});
  ASSERT_TRUE(total) << total.error().message;
  EXPECT_EQ(total->delta, 1e-5);
  EXPECT_TRUE(total->samplers_limit);
  EXPECT_NEAR(total->epsilon, 3 * alone, 1e-6);
  EXPECT_GE(total->epsilon, 3 * alone);
  const auto larger = price_together({run, run, run}, 1e-3);
  EXPECT_FALSE(larger->samplers_limit);
  EXPECT_LT(larger->epsilon, total->epsilon);
}

/// Whatever plans and deltas: no worse than the runs' own prices where these hold.
TEST(Together, IsNeverWorseThanTheSum) {
  for (const double z : {0.5, 0.7, 1.0, 4.0})
    for (const std::int64_t samples : {1LL, 100'000LL, 20'000'000LL}) {
      JournalRun first = planned(gaussians(1, z), 1e-5),
                 second = planned(gaussians(2, 2 * z), 3e-6);
      first.promise.samples = second.promise.samples = samples;
      const auto total = price_together({first, second, filtered(0.5, 1e-6)}, 1.4001e-5);
      ASSERT_TRUE(total) << total.error().message;
      EXPECT_NEAR(total->sum.delta, 1.4e-5, 1e-18);
      EXPECT_GE(total->sum.delta, 1.4e-5);
      // Rounded up where the sum is not exact.
      const double sum = *price(first, 1e-5) + *price(second, 3e-6) + 0.5;
      EXPECT_GE(total->sum.epsilon, sum);
      EXPECT_LE(total->sum.epsilon, sum * (1 + 1e-15));
      EXPECT_LE(total->epsilon, total->sum.epsilon) << z << " " << samples;
    }
}

/// If nothing finite holds at the largest delta, it is told at the sum of all of them.
TEST(Together, TheSumHoldsWhereNothingElseDoes) {
  JournalRun run = planned(gaussians(1, 0.35), 1e-5);
  double largest = 1;
  while (std::isfinite(*epsilon_with_samples(
      gaussians(1, 0.35), static_cast<std::int64_t>(2 * largest), 1e-5, gaussian_accountant())))
    largest *= 2;
  run.promise.samples = static_cast<std::int64_t>(largest);
  const auto total = price_together({run, run});
  ASSERT_TRUE(total);
  EXPECT_TRUE(std::isfinite(total->epsilon));
  EXPECT_EQ(total->epsilon, total->sum.epsilon);
  EXPECT_EQ(total->delta, total->sum.delta);
}

/// What two runs may cost: (epsilon, delta) mechanisms that show the record with probability delta,
/// and else tell it apart by exactly e^epsilon. All of it shows with 1 - (1 - delta)^2, so that no
/// smaller delta holds at any finite epsilon: not the largest of both.
TEST(Together, TheSumAtTheLargestDeltaWouldBeRefuted) {
  const double delta = 1e-3;
  const double shown = 1 - (1 - delta) * (1 - delta);
  const auto total = price_together({filtered(1, delta), filtered(1, delta)});
  ASSERT_TRUE(total);
  EXPECT_GE(total->sum.delta, shown);
  EXPECT_GE(total->delta, shown);
  const double broken_twin = delta;  // std::max instead of the sum
  EXPECT_LT(broken_twin, shown);
}

/// Somebody who looks after each run, and stops at the first whose composed price the privacy loss
/// exceeds. Of the same runs planned in advance the price holds, each number of them alone.
struct Looker {
  double planned = 0;  ///< the largest delta of a fixed number of runs, at their composed price
  double looking = 0;  ///< the delta at the price of what was run when she stopped
};
Looker look(double z, double delta, int most) {
  std::vector<double> prices;
  for (int k = 1; k <= most; ++k)
    prices.push_back(*gaussian_accountant().epsilon_upper(gaussians(k, z), delta));
  constexpr int kTrials = 100'000;
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise;
  Looker looker;
  std::vector<double> fixed(prices.size());
  const double mean = 1 / (2 * z * z);  // of the loss, whose variance is twice that
  for (int trial = 0; trial < kTrials; ++trial) {
    double loss = 0;
    bool stopped = false;
    for (std::size_t k = 0; k < prices.size(); ++k) {
      loss += mean + noise(random) / z;
      const double beyond = std::max(0.0, 1 - std::exp(prices[k] - loss));
      fixed[k] += beyond / kTrials;
      if (!stopped && beyond > 0.3) {
        looker.looking += beyond / kTrials;
        stopped = true;
      }
    }
  }
  looker.planned = *std::max_element(fixed.begin(), fixed.end());
  return looker;
}

/// The broken twin: the joint price of the runs that there are, for runs chosen after looking. For
/// those the sum holds.
TEST(Together, TheJointPriceDoesNotHoldForRunsChosenAfterLooking) {
  const double z = 4, delta = 0.02;
  const Looker looker = look(z, delta, 64);
  const double error = 4 * std::sqrt(delta / 100'000);
  EXPECT_LT(looker.planned, delta + error);
  EXPECT_GT(looker.looking, 1.5 * delta) << "whoever claimed the joint price would be wrong";
  const JournalRun run = planned(gaussians(1, z), delta);
  const auto two = price_together({run, run});
  ASSERT_TRUE(two);
  EXPECT_LT(two->epsilon, two->sum.epsilon);
  EXPECT_EQ(two->sum.epsilon, 2 * *price(run, delta));
  EXPECT_EQ(two->sum.delta, 2 * delta);
}

}  // namespace
}  // namespace sotto
