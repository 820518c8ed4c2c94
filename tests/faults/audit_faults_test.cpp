// Every file operation of an audit goes wrong: one on real rows is charged before it looks, and one
// on made-up rows keeps its scores or has the old ones.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sotto/core/stop.hpp"
#include "tests/faults/lossy_disk.hpp"
#include "tests/faults/stopping_disk.hpp"
#include "tests/faults/trial.hpp"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;

std::vector<Fault> faults() {
  using Kind = Fault::Kind;
  std::vector<Fault> list = {{Kind::kError, 0, EIO, false},
                             {Kind::kError, 0, ENOSPC, true},
                             {Kind::kShort, 0, 0, false},
                             {Kind::kKill, 0, 0, false}};
  if (std::getenv("SOTTO_ALL_FAULTS") != nullptr)
    for (const int error : {EROFS, EDQUOT, EINTR, EACCES})
      list.push_back({Kind::kError, 0, error, error == EROFS || error == EACCES});
  return list;
}

bool answered(const Outcome& outcome) { return outcome.code == 0 || outcome.code == 5; }

class AuditFaults : public ::testing::TestWithParam<const char*> {
 protected:
  std::int64_t calls_of_one_run() const {
    const Trial trial(GetParam());
    FaultyDisk disk;
    const Outcome outcome = trial.run_on(disk, trial.audit_in_one_run());
    EXPECT_TRUE(answered(outcome)) << outcome.err;
    EXPECT_GE(outcome.released, 4);
    EXPECT_TRUE(fs::exists(trial.file("audit.html")));
    return disk.calls();
  }

  /// On a sound disk, after an audit that went wrong.
  static void again(const Trial& trial, const Outcome& first, const std::string& what) {
    trial.expect_accounted(first, first.released, what);
    FaultyDisk sound;
    const Outcome second = trial.run_on(sound, trial.audit_in_one_run());
    EXPECT_TRUE(answered(second)) << what << ": " << second.err;
    trial.expect_accounted(second, first.released + second.released, what + ", then again");
  }
};
INSTANTIATE_TEST_SUITE_P(Models,
                         AuditFaults,
                         ::testing::Values("dp-sgd", "network"),
                         [](const auto& each) {
                           return std::string(each.param) == "network" ? "network" : "linear";
                         });

TEST_P(AuditFaults, InOneRun) {
  const std::int64_t calls = calls_of_one_run();
  ASSERT_GT(calls, 20);
  for (Fault fault : faults())
    for (fault.at = 1; fault.at <= calls; ++fault.at) {
      const Trial trial(GetParam());
      FaultyDisk disk(fault);
      Outcome first = trial.run_on(disk, trial.audit_in_one_run());
      first.killed = fault.kind == Fault::Kind::kKill && !disk.hit().empty();
      again(trial, first, fmt::format("{}, {} ({})", GetParam(), fault.text(), disk.hit()));
      if (HasFailure()) return;
    }
}

TEST_P(AuditFaults, LossOfPowerInOneRun) {
  const std::int64_t calls = calls_of_one_run();
  for (const auto kept :
       {LossyDisk::Kept::kNothing, LossyDisk::Kept::kNames, LossyDisk::Kept::kHalf})
    for (std::int64_t at = 1; at <= calls; ++at) {
      const Trial trial(GetParam());
      LossyDisk disk(trial.folder(), {Fault::Kind::kKill, at, 0, false});
      Outcome first = trial.run_on(disk, trial.audit_in_one_run());
      first.killed = true;
      disk.lose_power(kept);
      again(trial,
            first,
            fmt::format("{}, power lost before call {} ({}), {} kept",
                        GetParam(),
                        at,
                        disk.hit(),
                        int(kept)));
      if (HasFailure()) return;
    }
}

// The scores are those before or after, so that going on gives the answer of an audit that was
// never disturbed.
TEST_P(AuditFaults, OfScores) {
  std::string expected;
  std::string before;
  std::int64_t calls = 0;
  {
    const Trial trial(GetParam());
    FaultyDisk sound;
    ASSERT_TRUE(answered(trial.run_on(sound, trial.audit(100))));
    before = TempDir::read(trial.file("scores.json"));
    FaultyDisk counting;
    const Outcome plain = trial.run_on(counting, trial.audit(120));
    ASSERT_TRUE(answered(plain)) << plain.err;
    expected = plain.out;
    calls = counting.calls();
  }
  ASSERT_GT(calls, 20);
  for (Fault fault : faults())
    for (fault.at = 1; fault.at <= calls; ++fault.at) {
      const Trial trial(GetParam());
      std::ofstream(trial.file("scores.json")) << before;
      FaultyDisk disk(fault);
      Outcome first = trial.run_on(disk, trial.audit(120));
      first.killed = fault.kind == Fault::Kind::kKill && !disk.hit().empty();
      const std::string what = fmt::format("{}, {} ({})", GetParam(), fault.text(), disk.hit());
      EXPECT_EQ(trial.problem(first, 0), "") << what << ": " << first.err;
      FaultyDisk sound;
      const Outcome second = trial.run_on(sound, trial.audit(120));
      EXPECT_TRUE(answered(second)) << what << ": " << second.err;
      EXPECT_EQ(second.out, expected) << what;
      if (HasFailure()) return;
    }
}

// Asked to end during the run it says so; after the last charge the answer is there, and told.
TEST_P(AuditFaults, AFinishedAuditIsTold) {
  StoppingDisk counting(-1);
  {
    const Trial trial(GetParam());
    ASSERT_TRUE(answered(trial.run_on(counting, trial.audit_in_one_run())));
  }
  int interrupted = 0;
  for (std::int64_t at = 1; at <= counting.syncs(); ++at) {
    const Trial trial(GetParam());
    StoppingDisk disk(at);
    Outcome outcome = trial.run_on(disk, trial.audit_in_one_run());
    EXPECT_GE(outcome.err.size() + outcome.out.size(), 10U);
    if (outcome.code == 130) {
      ++interrupted;
      EXPECT_NE(outcome.err.find("interrupted"), std::string::npos);
      outcome.code = 0;
    } else {
      EXPECT_TRUE(answered(outcome)) << at << outcome.err;
      EXPECT_NE(outcome.out.find("epsilon is at least"), std::string::npos) << at;
    }
    trial.expect_accounted(outcome, outcome.released, fmt::format("asked at sync {}", at));
    // The last sync is that of the journal's close: nothing is left to stop.
    if (at == counting.syncs()) {
      EXPECT_NE(outcome.out.find("epsilon is at least"), std::string::npos);
    }
  }
  EXPECT_GT(interrupted, 0);
  forget_stop();
}

}  // namespace
}  // namespace sotto::testing
