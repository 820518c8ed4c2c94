// A ledger that goes on with an interrupted run (ledger_resume.proof.md).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sotto/privacy/calibrate.hpp"
#include "sotto/privacy/ledger.hpp"
#include "tests/support/journals.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto {
namespace {

using ::testing::HasSubstr;
using testing::TempDir;

constexpr Relation kResumed = Relation::kZeroOut;
constexpr Target kBudget{1, 1e-6};

Event steps(std::int64_t count, double z) {
  return Event::repeat(count, Event::gaussian(z, kResumed));
}

/// Two stages of ten and twenty steps, the second with twice the noise, just within the budget.
double multiplier() {
  static const double z = *calibrate_noise(
      [](double m) {
        return Event::compose({steps(10, m), steps(20, 2 * m)});
      },
      *ideal_target(kBudget, 30));
  return z;
}

LedgerOptions options_in(const TempDir& dir) {
  LedgerOptions options;
  options.budget = kBudget;
  options.plan = Event::compose({steps(10, multiplier()), steps(20, 2 * multiplier())});
  options.planned_samples = 30;
  options.journal_path = dir.file("m.journal");
  options.run = "a run";
  return options;
}

/// Ten early steps are charged; the state has three of them.
LedgerOptions crashed(const TempDir& dir) {
  LedgerOptions options = options_in(dir);
  auto ledger = Ledger::open(options);
  for (int k = 0; k < 10; ++k)
    EXPECT_TRUE(ledger->charge(Event::gaussian(multiplier(), kResumed), 1));
  options.resume = LedgerResume{*canonical(steps(3, multiplier())), 3, {}};
  return options;
}

/// How many charges are granted, in the plan's order from step `begin` on.
int granted_from(Ledger& ledger, int begin) {
  int granted = 0;
  for (int t = begin; t < 30; ++t) {
    const auto receipt =
        ledger.charge(Event::gaussian((t < 10 ? 1 : 2) * multiplier(), kResumed), 1);
    if (!receipt) {
      EXPECT_EQ(receipt.error().kind, ErrorKind::kBudget);
      break;
    }
    ++granted;
  }
  return granted;
}

double price(const CanonicalEvent& event, std::int64_t samples) {
  return *epsilon_with_samples(event, samples, kBudget.delta, **tightest_accountant(event));
}

TEST(LedgerResume, LostReleasesCountAndTheBudgetHolds) {
  const TempDir dir;
  const LedgerOptions options = crashed(dir);
  auto ledger = Ledger::open(options);
  ASSERT_TRUE(ledger) << ledger.error().message;
  // Reservations that nobody used count as well.
  const std::int64_t lost = canonical(to_event(ledger->lost()))->terms[0].count;
  EXPECT_EQ(lost, 7);
  const int granted = granted_from(*ledger, 3);
  // An early step costs four late ones: of the plan's 10 + 20 / 4 = 15, three were kept and seven
  // are lost, which leaves five of the seven early steps to come.
  EXPECT_EQ(granted, 5);
  EXPECT_LE(price(ledger->spent(), ledger->samples_spent()), kBudget.epsilon);
  EXPECT_EQ(ledger->price(), kBudget.epsilon) << "the limit of what was paid twice";
  // One more would have been too much.
  CanonicalEvent more = ledger->spent();
  more = *canonical(Event::compose({to_event(more), Event::gaussian(multiplier(), kResumed)}));
  EXPECT_GT(price(more, ledger->samples_spent() + 1), kBudget.epsilon);
  ASSERT_TRUE(ledger->close(kFinished));
  const auto runs = read_journal(options.journal_path);
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 1u);
  EXPECT_EQ(to_string(to_event(*canonical(Event::compose(runs->front().charged)))),
            to_string(to_event(ledger->spent())));
}

TEST(LedgerResume, TheTwinThatForgetsWhatWasLostOverspends) {
  const TempDir dir;
  LedgerOptions options = crashed(dir);
  const JournalHead last{11, read_whole_journal(options.journal_path)->chains[10]};
  // Somebody puts back the journal as it was when the state was written.
  const auto lines = testing::whole_lines_of(TempDir::read(options.journal_path));
  dir.write("m.journal", testing::joined({lines.begin(), lines.begin() + 4}));
  {
    auto twin = Ledger::open(options);
    ASSERT_TRUE(twin) << twin.error().message;
    EXPECT_EQ(granted_from(*twin, 3), 27);
    const CanonicalEvent all =
        *canonical(Event::compose({to_event(twin->spent()), steps(7, multiplier())}));
    EXPECT_GT(price(all, 37), kBudget.epsilon * 1.05);
  }
  // The state remembers the journal's last line, and is not taken in.
  dir.write("m.journal", testing::joined({lines.begin(), lines.begin() + 4}));
  options.resume->head = last;
  const auto ledger = Ledger::open(options);
  ASSERT_FALSE(ledger);
  EXPECT_THAT(ledger.error().message, HasSubstr("cut back"));
}

