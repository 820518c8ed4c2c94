// Journals that lost something, or in which a number was changed, are refused.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/journals.hpp"

namespace sotto {
namespace {

using testing::chained_anew;
using testing::golden;
using ::testing::HasSubstr;
using testing::joined;
using testing::kRelation;
using testing::lines_of;
using testing::planned;
using testing::prices;
using testing::TempDir;

class DamagedJournal : public ::testing::Test {
 protected:
  void expect_refused(const std::vector<std::string>& lines, std::size_t number) {
    const std::string text = chained_anew(joined(lines));
    const std::string path = dir_.write("m.journal", text);
    const auto runs = read_journal(path);
    ASSERT_FALSE(runs) << "line " << number;
    EXPECT_EQ(runs.error().kind, ErrorKind::kBadData);
    EXPECT_THAT(runs.error().message, HasSubstr(fmt::format("{}:{}:", path, number)));
    LedgerOptions next = planned(dir_);
    const auto ledger = Ledger::open(next);
    ASSERT_FALSE(ledger) << "nor is it continued";
    EXPECT_EQ(ledger.error().kind, ErrorKind::kBadData);
    EXPECT_EQ(TempDir::read(path), text) << "nothing was changed";
  }
  TempDir dir_;
  const std::vector<std::string> good_ = lines_of(TempDir::read(golden("two.journal")));
};

// Only the beginning of one line is taken for a write that was cut short: whatever else follows the
// last newline may be many lines, and paid for.
TEST_F(DamagedJournal, WhatFollowsTheLastNewlineIsTheBeginningOfALineOrDamage) {
  const std::string good = TempDir::read(golden("two.journal"));
  const auto refused = [&](const std::string& text, const std::string& what) {
    const std::string path = dir_.write("m.journal", text);
    const auto runs = read_journal(path);
    EXPECT_FALSE(runs) << what;
    if (!runs) {
      EXPECT_EQ(runs.error().kind, ErrorKind::kBadData) << what;
    }
    EXPECT_FALSE(Ledger::open(planned(dir_))) << what;
    EXPECT_EQ(TempDir::read(path), text) << what << ": nothing was cut";
  };
  const auto with_ends = [&](std::size_t from, const std::string& end) {
    std::string text;
    for (std::size_t k = 0; k < good_.size(); ++k) text += good_[k] + (k < from ? "\n" : end);
    return text;
  };
  for (std::size_t k = 0; k + 1 < good_.size(); ++k) {
    refused(with_ends(k, ""), fmt::format("no newlines from line {} on", k + 1));
    refused(with_ends(k, "\r"), fmt::format("carriage returns from line {} on", k + 1));
    refused(with_ends(k, " "), fmt::format("blanks from line {} on", k + 1));
  }
  for (const char last : {'x', '\0', ' ', '\r', ',', '{'}) {
    if (last == ' ' || last == '\r') continue;  // the line is whole: below
    refused(good.substr(0, good.size() - 1) + last, fmt::format("last byte {:#x}", last));
  }
  for (const std::size_t zeros : {std::size_t{1}, std::size_t{100}, good_.back().size() + 1}) {
    std::string text = good;
    std::fill(text.end() - static_cast<std::ptrdiff_t>(zeros), text.end(), '\0');
    refused(text, fmt::format("{} zeros", zeros));
  }
  refused(good + "x", "a byte behind it");
  refused(good + "[1", "the beginning of a list");
  refused(good + R"({"a":1e999)", "a number that no double holds");
  refused(good + R"({"run":"x","count":-1e400)", "another one");
  // Any beginning of the last line is what a write leaves that was cut short: it has gone.
  const std::string before =
      with_ends(good_.size(), "").substr(0, good.size() - good_.back().size() - 1);
  for (std::size_t size = 1; size < good_.back().size(); ++size) {
    const std::string path = dir_.write("m.journal", before + good_.back().substr(0, size));
    EXPECT_TRUE(read_journal(path)) << good_.back().substr(0, size);
  }
}

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

// Lines say whose they are: a second run without its opening line is not taken for the first, even
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
    dir_.write("m.journal", chained_anew(joined(lines)));
  }
  ASSERT_EQ(lines.size(), 4u);
  ASSERT_THAT(lines[2], HasSubstr("\"open\""));
  lines.erase(lines.begin() + 2);
  expect_refused(lines, 3);
}

