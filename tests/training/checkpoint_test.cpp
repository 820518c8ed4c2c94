// Runs that are interrupted and continued: with a seed to the same model and ledger, without one to
// a ledger that counts what was lost; and files that don't fit, or are no checkpoints at all.

#include "sotto/training/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <set>

#include "sotto/core/file.hpp"
#include "sotto/training/train.hpp"
#include "tests/support/small_glm.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::SmallGlm;
using testing::TempDir;

constexpr std::int64_t kNever = 1 << 30;

/// Stops after a step, and copies the files there are after another.
class Watch final : public Observer {
 public:
  explicit Watch(std::int64_t stop = kNever) : stop_(stop) {}
  bool keep_going(const StepReport& report) override {
    last = report.step;
    if (at_step) at_step(report.step);
    return report.step < stop_;
  }
  std::int64_t last = 0;
  std::function<void(std::int64_t)> at_step;

 private:
  std::int64_t stop_;
};

struct Trial {
  explicit Trial(std::string method, GivenOptions given = {}, std::optional<std::uint64_t> seed = 7)
      : small(LossKind::kLogistic, 15), problem(small.facts().problem) {
    options.method = std::move(method);
    options.options = std::move(given);
    options.seed = seed;
    options.delta = 1e-5;
    if ((*find_method(options.method))->is_private) options.noise_multiplier = 2;
    for (const auto& [name, value] : options.options)
      if (value == "adaptive") with_budget();
    if (!seed) with_budget();
    options.journal_path = dir.file("m.journal");
  }
  void with_budget() {
    options.noise_multiplier.reset();
    options.epsilon = 3;
  }
  void checkpoints(std::int64_t every = kNever) {
    options.checkpoint.path = file();
    options.checkpoint.every = every;
    options.checkpoint.resume = true;
  }
  std::string file() const { return dir.file("run.ckpt"); }

  Expected<TrainResult> run(Observer& observer) const {
    SOTTO_ASSIGN(PreparedRun prepared, prepare(problem, options));
    return train(small.engine(), problem, options, std::move(prepared), observer);
  }
  TrainResult must(Observer& observer) const {
    auto result = run(observer);
    EXPECT_TRUE(result) << result.error().message;
    return result ? *std::move(result) : TrainResult{};
  }

  TempDir dir;
  SmallGlm small;
  PublicProblem problem;
  TrainOptions options;
};

void expect_same(const TrainResult& a, const TrainResult& b, const std::string& what) {
  ASSERT_EQ(a.w.size(), b.w.size()) << what;
  EXPECT_EQ(a.w, b.w) << what << ": not the same to the last bit";
  EXPECT_EQ(a.record.steps, b.record.steps) << what;
  EXPECT_EQ(a.record.stopped, b.record.stopped) << what;
  EXPECT_EQ(a.record.privacy.events, b.record.privacy.events) << what;
  EXPECT_EQ(a.record.privacy.epsilon, b.record.privacy.epsilon) << what;
  EXPECT_EQ(a.record.privacy.noise_samples, b.record.privacy.noise_samples) << what;
  EXPECT_EQ(a.record.plan, b.record.plan) << what;
  EXPECT_EQ(a.record.passes, b.record.passes) << what;
  EXPECT_EQ(a.record.gradient_evaluations, b.record.gradient_evaluations) << what;
  ASSERT_EQ(a.record.drawn.size(), b.record.drawn.size()) << what;
  for (std::size_t k = 0; k < a.record.drawn.size(); ++k)
    EXPECT_EQ(a.record.drawn[k].count, b.record.drawn[k].count) << what;
  ASSERT_EQ(a.record.trace.size(), b.record.trace.size()) << what;
  for (std::size_t k = 0; k < a.record.trace.size(); ++k) {
    EXPECT_EQ(a.record.trace[k].step, b.record.trace[k].step) << what;
    EXPECT_EQ(a.record.trace[k].gradient_norm, b.record.trace[k].gradient_norm) << what;
  }
  ASSERT_EQ(a.record.spending.size(), b.record.spending.size()) << what;
  for (std::size_t k = 0; k < a.record.spending.size(); ++k)
    EXPECT_EQ(to_string(to_event(a.record.spending[k].events)),
              to_string(to_event(b.record.spending[k].events)))
        << what;
}

