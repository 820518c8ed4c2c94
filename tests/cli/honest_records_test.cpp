// Whoever is honest is not accused.

#include <gtest/gtest.h>

#include <set>

#include "tests/cli/forgery.hpp"

namespace sotto::testing {
namespace {

using nlohmann::json;

// Whoever is honest is not accused: every private method, with what changes its plan.
TEST(HonestRecords, HoldForEveryMethod) {
  const CommandResult listed = sotto({"methods --json"});
  ASSERT_EQ(listed.code, 0) << listed.err;
  int tried = 0;
  for (const auto& method : json::parse(listed.out)) {
    if (!method.at("private").get<bool>()) continue;
    const std::string name = method.at("name");
    for (const bool by_hand : {false, true}) {
      const TempDir dir;
      Words words = {"train --quiet --delta 1e-5 --dim 2 --row-norm 1.5 --method",
                     name,
                     by_hand ? "--noise-multiplier" : "--epsilon",
                     "4 --record",
                     dir.file("run.json"),
                     dir.write("rows.svm", small_libsvm(100)),
                     dir.file("model.json")};
      if (name == "dp-pgd" || name == "dp-pmd" || name.starts_with("dp-fw"))
        words += "--constraint l1:2 --row-max 1";
      const CommandResult trained_run = sotto(words);
      if (by_hand && trained_run.code == 2) continue;  // a filter needs a budget
      ASSERT_EQ(trained_run.code, 0) << name << trained_run.err;
      const CommandResult verified = sotto({"verify",
                                            dir.file("run.json"),
                                            "--journal",
                                            dir.file("model.json.journal"),
                                            "--model",
                                            dir.file("model.json")});
      EXPECT_EQ(verified.code, 0) << name << "\n" << verified.out;
      ++tried;
    }
  }
  EXPECT_GT(tried, 25);
}

// Where a rule chooses what no user could give, where `auto` was typed, where there are no classes,
// and where a flag is taken back.
TEST(HonestRecords, HoldForWhatRulesChoose) {
  for (const Words& more : std::vector<Words>{
           {"--method dp-gd --loss squared --steps 2"},
           {"--method dp-gd --output best --steps 1"},
           {"--method dp-tr --solver auto"},
           // What a coin draws, nobody can draw again.
           {"--method dp-sgd --output random"},
           {"--method dp-pgd --constraint l2:2 --row-max 1 --start random"},
           {"--method dp-srm --parameters theory"},
           {"--method auto --most-passes 20"},
           {"--method dp-sgd --neighbours add-remove --public-n 150"},
           {"--method dp-fw-l1 --constraint l1:2 --row-max 1 --selection auto --steps 5"},
           {"--method rrpsgd --loss sigmoid --row-norm 1e-3"},
           {"--method dp-tr --loss squared"},
           {"--method dp-str --sample-sizes theory"},
           {"--method dp-gd --steps 2 --bias=false"},
           {"--method dp-gd --steps 2 --no-bias=false"},
           {"--method dp-gd --steps 2 --no-bias=true"},
           // Of a flag's several values the last one counts.
           {"--method dp-gd --steps 2 --bias --bias --no-refusals --no-refusals --quiet"},
           {"--method dp-gd --steps 2 --bias --no-bias --overwrite --overwrite=false"},
           {"--method dp-gd --steps 2 --no-bias --bias --overwrite=false --overwrite"},
           {"--method dp-gd --steps 2 --model softmax --classes -1,1 --row-norm 0 --no-bias=false"},
           {"--method private-spiderboost --loss phase-retrieval --steps 5 --step-size 0.1"},
           {"--method opt --loss sigmoid --solver lanczos --bias --regularizer nonconvex:0.1 "
            "--hessian-clip 0.2"}}) {
    const TempDir dir;
    Words words = {"train --quiet --delta 1e-5 --dim 2 --epsilon 4 --record",
                   dir.file("run.json"),
                   dir.write("rows.svm", small_libsvm(100)),
                   dir.file("model.json")};
    if (std::find(more.begin(), more.end(), "--row-norm") == more.end()) words += "--row-norm 0.9";
    const CommandResult trained_run = sotto(words + more);
    ASSERT_EQ(trained_run.code, 0) << more[1] << trained_run.err;
    const CommandResult verified = sotto({"verify",
                                          dir.file("run.json"),
                                          "--journal",
                                          dir.file("model.json.journal"),
                                          "--model",
                                          dir.file("model.json")});
    EXPECT_EQ(verified.code, 0) << more[1] << "\n" << verified.out;
  }
}

// Its plan follows from the settings of the method that it chose, not from its own.
TEST(HonestRecords, OfAutoHoldAtEveryBudget) {
  std::set<std::string> plans;
  for (const char* epsilon : {"0.3", "1", "3", "10"}) {
    const TempDir dir;
    const CommandResult trained_run = sotto({"train --quiet --method auto --epsilon",
                                             epsilon,
                                             "--delta 1e-5 --dim 2 --row-norm 1.5 --record",
                                             dir.file("run.json"),
                                             dir.write("rows.svm", small_libsvm(100)),
                                             dir.file("model.json")});
    ASSERT_EQ(trained_run.code, 0) << trained_run.err;
    const CommandResult verified = sotto({"verify", dir.file("run.json")});
    EXPECT_EQ(verified.code, 0) << epsilon << "\n" << verified.out;
    plans.insert(json::parse(TempDir::read(dir.file("run.json"))).at("steps").dump());
  }
  EXPECT_GT(plans.size(), 1u);
}

// "negative" is a spelling of the positive class here, and the other name of the negative one.
TEST(HonestRecords, HoldForSpellingsThatAreNamesOfTheOtherClass) {
  const TempDir dir;
  std::string schema = sick_or_well();
  schema = schema.substr(0, schema.find("positive = "));
  dir.write("s.toml",
            schema + "positive = [\"p or q\", \"negative\"]\nnegative = [\"p\", \"q\"]\n");
  std::string rows = "x,y\n";
  for (int i = 0; i < 100; ++i) rows += i % 2 == 0 ? "0.7,negative\n" : "-0.6,q\n";
  const CommandResult trained_run = sotto({"train --quiet --epsilon 2 --delta 1e-5 --schema",
                                           dir.file("s.toml"),
                                           "--class-weight negative=8 --record",
                                           dir.file("run.json"),
                                           dir.write("rows.csv", rows),
                                           dir.file("model.json")});
  ASSERT_EQ(trained_run.code, 0) << trained_run.err;
  const json record = json::parse(TempDir::read(dir.file("run.json")));
  EXPECT_EQ(record["loss"], "logistic weighted 1,8");
  EXPECT_FALSE(found_alone(record));
  const json model = json::parse(TempDir::read(dir.file("model.json")));
  EXPECT_FALSE(contradicts(check_model(record, model)));
  json forged = record, forged_model = model;
  forged["loss"] = forged_model["loss"] = "logistic weighted 8,1";
  EXPECT_TRUE(contradicts(check_model(forged, forged_model)));
}

// What `train` refuses, `verify` need not read.
TEST(HonestRecords, AreNotMadeOfEmptyItemsOrOddFlags) {
  const TempDir dir;
  for (const char* word : {"--class-weight=positive=2,",
                           "--class-weight=,positive=2",
                           "--no-bias=0",
                           "--no-bias=off",
                           "--no-bias=no",
                           "--no-bias=False",
                           "--bias=0"}) {
    const CommandResult refused = sotto(training(dir, {"--method dp-gd --epsilon 2", word}));
    EXPECT_EQ(refused.code, 2) << word << refused.err;
  }
  const Files files = trained(
      dir, {"--method dp-gd --epsilon 2 --class-weight positive=2 --class-weight negative=3"});
  EXPECT_EQ(files.record["loss"], "logistic weighted 3,2");
  EXPECT_FALSE(found(files));
}

// Options that no record lists are no contradiction.
TEST(HonestRecords, HoldWhateverSaysHowToRun) {
  const TempDir dir;
  dir.write("test.svm", small_libsvm(20));
  dir.write("key", std::string(32, 'k'));
  const Files files = trained(
      dir,
      {"--method dp-sgd --epsilon 2 --steps 10 --batch 20 --max-grad-norm 0.5 --threads 1 --test",
       dir.file("test.svm"),
       "--report",
       dir.file("r.html"),
       "--checkpoint",
       dir.file("c"),
       "--every 2 --resume --max-line 1MB --max-field 1MB --max-file 1GB --max-unpacked 1GB"});
  const auto result = verify_record(files.record);
  ASSERT_TRUE(result);
  for (const RecordCheck& check : result->checks)
    EXPECT_NE(check.outcome, RecordCheck::Outcome::kContradiction) << check.name << check.detail;
}

}  // namespace
}  // namespace sotto::testing
