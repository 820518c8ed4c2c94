#include "sotto/privacy/ledger.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/support/journals.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto {
namespace {

using ::testing::HasSubstr;
using testing::kRelation;
using testing::TempDir;

LedgerOptions options_for(Event plan, std::int64_t samples, double epsilon = 1) {
  LedgerOptions options;
  options.budget = {epsilon, 1e-6};
  options.plan = std::move(plan);
  options.planned_samples = samples;
  options.method = "test";
  return options;
}

Event ten_steps() { return Event::repeat(10, Event::gaussian(20, kRelation)); }

TEST(Ledger, GrantsThePlanAndNothingMore) {
  auto ledger = Ledger::open(options_for(ten_steps(), 50));
  ASSERT_TRUE(ledger) << ledger.error().message;
  for (int k = 0; k < 10; ++k) ASSERT_TRUE(ledger->charge(Event::gaussian(20, kRelation), 5));
  const auto refused = ledger->charge(Event::gaussian(20, kRelation), 5);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kBudget);
}

TEST(Ledger, RefusesAMorePreciseReleaseAndAnotherRelation) {
  auto ledger = Ledger::open(options_for(ten_steps(), 50));
  ASSERT_TRUE(ledger);
  EXPECT_FALSE(ledger->charge(Event::gaussian(19.99, kRelation), 1));
  EXPECT_FALSE(ledger->charge(Event::gaussian(20, Relation::kReplaceOne), 1));
  EXPECT_FALSE(ledger->charge(Event::poisson(0.5, Event::gaussian(20, kRelation)), 1));
  EXPECT_EQ(ledger->price(), 0) << "a refusal costs nothing";
}

TEST(Ledger, RefusesMoreNoiseSamplesThanDeclared) {
  auto ledger = Ledger::open(options_for(ten_steps(), 7));
  ASSERT_TRUE(ledger);
  EXPECT_TRUE(ledger->charge(Event::gaussian(20, kRelation), 5));
  EXPECT_FALSE(ledger->charge(Event::gaussian(20, kRelation), 5));
}

TEST(Ledger, RefusesAPlanAboveTheBudget) {
  const auto ledger = Ledger::open(options_for(Event::gaussian(0.5, kRelation), 1));
  ASSERT_FALSE(ledger);
  EXPECT_EQ(ledger.error().kind, ErrorKind::kBudget);
  EXPECT_THAT(ledger.error().message, HasSubstr("exceeds the budget"));
}

TEST(Ledger, StoppingEarlyCostsThePlan) {
  auto ledger = Ledger::open(options_for(ten_steps(), 50));
  ASSERT_TRUE(ledger);
  EXPECT_EQ(ledger->price(), 0) << "nothing was charged";
  ASSERT_TRUE(ledger->charge(Event::gaussian(20, kRelation), 5));
  EXPECT_EQ(ledger->price(), ledger->epsilon_planned());
  const auto plan = *canonical(ten_steps());
  EXPECT_DOUBLE_EQ(ledger->price(),
                   *epsilon_with_samples(plan, 50, 1e-6, **tightest_accountant(plan)));
}

/// The counts that the lines of a journal reserve.
std::vector<std::int64_t> reserved(const std::string& path) {
  std::vector<std::int64_t> counts;
  std::istringstream lines(TempDir::read(path));
  for (std::string line; std::getline(lines, line);)
    if (const auto json = nlohmann::json::parse(line); json.contains("charge"))
      counts.push_back(json["count"].get<std::int64_t>());
  return counts;
}

