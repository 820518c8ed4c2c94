// The `train` and `predict` verbs from the outside.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Train : public ::testing::Test {
 protected:
  Words command(const Words& more = {}) const {
    return "train --epsilon 1 --delta 1e-4 --row-norm 1 --dim 2" + more + Words{data_, model_};
  }
  nlohmann::json model() const { return nlohmann::json::parse(TempDir::read(model_)); }
  bool model_exists() const { return std::filesystem::exists(model_); }

  TempDir dir_;
  std::string data_ = dir_.write("train.svm", small_libsvm());
  std::string test_ = dir_.write("test.svm", small_libsvm());
  std::string model_ = dir_.file("model.json");
};

TEST_F(Train, WritesAModelThatCarriesItsPrivacyStatement) {
  const auto run = sotto(command({"--record", dir_.file("run.json"), "--test", test_}));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("dp-gd:"), HasSubstr("epsilon"), HasSubstr("Accuracy =")));
  const auto privacy = model()["privacy"];
  EXPECT_LE(privacy["epsilon"].get<double>(), 1);
  EXPECT_GT(privacy["epsilon"].get<double>(), 0.99);
  EXPECT_EQ(privacy["delta"], 1e-4);
  EXPECT_EQ(privacy["neighbours"], "zero-out");
  EXPECT_EQ(privacy["unit"], "row");
  EXPECT_EQ(privacy["accountant"], "gaussian");
  EXPECT_EQ(privacy["insecure_seed"], false);
  EXPECT_THAT(privacy["events"].get<std::string>(), HasSubstr("gaussian("));
  const auto record = nlohmann::json::parse(TempDir::read(dir_.file("run.json")));
  EXPECT_EQ(record["steps"].get<std::size_t>(), record["trace"].size());
}

// A choice among candidates looks at every row for each of them.
TEST_F(Train, ADryRunCountsThePassesOfItsRun) {
  for (const Words& how : {Words("--method dp-gd"),
                           Words("--method dp-gd --output best"),
                           Words("--method dp-gd --output best --steps 3"),
                           Words("--method dp-sgd --output best --candidates 4"),
                           Words("--method dp-srm --output best"),
                           Words("--method dp-pgd --constraint l2:2 --output best"),
                           Words("--method dp-fw-l2 --constraint l2:2 --output best")}) {
    const auto passes = [&](const Words& more) {
      const auto run = sotto(command(how + Words("--json --overwrite --again") + more));
      EXPECT_EQ(run.code, 0) << run.err;
      return nlohmann::json::parse(run.out)["passes"].get<double>();
    };
    EXPECT_NEAR(passes("--dry-run --public-n 200"), passes({}), 1e-9)
        << ::testing::PrintToString(how);
  }
}

TEST_F(Train, JsonHasWhatScriptsNeed) {
  const auto run = sotto(command({"--json --seed 3 --unsafe-diagnostics --test", test_}));
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  for (const char* key : {"method", "epsilon_spent", "delta", "neighbours", "steps", "passes"})
    EXPECT_TRUE(json.contains(key)) << key;
  for (const char* key : {"objective", "loss", "accuracy", "auc"})
    EXPECT_TRUE(json["test"].contains(key)) << key;
  EXPECT_TRUE(json["diagnostics"].contains("objective"));
  EXPECT_TRUE(json["diagnostics"].contains("gradient_norm"));
  EXPECT_EQ(json["unsafe_diagnostics"], true);
  EXPECT_EQ(json["insecure_seed"], true);
  EXPECT_LE(json["epsilon_spent"].get<double>(), 1) << "of the released model";
}

TEST_F(Train, ASeedRepeatsForAnyNumberOfThreadsAndNoSeedDoesNot) {
  ASSERT_EQ(sotto(command({"--seed 3 --threads 1"})).code, 0);
  const auto first = model()["weights"];
  ASSERT_EQ(sotto(command({"--again --seed 3 --threads 4"})).code, 0);
  EXPECT_EQ(model()["weights"], first);
  ASSERT_EQ(sotto(command({"--again"})).code, 0);
  EXPECT_NE(model()["weights"], first);
}