// Lines reserve several charges, of each kind its own: a crash at any moment must leave a journal
// that its budget can have granted, or nobody could read it or go on with its run.
TEST(LedgerResume, WhatIsReservedOfAllKindsStaysWithinTheBudget) {
  const TempDir dir;
  constexpr int kSteps = 500;
  const auto plan = [](double z) { return Event::compose({steps(100, z), steps(400, 2 * z)}); };
  const double z = *calibrate_noise(plan, *ideal_target(kBudget, kSteps));
  const auto step = [&](int t) { return Event::gaussian(t % 5 == 0 ? z : 2 * z, kResumed); };
  LedgerOptions options = options_in(dir);
  options.plan = plan(z);
  options.planned_samples = kSteps;
  {
    auto ledger = Ledger::open(options);
    for (int t = 0; t < 250; ++t) ASSERT_TRUE(ledger->charge(step(t), 1));
  }
  options.resume =
      LedgerResume{*canonical(Event::compose({steps(48, z), steps(192, 2 * z)})), 240, {}};
  auto ledger = Ledger::open(options);
  ASSERT_TRUE(ledger) << ledger.error().message;
  int t = 240;
  for (; t < kSteps && ledger->charge(step(t), 1); ++t) {
    if (t < 420) continue;  // there is room
    const auto runs = read_journal(options.journal_path);
    ASSERT_TRUE(runs) << runs.error().message;
    const auto cost = price(runs->front(), kBudget.delta);
    ASSERT_TRUE(cost) << "step " << t << ": " << cost.error().message;
    EXPECT_LE(*cost, kBudget.epsilon);
  }
  // What was lost, the rest of groups among it, costs some steps at the end and not many.
  EXPECT_LT(t, kSteps);
  EXPECT_GT(t, kSteps - 80);
}

TEST(LedgerResume, NoiseGivenByHandIsHeldToThePriceOfThePlan) {
  const TempDir dir;
  LedgerOptions options = crashed(dir);
  options.budget.epsilon = std::numeric_limits<double>::infinity();
  auto ledger = Ledger::open(options);
  ASSERT_TRUE(ledger);
  EXPECT_LT(granted_from(*ledger, 3), 27);
  EXPECT_LE(price(ledger->spent(), ledger->samples_spent()), ledger->epsilon_planned());
}

TEST(LedgerResume, WhatTheJournalDoesNotHoldIsRefused) {
  const TempDir dir;
  const LedgerOptions good = crashed(dir);
  const auto refused = [&](const std::function<void(LedgerOptions&)>& change, const char* says) {
    LedgerOptions options = good;
    change(options);
    const auto ledger = Ledger::open(options);
    ASSERT_FALSE(ledger) << says;
    EXPECT_THAT(ledger.error().message, HasSubstr(says));
  };
  refused([](auto& o) { o.resume->kept = *canonical(steps(11, multiplier())); }, "only");
  refused([](auto& o) { o.resume->kept = *canonical(steps(3, 7)); }, "does not fit the ledger");
  refused([](auto& o) { o.resume->kept_samples = 99; }, "fewer noise samples");
  refused([](auto& o) { o.resume->kept_samples = -1; }, "noise samples");
  refused([](auto& o) { o.resume->kept.relation = Relation::kReplaceOne; }, "another relation");
  refused([](auto& o) { o.run = "another run"; }, "does not hold the run");
  refused([](auto& o) { o.run.clear(); }, "does not hold the run");
  refused([&](auto& o) { o.journal_path = dir.file("none.journal"); }, "can't read");
  refused([](auto& o) { o.journal_path.clear(); }, "Give the journal's path");
  EXPECT_TRUE(Ledger::open(good));
}

TEST(Ledger, AClosedOneRefusesEveryCharge) {
  const TempDir dir;
  auto ledger = Ledger::open(options_in(dir));
  ASSERT_TRUE(ledger->charge(Event::gaussian(multiplier(), kResumed), 1));
  ASSERT_TRUE(ledger->close(kFinished));
  ASSERT_TRUE(ledger->close(kFinished)) << "a second time does nothing";
  EXPECT_FALSE(ledger->charge(Event::gaussian(multiplier(), kResumed), 1));
}

TEST(Journal, OneRunAtATimeWritesToIt) {
  const TempDir dir;
  {
    const auto first = Ledger::open(options_in(dir));
    ASSERT_TRUE(first);
    const auto second = Ledger::open(options_in(dir));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::kIo);
    EXPECT_THAT(second.error().message, HasSubstr("another run"));
  }
  EXPECT_TRUE(Ledger::open(options_in(dir)));
}

TEST(Journal, AContinuedRunIsFoundBehindOtherRuns) {
  const TempDir dir;
  LedgerOptions options = crashed(dir);
  LedgerOptions other = options_in(dir);
  other.run = "in between";
  {
    auto ledger = Ledger::open(other);
    ASSERT_TRUE(ledger->charge(Event::gaussian(2 * multiplier(), kResumed), 1));
    ASSERT_TRUE(ledger->close(kFinished));
  }
  auto ledger = Ledger::open(options);
  ASSERT_TRUE(ledger) << ledger.error().message;
  ASSERT_TRUE(ledger->charge(Event::gaussian(multiplier(), kResumed), 1));
  ASSERT_TRUE(ledger->close(kFinished));
  const auto runs = read_journal(options.journal_path);
  ASSERT_EQ(runs->size(), 2u);
  EXPECT_EQ(runs->at(0).samples, 11);
  EXPECT_EQ(runs->at(1).samples, 1);
}

}  // namespace
}  // namespace sotto