TEST(Ledger, HowManyChargesALineReservesDependsOnCountsAlone) {
  const TempDir dir;
  std::vector<std::vector<std::int64_t>> seen;
  for (const int slow : {0, 1}) {
    auto options = options_for(Event::repeat(5000, Event::gaussian(800, kRelation)), 5000);
    options.journal_path = dir.file(fmt::format("{}.journal", slow));
    auto ledger = Ledger::open(options);
    ASSERT_TRUE(ledger) << ledger.error().message;
    std::int64_t charged = 0;
    for (int k = 1; k <= 5000; ++k) {
      // In the slow world every step takes far longer than a sync.
      if (slow == 1 && k <= 40) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      ASSERT_TRUE(ledger->charge(Event::gaussian(800, kRelation), 1));
      ++charged;
    }
    seen.push_back(reserved(options.journal_path));
    std::int64_t before = 0;
    for (const std::int64_t count : seen.back()) {
      EXPECT_LE(count, std::max<std::int64_t>(1, before / 16)) << "after a crash";
      before += count;
    }
    EXPECT_EQ(before, charged);
    // 31 single ones, then each line makes the total larger by a 32nd to a 16th.
    EXPECT_LT(static_cast<double>(seen.back().size()), 32 + 32 * std::log(5000.0 / 32));
  }
  EXPECT_EQ(seen[0], seen[1]);
}

TEST(Ledger, SamplerImperfectionIsPaidInDelta) {
  // 2^-60 per sample: at delta 1e-15 a few thousand samples leave nothing.
  auto options = options_for(ten_steps(), 5000);
  options.budget.delta = 1e-15;
  const auto ledger = Ledger::open(options);
  ASSERT_FALSE(ledger);
  EXPECT_EQ(ledger.error().kind, ErrorKind::kBudget);
  EXPECT_THAT(ledger.error().message, HasSubstr("random numbers of its noise"));
}

TEST(Ledger, AChargeIsOnDiskBeforeTheReceiptExists) {
  const TempDir dir;
  auto options = options_for(ten_steps(), 50);
  options.journal_path = dir.file("m.journal");
  auto ledger = Ledger::open(options);
  ASSERT_TRUE(ledger) << ledger.error().message;
  ASSERT_TRUE(ledger->charge(Event::gaussian(20, kRelation), 5));
  // Not closed: as after a crash.
  const auto runs = read_journal(options.journal_path);
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->size(), 1u);
  EXPECT_FALSE(runs->front().closed);
  const auto told = canonical(Event::compose(runs->front().charged));
  ASSERT_TRUE(told);
  ASSERT_EQ(told->terms.size(), 1u);
  EXPECT_GE(told->terms[0].count, 1);
}

TEST(Ledger, AKilledRunNeverUnderCounts) {
  const TempDir dir;
  auto options = options_for(Event::repeat(1000, Event::gaussian(200, kRelation)), 1000);
  options.journal_path = dir.file("m.journal");
  auto ledger = Ledger::open(options);
  ASSERT_TRUE(ledger);
  for (int k = 1; k <= 300; ++k) {
    ASSERT_TRUE(ledger->charge(Event::gaussian(200, kRelation), 1));
    if (k % 50 != 0) continue;
    const auto runs = read_journal(options.journal_path);
    const auto told = canonical(Event::compose(runs->front().charged));
    EXPECT_GE(told->terms[0].count, k);
    EXPECT_LE(told->terms[0].count, 1000);
  }
  ASSERT_TRUE(ledger->close(kFinished));
  const auto runs = read_journal(options.journal_path);
  EXPECT_TRUE(runs->front().closed);
  EXPECT_EQ(canonical(Event::compose(runs->front().charged))->terms[0].count, 300)
      << "exact when closed";
}

TEST(Ledger, ASecondRunContinuesTheJournal) {
  const TempDir dir;
  auto options = options_for(ten_steps(), 50);
  options.journal_path = dir.file("m.journal");
  for (int run = 0; run < 2; ++run) {
    auto ledger = Ledger::open(options);
    ASSERT_TRUE(ledger->charge(Event::gaussian(20, kRelation), 5));
    ASSERT_TRUE(ledger->close(kFinished));
  }
  EXPECT_EQ(read_journal(options.journal_path)->size(), 2u);
}

TEST(Journal, ACutLastLineIsIgnoredAndTheNextRunStartsAfresh) {
  const TempDir dir;
  auto options = options_for(ten_steps(), 50);
  options.journal_path = dir.file("m.journal");
  {
    auto ledger = Ledger::open(options);
    ASSERT_TRUE(ledger->charge(Event::gaussian(20, kRelation), 5));
  }
  const std::string text = TempDir::read(options.journal_path);
  dir.write("m.journal", text + "{\"charge\": \"gaus");
  EXPECT_TRUE(read_journal(options.journal_path));
  ASSERT_TRUE(Ledger::open(options));
  const auto runs = read_journal(options.journal_path);
  ASSERT_TRUE(runs) << runs.error().message;
  EXPECT_EQ(runs->size(), 2u);
}