TEST_F(Train, EveryMethodAndRelation) {
  for (const std::string method : {"dp-gd", "dp-sgd", "gd", "sgd"})
    for (const std::string relation : {"zero-out", "replace-one", "add-remove"}) {
      Words more = {"--method", method, "--neighbours", relation, "--again --json"};
      if (relation == "add-remove") more += "--public-n 210";
      const auto run = sotto(command(more));
      ASSERT_EQ(run.code, 0) << method << " " << relation << ": " << run.err;
      const auto json = nlohmann::json::parse(run.out);
      EXPECT_EQ(json["private"], method.starts_with("dp-"));
      EXPECT_EQ(json["epsilon_spent"].is_null(), !method.starts_with("dp-"));
    }
}

TEST_F(Train, PredictPrintsAccuracyAucAndConfusion) {
  ASSERT_EQ(sotto(command({"--epsilon 8 --bias"})).code, 2) << "an option given twice is an error";
  ASSERT_EQ(sotto(command({"--bias"})).code, 0);
  const auto run = sotto({"predict", data_, model_, dir_.file("out.txt")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("Accuracy = "), HasSubstr("AUC"), HasSubstr("truth")));
  const std::string lines = TempDir::read(dir_.file("out.txt"));
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 201);
  const auto probabilities = sotto({"predict --proba", data_, model_, dir_.file("out.txt")});
  ASSERT_EQ(probabilities.code, 0);
  const std::string text = TempDir::read(dir_.file("out.txt"));
  const double last = std::stod(text.substr(text.rfind(',') + 1));
  EXPECT_TRUE(last > 0 && last < 1);
}

TEST_F(Train, RowsRightAtTheirDeclaredBoundAreFine) {
  // Categories only: every row's norm is exactly the bound that the schema implies, sqrt(3).
  std::string schema;
  for (const char* name : {"a", "b", "c"})
    schema.append("[[column]]\nname = '")
        .append(name)
        .append("'\nkind = 'categorical'\nvalues = ['x', 'y']\n");
  schema.append("[[column]]\nname = 'l'\nkind = 'label'\npositive = ['1']\nnegative = ['0']\n");
  std::string rows;
  for (int i = 0; i < 100; ++i) rows.append(i % 2 == 0 ? "x,y,x,1\n" : "y,y,x,0\n");
  const auto run = sotto({"train --epsilon 1 --delta 1e-4 --schema",
                          dir_.write("s.toml", schema),
                          dir_.write("d.csv", rows),
                          model_});
  EXPECT_EQ(run.code, 0) << run.err;
}

