// A journal that somebody swaps, cuts or removes after a run's last charge: nothing may leave that
// it does not count, and no other run's model may be lost for it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "sotto/core/stop.hpp"
#include "sotto/privacy/journal.hpp"
#include "tests/faults/trial.hpp"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

/// A disk on which something happens once the k-th line of a journal is on it.
class EventfulDisk final : public FaultyDisk {
 public:
  EventfulDisk(std::int64_t at, std::function<void()> event) : at_(at), event_(std::move(event)) {}
  int sync_data(int file) override {
    const int code = FaultyDisk::sync_data(file);
    if (++syncs_ == at_) event_();
    return code;
  }
  std::int64_t syncs() const { return syncs_; }

 private:
  std::int64_t at_;
  std::function<void()> event_;
  std::int64_t syncs_ = 0;
};

/// The length of the journal of one run.
std::int64_t lines_of_a_run(const std::string& method) {
  const Trial trial(method);
  EventfulDisk disk(-1, [] {});
  EXPECT_EQ(trial.run_on(disk, trial.train()).code, 0);
  return disk.syncs();
}

TEST(SwappedJournal, NoModelIsReplacedByOneThatNoJournalCounts) {
  for (const char* method : {"dp-sgd", "adp-sgd", "network"}) {
    const std::int64_t last_charge = lines_of_a_run(method) - 1;  // the last one closes the run
    for (const char* how : {"older", "removed", "emptied", "cut", "added to"}) {
      SCOPED_TRACE(std::string(method) + ", " + how);
      const Trial trial(method);
      const std::string journal = trial.file("model.json.journal");
      FaultyDisk sound;
      ASSERT_EQ(trial.run_on(sound, trial.train()).code, 0);
      const std::string other = TempDir::read(trial.file("model.json"));
      fs::copy_file(journal, trial.file("older"));
      // Of the second run; the first one's lines were there before.
      EventfulDisk disk(last_charge, [&] {
        const auto size = fs::file_size(journal);
        if (how == std::string("older")) fs::rename(trial.file("older"), journal);
        if (how == std::string("removed")) fs::rename(journal, trial.file("elsewhere"));
        if (how == std::string("emptied")) fs::resize_file(journal, 0);
        if (how == std::string("cut")) fs::resize_file(journal, size - 20);
        if (how == std::string("added to"))
          std::ofstream(journal, std::ios::app) << R"({"a":1e999)";
      });
      const Outcome outcome = trial.run_on(disk, trial.train());
      EXPECT_EQ(outcome.code, 6);
      EXPECT_EQ(TempDir::read(trial.file("model.json")), other) << "the first run's, which counts";
      EXPECT_THAT(outcome.err, HasSubstr("Nobody can tell whether it counts this run"));
      EXPECT_THAT(outcome.err, HasSubstr("It is kept: it was written to"));
      EXPECT_THAT(outcome.err, Not(HasSubstr("full price all the same")));
    }
  }
}

TEST(SwappedJournal, NoCheckpointIsWrittenThatNoJournalCounts) {
  const Trial trial("dp-sgd");
  const std::string journal = trial.file("model.json.journal");
  const std::string state = trial.file("run.ckpt");
  std::string at_that_time;
  EventfulDisk disk(lines_of_a_run("dp-sgd") - 1, [&] {
    fs::rename(journal, trial.file("elsewhere"));
    at_that_time = fs::exists(state) ? TempDir::read(state) : "";
  });
  EXPECT_EQ(trial.run_on(disk, trial.train()).code, 6);
  EXPECT_EQ(fs::exists(state) ? TempDir::read(state) : "", at_that_time);
}

// A long tail without a line break is no line that a crash cut short.
TEST(SwappedJournal, AVeryLongTailIsNotCutOff) {
  const Trial trial("dp-sgd");
  const std::string journal = trial.file("model.json.journal");
  FaultyDisk sound;
  ASSERT_EQ(trial.run_on(sound, trial.train()).code, 0);
  const auto size = fs::file_size(journal) + (std::uintmax_t{1} << 25);
  fs::resize_file(journal, size);
  const Outcome outcome = trial.run_on(sound, trial.train());
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_EQ(outcome.released, 0);
  EXPECT_EQ(fs::file_size(journal), size);
  fs::resize_file(journal, std::uintmax_t{1} << 29);
  EXPECT_EQ(trial.run_on(sound, trial.train()).code, 3) << "longer than any journal";
}

// A signal that comes before the first charge costs nothing.
TEST(StoppedEarly, NothingIsCharged) {
  const Trial trial("dp-sgd");
  EventfulDisk disk(1, [] { request_stop(); });  // once the run's opening line is written
  const Outcome outcome = trial.run_on(disk, trial.train());
  forget_stop();
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_EQ(outcome.released, 0);
  const auto runs = read_journal(trial.file("model.json.journal"));
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->size(), 1);
  EXPECT_EQ(*price(runs->front(), 1e-5), 0);
}

}  // namespace
}  // namespace sotto::testing
