// What a journal says that a run costs, and which journals are refused.

#include "sotto/privacy/journal.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "sotto/privacy/ledger.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto {
namespace {

using ::testing::HasSubstr;
using testing::TempDir;

std::string golden(const std::string& name) {
  return std::string(SOTTO_SOURCE_DIR) + "/tests/privacy/golden/v0_1/" + name;
}

/// The prices of all runs, each at its own delta.
std::vector<double> prices(const std::string& path) {
  const auto runs = read_journal(path);
  EXPECT_TRUE(runs) << runs.error().message;
  std::vector<double> all;
  if (runs)
    for (const auto& run : *runs) all.push_back(*price(run, run.promise.budget.delta));
  return all;
}

constexpr Relation kRelation = Relation::kZeroOut;

LedgerOptions planned(const TempDir& dir, double epsilon = 2) {
  LedgerOptions options;
  options.budget = {epsilon, 1e-5};
  options.plan = Event::repeat(20, Event::gaussian(9, kRelation));
  options.planned_samples = 40;
  options.journal_path = dir.file("m.journal");
  return options;
}

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
      ASSERT_TRUE(ledger->close());
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
    ASSERT_TRUE(ledger->close());
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
  options.resume = LedgerResume{*canonical(Event::gaussian(9, kRelation)), 2, false};
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

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

class DamagedJournal : public ::testing::Test {
 protected:
  void expect_refused(const std::vector<std::string>& lines, std::size_t number) {
    const std::string path = dir_.write("m.journal", joined(lines));
    const auto runs = read_journal(path);
    ASSERT_FALSE(runs) << "line " << number;
    EXPECT_EQ(runs.error().kind, ErrorKind::kBadData);
    EXPECT_THAT(runs.error().message, HasSubstr(fmt::format("{}:{}:", path, number)));
    LedgerOptions next = planned(dir_);
    const auto ledger = Ledger::open(next);
    ASSERT_FALSE(ledger) << "nor is it continued";
    EXPECT_EQ(ledger.error().kind, ErrorKind::kBadData);
    EXPECT_EQ(TempDir::read(path), joined(lines)) << "nothing was changed";
  }
  TempDir dir_;
  const std::vector<std::string> good_ = lines_of(TempDir::read(golden("two.journal")));
};

// The last one too: a write that was cut short has no newline.
TEST_F(DamagedJournal, EveryLineThatEndsMustBeReadable) {
  for (std::size_t k = 0; k < good_.size(); ++k) {
    auto lines = good_;
    lines[k].resize(lines[k].size() - 3);
    expect_refused(lines, k + 1);
    lines[k].clear();
    expect_refused(lines, k + 1);
    lines[k] = "{}";
    expect_refused(lines, k + 1);
    lines[k] = "7";
    expect_refused(lines, k + 1);
  }
}

TEST_F(DamagedJournal, ACutSecondOpeningLineIsRefused) {
  // Version 0.1 priced this journal of 8 and 0.5 at 0.5.
  auto lines = good_;
  ASSERT_THAT(lines[7], HasSubstr("\"open\""));
  lines[7].resize(lines[7].size() - 3);
  expect_refused(lines, 8);
}

TEST_F(DamagedJournal, AMissingLineIsNoticedWhereTheRestContradictsIt) {
  for (const std::size_t k : {0u, 1u, 7u, 8u, 12u}) {
    auto lines = good_;
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(k));
    // The first line that can't stand where it does: the next one, or the run's closing line.
    expect_refused(lines, k == 1 ? 6 : k == 8 ? 13 : k == 12 ? 13 : k + 1);
  }
}

// Lines say whose they are: without its opening line a second run is not taken for the first, even
// if that was killed and has no closing line.
TEST_F(DamagedJournal, ALostOpeningLineAfterAKilledRunIsNoticed) {
  std::vector<std::string> lines;
  for (const char* name : {"first", "second"}) {
    LedgerOptions options = planned(dir_);
    options.run = name;
    {
      auto ledger = Ledger::open(options);
      ASSERT_TRUE(ledger) << ledger.error().message;
      ASSERT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
    }
    lines = lines_of(TempDir::read(options.journal_path));
    std::erase_if(lines, [](const std::string& line) {
      return line.find("\"close\"") != line.npos;  // killed
    });
    dir_.write("m.journal", joined(lines));
  }
  ASSERT_EQ(lines.size(), 4u);
  ASSERT_THAT(lines[2], HasSubstr("\"open\""));
  lines.erase(lines.begin() + 2);
  expect_refused(lines, 3);
}