TEST_F(Train, DryRunNeedsNoRowsAndSpendsNothing) {
  const auto run = sotto(
      {"train --dry-run --epsilon 1 --delta 1e-6 --row-norm 1 --public-n 1000 --dim 7 --json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_LE(json["epsilon_planned"].get<double>(), 1);
  EXPECT_THAT(json["plan"].get<std::string>(), HasSubstr("gaussian("));
  EXPECT_EQ(sotto({"train --dry-run --epsilon 1 --delta 1e-6 --row-norm 1 --dim 2"}).code, 2);
}

TEST_F(Train, AConfigFileEqualsFlags) {
  const std::string config =
      dir_.write("run.toml", "epsilon = 1\ndelta = 1e-4\nrow-norm = 1\ndim = 2\nseed = 3\n");
  ASSERT_EQ(sotto({"train --config", config, data_, model_}).code, 0);
  const auto by_file = model()["weights"];
  ASSERT_EQ(sotto(command({"--again --seed 3"})).code, 0);
  EXPECT_EQ(model()["weights"], by_file);
}

// What a flag does not take must not become an argument: the data, or what is written.
TEST_F(Train, AConfigFilesFlagIsTrueOrFalse) {
  for (const char* line : {"quiet = \"extra.svm\"",
                           "bias = 7",
                           "bias = \"\"",
                           "\"\" = 1",
                           "\"-\" = true",
                           "\"_\" = 1"}) {
    const std::string config =
        dir_.write("run.toml",
                   std::string("epsilon = 1\ndelta = 1e-4\nrow-norm = 1\ndim = 2\n") + line + "\n");
    const auto run = sotto({"train --config", config, data_, model_});
    EXPECT_EQ(run.code, 2) << line << run.err;
    EXPECT_FALSE(std::filesystem::exists(model_)) << line;
  }
}

// Only one file is read; the record's command must not name another.
TEST_F(Train, AConfigFileNamesNoOther) {
  const std::string other = dir_.write("b.toml", "epsilon = 8\n");
  const std::string config =
      dir_.write("a.toml", "epsilon = 1\ndelta = 1e-4\nconfig = \"" + other + "\"\n");
  for (const Words& words : {Words{"train --row-norm 1 --dim 2 --config", config, data_, model_},
                             command({"--config", other, "--config", other})}) {
    const auto run = sotto(words);
    EXPECT_EQ(run.code, 2) << run.err;
    EXPECT_THAT(run.err, HasSubstr("--config"));
  }
}

TEST_F(Train, AConfigFileDoesNotAskForHelp) {
  for (const char* line : {"help = \"x\"", "help = true", "help = false", "\"help=x\" = true"}) {
    const std::string config = dir_.write("run.toml", std::string(line) + "\n");
    const auto run = sotto(command({"--config", config}));
    EXPECT_EQ(run.code, 2) << line << run.err;
    EXPECT_EQ(run.out, "") << line;
    EXPECT_THAT(run.err, HasSubstr("asks for help")) << line;
    EXPECT_FALSE(model_exists()) << line;
  }
}

TEST_F(Train, UnsignedNumbersDoNotWrapAround) {
  for (const Words& seed :
       {Words{"--seed -1"}, Words{"--seed=-1"}, Words{"--seed -18446744073709551615"}}) {
    const auto run = sotto(command(seed));
    EXPECT_EQ(run.code, 2) << run.err;
    EXPECT_THAT(run.err, HasSubstr("negative"));
  }
}

TEST_F(Train, TheJournalTellsWhatWasSpent) {
  ASSERT_EQ(sotto(command()).code, 0);
  const auto journal = sotto({"account --journal", model_ + ".journal", "--json"});
  ASSERT_EQ(journal.code, 0) << journal.err;
  const auto runs = nlohmann::json::parse(journal.out)["runs"];
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0]["closed"], true);
  const double epsilon = runs[0]["epsilon_upper"].get<double>();
  EXPECT_NEAR(epsilon, model()["privacy"]["epsilon"].get<double>(), 1e-9);
}

TEST_F(Train, AKilledRunShowsWhatItSpent) {
  // A run that would take long, ended after a moment with SIGKILL: no model, but a journal.
  const auto run = sotto(command({"--method dp-sgd --steps 3000000 --batch 100 --accountant rdp"}),
                         "timeout -s KILL 4");
  EXPECT_NE(run.code, 0);
  EXPECT_FALSE(model_exists());
  const auto journal = sotto({"account --journal", model_ + ".journal"});
  ASSERT_EQ(journal.code, 0) << journal.err;
  EXPECT_THAT(journal.out, HasSubstr("KILLED"));
}

TEST_F(Train, AnInterruptEndsWith130AndLeavesNoModel) {
  const auto run = sotto(command({"--method dp-sgd --steps 3000000 --batch 100 --accountant rdp"}),
                         "timeout --preserve-status -s INT 4");
  EXPECT_EQ(run.code, 130) << run.err;
  EXPECT_FALSE(model_exists());
}