TEST(Journal, AnUnwritablePathIsAnIoError) {
  auto options = options_for(ten_steps(), 50);
  options.journal_path = "/nonexistent/folder/m.journal";
  const auto ledger = Ledger::open(options);
  ASSERT_FALSE(ledger);
  EXPECT_EQ(ledger.error().kind, ErrorKind::kIo);
}

TEST(Budget, EpsilonWithSamplesIsAboveTheIdealOneAndFiniteOrInfinite) {
  const auto event = *canonical(ten_steps());
  const Accountant& accountant = **tightest_accountant(event);
  const double ideal = *accountant.epsilon_upper(event, 1e-12);
  const double real = *epsilon_with_samples(event, 100'000, 1e-12, accountant);
  EXPECT_GT(real, ideal);
  EXPECT_LT(real, ideal * 1.05);
  EXPECT_TRUE(std::isinf(*epsilon_with_samples(event, 1'000'000'000, 1e-12, accountant)));
}

TEST(Budget, BadTargetsAreUsageErrorsWithTheRemedy) {
  for (const Target bad : {Target{-1, 1e-6},
                           Target{0, 1e-6},
                           Target{NAN, 1e-6},
                           Target{1, 0},
                           Target{1, 1},
                           Target{1, -1}}) {
    const auto checked = check(bad);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(checked.error().message, HasSubstr("for example"));
  }
}

}  // namespace
}  // namespace sotto

namespace sotto {
namespace {

LedgerOptions filter_options(const std::string& filter) {
  LedgerOptions options;
  options.budget = {1, 1e-5};
  options.filter = filter;
  options.planned_samples = 1'000'000;
  return options;
}

TEST(LedgerWithFilter, GrantsUntilTheBudgetIsGoneAndThenRefuses) {
  auto ledger = Ledger::open(filter_options("zcdp"));
  ASSERT_TRUE(ledger) << ledger.error().message;
  std::int64_t granted = 0;
  while (ledger->charge(Event::gaussian(30 + static_cast<double>(granted % 7), Relation::kZeroOut),
                        10))
    ++granted;
  EXPECT_GT(granted, 10);
  EXPECT_FALSE(ledger->charge(Event::exponential(0.5, Relation::kZeroOut), 1))
      << "nor anything else of that size";
  // The filter's own accountant agrees that all of it together is within the budget.
  const auto price = ledger->accountant().epsilon_upper(ledger->spent(), 1e-5);
  ASSERT_TRUE(price);
  EXPECT_LE(*price, 1);
  EXPECT_GT(*price, 0.9);
  EXPECT_EQ(ledger->price(), 1) << "only the whole budget is certified";
  EXPECT_EQ(ledger->samples_spent(), 10 * granted);
}

TEST(LedgerWithFilter, RefusesOtherAccountantsRelationsAndBudgets) {
  LedgerOptions other = filter_options("rdp");
  other.accountant = *find_accountant("pld");
  EXPECT_EQ(Ledger::open(other).error().kind, ErrorKind::kUsage);
  EXPECT_FALSE(Ledger::open(filter_options("pld")));
  LedgerOptions endless = filter_options("rdp");
  endless.budget.epsilon = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(Ledger::open(endless));
  auto ledger = Ledger::open(filter_options("rdp"));
  ASSERT_TRUE(ledger);
  EXPECT_FALSE(ledger->charge(Event::gaussian(100, Relation::kReplaceOne), 1));
  EXPECT_FALSE(ledger->charge(Event::gaussian(100, Relation::kZeroOut), 2'000'000))
      << "too many samples";
  EXPECT_TRUE(ledger->charge(Event::poisson(0.1, Event::gaussian(10, Relation::kZeroOut)), 1));
  EXPECT_TRUE(ledger->spent().terms.size() == 1);
}

}  // namespace
}  // namespace sotto