// A run that was opened and neither closed nor charged may have lost its charges with the file's
// end.
TEST_F(DamagedJournal, AnOpeningLineAloneCostsItsPlan) {
  for (const std::size_t opening : {0u, 7u}) {
    const std::string path = dir_.write("m.journal", good_[opening] + "\n");
    ASSERT_THAT(good_[opening], HasSubstr("\"open\""));
    const auto told = prices(path);
    ASSERT_EQ(told.size(), 1u);
    EXPECT_NEAR(told[0], opening == 0 ? 8 : 0.5, 1e-4) << opening;
  }
}

TEST_F(DamagedJournal, LinesOutOfOrderAreRefused) {
  auto lines = good_;
  std::swap(lines[5], lines[6]);  // the closing line before a charge
  expect_refused(lines, 6);
  lines = good_;
  lines.insert(lines.begin() + 7, lines[5]);  // a charge after the end
  expect_refused(lines, 8);
  lines = good_;
  lines.push_back(lines[0]);  // the same run once more
  expect_refused(lines, lines.size());
  lines = good_;
  lines[3] = lines[10];  // another run's charge
  expect_refused(lines, 4);
  lines = good_;
  lines.push_back(R"x({"resume":"nobody","spent":"gaussian(1)","samples":1})x");
  expect_refused(lines, lines.size());
}

TEST_F(DamagedJournal, ATornLastLineIsTakenAwayWhenTheNextRunBegins) {
  const std::string whole = joined(good_);
  for (const std::size_t cut : {1u, 2u, 10u, 40u}) {
    const std::string path = dir_.write("m.journal", whole.substr(0, whole.size() - cut));
    ASSERT_EQ(prices(path).size(), 2u) << cut;
    { ASSERT_TRUE(Ledger::open(planned(dir_))) << cut; }
    const auto runs = read_journal(path);
    ASSERT_TRUE(runs) << runs.error().message;
    EXPECT_EQ(runs->size(), 3u) << cut;
    EXPECT_EQ(runs->at(1).closed, cut == 1) << "only the newline was missing";
    std::filesystem::remove(path);
  }
}

// A continued run with noise given by hand was held to the price of its plan by its own accountant.
// The tightest accountant's price of the plan may be below that of what was really released.
TEST(JournalPrice, LostReleasesAreLimitedByTheAccountantOfTheLedger) {
  const std::string a = "poisson(0.001, gaussian(0.6))", b = "gaussian(20)";
  const std::string plan = fmt::format("compose(repeat(100, {}), repeat(20, {}))", a, b);
  const TempDir dir;
  const std::string path = dir.write(
      "m.journal",
      fmt::format(R"x({{"open":1,"run":"r","method":"m","epsilon":null,"delta":1e-5,)x"
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
                  b));
  const auto event = [](const std::string& text) {
    return *canonical(*parse_event(text, kRelation));
  };
  const auto released = event(fmt::format("compose(repeat(60, {}), repeat(24, {}))", a, b));
  const Accountant& pld = **find_accountant("pld");
  const double really = pld.epsilon(released, 1e-5)->lower;
  ASSERT_GT(really, pld.epsilon(event(plan), 1e-5)->upper) << "or the test shows nothing";
  EXPECT_GE(prices(path).at(0), really);
}

TEST(Journal, AReadErrorIsNotTheEndOfTheFile) {
  // Its first page can't be read (EIO), though the file can be opened.
  const auto runs = read_journal("/proc/self/mem");
  ASSERT_FALSE(runs);
  EXPECT_EQ(runs.error().kind, ErrorKind::kIo);
}

}  // namespace
}  // namespace sotto
