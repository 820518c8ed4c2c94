// Every file operation of every command fails once, or from some moment on for ever, or the program
// is killed before it: no answer that was not charged, no finished model lost, and a message with a
// documented exit code.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/faults/lossy_disk.hpp"
#include "tests/faults/stopping_disk.hpp"
#include "tests/faults/trial.hpp"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kMethods = {"dp-sgd", "network", "adp-sgd"};

std::vector<Fault> faults(bool all) {
  using Kind = Fault::Kind;
  std::vector<Fault> list = {{Kind::kError, 0, EIO, false},
                             {Kind::kError, 0, ENOSPC, true},
                             {Kind::kShort, 0, 0, false},
                             {Kind::kKill, 0, 0, false}};
  if (all)
    for (const Fault& more : {Fault{Kind::kError, 0, EIO, true},
                              Fault{Kind::kError, 0, ENOSPC, false},
                              Fault{Kind::kError, 0, EROFS, false},
                              Fault{Kind::kError, 0, EROFS, true},
                              Fault{Kind::kError, 0, EDQUOT, false},
                              Fault{Kind::kError, 0, EDQUOT, true},
                              Fault{Kind::kError, 0, EINTR, false},
                              Fault{Kind::kError, 0, EACCES, true}})
      list.push_back(more);
  return list;
}

/// How many file calls a training makes that nothing goes wrong with.
std::int64_t calls_of_training(const std::string& method) {
  const Trial trial(method);
  FaultyDisk disk;
  const Outcome outcome = trial.run_on(disk, trial.train());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(trial.model_is_kept(outcome));
  EXPECT_FALSE(fs::exists(trial.file("run.ckpt")));
  return disk.calls();
}

std::int64_t releases_of_training(const std::string& method) {
  const Trial trial(method);
  FaultyDisk disk;
  return trial.run_on(disk, trial.train()).released;
}

void train_with(const std::string& method, const Fault& fault, std::int64_t planned) {
  const Trial trial(method);
  FaultyDisk disk(fault);
  Outcome first = trial.run_on(disk, trial.train());
  // At a call that does not throw the program goes on, but nothing of it reaches the disk.
  first.killed = fault.kind == Fault::Kind::kKill && !disk.hit().empty();
  const std::string what = fmt::format("{}, {} ({})", method, fault.text(), disk.hit());
  trial.expect_accounted(first, first.released, what);
  if (!first.killed && first.released >= planned) {
    EXPECT_TRUE(trial.model_is_kept(first)) << what << ": " << first.err;
  }
  // The same command goes on with it, or starts afresh.
  FaultyDisk sound;
  const Outcome second = trial.run_on(sound, trial.train());
  EXPECT_EQ(second.code, 0) << what << ": " << second.err;
  trial.expect_accounted(second, first.released + second.released, what + ", then again");
  EXPECT_TRUE(trial.model_is_kept(second)) << what;
  EXPECT_EQ(trial.run_on(sound, trial.predict()).code, 0) << what;
  for (const auto& entry : fs::directory_iterator(trial.folder()))
    if (!first.killed && fault.kind != Fault::Kind::kError) {
      EXPECT_FALSE(entry.path().filename().string().starts_with(".sotto-")) << what;
    }
}

class FaultLoop : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Methods, FaultLoop, ::testing::ValuesIn(kMethods), [](const auto& each) {
  std::string name = each.param;
  std::erase(name, '-');
  return name;
});

TEST_P(FaultLoop, Training) {
  const std::int64_t calls = calls_of_training(GetParam());
  const std::int64_t planned = releases_of_training(GetParam());
  ASSERT_GT(calls, 50);
  const bool all = std::getenv("SOTTO_ALL_FAULTS") != nullptr;
  for (Fault fault : faults(all))
    for (fault.at = 1; fault.at <= calls; ++fault.at) {
      train_with(GetParam(), fault, planned);
      if (HasFatalFailure()) return;
    }
}

TEST_P(FaultLoop, OtherCommands) {
  const Trial trial(GetParam());
  FaultyDisk sound;
  const Outcome trained = trial.run_on(sound, trial.train());
  ASSERT_EQ(trained.code, 0) << trained.err;
  for (const auto& command :
       {trial.predict(), trial.predict_sorted(), trial.verify(), trial.report()}) {
    FaultyDisk counting;
    const Outcome plain = trial.run_on(counting, command);
    ASSERT_EQ(plain.code, 0) << command[0] << plain.err;
    for (Fault fault : faults(true))
      for (fault.at = 1; fault.at <= counting.calls(); ++fault.at) {
        FaultyDisk disk(fault);
        const Outcome outcome = trial.run_on(disk, command);
        trial.expect_accounted(outcome,
                               trained.released,
                               fmt::format("{}: {} ({})", command[0], fault.text(), disk.hit()));
      }
    const Outcome again = trial.run_on(sound, command);
    EXPECT_EQ(again.code, 0) << command[0] << ": " << again.err;
    EXPECT_EQ(again.out, plain.out) << command[0];
  }
}

TEST_P(FaultLoop, LossOfPower) {
  const std::int64_t calls = calls_of_training(GetParam());
  for (const auto kept :
       {LossyDisk::Kept::kNothing, LossyDisk::Kept::kNames, LossyDisk::Kept::kHalf})
    for (std::int64_t at = 1; at <= calls; ++at) {
      const Trial trial(GetParam());
      const Fault fault{Fault::Kind::kKill, at, 0, false};
      LossyDisk disk(trial.folder(), fault);
      Outcome first = trial.run_on(disk, trial.train());
      first.killed = true;
      disk.lose_power(kept);
      const std::string what = fmt::format(
          "{}, power lost before call {} ({}), {} kept", GetParam(), at, disk.hit(), int(kept));
      trial.expect_accounted(first, first.released, what);
      FaultyDisk sound;
      const Outcome second = trial.run_on(sound, trial.train());
      EXPECT_EQ(second.code, 0) << what << ": " << second.err;
      trial.expect_accounted(second, first.released + second.released, what + ", then again");
      EXPECT_TRUE(trial.model_is_kept(second)) << what;
      if (HasFailure()) return;
    }
}

