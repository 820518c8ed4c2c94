// Files that other programs write while a command runs.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "sotto/core/file.hpp"
#include "tests/faults/stopping_disk.hpp"
#include "tests/faults/trial.hpp"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// Somebody puts a file there when another one is first read, or written.
class Appearing final : public FileSystem {
 public:
  enum class When { kRead, kWritten };
  Appearing(When when, std::string opened, std::string from, std::string to)
      : when_(when), opened_(std::move(opened)), from_(std::move(from)), to_(std::move(to)) {}
  int open(const char* path, int flags, mode_t mode) override {
    const When now = (flags & O_CREAT) != 0 ? When::kWritten : When::kRead;
    if (now == when_ && std::string(path).find(opened_) != std::string::npos &&
        !std::exchange(done_, true))
      fs::copy_file(from_, to_);
    return FileSystem::open(path, flags, mode);
  }
  bool done() const { return done_; }

 private:
  When when_;
  std::string opened_, from_, to_;
  bool done_ = false;
};

/// A model that was paid for, at another path.
std::string other_model(const Trial& trial) {
  FileSystem sound;
  EXPECT_EQ(trial.run_on(sound, trial.train()).code, 0);
  fs::rename(trial.file("model.json"), trial.file("other.json"));
  for (const char* name : {"model.json.journal", "run.json"}) fs::remove(trial.file(name));
  return trial.file("other.json");
}

TEST(Appearing, AModelThatCameDuringTheRunStays) {
  for (const char* method : {"dp-sgd", "network"}) {
    const Trial trial(method);
    const std::string other = other_model(trial);
    Appearing disk(
        Appearing::When::kWritten, "model.json.journal", other, trial.file("model.json"));
    const Outcome outcome = trial.run_on(disk, trial.train());
    ASSERT_TRUE(disk.done());
    EXPECT_EQ(outcome.code, 6) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("was written by another program since this run began"));
    EXPECT_THAT(outcome.err, HasSubstr("It is kept"));
    EXPECT_EQ(TempDir::read(trial.file("model.json")), TempDir::read(other));
    EXPECT_GT(outcome.released, 0);
    trial.expect_accounted(outcome, outcome.released, method);
  }
}

TEST(Appearing, RecalibrateDoesNotReplaceIt) {
  const Trial trial("network");
  const std::string other = other_model(trial);
  Appearing disk(Appearing::When::kRead, "rows.svm", other, trial.file("better.json"));
  const Outcome outcome = trial.run_on(
      disk,
      {"recalibrate --method intercept", trial.file("rows.svm"), other, trial.file("better.json")});
  ASSERT_TRUE(disk.done());
  EXPECT_EQ(outcome.code, 6) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("was written by another run since this one began"));
  EXPECT_EQ(TempDir::read(trial.file("better.json")), TempDir::read(other));
}

/// Something happens when the rows are opened: in this time another run may end.
class WhileRowsAreRead final : public FileSystem {
 public:
  explicit WhileRowsAreRead(std::function<void()> act) : act_(std::move(act)) {}
  int open(const char* path, int flags, mode_t mode) override {
    if (std::string(path).ends_with("rows.svm") && !std::exchange(done_, true)) act_();
    return FileSystem::open(path, flags, mode);
  }

 private:
  std::function<void()> act_;
  bool done_ = false;
};

Words without(Words words, const std::string& word) {
  words.erase(std::remove(words.begin(), words.end(), word), words.end());
  return words;
}

// Whoever was not asked to pay again does not, though the journal held nothing when the run began.
TEST(Appearing, ARunThatAnotherOvertookIsNotPaidFor) {
  const Trial trial("dp-sgd");
  FileSystem sound;
  ASSERT_EQ(trial.run_on(sound, trial.train()).code, 0);
  const std::string journal = trial.file("model.json.journal");
  fs::rename(journal, trial.file("other.journal"));
  for (const char* name : {"model.json", "run.json"}) fs::remove(trial.file(name));
  WhileRowsAreRead disk([&] { fs::copy_file(trial.file("other.journal"), journal); });
  const Outcome outcome = trial.run_on(disk, without(trial.train(), "--again"));
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("already holds a run"));
  EXPECT_EQ(outcome.released, 0);
  EXPECT_EQ(TempDir::read(journal), TempDir::read(trial.file("other.journal")));
}

// Nor a run whose checkpoint has gone: the one that resumed it has finished.
TEST(Appearing, ARunThatAnotherResumedIsNotPaidForAfresh) {
  const Trial trial("dp-sgd");
  StoppingDisk stopping(4);
  ASSERT_EQ(trial.run_on(stopping, trial.train()).code, 130);
  ASSERT_TRUE(fs::exists(trial.file("run.ckpt")));
  const std::string journal = TempDir::read(trial.file("model.json.journal"));
  WhileRowsAreRead disk([&] { fs::remove(trial.file("run.ckpt")); });
  const Outcome outcome =
      trial.run_on(disk, without(trial.train(), "--again") + Words{"--overwrite"});
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("already holds a run"));
  EXPECT_EQ(outcome.released, 0);
  EXPECT_EQ(TempDir::read(trial.file("model.json.journal")), journal);
}

// In the last moment, too: between the look and the new name.
TEST(Appearing, AtTheTemporaryFile) {
  const Trial trial("dp-sgd");
  const std::string other = other_model(trial);
  auto file = AtomicFile::create(trial.file("late.json"), FileAccess::kPublic);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write(TempDir::read(other)));
  fs::copy_file(other, trial.file("late.json"));
  const auto committed = file->commit();
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().kind, ErrorKind::kIo);
  EXPECT_THAT(committed.error().message, HasSubstr("another program has just written it"));
}

}  // namespace
}  // namespace sotto::testing
