// What is there already: neither a model nor a budget is lost by training twice.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/child.hpp"
#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ExistingFiles : public ::testing::Test {
 protected:
  CommandResult train(const Words& more, const std::string& model = "model.json") const {
    return sotto("train --delta 1e-5 --dim 2 --row-norm 1" + more +
                 Words{dir_.file("rows.svm"), dir_.file(model)});
  }
  std::string model() const { return TempDir::read(dir_.file("model.json")); }
  std::string journal() const { return TempDir::read(dir_.file("model.json.journal")); }

  TempDir dir_;
  std::string rows_ = dir_.write("rows.svm", small_libsvm());
};

TEST_F(ExistingFiles, AModelIsKeptUnlessItMayBeReplaced) {
  ASSERT_EQ(train({"--method gd --steps 5"}).code, 0);
  const std::string before = model();
  fs::remove(rows_);
  const auto refused = train({"--method gd --steps 20"});
  EXPECT_EQ(refused.code, 2) << "before the rows are opened";
  EXPECT_THAT(refused.err, AllOf(HasSubstr("model.json exists"), HasSubstr("give --overwrite")));
  EXPECT_EQ(model(), before);
  dir_.write("rows.svm", small_libsvm());
  EXPECT_EQ(train({"--method gd --steps 20 --overwrite"}).code, 0);
  EXPECT_NE(model(), before);
}

// Neither by a run that is resumed: another one may have written it in the meantime, or MODEL is
// mistyped.
TEST_F(ExistingFiles, AModelIsKeptFromRunsThatAreResumed) {
  const std::string state = dir_.file("c");
  const Words resumed = {"--method gd --steps 90000000 --every 1000 --resume --checkpoint", state};
  const pid_t child =
      started(Words{std::string(SOTTO_BINARY), "train --delta 1e-5 --dim 2 --row-norm 1 -q"} +
              resumed + Words{rows_, dir_.file("free.json")});
  ASSERT_TRUE(wait_for_file(state));
  ::kill(child, SIGTERM);
  ASSERT_EQ(ended(child), 130);
  ASSERT_EQ(train({"--epsilon 1"}).code, 0);
  const std::string paid = model();
  const auto refused = train(resumed);
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("give --overwrite"));
  EXPECT_EQ(model(), paid);
  EXPECT_TRUE(fs::exists(state));
}

TEST_F(ExistingFiles, WhateverItIs) {
  dir_.write("model.json", "a letter");
  EXPECT_EQ(train({"--epsilon 1"}).code, 2);
  EXPECT_EQ(model(), "a letter");
  EXPECT_FALSE(fs::exists(dir_.file("model.json.journal"))) << "nothing is charged";
  EXPECT_EQ(train({"--epsilon 1 --overwrite"}).code, 0);
}

TEST_F(ExistingFiles, ARunThatTheJournalHoldsIsPaidForAgainOnlyIfAsked) {
  ASSERT_EQ(train({"--epsilon 1"}).code, 0);
  const std::string paid = journal(), first = model();
  fs::remove(rows_);
  for (const Words& more : {Words{"--epsilon 1"}, Words{"--epsilon 1 --overwrite"}}) {
    const auto refused = train(more);
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err,
                AllOf(HasSubstr("model.json.journal already holds a run, epsilon 1 at delta 1e-05"),
                      HasSubstr("give --again")));
  }
  EXPECT_EQ(journal(), paid) << "nothing is charged";
  dir_.write("rows.svm", small_libsvm());
  const auto again = train({"--epsilon 1 --again"});
  ASSERT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("model.json.journal now holds 2 runs, epsilon 1."));
  EXPECT_NE(model(), first);
  const auto refused = train({"--epsilon 1"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("already holds 2 runs, epsilon 1."),
                    HasSubstr("in all if planned together"),
                    HasSubstr("if chosen after looking, epsilon <= 2 at delta 2e-05"),
                    HasSubstr("--overwrite is not enough")));
  EXPECT_EQ(train({"--epsilon 1"}, "another.json").code, 0);
}