struct Case {
  std::string method;
  GivenOptions given;
};

class SeededResume : public ::testing::TestWithParam<Case> {};

TEST_P(SeededResume, AfterEveryStepGivesTheSameModelAndLedger) {
  const auto& [method, given] = GetParam();
  Watch watch;
  const TrainResult whole = Trial(method, given).must(watch);
  const std::int64_t T = whole.record.steps;
  ASSERT_GE(T, 2);
  // auto makes hundreds of steps and is one of the others.
  for (std::int64_t stop = 1; stop <= T; stop += std::max<std::int64_t>(1, T / 40)) {
    Trial trial(method, given);
    trial.checkpoints();
    Watch first(stop);
    trial.must(first);
    ASSERT_TRUE(fs::exists(trial.file()));
    Watch second;
    const TrainResult result = trial.must(second);
    expect_same(result, whole, method + " stopped after step " + std::to_string(stop));
  }
}

TEST_P(SeededResume, InterruptedAfterEverySingleStep) {
  const auto& [method, given] = GetParam();
  Watch watch;
  const TrainResult whole = Trial(method, given).must(watch);
  Trial trial(method, given);
  trial.checkpoints();
  for (std::int64_t stop = 1; stop <= std::min<std::int64_t>(40, whole.record.steps); ++stop) {
    Watch next(stop);
    trial.must(next);
    ASSERT_EQ(next.last, stop);
  }
  Watch last;
  expect_same(trial.must(last), whole, method);
}

TEST_P(SeededResume, ACrashLosesNothingButTime) {
  const auto& [method, given] = GetParam();
  Watch watch;
  const TrainResult whole = Trial(method, given).must(watch);
  Trial trial(method, given);
  trial.checkpoints(2);
  // The files of a run that dies after its third step, one step after its last checkpoint.
  Watch dying;
  dying.at_step = [&](std::int64_t step) {
    if (step != 3) return;
    fs::copy_file(trial.file(), trial.dir.file("kept.ckpt"));
    if (fs::exists(trial.options.journal_path))
      fs::copy_file(trial.options.journal_path, trial.dir.file("kept.journal"));
  };
  trial.must(dying);
  if (whole.record.steps < 3) return;
  constexpr auto kOver = fs::copy_options::overwrite_existing;
  fs::copy_file(trial.dir.file("kept.ckpt"), trial.file(), kOver);
  if (fs::exists(trial.options.journal_path))
    fs::copy_file(trial.dir.file("kept.journal"), trial.options.journal_path, kOver);
  Watch again;
  expect_same(trial.must(again), whole, method);
}