// --- what users get wrong -----------------------------------------------------------------------

struct Mistake {
  const char* name;
  Words arguments;
  const char* message;
  int code = 2;
};

/// With what every run needs.
Words budgeted(const Words& more) { return "--epsilon 1 --delta 1e-4 --row-norm 1" + more; }

class TrainMistakes : public Train, public ::testing::WithParamInterface<Mistake> {};

TEST_P(TrainMistakes, GetAClearErrorAndLeaveNothingBehind) {
  Words arguments = "train" + GetParam().arguments;
  if (std::find(arguments.begin(), arguments.end(), "--dim") == arguments.end())
    arguments += "--dim 2";
  arguments += {data_, model_};
  const auto run = sotto(arguments);
  EXPECT_EQ(run.code, GetParam().code) << run.err;
  EXPECT_THAT(run.err, HasSubstr(GetParam().message));
  EXPECT_THAT(run.err, Not(HasSubstr("0.8"))) << "no row content";
  EXPECT_FALSE(model_exists());
  EXPECT_FALSE(std::filesystem::exists(model_ + ".journal")) << "nothing was charged";
}

INSTANTIATE_TEST_SUITE_P(
    All,
    TrainMistakes,
    ::testing::Values(
        Mistake{"no_epsilon", "--delta 1e-4 --row-norm 1", "--epsilon"},
        Mistake{"no_delta", "--epsilon 1 --row-norm 1", "--delta"},
        Mistake{"both_budgets", budgeted("--noise-multiplier 2"), "exactly one"},
        Mistake{"negative_epsilon",
                "--epsilon -1 --delta 1e-4 --row-norm 1",
                "epsilon must be finite and > 0"},
        Mistake{"zero_epsilon",
                "--epsilon 0 --delta 1e-4 --row-norm 1",
                "epsilon must be finite and > 0"},
        Mistake{"delta_one", "--epsilon 1 --delta 1 --row-norm 1", "delta must lie in (0, 1)"},
        Mistake{"delta_zero", "--epsilon 1 --delta 0 --row-norm 1", "delta must lie in (0, 1)"},
        Mistake{"unknown_method", budgeted("--method dp-magic"), "unknown method 'dp-magic'"},
        Mistake{"unknown_loss", budgeted("--loss hinge"), "unknown loss 'hinge'"},
        Mistake{"unknown_regularizer", budgeted("--regularizer l7:1"), "regularizer"},
        Mistake{"unknown_relation", budgeted("--neighbours cousins"), "cousins"},
        Mistake{"unknown_accountant", budgeted("--accountant magic"), "magic"},
        Mistake{"unknown_option", budgeted("--magic"), "--magic"},
        Mistake{"not_a_number", "--epsilon one --delta 1e-4 --row-norm 1", "epsilon"},
        Mistake{"option_of_another_method", budgeted("--batch 10"), "no option --expected-batch"},
        Mistake{"no_public_n", budgeted("--neighbours add-remove"), "--public-n"},
        Mistake{"no_row_norm", "--dim 2 --epsilon 1 --delta 1e-4", "would leak"},
        Mistake{"no_dim", budgeted("--dim 0"), "Give --dim N"},
        Mistake{"bad_classes", budgeted("--dim 2 --classes 1,1"), "declared twice"},
        Mistake{"bad_layout", budgeted("--dim 2 --layout round"), "--layout must be"},
        Mistake{"negative_row_norm", "--row-norm -1 --epsilon 1 --delta 1e-4", "row-norm"},
        Mistake{"unmeetable_budget",
                "--epsilon 1e-12 --delta 1e-15 --row-norm 1",
                "Nothing was released",
                4},
        Mistake{"unsupported_accountant",
                budgeted("--method dp-sgd --batch 20 --accountant gaussian"),
                "gaussian"},
        Mistake{"index_above_dim", budgeted("--dim 1"), "train.svm:1:", 3}),
    [](const auto& test) { return std::string(test.param.name); });