/// The model was moved away: what it cost is still spent.
TEST_F(ExistingFiles, AJournalWithoutItsModelCounts) {
  ASSERT_EQ(train({"--epsilon 1"}).code, 0);
  fs::remove(dir_.file("model.json"));
  EXPECT_EQ(train({"--epsilon 1"}).code, 2);
  EXPECT_EQ(train({"--epsilon 1 --again"}).code, 0);
}

/// What is lost is said first: no flag helps.
TEST_F(ExistingFiles, AJournalThatLostLinesIsRefusedAsSuch) {
  ASSERT_EQ(train({"--epsilon 1"}).code, 0);
  fs::remove(dir_.file("model.json.journal"));
  for (const Words& more :
       {Words{"--epsilon 1"}, Words{"--epsilon 1 --overwrite"}, {"--epsilon 1 --again"}})
    EXPECT_EQ(train(more).code, 3) << more.back();
}

TEST_F(ExistingFiles, ARunIsResumedWithoutBeingAskedFor) {
  const Words checkpoint = {"--epsilon 1 --checkpoint", dir_.file("run.ckpt"), "--resume"};
  ASSERT_EQ(train(checkpoint).code, 0) << "the first time it starts";
  const auto finished = train(checkpoint);
  EXPECT_EQ(finished.code, 2) << "the checkpoint is gone, and the run was paid for";
  EXPECT_THAT(finished.err, HasSubstr("give --again"));
}

TEST_F(ExistingFiles, SeveralJournalsArePricedTogether) {
  ASSERT_EQ(train({"--noise-multiplier 6 --steps 4"}, "a.json").code, 0);
  ASSERT_EQ(train({"--noise-multiplier 8 --steps 9"}, "b.json").code, 0);
  const auto run =
      sotto({"account --json --journal", dir_.file("a.json.journal"), dir_.file("b.json.journal")});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  ASSERT_EQ(json["runs"].size(), 2u);
  EXPECT_EQ(json["runs"][1]["journal"], dir_.file("b.json.journal"));
  EXPECT_EQ(json["together"]["runs"], 2);
  EXPECT_EQ(json["together"]["delta"], 1e-5);
  EXPECT_THAT(json["together"]["assumes"].get<std::string>(), HasSubstr("no guarantee"));
  // One Gaussian with 1 / sqrt(4/36 + 9/64).
  const auto one = sotto(
      {"account --event gaussian(1.9930915164897596) --neighbours zero-out --delta 1e-5 --json"});
  const double expected =
      nlohmann::json::parse(one.out)["accountants"][0]["epsilon_upper"].get<double>();
  EXPECT_NEAR(json["together"]["epsilon_upper"].get<double>(), expected, 1e-6);
  const auto text =
      sotto({"account --journal", dir_.file("a.json.journal"), dir_.file("b.json.journal")});
  EXPECT_THAT(
      text.out,
      AllOf(HasSubstr("together: epsilon "), HasSubstr("2 runs"), HasSubstr("no guarantee")));
  EXPECT_THAT(text.out, HasSubstr("for runs chosen after looking: epsilon <= "));
  EXPECT_NEAR(json["together"]["sum"]["delta"].get<double>(), 2e-5, 1e-18);
  EXPECT_NEAR(json["together"]["sum"]["epsilon_upper"].get<double>(),
              json["runs"][0]["epsilon_upper"].get<double>() +
                  json["runs"][1]["epsilon_upper"].get<double>(),
              1e-9);
  EXPECT_THAT(sotto({"account --journal", dir_.file("a.json.journal")}).out,
              Not(HasSubstr("together")));
}

TEST_F(ExistingFiles, AModelIsNoJournal) {
  ASSERT_EQ(train({"--epsilon 1"}).code, 0);
  const auto run = sotto({"account --journal", dir_.file("model.json")});
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("model.json is a model"), HasSubstr("model.json.journal")));
}

