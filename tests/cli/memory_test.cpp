// Memory that runs out: exit code 6 and a message, wherever it happens, and no model that was paid
// for is lost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sotto/privacy/journal.hpp"
#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;

Words train(const TempDir& dir, const std::string& dim) {
  return {"train --method dp-sgd --epsilon 1 --delta 1e-6 --dim",
          dim,
          "--row-norm 1.5 --threads 1 --steps 3 -q --record",
          dir.file("r"),
          dir.write("rows.svm", small_libsvm()),
          dir.file("model.json")};
}

std::string limit(int kilobytes) { return "ulimit -v " + std::to_string(kilobytes) + ";"; }

std::int64_t charges(const std::string& journal) {
  if (!fs::exists(journal)) return 0;
  const auto runs = read_journal(journal);
  EXPECT_TRUE(runs);
  std::int64_t count = 0;
  for (const JournalRun& run : *runs) {
    const auto charged = canonical(Event::compose(run.charged));
    for (const Term& term : charged->terms) count += term.count;
  }
  return count;
}

// The text of such a model is 60 MB, and its JSON values as much again. Where three steps could be
// made there was memory for the model.
TEST(Memory, AModelThatWasPaidForIsKept) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers have an address space of their own";
#endif
  for (int kilobytes = 200'000; kilobytes <= 400'000; kilobytes += 20'000) {
    const TempDir dir;
    fs::create_directories(dir.file("tmp"));
    const auto result = sotto(train(dir, "3000000"),
                              limit(kilobytes) + " export TMPDIR=" + quoted(dir.file("tmp")) + ";");
    EXPECT_THAT(result.code, AnyOf(0, 6)) << kilobytes << result.err;
    if (charges(dir.file("model.json.journal")) < 3) continue;
    EXPECT_TRUE(fs::exists(dir.file("model.json")) || !fs::is_empty(dir.file("tmp")))
        << kilobytes << result.err;
  }
}

TEST(Memory, EndsWithItsExitCodeWhereverItRunsOut) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers have an address space of their own";
#endif
  const TempDir dir;
  ASSERT_EQ(sotto(train(dir, "2")).code, 0);
  const Words verify = {"verify",
                        dir.file("r"),
                        "--journal",
                        dir.file("model.json.journal"),
                        "--model",
                        dir.file("model.json")};
  int least = 15'000;  // with less not even its libraries can be loaded
  while (least < 60'000 && sotto({"--version"}, limit(least)).code != 0) least += 200;
  least +=
      1500;  // nor does OpenSSL, which crashes where it can't make its locks, before any charge
  for (int kilobytes = least; kilobytes <= least + 12'000; kilobytes += 150) {
    const TempDir other;
    for (const auto& words : {verify, train(other, "2")}) {
      const auto result = sotto(words, limit(kilobytes));
      EXPECT_THAT(result.code, AnyOf(0, 6)) << words[0] << kilobytes << result.err;
      if (result.code == 6) {
        EXPECT_THAT(result.err, HasSubstr("memory")) << words[0] << kilobytes;
      }
    }
  }
}

}  // namespace
}  // namespace sotto::testing
