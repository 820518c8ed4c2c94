// Runs without a seed that die and are continued: the ledger counts what was lost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sotto/training/train.hpp"
#include "tests/support/checkpoint_trial.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::kNever;
using testing::TempDir;
using testing::Trial;
using testing::Watch;

/// A run without a seed that dies after step `dies`, having written its state after step 2.
struct Died : Trial {
  Died(const std::string& method, GivenOptions given, std::int64_t dies)
      : Trial(method, std::move(given), std::nullopt) {
    checkpoints(2);
    Watch dying;
    dying.at_step = [&](std::int64_t step) {
      if (step == 3) fs::copy_file(file(), dir.file("kept.ckpt"));
      if (step == dies) fs::copy_file(options.journal_path, dir.file("kept.journal"));
    };
    must(dying);
    constexpr auto kOver = fs::copy_options::overwrite_existing;
    fs::copy_file(dir.file("kept.ckpt"), file(), kOver);
    fs::copy_file(dir.file("kept.journal"), options.journal_path, kOver);
  }
};

std::int64_t count_of(const std::string& events) {
  std::int64_t count = 0;
  const CanonicalEvent form = *canonical(*parse_event(events, Relation::kZeroOut));
  for (const Term& term : form.terms) count += term.count;
  return count;
}

TEST(Resume, WithoutASeedLostStepsAreChargedAgainAndTheRunEndsWithinItsBudget) {
  for (const char* method : {"dp-gd", "dp-sgd", "dp-srm"}) {
    Died died(method, {{"steps", "40"}}, 6);
    const auto journal = read_whole_journal(died.options.journal_path);
    ASSERT_TRUE(journal) << journal.error().message;
    const auto before =
        find_run(*journal, died.options.journal_path, read_checkpoint(died.file())->run);
    ASSERT_TRUE(before) << before.error().message;
    const std::int64_t charged =
        count_of(to_string(to_event(*canonical(Event::compose(before->charged)))));
    ASSERT_GE(charged, 6) << "four of them, at least, are lost";
    Watch again;
    const TrainResult result = died.must(again);
    EXPECT_EQ(result.record.stopped, StopReason::kBudgetSpent) << method;
    EXPECT_EQ(result.record.steps, 40 - (charged - 2)) << method;
    EXPECT_EQ(count_of(result.record.privacy.events), 40) << method;
    EXPECT_LE(result.record.privacy.epsilon, 3) << method;
    EXPECT_TRUE(result.w.allFinite()) << method;
    ASSERT_FALSE(result.record.warnings.empty()) << method;
    EXPECT_THAT(result.record.warnings.back(), HasSubstr("were lost"));
    const auto runs = read_journal(died.options.journal_path);
    ASSERT_TRUE(runs);
    ASSERT_EQ(runs->size(), 1u) << "one run, continued";
    EXPECT_TRUE(runs->front().closed);
    EXPECT_EQ(to_string(to_event(*canonical(Event::compose(runs->front().charged)))),
              result.record.privacy.events);
  }
}

TEST(Resume, ASecondCrashCountsTheFirst) {
  Died died("dp-gd", {{"steps", "40"}}, 6);
  const std::string checkpoint = TempDir::read(died.file());
  Watch again(12);
  died.must(again);
  died.dir.write("run.ckpt", checkpoint);  // as if nothing had been written since
  Watch last;
  const TrainResult result = died.must(last);
  EXPECT_EQ(count_of(result.record.privacy.events), 40);
  EXPECT_LE(result.record.steps, 40 - 4 - 10);
  EXPECT_LE(result.record.privacy.epsilon, 3);
}

TEST(Resume, NoiseThatChangesOverTimeIsPaidByPriceAndNotByCount) {
  // The lost steps had the noise of an early stage: later stages go on while the budget lasts.
  Died died("adp-sgd", {{"steps", "40"}, {"groups", "8"}}, 6);
  Watch again;
  const TrainResult result = died.must(again);
  EXPECT_EQ(result.record.stopped, StopReason::kBudgetSpent);
  EXPECT_GT(result.record.steps, 20) << "not ended with the stage";
  EXPECT_LT(result.record.steps, 40);
  EXPECT_LE(result.record.privacy.epsilon, 3);
  EXPECT_GT(result.record.privacy.epsilon, 2.8);
}

TEST(Resume, AFilterCountsWhatWasLost) {
  const GivenOptions given = {{"steps", "400"}, {"noise", "adaptive"}, {"first_multiplier", "10"}};
  Died died("adp-sgd", given, 6);
  Watch again;
  const TrainResult result = died.must(again);
  EXPECT_EQ(result.record.stopped, StopReason::kBudgetSpent);
  EXPECT_EQ(count_of(result.record.privacy.events), result.record.steps + 4);
  EXPECT_LE(result.record.privacy.epsilon, 3);
}

TEST(Resume, ACleanStopLosesNothing) {
  Trial trial("dp-sgd", {{"steps", "20"}}, std::nullopt);
  trial.checkpoints();
  Watch first(7);
  trial.must(first);
  Watch second;
  const TrainResult result = trial.must(second);
  EXPECT_EQ(result.record.steps, 20);
  EXPECT_EQ(result.record.stopped, StopReason::kPlanComplete);
  EXPECT_EQ(count_of(result.record.privacy.events), 20);
}

TEST(Resume, APausePaysForNoSelection) {
  Trial trial("dp-gd", {{"steps", "10"}, {"output", "best"}, {"candidates", "5"}}, std::nullopt);
  trial.checkpoints();
  Watch first(6);
  const TrainResult paused = trial.must(first);
  EXPECT_EQ(paused.record.privacy.events.find("exponential"), std::string::npos);
  Watch second;
  EXPECT_THAT(trial.must(second).record.privacy.events, HasSubstr("exponential"));
}

TEST(Resume, ARandomNumberOfStepsIsTheOneThatWasDrawn) {
  for (int round = 0; round < 5; ++round) {
    Trial trial("rrpsgd", {{"steps", "1000"}}, std::nullopt);
    trial.checkpoints();
    Watch first(1);
    const auto paused = trial.run(first);
    ASSERT_TRUE(paused) << paused.error().message;
    Watch second(2);
    ASSERT_TRUE(trial.run(second));
  }
}

}  // namespace
}  // namespace sotto