/// Two runs under a filter, the second with more; both were killed.
std::vector<std::string> two_filter_runs(const TempDir& dir) {
  LedgerOptions options;
  options.filter = "gaussian";
  options.planned_samples = 1000;
  options.journal_path = dir.file("m.journal");
  for (const double epsilon : {0.5, 8.0}) {
    options.budget = {epsilon, 1e-5};
    options.run = fmt::format("run {}", epsilon);
    auto ledger = Ledger::open(options);
    EXPECT_TRUE(ledger->charge(Event::gaussian(epsilon < 1 ? 30 : 3, kRelation), 2));
  }
  return lines_of(TempDir::read(options.journal_path));
}

TEST_F(DamagedJournal, ALostOpeningLineAfterAKilledFilterRunIsNoticed) {
  auto lines = two_filter_runs(dir_);
  ASSERT_EQ(lines.size(), 4u);
  ASSERT_THAT(lines[2], HasSubstr("\"open\""));
  lines.erase(lines.begin() + 2);
  expect_refused(lines, 3);
}

// Only version 0.1, whose opening lines state no rule, left out whose a charge is.
TEST_F(DamagedJournal, AChargeOfNobodyIsRefused) {
  for (const bool by_filter : {true, false}) {
    LedgerOptions options = planned(dir_);
    options.run = "r";
    auto lines = by_filter ? two_filter_runs(dir_) : [&] {
      { EXPECT_TRUE(Ledger::open(options)->charge(Event::gaussian(9, kRelation), 2)); }
      return lines_of(TempDir::read(options.journal_path));
    }();
    auto line = nlohmann::json::parse(lines[1]);
    ASSERT_EQ(line.erase("run"), 1u);
    lines[1] = line.dump();
    expect_refused(lines, 2);
    std::filesystem::remove(options.journal_path);
  }
}

// What no line of version 0.1 says, its price does.
TEST(JournalsOfVersion01, AFilterIsNotChargedAnotherRunsReleases) {
  const TempDir dir;
  auto lines = two_filter_runs(dir);
  lines.erase(lines.begin() + 2);
  for (std::string& line : lines) {
    auto json = nlohmann::json::parse(line);
    json.erase(json.contains("open") ? "rule" : "run");
    if (json.contains("open")) json["open"] = 1;
    line = json.dump();
  }
  const auto runs = read_journal(dir.write("old", joined(lines)));
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->size(), 1u);
  const auto told = price(runs->at(0), 1e-5);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().kind, ErrorKind::kBadData);
}

