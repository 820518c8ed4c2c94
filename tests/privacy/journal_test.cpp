// What a journal says that a run costs.

#include "sotto/privacy/journal.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sotto/core/stop.hpp"
#include "tests/support/journals.hpp"

namespace sotto {
namespace {

using testing::chained_anew;
using testing::golden;
using testing::kRelation;
using testing::planned;
using testing::prices;
using testing::TempDir;

double planned_price() {
  const auto plan = *canonical(Event::repeat(20, Event::gaussian(9, kRelation)));
  return *epsilon_with_samples(plan, 40, 1e-5, **tightest_accountant(plan));
}

TEST(JournalPrice, AStoppedOrKilledPlanCostsThePlan) {
  for (const bool closes : {true, false}) {
    const TempDir dir;
    auto ledger = Ledger::open(planned(dir));
    ASSERT_TRUE(ledger) << ledger.error().message;
    for (int k = 0; k < 7; ++k) ASSERT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
    if (closes) {
      ASSERT_TRUE(ledger->close(kFinished));
    }
    const auto told = prices(dir.file("m.journal"));
    ASSERT_EQ(told.size(), 1u);
    EXPECT_DOUBLE_EQ(told[0], planned_price());
    EXPECT_DOUBLE_EQ(told[0], ledger->price());
  }
}

TEST(JournalPrice, NoiseGivenByHandCostsThePlanToo) {
  const TempDir dir;
  auto ledger = Ledger::open(planned(dir, std::numeric_limits<double>::infinity()));
  ASSERT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
  EXPECT_DOUBLE_EQ(prices(dir.file("m.journal")).at(0), planned_price());
}

TEST(JournalPrice, ARunThatWasChargedNothingCostsNothing) {
  const TempDir dir;
  {
    auto ledger = Ledger::open(planned(dir));
    ASSERT_TRUE(ledger->close(kFinished));
  }
  EXPECT_EQ(prices(dir.file("m.journal")).at(0), 0);
}

TEST(JournalPrice, AFilterCostsItsBudgetAndOnlyAtItsDelta) {
  const TempDir dir;
  LedgerOptions options;
  options.budget = {3, 1e-5};
  options.filter = "gaussian";
  options.planned_samples = 1000;
  options.journal_path = dir.file("m.journal");
  auto ledger = Ledger::open(options);
  ASSERT_TRUE(ledger->charge(Event::gaussian(30, kRelation), 2));
  const JournalRun run = read_journal(options.journal_path)->at(0);
  EXPECT_EQ(run.promise.rule, PriceRule::kFilter);
  EXPECT_EQ(*price(run, 1e-5), 3);
  EXPECT_EQ(*price(run, 1e-4), 3) << "a larger delta is weaker";
  const auto smaller = price(run, 1e-6);
  ASSERT_FALSE(smaller);
  EXPECT_EQ(smaller.error().kind, ErrorKind::kUsage);
}

TEST(JournalPrice, LostReleasesCostTheLimit) {
  const TempDir dir;
  LedgerOptions options = planned(dir);
  options.run = "a run";
  {
    auto ledger = Ledger::open(options);
    for (int k = 0; k < 12; ++k) ASSERT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
  }
  options.resume = LedgerResume{*canonical(Event::gaussian(9, kRelation)), 2, {}};
  double told = 0;
  {
    auto ledger = Ledger::open(options);
    ASSERT_TRUE(ledger) << ledger.error().message;
    while (ledger->charge(Event::gaussian(9, kRelation), 2)) continue;
    told = ledger->price();
  }
  EXPECT_EQ(told, 2);
  const auto charged =
      *canonical(Event::compose(read_journal(options.journal_path)->at(0).charged));
  if (!within(charged, *canonical(options.plan)))
    EXPECT_EQ(prices(options.journal_path).at(0), 2);
  else
    EXPECT_DOUBLE_EQ(prices(options.journal_path).at(0), planned_price());
}

// Files that version 0.1 wrote, as they are. What it said of them: 2.891, 1.146, 1.078, 2.
TEST(JournalsOfVersion01, AreRestatedAtTheirTruePrice) {
  EXPECT_EQ(prices(golden("filter.journal")), std::vector<double>{3});
  EXPECT_NEAR(prices(golden("interrupted.journal")).at(0), 2, 1e-5);
  EXPECT_NEAR(prices(golden("killed.journal")).at(0), 2, 1e-5);
  EXPECT_NEAR(prices(golden("two.journal")).at(0), 8, 1e-5);
  EXPECT_NEAR(prices(golden("two.journal")).at(1), 0.5, 1e-5);
  EXPECT_NEAR(prices(golden("hand.journal")).at(0), 14.83, 1e-3);
  for (const char* name : {"filter.journal", "killed.journal", "two.journal"})
    EXPECT_TRUE(read_journal(golden(name))->at(0).states_no_rule) << name;
}

TEST(JournalsOfVersion01, AKilledRunWithNoiseByHandCostsItsPlan) {
  const TempDir dir;
  const std::string text = TempDir::read(golden("hand.journal"));
  std::size_t third = 0;
  for (int k = 0; k < 3; ++k) third = text.find('\n', third) + 1;
  const std::string path = dir.write("m.journal", text.substr(0, third));
  EXPECT_NEAR(prices(path).at(0), 14.83, 1e-3);
}

// A continued run with noise given by hand was held to the price of its plan by its own accountant.
// The tightest accountant's price of the plan may be below that of what was really released.
TEST(JournalPrice, LostReleasesAreLimitedByTheAccountantOfTheLedger) {
  const std::string a = "poisson(0.001, gaussian(0.6))", b = "gaussian(20)";
  const std::string plan = fmt::format("compose(repeat(100, {}), repeat(20, {}))", a, b);
  const TempDir dir;
  const std::string path =
      dir.write("m.journal",
                chained_anew(fmt::format(
                    R"x({{"open":2,"run":"r","method":"m","epsilon":null,"delta":1e-5,)x"
                    R"x("neighbours":"zero-out","accountant":"rdp","rule":"plan","plan":"{}",)x"
                    R"x("samples":120}}
{{"run":"r","charge":"{}","count":60,"samples":1}}
{{"run":"r","charge":"{}","count":20,"samples":1}}
{{"resume":"r","spent":"compose(repeat(60, {}), repeat(20, {}))","samples":80}}
{{"run":"r","charge":"{}","count":4,"samples":1}}
)x",
                    plan,
                    a,
                    b,
                    a,
                    b,
                    b)));
  const auto event = [](const std::string& text) {
    return *canonical(*parse_event(text, kRelation));
  };
  const auto released = event(fmt::format("compose(repeat(60, {}), repeat(24, {}))", a, b));
  const Accountant& pld = **find_accountant("pld");
  const double really = pld.epsilon(released, 1e-5)->lower;
  ASSERT_GT(really, pld.epsilon(event(plan), 1e-5)->upper) << "or the test shows nothing";
  EXPECT_GE(prices(path).at(0), really);
}

/// Many runs, each opened, and one plan of many kinds, each charged: every line is looked up in
/// what the lines before it left.
std::string large_journal(int runs, int kinds) {
  const std::string rest =
      R"x("method":"m","epsilon":null,"delta":1e-5,"neighbours":"zero-out","rule":"plan",)x";
  std::string text;
  for (int k = 0; k < runs; ++k)
    text +=
        fmt::format(R"x({{"open":2,"run":"{}",{}"plan":"gaussian(9)","samples":1}})x", k, rest) +
        "\n";
  std::string plan;
  for (int k = 0; k < kinds; ++k) plan += fmt::format("{}gaussian({})", k > 0 ? ", " : "", 100 + k);
  text += fmt::format(
      R"x({{"open":2,"run":"kinds",{}"plan":"compose({})","samples":{}}})x", rest, plan, kinds);
  text += "\n";
  for (int k = kinds; k-- > 0;)
    text += fmt::format(R"x({{"run":"kinds","charge":"gaussian({})","count":1,"samples":1}})x",
                        100 + k) +
            "\n";
  return text;
}

TEST(Journal, ManyRunsAndKindsAreReadAsFewAre) {
  const TempDir dir;
  const int runs = 20'000, kinds = 5'000;
  const std::string text = large_journal(runs, kinds);
  const auto read = [&](const std::string& more) {
    return read_journal(dir.write("m.journal", chained_anew(text + more)));
  };
  const auto whole = read("");
  ASSERT_TRUE(whole) << whole.error().message;
  ASSERT_EQ(whole->size(), static_cast<std::size_t>(runs) + 1);
  EXPECT_EQ(whole->back().charged.size(), static_cast<std::size_t>(kinds));
  const auto resumed = read(R"x({"resume":"7","spent":"compose()","samples":0})x"
                            "\n"
                            R"x({"run":"7","charge":"gaussian(9)","count":1,"samples":1})x"
                            "\n");
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_EQ(resumed->at(7).samples, 1);
  for (const char* bad : {R"x({"resume":"20001","spent":"compose()","samples":0})x",
                          R"x({"run":"kinds","charge":"gaussian(100)","count":1,"samples":1})x",
                          R"x({"run":"kinds","charge":"gaussian(99)","count":1,"samples":1})x"})
    EXPECT_FALSE(read(std::string(bad) + "\n")) << bad;
  EXPECT_FALSE(read(text.substr(0, text.find('\n') + 1))) << "the first run once more";
}

TEST(Journal, WhoeverAsksToStopNeedNotWaitUntilItIsRead) {
  const TempDir dir;
  auto options = planned(dir);
  auto ledger = Ledger::open(options);
  ASSERT_TRUE(ledger);
  ASSERT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
  request_stop();
  const auto read = read_journal(options.journal_path);
  // A run that has begun writes its last line, for which it reads all others.
  const auto closed = ledger->close(kEndedEarly);
  forget_stop();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::kInterrupted);
  EXPECT_TRUE(closed);
  const auto runs = read_journal(options.journal_path);
  ASSERT_TRUE(runs) << runs.error().message;
  EXPECT_TRUE(runs->at(0).closed);
}

TEST(Journal, AReadErrorIsNotTheEndOfTheFile) {
  // Its first page can't be read (EIO), though the file can be opened.
  const auto runs = read_journal("/proc/self/mem");
  ASSERT_FALSE(runs);
  EXPECT_EQ(runs.error().kind, ErrorKind::kIo);
}

}  // namespace
}  // namespace sotto