INSTANTIATE_TEST_SUITE_P(
    AllMethods,
    SeededResume,
    ::testing::Values(
        Case{"dp-gd", {{"steps", "6"}}},
        Case{"dp-gd", {{"steps", "6"}, {"output", "best"}, {"candidates", "3"}}},
        Case{"dp-gd", {{"steps", "6"}, {"average", "0.5"}, {"momentum", "0"}}},
        Case{"dp-gd", {{"steps", "9"}, {"output", "random"}, {"drawn_steps", "5"}}},
        Case{"gd", {{"steps", "5"}}},
        Case{"dp-sgd", {{"steps", "6"}, {"expected_batch", "20"}}},
        Case{"dp-sgd", {{"steps", "6"}, {"expected_batch", "20"}, {"update", "adam"}}},
        Case{"dp-sgd", {{"steps", "6"}, {"expected_batch", "20"}, {"update", "adam_bc"}}},
        Case{"dp-sgd", {{"steps", "6"}, {"expected_batch", "20"}, {"clip_quantile", "0.5"}}},
        Case{"dp-sgd", {{"steps", "6"}, {"expected_batch", "20"}, {"sampling", "fixed_size"}}},
        Case{"sgd", {{"steps", "6"}, {"expected_batch", "20"}}},
        Case{"rrpsgd", {{"steps", "9"}, {"expected_batch", "20"}, {"drawn_steps", "6"}}},
        Case{"dp-srm", {{"steps", "6"}, {"expected_batch", "20"}}},
        Case{"dp-srm",
             {{"steps", "6"},
              {"expected_batch", "20"},
              {"step_rule", "theory"},
              {"output", "best"}}},
        Case{"private-spiderboost", {{"steps", "7"}, {"phase", "3"}, {"expected_batch", "20"}}},
        Case{"adp-sgd", {{"steps", "6"}, {"groups", "3"}, {"expected_batch", "20"}}},
        Case{"adp-sgd",
             {{"steps", "6"},
              {"expected_batch", "20"},
              {"step_rule", "adagrad"},
              {"average", "0.5"}}},
        // Ends when its filter does, so that the filter's state matters to the last bit.
        Case{"adp-sgd",
             {{"steps", "40"},
              {"expected_batch", "30"},
              {"noise", "adaptive"},
              {"step_rule", "adagrad"},
              {"first_multiplier", "2"}}},
        Case{"storm", {{"steps", "6"}, {"expected_batch", "20"}}},
        Case{"auto", {}}),
    [](const auto& test) {
      std::string name = test.param.method + "_" + std::to_string(test.index);
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(Checkpoint, EveryMethodThatSaysSoIsTestedHere) {
  const std::set<std::string> tested = {"dp-gd",
                                        "gd",
                                        "dp-sgd",
                                        "sgd",
                                        "rrpsgd",
                                        "dp-srm",
                                        "storm",
                                        "auto",
                                        "adp-sgd",
                                        "private-spiderboost"};
  for (const auto& method : methods())
    EXPECT_EQ(method.resumable, tested.contains(method.name)) << method.name;
}

TEST(Checkpoint, MethodsThatCantAreRefusedWithTheListOfThoseThatCan) {
  Trial trial("dp-agd");
  trial.checkpoints();
  Watch watch;
  const auto result = trial.run(watch);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(result.error().message, HasSubstr("dp-sgd"));
  EXPECT_FALSE(fs::exists(trial.options.journal_path)) << "nothing was spent";
}

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
    const auto before = find_run(died.options.journal_path, read_checkpoint(died.file())->run);
    ASSERT_TRUE(before) << before.error().message;
    const std::int64_t charged =
        count_of(to_string(to_event(*canonical(Event::compose(before->charged)))));
    ASSERT_GE(charged, 6) << "four of them, at least, are lost";
    Watch again;
    const TrainResult result = died.must(again);
    EXPECT_EQ(result.record.stopped, "budget spent") << method;
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
  EXPECT_EQ(result.record.stopped, "budget spent");
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
  EXPECT_EQ(result.record.stopped, "budget spent");
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
  EXPECT_EQ(result.record.stopped, "plan complete");
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

TEST(Checkpoint, ASecureRunWritesReleasedAndPublicPartsOnly) {
  Trial trial("dp-sgd", {{"steps", "6"}, {"update", "adam"}}, std::nullopt);
  trial.checkpoints();
  Watch first(4);
  trial.must(first);
  const Checkpoint secure = *read_checkpoint(trial.file());
  // The list of checkpoint.proof.md, in the file's order.
  StateReader reader(secure.state, 3);
  std::int64_t integer = 0;
  double number = 0;
  Vector vector;
  std::vector<double> numbers;
  std::vector<std::string> texts;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const char* name : {"step", "iterate", "direction.first moment", "direction.second moment"})
    std::string(name) == "step" ? reader(name, integer, 0, kMost) : reader(name, vector);
  reader("direction.count", integer, 0, kMost)("clip radius", number, 0, 1e300);
  reader("output.average.seen", integer, 0, kMost)("output.average.averaged", integer, 0, kMost);
  reader("output.average.value", vector)("output.seen", integer, 0, kMost);
  reader("oracle.evaluations", number, 0, 1e300)("oracle.visits", number, 0, 1e300);
  reader("oracle.batches.drawn.count", integer, 1, 1);
  reader("oracle.batches.drawn.0.kind", integer, 0, 2);
  reader("oracle.batches.drawn.0.rate", number, 0, 1);
  for (const char* name : {"batch", "population", "count"})
    reader(std::string("oracle.batches.drawn.0.") + name, integer, 0, kMost);
  reader("trace.seconds", number, 0, 1e300)("trace.trace every", integer, 1, kMost);
  reader("trace.trace", numbers, 10'000)("trace.spending every", integer, 1, kMost);
  reader("trace.spending", numbers, 10'000)("trace.spent", texts, 100);
  const auto all = reader.finish();
  EXPECT_TRUE(all) << all.error().message;
  EXPECT_EQ(secure.state.find("position"), std::string::npos);

  // What would be found: a seeded run's places in its streams.
  Trial seeded("dp-sgd", {{"steps", "6"}, {"update", "adam"}});
  seeded.checkpoints();
  Watch again(4);
  seeded.must(again);
  EXPECT_NE(read_checkpoint(seeded.file())->state.find("position"), std::string::npos);
}

struct Mismatch {
  const char* name;
  std::function<void(Trial&)> change;
  const char* says;
};

/// What the journal says was released, run by run.
std::vector<std::pair<std::string, std::int64_t>> charges_in(const std::string& journal) {
  std::vector<std::pair<std::string, std::int64_t>> charges;
  const auto runs = read_journal(journal);
  for (const JournalRun& run : runs.value())
    charges.emplace_back(to_string(to_event(*canonical(Event::compose(run.charged)))), run.samples);
  return charges;
}

class Mismatched : public ::testing::TestWithParam<Mismatch> {};

TEST_P(Mismatched, IsRefusedWithTheReason) {
  Trial trial("dp-sgd", {{"steps", "6"}, {"expected_batch", "20"}});
  trial.options.checkpoint.facts = {{"the network", "abc"}};
  trial.with_budget();
  trial.options.accountant = "rdp";
  trial.checkpoints();
  Watch first(3);
  trial.must(first);
  const auto before = charges_in(trial.options.journal_path);
  GetParam().change(trial);
  Watch second;
  const auto result = trial.run(second);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr(GetParam().says));
  EXPECT_EQ(second.last, 0) << "no step was made";
  if (fs::exists(trial.options.journal_path) && trial.options.seed) {
    EXPECT_EQ(charges_in(trial.options.journal_path), before) << "nothing was charged";
  }
}

void change_option(Trial& trial, const std::string& name, const std::string& value) {
  for (auto& [each, text] : trial.options.options)
    if (each == name) text = value;
}

void change_file(Trial& trial, const std::function<void(Checkpoint&)>& change) {
  Checkpoint checkpoint = *read_checkpoint(trial.file());
  change(checkpoint);
  ASSERT_TRUE(write_checkpoint(checkpoint, trial.file()));
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    Mismatched,
    ::testing::Values(
        Mismatch{"method",
                 [](Trial& s) {
                   s.options.method = "sgd";
                   s.options.epsilon.reset();
                 },
                 "--method was dp-sgd, but is sgd"},
        Mismatch{"steps", [](Trial& s) { change_option(s, "steps", "7"); }, "--steps was 6"},
        Mismatch{"batch", [](Trial& s) { change_option(s, "expected_batch", "21"); }, "batch was"},
        Mismatch{"epsilon", [](Trial& s) { s.options.epsilon = 4; }, "--epsilon was 3, but is 4"},
        Mismatch{"delta", [](Trial& s) { s.options.delta = 1e-6; }, "--delta"},
        Mismatch{"seed", [](Trial& s) { s.options.seed = 8; }, "--seed was 7, but is 8"},
        Mismatch{"no_seed", [](Trial& s) { s.options.seed.reset(); }, "--seed was 7, but is none"},
        Mismatch{"accountant", [](Trial& s) { s.options.accountant = "pld"; }, "--accountant"},
        Mismatch{"n", [](Trial& s) { s.problem.n = 61; }, "the number of units was 60"},
        Mismatch{"dimension", [](Trial& s) { s.problem.dimension = 4; }, "parameters was 3"},
        Mismatch{"row_norm", [](Trial& s) { s.problem.row_norm = 3; }, "--row-norm was 2.3"},
        Mismatch{
            "loss", [](Trial& s) { s.problem.loss = loss_info({LossKind::kSquared}); }, "the loss"},
        Mismatch{"regularizer",
                 [](Trial& s) { s.problem.regularizer = Regularizer(RegularizerKind::kL2, 0.2); },
                 "--regularizer"},
        Mismatch{"relation",
                 [](Trial& s) { s.problem.relation = Relation::kReplaceOne; },
                 "--neighbours was zero-out, but is replace-one"},
        Mismatch{"unit", [](Trial& s) { s.options.unit = "person"; }, "unit of privacy"},
        Mismatch{"start", [](Trial& s) { s.problem.start = Vector::Ones(3); }, "the start"},
        Mismatch{"network",
                 [](Trial& s) {
                   s.options.checkpoint.facts = {{"the network", "abd"}};
                 },
                 "the network was abc, but is abd"},
        Mismatch{"more_facts",
                 [](Trial& s) { s.options.checkpoint.facts.emplace_back("more", "x"); },
                 "knows no more"},
        Mismatch{"fewer_facts",
                 [](Trial& s) { s.options.checkpoint.facts.clear(); },
                 "also knows the network"},
        Mismatch{
            "version",
            [](Trial& s) { change_file(s, [](Checkpoint& c) { c.facts[0].second = "0.0.1"; }); },
            "version of Sotto was 0.0.1"},
        Mismatch{"other_ledger",
                 [](Trial& s) {
                   change_file(s, [](Checkpoint& c) { c.spent = "repeat(3, gaussian(1.5))"; });
                 },
                 "does not fit the ledger"},
        Mismatch{"too_much_spent",
                 [](Trial& s) {
                   change_file(s, [](Checkpoint& c) { c.spent = "repeat(4, " + c.spent + ")"; });
                 },
                 "does not fit the ledger"},
        Mismatch{"other_run",
                 [](Trial& s) { change_file(s, [](Checkpoint& c) { c.run = "somebody else"; }); },
                 "does not hold the run"},
        Mismatch{"no_journal", [](Trial& s) { fs::remove(s.options.journal_path); }, "journal"},
        Mismatch{"other_state",
                 [](Trial& s) { change_file(s, [](Checkpoint& c) { c.state.pop_back(); }); },
                 "can't be continued"},
        Mismatch{"more_state",
                 [](Trial& s) { change_file(s, [](Checkpoint& c) { c.state += "x"; }); },
                 "more than this method's state"},
        Mismatch{
            "no_resume", [](Trial& s) { s.options.checkpoint.resume = false; }, "Add --resume"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Checkpoint, WithoutASeedTheJournalIsNeeded) {
  Trial trial("dp-gd", {{"steps", "6"}}, std::nullopt);
  trial.checkpoints();
  Watch first(3);
  trial.must(first);
  trial.options.journal_path.clear();
  Watch second;
  const auto result = trial.run(second);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("journal"));
}

TEST(Checkpoint, CutAndDamagedFilesAreRefused) {
  Trial trial("dp-gd", {{"steps", "6"}});
  trial.checkpoints();
  Watch first(3);
  trial.must(first);
  const std::string good = TempDir::read(trial.file());
  ASSERT_TRUE(read_checkpoint(trial.file()));
  std::mt19937_64 random(1);
  for (std::size_t size = 0; size < good.size(); size += 1 + size / 10) {
    trial.dir.write("run.ckpt", good.substr(0, size));
    const auto cut = read_checkpoint(trial.file());
    ASSERT_FALSE(cut) << size;
    EXPECT_EQ(cut.error().kind, ErrorKind::kBadData);
  }
  for (int round = 0; round < 100; ++round) {
    std::string bad = good;
    bad[random() % bad.size()] ^= static_cast<char>(1 + random() % 255);
    trial.dir.write("run.ckpt", bad);
    ASSERT_FALSE(read_checkpoint(trial.file())) << round;
  }
}

/// Files with a right checksum and anything inside: an error or a run that goes on, never a crash.
TEST(Checkpoint, InventedStatesNeverCrash) {
  for (const char* method : {"dp-sgd", "dp-srm", "adp-sgd"}) {
    Trial trial(method, {{"steps", "6"}, {"expected_batch", "20"}});
    trial.checkpoints();
    Watch first(3);
    trial.must(first);
    const Checkpoint good = *read_checkpoint(trial.file());
    trial.options.journal_path.clear();  // no waiting for the disk
    std::mt19937_64 random(2);
    int refused = 0;
    constexpr int kTrials = 60;
    for (int round = 0; round < kTrials; ++round) {
      Checkpoint bad = good;
      const auto changes = 1 + random() % 4;
      for (std::size_t k = 0; k < changes && !bad.state.empty(); ++k) {
        const std::size_t at = random() % bad.state.size();
        switch (random() % 4) {
          case 0:
            bad.state[at] = static_cast<char>(random());
            break;
          case 1:
            bad.state.erase(at, 1 + random() % 9);
            break;
          case 2:
            bad.state.insert(at, std::string(1 + random() % 9, static_cast<char>(random())));
            break;
          default:
            for (std::size_t j = at; j < std::min(at + 8, bad.state.size()); ++j)
              bad.state[j] = static_cast<char>(random() % 2 == 0 ? 0xff : 0x7f);
        }
      }
      ASSERT_TRUE(write_checkpoint(bad, trial.file()));
      Watch second;
      const auto result = trial.run(second);
      refused += !result;
    }
    EXPECT_GT(refused, kTrials / 10) << method;
  }
}

TEST(Checkpoint, HeadersOfAnyKindNeverCrash) {
  Trial trial("dp-gd", {{"steps", "6"}});
  trial.checkpoints();
  Watch first(3);
  trial.must(first);
  const Checkpoint good = *read_checkpoint(trial.file());
  for (const auto& change : std::vector<std::function<void(Checkpoint&)>>{
           [](Checkpoint& c) { c.step = 0; },
           [](Checkpoint& c) { c.step = -3; },
           [](Checkpoint& c) { c.step = c.steps + 1; },
           [](Checkpoint& c) { c.coin = 1; },
           [](Checkpoint& c) { c.coin = -1; },
           [](Checkpoint& c) { c.coin = std::nan(""); },
           [](Checkpoint& c) { c.spent.clear(); },
           [](Checkpoint& c) { c.spent = "repeat("; },
           [](Checkpoint& c) { c.spent = "repeat(99999999999, gaussian(1))"; },
           [](Checkpoint& c) { c.samples = -1; },
           [](Checkpoint& c) { c.state.clear(); },
           [](Checkpoint& c) { c.facts.clear(); },
           [](Checkpoint& c) { c.run = std::string("\0\n\"", 3); }}) {
    Checkpoint bad = good;
    change(bad);
    ASSERT_TRUE(write_checkpoint(bad, trial.file()));
    Watch second;
    EXPECT_FALSE(trial.run(second));
  }
}

TEST(Checkpoint, AnUnwritablePathCostsNothing) {
  Trial trial("dp-gd", {{"steps", "6"}});
  trial.checkpoints();
  trial.options.checkpoint.path = "/nonexistent/run.ckpt";
  Watch watch;
  const auto result = trial.run(watch);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::kIo);
  EXPECT_FALSE(fs::exists(trial.options.journal_path));
}

TEST(Checkpoint, EveryNStepsAndNotOtherwise) {
  Trial trial("dp-gd", {{"steps", "10"}});
  trial.checkpoints(4);
  std::vector<std::int64_t> seen;
  Watch watch;
  watch.at_step = [&](std::int64_t) {
    if (!fs::exists(trial.file())) return;
    const std::int64_t step = read_checkpoint(trial.file())->step;
    if (seen.empty() || seen.back() != step) seen.push_back(step);
  };
  trial.must(watch);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{4, 8}));
}

}  // namespace
}  // namespace sotto