struct BadFile {
  const char* name;
  std::string content;
  const char* message;
};

class BadFiles : public Train, public ::testing::WithParamInterface<BadFile> {};

TEST_P(BadFiles, AreRefusedWithTheirPlaceAndWithoutTheirContent) {
  data_ = dir_.write("bad.svm", GetParam().content);
  const auto run = sotto(command());
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("bad.svm"), HasSubstr(GetParam().message)));
  EXPECT_THAT(run.err, Not(HasSubstr("987"))) << "no row content";
  EXPECT_FALSE(model_exists());
}

INSTANTIATE_TEST_SUITE_P(
    All,
    BadFiles,
    ::testing::Values(
        BadFile{"empty", "", "empty"},
        BadFile{"bad_index", "+1 1:1\n-1 x987:1\n", ":2:2"},
        BadFile{"index_zero", "+1 1:1\n-1 0:987\n", ":2:2"},
        BadFile{"decreasing", "+1 2:1 1:987\n-1 2:1\n", ":1:3"},
        BadFile{"nan", "+1 1:nan\n-1 1:987\n", ":1:"},
        BadFile{"infinity", "+1 1:1e999\n-1 1:987\n", ":1:"},
        BadFile{"three_classes",
                "1 1:1\n2 1:1\n987 1:1\n",
                ":2:1: the label is not one of the declared classes (-1, 1)"},
        BadFile{"truncated_gzip", std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\x33\x54", 12), "gz"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(Train, MissingFilesFoldersAndUnwritablePaths) {
  const auto code = [](const Words& files) {
    return sotto("train --epsilon 1 --delta 1e-4 --row-norm 1 --dim 2" + files).code;
  };
  EXPECT_EQ(code({dir_.file("none.svm"), model_}), 6);
  EXPECT_EQ(code({dir_.file(""), model_}), 6);
  EXPECT_EQ(code({data_, "/no/such/folder/m.json"}), 6);
  EXPECT_EQ(code({"--test", dir_.file("none.svm"), data_, model_}), 6);
  EXPECT_FALSE(std::filesystem::exists(model_ + ".journal")) << "a wrong test path costs no budget";
}

TEST_F(Train, ALargeDeltaIsWarnedAbout) {
  const auto run = sotto(command({"--delta 0.01"}));
  EXPECT_EQ(run.code, 2);
  const auto warned = sotto({"train --epsilon 1 --delta 0.01 --row-norm 1 --dim 2", data_, model_});
  EXPECT_EQ(warned.code, 0);
  EXPECT_THAT(warned.err, HasSubstr("at least 1/n"));
}

TEST_F(Train, ADivergedRunIsNoUsableModel) {
  const std::string big = dir_.write("big.svm", "1e30 1:1\n-1e30 1:-1\n1e30 1:0.5\n");
  const auto run =
      sotto({"train --method gd --loss squared --step-size 1e300 --steps 50 --momentum 0 "
             "--schedule constant",
             big,
             model_});
  EXPECT_EQ(run.code, 1) << run.err;
  EXPECT_FALSE(model_exists());
}

TEST_F(Train, PredictRefusesBrokenModels) {
  ASSERT_EQ(sotto(command()).code, 0);
  const std::string text = TempDir::read(model_);
  const std::string cut = dir_.write("cut.json", text.substr(0, text.size() / 2));
  const auto run = sotto({"predict", data_, cut, dir_.file("out.txt")});
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("cut short"));
  std::string newer = text;
  newer.replace(newer.find("\"sotto_model\": 1"), 16, "\"sotto_model\": 9");
  EXPECT_EQ(sotto({"predict", data_, dir_.write("newer.json", newer), dir_.file("out.txt")}).code,
            3);
  EXPECT_FALSE(std::filesystem::exists(dir_.file("out.txt")));
}

}  // namespace
}  // namespace sotto::testing
