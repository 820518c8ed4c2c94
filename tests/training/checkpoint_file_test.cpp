// Checkpoint files that don't belong to the run, are damaged, or can't be written.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <utility>
#include <vector>

#include "sotto/core/file.hpp"
#include "sotto/privacy/journal.hpp"
#include "sotto/training/checkpoint.hpp"
#include "sotto/training/train.hpp"
#include "tests/support/checkpoint_trial.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::TempDir;
using testing::Trial;
using testing::Watch;

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
                 "‘method’ was dp-sgd, but is sgd"},
        Mismatch{"steps", [](Trial& s) { change_option(s, "steps", "7"); }, "‘steps’ was 6"},
        Mismatch{"batch",
                 [](Trial& s) { change_option(s, "expected_batch", "21"); },
                 "expected_batch’ was"},
        Mismatch{"epsilon", [](Trial& s) { s.options.epsilon = 4; }, "‘epsilon’ was 3, but is 4"},
        Mismatch{"delta", [](Trial& s) { s.options.delta = 1e-6; }, "‘delta’"},
        Mismatch{"seed", [](Trial& s) { s.options.seed = 8; }, "‘seed’ was 7, but is 8"},
        Mismatch{"no_seed", [](Trial& s) { s.options.seed.reset(); }, "‘seed’ was 7, but is none"},
        Mismatch{"accountant", [](Trial& s) { s.options.accountant = "pld"; }, "‘accountant’"},
        Mismatch{"n", [](Trial& s) { s.problem.n = 61; }, "the number of units was 60"},
        Mismatch{"dimension", [](Trial& s) { s.problem.dimension = 4; }, "parameters was 3"},
        Mismatch{"row_norm", [](Trial& s) { s.problem.row_norm = 3; }, "‘row_norm’ was 2.3"},
        Mismatch{
            "loss", [](Trial& s) { s.problem.loss = loss_info({LossKind::kSquared}); }, "the loss"},
        Mismatch{"regularizer",
                 [](Trial& s) { s.problem.regularizer = Regularizer(RegularizerKind::kL2, 0.2); },
                 "‘regularizer’"},
        Mismatch{"relation",
                 [](Trial& s) { s.problem.relation = Relation::kReplaceOne; },
                 "‘neighbours’ was zero-out, but is replace-one"},
        Mismatch{"unit", [](Trial& s) { s.options.unit = "person"; }, "unit of privacy"},
        Mismatch{"start", [](Trial& s) { s.problem.start = Vector::Ones(3); }, "the start"},
        Mismatch{"network",
                 [](Trial& s) {
                   s.options.checkpoint.facts = {{"the network", "abd"}};
                 },
                 "the network was abc, but is abd"},
        Mismatch{"more_facts",
                 [](Trial& s) { s.options.checkpoint.facts.emplace_back("more", "x"); },
                 "it was started without more"},
        Mismatch{"fewer_facts",
                 [](Trial& s) { s.options.checkpoint.facts.clear(); },
                 "it was started with the network"},
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
            "no_resume", [](Trial& s) { s.options.checkpoint.resume = false; }, "Add ‘resume’"}),
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