// Each number alone is in range; what they say together is not.
TEST_F(DamagedJournal, CountsWhoseProductsOverflowAreRefused) {
  const std::string open =
      R"x({"open":1,"run":"r","method":"m","epsilon":null,"delta":1e-5,"neighbours":"zero-out",)x"
      R"x("plan":"repeat(1000000000000000, gaussian(1))")x";
  const std::string rule = R"x(,"rule":"plan","samples":9007199254740992})x";
  const auto charge = [](const std::string& count, const std::string& samples) {
    return R"x({"run":"r","charge":"gaussian(1)","count":)x" + count + R"x(,"samples":)x" +
           samples + "}";
  };
  const std::string most = "9007199254740992", steps = "500000000000000";
  expect_refused({open + rule, charge(steps, most)}, 2);
  const std::string sum = "18000";  // two lines' products fit, their sum does not
  expect_refused({open + rule, charge(steps, sum), charge(steps, sum)}, 3);
  // Version 0.1: for all that were planned.
  expect_refused({open + "}", charge("1", most)}, 2);
  for (const char* odd : {"1.5", "1e300", "18446744073709551615", "true"})
    expect_refused({open + rule, charge("1", odd)}, 2);
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

// Of each kind a run leaves at most its last group without the release that it was reserved for.
TEST_F(DamagedJournal, AClosingLineTakesBackNoMoreThanItsLastGroup) {
  LedgerOptions options = planned(dir_);
  options.plan = Event::compose({Event::repeat(200, Event::gaussian(90, kRelation)),
                                 Event::repeat(200, Event::gaussian(91, kRelation))});
  options.planned_samples = 800;
  const auto closed_after = [&](int steps) {
    std::filesystem::remove(options.journal_path);
    auto ledger = Ledger::open(options);
    EXPECT_TRUE(ledger) << ledger.error().message;
    for (int k = 0; k < steps; ++k)
      EXPECT_TRUE(ledger->charge(Event::gaussian(k < 100 ? 90 : 91, kRelation), 2));
    EXPECT_TRUE(ledger->close(kEndedEarly));
    return lines_of(TempDir::read(options.journal_path));
  };
  for (const int steps : {0, 1, 2, 31, 33, 50, 99, 101, 133, 150, 199}) {
    closed_after(steps);
    EXPECT_TRUE(read_journal(options.journal_path)) << steps << ", as the ledger wrote it";
  }
  const auto with = [](std::vector<std::string> lines, const std::string& spent) {
    auto line = nlohmann::json::parse(lines.back());
    line["close"] = spent;
    lines.back() = line.dump();
    return lines;
  };
  const auto lines = closed_after(200);
  const auto last = nlohmann::json::parse(lines[lines.size() - 2]);
  const int group = last["count"];
  ASSERT_GT(group, 1);
  std::int64_t reserved = 0;
  for (const std::string& line : lines)
    if (const auto each = nlohmann::json::parse(line); each.value("charge", "") == "gaussian(91)")
      reserved += each["count"].get<std::int64_t>();
  for (const std::string& less :
       {std::string("compose()"),
        std::string("repeat(100, gaussian(90))"),
        fmt::format("compose(repeat(93, gaussian(90)), repeat({}, gaussian(91)))", reserved),
        fmt::format("compose(repeat(100, gaussian(90)), repeat({}, gaussian(91)))",
                    reserved - group)})
    expect_refused(with(lines, less), lines.size());
  const auto most = with(lines,
                         fmt::format("compose(repeat(100, gaussian(90)), repeat({}, gaussian(91)))",
                                     reserved - group + 1));
  EXPECT_TRUE(read_journal(dir_.write("m.journal", chained_anew(joined(most)))));
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

/// `text` with one number changed, and all checksums computed anew.
std::string edited(std::string text, const std::string& from, const std::string& to) {
  text = testing::unchained(text);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return chained_anew(text.replace(at, from.size(), to));
}

TEST_F(DamagedJournal, ABudgetOutOfRangeIsRefused) {
  for (const char* number : {"0", "0.0", "-8.0"}) {
    auto lines = good_;
    lines[7] = edited(lines[7], "\"epsilon\":0.5", fmt::format("\"epsilon\":{}", number));
    expect_refused(lines, 8);
  }
  for (const char* number : {"-1e-05", "1", "2e9"}) {
    auto lines = good_;
    lines[7] = edited(lines[7], "\"delta\":1e-05", fmt::format("\"delta\":{}", number));
    expect_refused(lines, 8);
  }
}

/// Why the price of a journal's run is refused; empty if it is not.
std::string refusal(const std::string& path, std::size_t run = 0) {
  const auto runs = read_journal(path);
  EXPECT_TRUE(runs) << runs.error().message;
  if (!runs) return "";
  const auto told = price(runs->at(run), runs->at(run).promise.budget.delta);
  if (told) return "";
  EXPECT_EQ(told.error().kind, ErrorKind::kBadData);
  return told.error().message;
}

// One damaged number of an opening line, in journals of both versions.
TEST(DamagedBudget, DoesNotOverruleThePlan) {
  const TempDir dir;
  const std::string old = TempDir::read(golden("two.journal"));
  const std::string first = dir.write("a", edited(old, "\"epsilon\":8.0", "\"epsilon\":0.8"));
  EXPECT_THAT(refusal(first), HasSubstr(first + ":1:"));
  const std::string second = dir.write("b", edited(old, "\"epsilon\":0.5", "\"epsilon\":0.499"));
  EXPECT_EQ(refusal(second, 0), "");
  EXPECT_THAT(refusal(second, 1), HasSubstr(second + ":8:"));
  const std::string other = dir.write("c", edited(old, "\"delta\":1e-05", "\"delta\":1e-09"));
  EXPECT_THAT(refusal(other), HasSubstr(other + ":1:"));
  {
    auto ledger = Ledger::open(planned(dir));
    ASSERT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
  }
  const std::string text = TempDir::read(dir.file("m.journal"));
  EXPECT_EQ(refusal(dir.file("m.journal")), "");
  const std::string now = dir.write("d", edited(text, "\"epsilon\":2.0", "\"epsilon\":1.5"));
  EXPECT_THAT(refusal(now), HasSubstr(now + ":1:"));
}

TEST(DamagedBudget, ThePlanCoversNoMoreSamplesThanItStates) {
  const TempDir dir;
  {
    auto ledger = Ledger::open(planned(dir));
    for (int k = 0; k < 20; ++k) ASSERT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
  }
  const std::string text = TempDir::read(dir.file("m.journal"));
  EXPECT_EQ(refusal(dir.file("m.journal")), "");
  for (const char* fewer : {"0", "39"}) {
    const std::string path =
        dir.write("d", edited(text, "\"samples\":40", std::string("\"samples\":") + fewer));
    EXPECT_THAT(refusal(path), HasSubstr(path + ":1:")) << fewer;
  }
}

TEST(DamagedBudget, DoesNotOverruleWhatAFilterWasCharged) {
  const TempDir dir;
  const std::string old = TempDir::read(golden("filter.journal"));
  const std::string path = dir.write("a", edited(old, "\"epsilon\":3.0", "\"epsilon\":0.3"));
  EXPECT_THAT(refusal(path), HasSubstr(path + ":1:"));
  const std::string other = dir.write("b", edited(old, "filter gaussian", "filter zcdp"));
  EXPECT_FALSE(read_journal(other)) << "its accountant is gaussian";
  for (const std::string filter : {"gaussian", "zcdp", "rdp"}) {
    LedgerOptions options;
    options.budget = {1, 1e-5};
    options.filter = filter;
    options.planned_samples = 1000;
    options.journal_path = dir.file(filter);
    {
      auto ledger = Ledger::open(options);
      for (double noise = 30; ledger->charge(Event::gaussian(noise, kRelation), 1);) noise += 0.1;
    }
    EXPECT_EQ(refusal(options.journal_path), "") << "spent to the last digits";
    const std::string text = TempDir::read(options.journal_path);
    for (const std::string less : {"0.5", "0.95"}) {
      const std::string damaged =
          dir.write("d", edited(text, "\"epsilon\":1.0", "\"epsilon\":" + less));
      EXPECT_THAT(refusal(damaged), HasSubstr(damaged + ":1:")) << filter << less;
    }
    const std::string fewer = dir.write("e", edited(text, "\"samples\":1000", "\"samples\":3"));
    EXPECT_THAT(refusal(fewer), HasSubstr(fewer + ":1:")) << filter;
  }
}

// What a continued run paid for twice was held to the budget, too.
TEST(DamagedBudget, DoesNotOverruleLostReleases) {
  const TempDir dir;
  LedgerOptions options = planned(dir);
  options.run = "a run";
  {
    auto ledger = Ledger::open(options);
    for (int k = 0; k < 12; ++k) ASSERT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
  }
  options.resume = LedgerResume{*canonical(Event::gaussian(9, kRelation)), 2, {}};
  {
    auto ledger = Ledger::open(options);
    while (ledger->charge(Event::gaussian(9, kRelation), 2)) continue;
  }
  EXPECT_EQ(refusal(options.journal_path), "");
  const std::string text = TempDir::read(options.journal_path);
  const std::string path = dir.write("d", edited(text, "\"epsilon\":2.0", "\"epsilon\":1.7"));
  EXPECT_THAT(refusal(path), HasSubstr(path + ":1:"));
}

}  // namespace
}  // namespace sotto
