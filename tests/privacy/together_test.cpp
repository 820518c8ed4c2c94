#include "sotto/privacy/together.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

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

}  // namespace
}  // namespace sotto