// Large epsilons: the samplers leave no room for all plans at one run's delta.
TEST_F(ExistingFiles, LargeEpsilonsTogetherHaveAFinitePrice) {
  std::vector<std::string> journals;
  for (const char* name : {"a.json", "b.json", "c.json"}) {
    ASSERT_EQ(train({"--epsilon 17"}, name).code, 0);
    journals.push_back(dir_.file(std::string(name) + ".journal"));
  }
  const auto run = sotto({"account --journal", journals[0], journals[1], journals[2]});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, Not(HasSubstr("epsilon inf")));
  EXPECT_THAT(run.out, AllOf(HasSubstr("2^-60"), HasSubstr("A larger --delta")));
  EXPECT_THAT(run.out, HasSubstr("for runs chosen after looking: epsilon <= 51 at delta 3"));
}

// A shell's pattern may name it twice, and its runs were paid for once.
TEST_F(ExistingFiles, AJournalThatIsNamedTwiceIsRefused) {
  ASSERT_EQ(train({"--epsilon 1"}, "a.json").code, 0);
  const std::string journal = dir_.file("a.json.journal");
  const std::string link = dir_.file("link");
  fs::create_symlink(journal, link);
  for (const std::string& again : {journal, link}) {
    const auto run = sotto({"account --journal", journal, again});
    EXPECT_EQ(run.code, 2) << run.out;
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, AllOf(HasSubstr("the same journal"), HasSubstr("Name it once")));
  }
}

TEST_F(ExistingFiles, RunsUnderDifferentRelationsHaveNoTotal) {
  ASSERT_EQ(train({"--epsilon 1"}).code, 0);
  ASSERT_EQ(train({"--epsilon 1 --neighbours replace-one --again"}).code, 0);
  const auto text = sotto({"account --journal", dir_.file("model.json.journal")});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, AllOf(HasSubstr("together: not told"), HasSubstr("replace-one")));
  EXPECT_THAT(text.out, HasSubstr("is under zero-out, and "));
  EXPECT_THAT(text.out, HasSubstr(" under replace-one: what they cost together can't be told"));
  const auto refused = train({"--epsilon 1"});
  EXPECT_THAT(refused.err, HasSubstr("already holds 2 runs. To pay again"));
}

TEST(Demo, MayBeRepeated) {
  const TempDir dir;
  for (int time = 0; time < 2; ++time) {
    const auto run = sotto({"demo --out", dir.file("demo")});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.out.find("--again") != run.out.npos, time == 1);
  }
}

/// Words, and an epsilon that works.
TEST(LargeEpsilon, IsRefusedWithTheLargestThatWorks) {
  const TempDir dir;
  const std::string rows = dir.write("rows.svm", small_libsvm());
  const auto train = [&](const std::string& epsilon) {
    return sotto({"train --delta 1e-6 --dim 2 --row-norm 1 --steps 100 --epsilon",
                  epsilon,
                  rows,
                  dir.file("model.json")});
  };
  for (const char* epsilon : {"30", "50", "1000"}) {
    const auto refused = train(epsilon);
    EXPECT_EQ(refused.code, 4) << refused.err;
    EXPECT_THAT(refused.err,
                AllOf(HasSubstr("is more than this run can promise at delta 1e-06"),
                      HasSubstr("Why there is a limit"),
                      Not(HasSubstr("inf"))));
    const std::string marker = "Give --epsilon ";
    const std::size_t at = refused.err.find(marker);
    ASSERT_NE(at, refused.err.npos);
    const std::size_t begin = at + marker.size();
    const std::string most = refused.err.substr(begin, refused.err.find(' ', begin) - begin);
    const auto run = sotto({"train --dry-run --public-n 200 --delta 1e-6 --dim 2 --row-norm 1",
                            "--steps 100 --epsilon",
                            most});
    EXPECT_EQ(run.code, 0) << most << run.err;
  }
}

}  // namespace
}  // namespace sotto::testing
