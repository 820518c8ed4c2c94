// Numbers and checksums of a journal's lines: whatever is changed, lost, put in or put elsewhere is
// noticed, but for half a line at its end.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "sotto/core/file_system.hpp"
#include "tests/support/journals.hpp"

namespace sotto {
namespace {

using testing::golden;
using ::testing::HasSubstr;
using testing::joined;
using testing::kRelation;
using testing::planned;
using testing::TempDir;
using testing::whole_lines_of;

/// Two runs, the second one killed.
std::string two_runs(const TempDir& dir, const std::string& key = "") {
  for (const bool closes : {true, false}) {
    LedgerOptions options = planned(dir);
    options.journal_key = key;
    options.nonce = closes ? "a" : "b";
    auto ledger = Ledger::open(options);
    EXPECT_TRUE(ledger) << ledger.error().message;
    for (int k = 0; k < 4; ++k) EXPECT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
    if (closes) {
      EXPECT_TRUE(ledger->close(kFinished));
    }
  }
  return TempDir::read(dir.file("m.journal"));
}

bool is_refused(const TempDir& dir, const std::string& text, const std::string& key = "") {
  const auto content = read_whole_journal(dir.write("x.journal", text), key);
  return !content;
}

TEST(JournalChain, EveryChangedByteIsSeen) {
  const TempDir dir;
  const std::string text = two_runs(dir);
  ASSERT_FALSE(is_refused(dir, text));
  for (std::size_t k = 0; k < text.size(); ++k)
    for (const char other : {'0', 'x', '"', '\n'}) {
      std::string damaged = text;
      damaged[k] = other;
      if (other == text[k]) continue;
      const bool last_newline = k + 1 == text.size();
      EXPECT_TRUE(is_refused(dir, damaged) || last_newline) << k;
    }
}

TEST(JournalChain, LinesThatAreLostPutInOrMovedAreSeen) {
  const TempDir dir;
  const auto lines = whole_lines_of(two_runs(dir));
  ASSERT_EQ(lines.size(), 11u);
  for (std::size_t k = 0; k + 1 < lines.size(); ++k) {
    auto fewer = lines;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
    EXPECT_TRUE(is_refused(dir, joined(fewer))) << "line " << k + 1 << " is gone";
    auto more = lines;
    more.insert(more.begin() + static_cast<std::ptrdiff_t>(k), lines[k]);
    EXPECT_TRUE(is_refused(dir, joined(more))) << "line " << k + 1 << " twice";
    auto moved = lines;
    std::swap(moved[k], moved[k + 1]);
    EXPECT_TRUE(is_refused(dir, joined(moved))) << "lines " << k + 1 << " changed places";
    auto plain = lines;
    plain[k] = testing::unchained(plain[k]);
    EXPECT_TRUE(is_refused(dir, joined(plain))) << "line " << k + 1 << " lost its checksum";
  }
}

// One byte behind every checksum, as from an editor or another system's line ends, does not make
// them lines of version 0.1, which had none.
TEST(JournalChain, LinesThatDoNotEndWithTheirChecksumAreRefused) {
  const TempDir dir;
  for (const std::string key : {"", "a key of 16 bytes or more"}) {
    const std::string text = two_runs(dir, key);
    std::filesystem::remove(dir.file("m.journal"));
    for (const std::string behind : {" ", "\r", "\t"}) {
      std::string changed;
      for (const std::string& line : whole_lines_of(text)) changed += line + behind + "\n";
      const auto read = read_whole_journal(dir.write("x.journal", changed));
      ASSERT_FALSE(read);
      EXPECT_EQ(read.error().kind, ErrorKind::kBadData);
      EXPECT_THAT(read.error().message, HasSubstr("x.journal:1: it does not end with"));
    }
  }
  // Nor without their checksums, or their numbers, or with members in another order.
  const std::string text = two_runs(dir);
  EXPECT_TRUE(is_refused(dir, testing::unchained(text)));
  const auto first = nlohmann::json::parse(whole_lines_of(text)[0]);
  for (const char* name : {"rule", "line", "chain", "open"}) {
    nlohmann::json open = first;
    for (const char* other : {"rule", "line", "chain"})
      if (std::string(other) != name) open.erase(other);
    if (std::string(name) != "open") open["open"] = 1;
    EXPECT_TRUE(is_refused(dir, open.dump() + "\n")) << open;
  }
}

TEST(JournalChain, OnlyHalfALineAtTheEndIsDropped) {
  const TempDir dir;
  const std::string text = two_runs(dir);
  const std::size_t last = text.rfind('\n', text.size() - 2) + 1;
  for (std::size_t end = last; end < text.size(); ++end) {
    const std::string path = dir.write("m.journal", text.substr(0, end));
    const auto content = read_whole_journal(path);
    ASSERT_TRUE(content) << end << content.error().message;
    EXPECT_EQ(content->chains.size(), end + 1 == text.size() ? 11u : 10u);
    // And the journal can be continued.
    LedgerOptions options = planned(dir);
    options.nonce = "c";
    auto ledger = Ledger::open(options);
    ASSERT_TRUE(ledger) << ledger.error().message;
    ASSERT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
    EXPECT_TRUE(read_whole_journal(path)) << end;
  }
}

TEST(JournalChain, HeadsTellWhetherItWasCutBack) {
  const TempDir dir;
  const auto lines = whole_lines_of(two_runs(dir));
  const auto whole = read_whole_journal(dir.file("m.journal"));
  ASSERT_TRUE(whole);
  for (std::size_t k = 1; k <= lines.size(); ++k) {
    const JournalHead head{static_cast<std::int64_t>(k), whole->chains[k - 1]};
    EXPECT_TRUE(whole->holds(head));
    for (std::size_t kept = 1; kept <= lines.size(); ++kept) {
      const std::vector<std::string> first(lines.begin(),
                                           lines.begin() + static_cast<std::ptrdiff_t>(kept));
      const auto cut = read_whole_journal(dir.write("cut.journal", joined(first)));
      ASSERT_TRUE(cut);
      EXPECT_EQ(cut->holds(head), kept >= k);
    }
  }
  EXPECT_FALSE(whole->holds({1, whole->chains[1]}));
  EXPECT_FALSE(whole->holds({}));
}

TEST(JournalChain, CoversTheLinesOfVersion01BeforeIt) {
  const TempDir dir;
  for (const bool ended : {true, false}) {
    std::string old = TempDir::read(golden("two.journal"));
    if (!ended) old.pop_back();
    dir.write("m.journal", old);
    {
      auto ledger = Ledger::open(planned(dir));
      ASSERT_TRUE(ledger) << ledger.error().message;
      ASSERT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
    }
    const std::string text = TempDir::read(dir.file("m.journal"));
    const auto content = read_whole_journal(dir.file("m.journal"));
    ASSERT_TRUE(content) << content.error().message;
    EXPECT_EQ(content->runs.size(), 3u);
    std::string changed = text;
    changed.replace(changed.find("\"epsilon\":8.0"), 13, "\"epsilon\":9.0");
    EXPECT_TRUE(is_refused(dir, changed));
  }
}

TEST(JournalChain, AKeySealsIt) {
  const TempDir dir;
  const std::string key(32, 'k');
  const std::string text = two_runs(dir, key);
  EXPECT_FALSE(is_refused(dir, text, key));
  EXPECT_TRUE(is_refused(dir, text, std::string(32, 'l'))) << "another key";
  const auto without = read_whole_journal(dir.file("m.journal"));
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(without.error().message, HasSubstr("‘journal_key’"));
  // Whoever lacks the key can write a journal anew, but not one that passes.
  const TempDir other;
  EXPECT_TRUE(is_refused(dir, two_runs(other), key));
  EXPECT_TRUE(is_refused(dir, testing::unchained(text), key));
  LedgerOptions options = planned(dir);
  EXPECT_FALSE(Ledger::open(options)) << "nor is it continued without";
  dir.write("short.key", "secret");
  EXPECT_EQ(read_journal_key(dir.file("short.key")).error().kind, ErrorKind::kUsage);
}

// A seeded run's files are the same each time, and yet two runs have two names.
TEST(JournalChain, NamesFollowFromTheJournal) {
  const TempDir a;
  const TempDir b;
  std::vector<std::string> names;
  for (const TempDir* dir : {&a, &b, &b}) {
    auto ledger = Ledger::open(planned(*dir));
    ASSERT_TRUE(ledger);
    names.push_back(ledger->options().run);
  }
  EXPECT_EQ(names[0], names[1]);
  EXPECT_NE(names[1], names[2]);
}

TEST(JournalChain, AFinishedRunIsNotContinued) {
  const TempDir dir;
  LedgerOptions options = planned(dir);
  options.run = "a run";
  {
    auto ledger = Ledger::open(options);
    ASSERT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
    ASSERT_TRUE(ledger->close(kFinished));
  }
  options.resume = LedgerResume{*canonical(Event::gaussian(9, kRelation)), 2, {}};
  const auto again = Ledger::open(options);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("has finished"));
}

// What is known of a journal is compared with the lines that were read when it was ours alone.
TEST(JournalChain, LinesThatAreCutWhileItIsOpenedAreMissed) {
  const TempDir dir;
  auto options = planned(dir);
  {
    auto ledger = Ledger::open(options);
    ASSERT_TRUE(ledger);
    ASSERT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
    ASSERT_TRUE(ledger->close(kFinished));
  }
  const auto journal = read_whole_journal(dir.file("m.journal"));
  ASSERT_TRUE(journal);
  options.known_lines = {{"m.json", {std::ssize(journal->chains), journal->chains.back()}}};
  class CutAtLock final : public FileSystem {
   public:
    int lock(int file) override {
      EXPECT_EQ(::ftruncate(file, 0), 0);
      return FileSystem::lock(file);
    }
  } disk;
  const FileSystemInUse in_use(disk);
  const auto again = Ledger::open(options);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("does not hold line"));
}

