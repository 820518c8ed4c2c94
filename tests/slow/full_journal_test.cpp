// A journal that can no longer be read counts nothing: none is written beyond that.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/journals.hpp"

namespace sotto::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMegabyte = std::int64_t{1} << 20;

/// A run whose lines fill the journal: its method has a name of so many megabytes.
Expected<Ledger> run_of(const TempDir& dir, std::size_t megabytes) {
  LedgerOptions options = planned(dir);
  options.method = std::string(megabytes << 20, 'x');
  return Ledger::open(std::move(options));
}

TEST(FullJournal, RunsEndBeforeIt) {
  const TempDir dir;
  for (const std::size_t megabytes : {100, 70}) {
    auto ledger = run_of(dir, megabytes);
    ASSERT_TRUE(ledger) << ledger.error().message;
    ASSERT_TRUE(ledger->charge(Event::gaussian(9, kRelation), 2));
    ASSERT_TRUE(ledger->close(kFinished));
  }
  const auto before = std::filesystem::file_size(dir.file("m.journal"));
  const auto refused = run_of(dir, 60);  // its closing line might not fit
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kIo);
  EXPECT_THAT(refused.error().message, HasSubstr("no room"));
  EXPECT_EQ(std::filesystem::file_size(dir.file("m.journal")), before);
  const auto runs = read_journal(dir.file("m.journal"));
  ASSERT_TRUE(runs) << runs.error().message;
  EXPECT_EQ(runs->size(), 2);
}

TEST(FullJournal, ANewRunNeedsRoom) {
  JournalContent content;
  content.bytes = 240 * kMegabyte;
  EXPECT_TRUE(check_journal_room(content, "m.journal"));
  ++content.bytes;
  const auto refused = check_journal_room(content, "m.journal");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(refused.error().message, HasSubstr("Name another model"));
}

}  // namespace
}  // namespace sotto::testing