// Both twins leave a journal behind that lost what was released, at some call.
TEST(FaultLoopTwins, ForgottenSyncsAreCaught) {
  const std::int64_t calls = calls_of_training("dp-sgd");
  for (const auto forgotten : {LossyDisk::Forgotten::kFolders, LossyDisk::Forgotten::kFiles}) {
    int caught = 0;
    for (std::int64_t at = 1; at <= calls; at += 3) {
      const Trial trial("dp-sgd");
      LossyDisk disk(trial.folder(), {Fault::Kind::kKill, at, 0, false}, forgotten);
      Outcome outcome = trial.run_on(disk, trial.train());
      outcome.killed = true;
      disk.lose_power(LossyDisk::Kept::kNothing);
      caught += trial.problem(outcome, outcome.released).empty() ? 0 : 1;
    }
    EXPECT_GT(caught, 0) << (forgotten == LossyDisk::Forgotten::kFolders ? "folders" : "files");
  }
}

// Asked to end at any moment: a checkpoint, or the finished model. A run whose releases were all
// made is written, however late the signal came.
TEST_P(FaultLoop, AskedToEnd) {
  const std::int64_t planned = releases_of_training(GetParam());
  std::int64_t syncs = 0;
  {
    const Trial trial(GetParam());
    StoppingDisk counting(-1);
    ASSERT_EQ(trial.run_on(counting, trial.train()).code, 0);
    syncs = counting.syncs();
  }
  int interrupted = 0;
  int finished = 0;
  for (std::int64_t at = 1; at <= syncs; ++at) {
    const Trial trial(GetParam());
    StoppingDisk disk(at);
    Outcome first = trial.run_on(disk, trial.train());
    const std::string what = fmt::format("{}, asked at sync {}", GetParam(), at);
    if (first.released >= planned) {
      ++finished;
      EXPECT_EQ(first.code, 0) << what << first.err;
      EXPECT_TRUE(trial.model_is_kept(first)) << what;
    } else {
      ++interrupted;
      EXPECT_EQ(first.code, 130) << what << first.err;
      EXPECT_TRUE(fs::exists(trial.file("run.ckpt")) || first.released == 0) << what;
      first.code = 0;
    }
    trial.expect_accounted(first, first.released, what);
    forget_stop();
    FaultyDisk sound;
    const Outcome second = trial.run_on(sound, trial.train());
    EXPECT_EQ(second.code, 0) << what << ": " << second.err;
    EXPECT_TRUE(trial.model_is_kept(second)) << what;
    if (first.released < planned) {
      EXPECT_EQ(first.released + second.released, planned) << what << ": nothing twice";
    }
  }
  EXPECT_GT(interrupted, 0);
  EXPECT_GT(finished, 0);
}

/// Kills the program when it gives a file its final name.
class KilledAtName final : public FileSystem {
 public:
  explicit KilledAtName(std::string end) : end_(std::move(end)) {}
  int rename(const char* from, const char* to) override {
    if (std::string(to).ends_with(end_)) throw Killed{};
    return FileSystem::rename(from, to);
  }

 private:
  std::string end_;
};

// The model is kept, the record is not, and the checkpoint of an earlier step is still there.
TEST(FinishedRun, IsNotContinued) {
  for (const char* method : {"dp-sgd", "network"}) {
    const Trial trial(method);
    KilledAtName disk("run.json");
    const Outcome first = trial.run_on(disk, trial.train());
    ASSERT_TRUE(first.killed);
    ASSERT_TRUE(fs::exists(trial.file("run.ckpt")));
    const std::string model = TempDir::read(trial.file("model.json"));
    ASSERT_FALSE(model.empty());
    FaultyDisk sound;
    const Outcome again = trial.run_on(sound, trial.train());
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(again.released, 0);
    EXPECT_EQ(TempDir::read(trial.file("model.json")), model);
    EXPECT_FALSE(fs::exists(trial.file("run.ckpt")));
  }
}

/// Refuses to give a file this final name.
class RefusedName final : public FileSystem {
 public:
  explicit RefusedName(std::string end) : end_(std::move(end)) {}
  int rename(const char* from, const char* to) override {
    if (!std::string(to).ends_with(end_)) return FileSystem::rename(from, to);
    errno = EIO;
    return -1;
  }

 private:
  std::string end_;
};

// One rescued model does not take another's place, and nobody can put a link where it will come.
TEST(Rescue, EveryModelHasANameOfItsOwn) {
  const Trial trial("dp-sgd");
  const Words words = trial.train() + "--seed 1";
  RefusedName disk("model.json");
  for (std::ptrdiff_t k = 1; k <= 2; ++k) {
    const Outcome outcome = trial.run_on(disk, words);
    EXPECT_EQ(outcome.code, 6);
    EXPECT_THAT(outcome.err, ::testing::HasSubstr("it was written to"));
    EXPECT_EQ(std::distance(fs::directory_iterator(trial.file("tmp")), fs::directory_iterator()),
              k);
  }
}

}  // namespace
}  // namespace sotto::testing