/// A disk that takes its time to sync, during which somebody changes the first line.
class SlowSync final : public FileSystem {
 public:
  explicit SlowSync(std::string path) : path_(std::move(path)) {}
  int sync_data(int file) override {
    if (edits > 0 && edits-- == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // more than a tick
      std::fstream journal(path_, std::ios::in | std::ios::out | std::ios::binary);
      journal.seekp(20);
      journal.put('~');
    }
    return FileSystem::sync_data(file);
  }
  int edits = 0;  ///< the sync that it happens in, counted from the next

 private:
  std::string path_;
};

TEST(JournalChain, AnEditDuringASyncEndsTheRun) {
  const TempDir dir;
  SlowSync disk(dir.file("m.journal"));
  const FileSystemInUse in_use(disk);
  auto ledger = Ledger::open(planned(dir));
  ASSERT_TRUE(ledger);
  disk.edits = 1;
  ASSERT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
  ASSERT_EQ(disk.edits, 0);
  const auto charged = ledger->charge(Event::gaussian(9, kRelation), 2);
  ASSERT_FALSE(charged);
  EXPECT_THAT(charged.error().message, HasSubstr("was changed by another program"));
}

// Not even if its times were put back: the last line is written only after all others were read.
TEST(JournalChain, AnEditThatNothingShowsIsFoundAtTheEnd) {
  const TempDir dir;
  auto ledger = Ledger::open(planned(dir));
  ASSERT_TRUE(ledger);
  ASSERT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
  class StoppedClock final : public FileSystem {
   public:
    int stat(int file, struct stat& facts) override {
      const int result = FileSystem::stat(file, facts);
      facts.st_ctim = facts.st_mtim = {1, 0};
      return result;
    }
  } disk;
  const FileSystemInUse in_use(disk);
  ASSERT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
  {
    std::fstream file(dir.file("m.journal"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(20);
    file.put('~');
  }
  const auto closed = ledger->close("finished");
  ASSERT_FALSE(closed);
  EXPECT_THAT(closed.error().message, HasSubstr("was changed by another program"));
}

// The size stays, and so does the file: only the time of its change tells.
TEST(JournalChain, AnEditWhileItIsInUseEndsTheRun) {
  const TempDir dir;
  auto ledger = Ledger::open(planned(dir));
  ASSERT_TRUE(ledger);
  ASSERT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
  const std::string path = dir.file("m.journal");
  const std::string text = TempDir::read(path);
  // A change that leaves the lines as they were, e.g. of a backup, is none.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // more than a tick
  std::filesystem::permissions(path, std::filesystem::perms(0640));
  ASSERT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(text.find("gaussian(9)") + 9));
    file.put('8');
  }
  for (int k = 0; k < 2; ++k) {
    const auto charged = ledger->charge(Event::gaussian(9, kRelation), 2);
    ASSERT_FALSE(charged);
    EXPECT_THAT(charged.error().message, HasSubstr("was changed by another program"));
  }
}

}  // namespace
}  // namespace sotto
