// Journals that lost what a model knows, names of seeded runs, and checkpoints of two runs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "sotto/model/model.hpp"
#include "tests/support/child.hpp"
#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Words train(const TempDir& dir, const std::string& model, const Words& more) {
  return short_training(dir, "--quiet" + more, model);
}

void cut_last_line(const std::string& path) {
  std::string text = TempDir::read(path);
  text.resize(text.rfind('\n', text.size() - 2) + 1);
  std::ofstream(path, std::ios::binary) << text;
}

TEST(LostLines, ARunDoesNotStartBesideAModelThatKnowsThem) {
  for (const char* how : {"cut", "removed", "another"}) {
    const TempDir dir;
    const auto words = train(dir, "m.json", {"--steps 3"});
    ASSERT_EQ(sotto(words).code, 0);
    const std::string journal = dir.file("m.json.journal");
    if (how == std::string("removed")) fs::remove(journal);
    if (how == std::string("another")) {
      ASSERT_EQ(sotto(train(dir, "n.json", {"--steps 3"})).code, 0);
      fs::copy_file(dir.file("n.json.journal"), journal, fs::copy_options::overwrite_existing);
    }
    if (how == std::string("cut"))
      for (int k = 0; k < 2; ++k) cut_last_line(journal);  // the end of the run, and a charge
    const std::string before = TempDir::read(journal);
    const auto again = sotto(words);
    EXPECT_EQ(again.code, 3) << how << again.err;
    EXPECT_THAT(again.err, HasSubstr("Nothing was released. Put the journal back.")) << how;
    EXPECT_EQ(fs::exists(journal) ? TempDir::read(journal) : "", before) << how;
  }
}

TEST(LostLines, NorIsAModelAuditedInOneRunWithoutThem) {
  const TempDir dir;
  ASSERT_EQ(sotto(train(dir, "m.json", {"--steps 3"})).code, 0);
  const std::string journal = dir.file("m.json.journal");
  const auto audit = [&] {
    return sotto(
        {"audit --one-run --canaries 10 --epsilon 2 --delta 1e-4 --row-norm 1 --dim 2 "
         "--quiet --journal",
         journal,
         dir.write("rows.svm", small_libsvm())});
  };
  ASSERT_EQ(audit().code, 0);
  std::string text = TempDir::read(journal);
  text.resize(text.find('\n') + 1);
  std::ofstream(journal, std::ios::binary) << text;
  const auto again = audit();
  EXPECT_EQ(again.code, 3) << again.err;
  EXPECT_THAT(again.err, HasSubstr("does not hold line"));
}

TEST(LostLines, NorBesideARecordOfTheSameModel) {
  const TempDir dir;
  const auto words = train(dir, "m.json", {"--steps 3 --record", dir.file("r.json")});
  ASSERT_EQ(sotto(words).code, 0);
  fs::remove(dir.file("m.json.journal"));
  fs::remove(dir.file("m.json"));
  EXPECT_EQ(sotto(words).code, 3);
  // Nor under another spelling of its path.
  auto spelled = words;
  spelled.back() = dir.file("./m.json");
  EXPECT_EQ(sotto(spelled).code, 3);
  // Another model has a journal of its own.
  const auto other = train(dir, "n.json", {"--steps 3 --record", dir.file("r.json")});
  EXPECT_EQ(sotto(other).code, 0);
}

TEST(LostLines, AModelOfTheSameNameElsewhereHasItsOwnJournal) {
  const TempDir dir;
  fs::create_directories(dir.file("a"));
  fs::create_directories(dir.file("b"));
  for (const char* model : {"a/m.json", "b/m.json"})
    EXPECT_EQ(sotto(train(dir, model, {"--steps 3 --record", dir.file("r.json")})).code, 0);
  // Unless the record's run is in no journal.
  fs::remove(dir.file("b/m.json.journal"));
  EXPECT_EQ(sotto(train(dir, "a/m.json", {"--again --steps 3 --record", dir.file("r.json")})).code,
            3);
}

TEST(LostLines, AModelWithoutAPlaceIsReplaced) {
  const TempDir dir;
  const auto words = train(dir, "m.json", {"--steps 3"});
  ASSERT_EQ(sotto(words).code, 0);
  fs::remove(dir.file("m.json.journal"));
  auto model = nlohmann::json::parse(TempDir::read(dir.file("m.json")));
  model["privacy"].erase("journal");  // as version 0.1 wrote it
  dir.write("m.json", model.dump());
  EXPECT_EQ(sotto(words + "--overwrite").code, 0);
  dir.write("other.json", "not a model");
  EXPECT_EQ(sotto(train(dir, "other.json", {"--overwrite --steps 3"})).code, 0);
}

std::string name_of(const TempDir& dir, const std::string& model) {
  return load_model(dir.file(model))->privacy.journal->run;
}

TEST(SeededRuns, HaveNamesOfTheirOwn) {
  const TempDir dir;
  const std::vector<Words> runs = {{"--steps 3 --seed 1"},
                                   {"--steps 3 --seed 2"},
                                   {"--steps 4 --seed 1"},
                                   {"--steps 3 --seed 1 --step-size 0.25"}};
  std::set<std::string> names;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const std::string model = "m" + std::to_string(k);
    ASSERT_EQ(sotto(train(dir, model, runs[k])).code, 0);
    names.insert(name_of(dir, model));
  }
  EXPECT_EQ(names.size(), runs.size());
  ASSERT_EQ(sotto(train(dir, "again", runs[0])).code, 0);
  EXPECT_EQ(TempDir::read(dir.file("again")), TempDir::read(dir.file("m0")));
  EXPECT_EQ(TempDir::read(dir.file("again.journal")), TempDir::read(dir.file("m0.journal")));
}

/// Both begin when the file is not there, and the first one writes it. `steps`: of the second one,
/// which would write a state only at its end; stopped by a signal if `stops`.
void two_runs_with_one_checkpoint(const std::string& steps, bool stops) {
  const TempDir dir;
  const std::string state = dir.file("c");
  const auto words = [&](const char* model, const std::string& count, const char* every) {
    return std::string(SOTTO_BINARY) +
           train(dir, model, {"--steps", count, "--checkpoint", state, "--every", every});
  };
  const pid_t second = started(words("second", steps, "100000000"), dir.file("err"));
  // Stopped before its first charge it would have no state to keep.
  ASSERT_TRUE(wait_until([&] {
    return TempDir::read(dir.file("second.journal")).find("\"charge\"") != std::string::npos;
  }));
  ::kill(second, SIGSTOP);
  const pid_t first = started(words("first", "2000000", "50"), "/dev/null");
  ASSERT_TRUE(wait_for_file(state));
  ::kill(first, SIGTERM);
  ASSERT_EQ(ended(first), 130);
  const std::string left = TempDir::read(state);
  ASSERT_FALSE(left.empty());

  if (stops) ::kill(second, SIGTERM);
  ::kill(second, SIGCONT);
  EXPECT_EQ(ended(second), stops ? 6 : 0) << TempDir::read(dir.file("err"));
  EXPECT_EQ(TempDir::read(state), left) << "neither overwritten nor removed";
  if (stops) {
    EXPECT_THAT(TempDir::read(dir.file("err")), HasSubstr("another run's"));
  }
}

/// The first run begins and is held; the second one writes its outputs; then the first one ends.
/// `there`: files of these names were there before both.
void two_runs_with_one_record(bool there) {
  const TempDir dir;
  const Words outputs = {
      "--record", dir.file("r.json"), "--report", dir.file("r.html"), "--plot", dir.file("r.svg")};
  const auto words = [&](const char* model, const std::string& steps) {
    return std::string(SOTTO_BINARY) + train(dir, model, {"--steps", steps}) + outputs;
  };
  const std::string drawer =
      made_up_program(dir, "gnuplot", "cat >/dev/null; echo '<svg></svg>'");  // of any machine
  ASSERT_EQ(::setenv("PATH", (drawer + ":" + std::getenv("PATH")).c_str(), 1), 0);
  if (there)
    for (const char* name : {"r.json", "r.html", "r.svg"}) dir.write(name, "{}");
  const pid_t first = started(words("first", "20000"), dir.file("err"));
  ASSERT_TRUE(wait_for_file(dir.file("first.journal")));
  ::kill(first, SIGSTOP);
  ASSERT_EQ(ended(started(words("second", "3"), dir.file("err2"))), 0)
      << TempDir::read(dir.file("err2"));
  std::map<std::string, std::string> of_second;
  for (const char* name : {"r.json", "r.html", "r.svg"})
    of_second[name] = TempDir::read(dir.file(name));
  ::kill(first, SIGCONT);
  EXPECT_EQ(ended(first), 6);
  const std::string said = TempDir::read(dir.file("err"));
  EXPECT_THAT(said, HasSubstr("the model is written to"));
  EXPECT_THAT(said, HasSubstr("was written by another run"));
  EXPECT_TRUE(load_model(dir.file("first")));
  for (const auto& [name, text] : of_second) {
    EXPECT_EQ(TempDir::read(dir.file(name)), text) << name << " is the second run's";
    int others = 0;
    for (const auto& entry : fs::directory_iterator(dir.file("")))
      others += entry.path().extension() == fs::path(name).extension() &&
                entry.path().filename().string().starts_with("r-");
    EXPECT_EQ(others, 1) << name << " of the first run is kept beside it";
  }
}

TEST(TwoRuns, OneDoesNotOverwriteTheOthersRecord) { two_runs_with_one_record(false); }

TEST(TwoRuns, NorWhereAnOlderOneWas) { two_runs_with_one_record(true); }

// What was there before the run began is replaced, as ever; and what was removed meanwhile.
TEST(TwoRuns, OneAfterTheOtherReplacesItsRecord) {
  const TempDir dir;
  std::string before;
  for (const char* steps : {"3", "4"}) {
    const auto words =
        train(dir, "m.json", {"--again --steps", steps, "--record", dir.file("r.json")});
    const auto run = sotto(words);
    EXPECT_EQ(run.code, 0) << run.err;
    const std::string now = TempDir::read(dir.file("r.json"));
    EXPECT_NE(now, before);
    before = now;
  }
}

TEST(TwoRuns, OneDoesNotOverwriteTheOthersCheckpoint) {
  two_runs_with_one_checkpoint("2000000", true);
}

TEST(TwoRuns, NorRemovesItAtItsEnd) { two_runs_with_one_checkpoint("20000", false); }

}  // namespace
}  // namespace sotto::testing
