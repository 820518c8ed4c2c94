// evaluate from the outside: what is told of each kind of model, and what is not.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSchema = R"([file]
header = true
[[column]]
name = "x"
kind = "numeric"
min = 0
max = 10
[[column]]
name = "back"
kind = "label"
negative = ["NO", ">30"]
positive = ["<30"]
)";

constexpr const char* kThreeClasses = R"([file]
header = true
[[column]]
name = "x"
kind = "numeric"
min = 0
max = 10
[[column]]
name = "back"
kind = "label"
classes = ["NO", ">30", "<30"]
)";

/// 60 rows, a third of them positive, more of them where x is large.
std::string rows_of_schema() {
  std::string text = "x,back\n";
  for (int i = 0; i < 60; ++i)
    text += std::to_string(i % 10) + (i % 10 > 4 + i % 4 ? ",<30\n"
                                      : i % 3 == 0       ? ",>30\n"
                                                         : ",NO\n");
  return text;
}

class Evaluate : public ::testing::Test {
 protected:
  void SetUp() override {
    schema_ = dir_.write("schema.toml", kSchema);
    rows_ = dir_.write("rows.csv", rows_of_schema());
  }
  std::string train(const Words& more, const std::string& rows) const {
    const std::string model = dir_.file("model.json");
    const auto run = sotto("train --seed 1 -q" + more + Words{rows, model});
    EXPECT_EQ(run.code, 0) << run.err;
    return model;
  }
  std::string train(const Words& more) const {
    return train(Words{"--method gd --bias --schema", schema_} + more, rows_);
  }
  json evaluated(const std::string& rows, const std::string& model) const {
    const auto run = sotto({"evaluate --json", rows, model});
    EXPECT_EQ(run.code, 0) << run.err;
    return json::parse(run.out);
  }

  TempDir dir_;
  std::string schema_, rows_;
};

// As predict: the person is not needed, and what the schema does not know is not used, but told.
TEST_F(Evaluate, RowsNeedFeaturesAndLabelsOnly) {
  const std::string schema = dir_.write(
      "persons.toml", std::string(kSchema) + "[[column]]\nname = \"who\"\nkind = \"unit\"\n");
  std::string text = "who,x,back\n", bare = "ward,back,x\n";
  for (int i = 0; i < 60; ++i) {
    const std::string x = std::to_string(i % 10), back = i % 10 > 4 + i % 4 ? "<30" : "NO";
    text += "p" + std::to_string(i / 2) + "," + x + "," + back + "\n";
    bare += "7," + back + "," + x + "\n";
  }
  const std::string rows = dir_.write("persons.csv", text);
  const std::string test = dir_.write("bare.csv", bare);
  const std::string nobody = dir_.write("nobody.csv", "x,back\n3,NO\n9,<30\n");
  const std::string model = dir_.file("model.json"), record = dir_.file("run.json");
  const auto run = sotto({"train --seed 1 --method gd --bias --schema",
                          schema,
                          "--test",
                          test,
                          "--record",
                          record,
                          rows,
                          model});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err,
              HasSubstr("note: --test: columns that the schema does not declare are not "
                        "used: 'ward'"));
  EXPECT_EQ(json::parse(TempDir::read(record))["test"]["rows"], 60);
  EXPECT_EQ(evaluated(test, model), evaluated(rows, model)) << "rows count alone";
  EXPECT_EQ(evaluated(nobody, model)["rows"], 2);
  const auto told = sotto({"evaluate", test, model});
  EXPECT_THAT(told.err, HasSubstr("note: columns that the schema does not declare are not used"));
  const auto better = sotto({"recalibrate", test, model, dir_.file("better.json")});
  EXPECT_EQ(better.code, 0) << better.err;
  EXPECT_THAT(better.err, HasSubstr("'ward'"));
  for (const char* verb : {"evaluate", "recalibrate"}) {
    Words words{verb, dir_.write("unlabelled.csv", "x,who\n3,a\n"), model};
    if (verb == std::string("recalibrate")) words += Words{dir_.file("other.json")};
    const auto refused = sotto(words);
    EXPECT_EQ(refused.code, 3) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("no column 'back'"));
  }
}

TEST_F(Evaluate, RowsThatMayBeThoseOfTrainingAreWarnedOf) {
  int runs = 0;
  const auto warns =
      [&](const std::string& verb, const std::string& rows, const std::string& model) {
        Words words{verb, rows, model};
        if (verb != "evaluate") words += Words{dir_.file(fmt::format("out.{}", ++runs))};
        const auto run = sotto(words);
        EXPECT_EQ(run.code, 0) << run.err;
        return run.err.find("as many rows as the model was trained on, 60.") != std::string::npos;
      };
  const std::string copy = dir_.write("copy.csv", rows_of_schema());
  const std::string more = dir_.write("more.csv", rows_of_schema() + "7,NO\n");
  const std::string open = train({});
  const std::string secret = dir_.file("private.json");
  // With little noise: `recalibrate` refuses scores that the noise has turned over.
  ASSERT_EQ(sotto({"train --noise-multiplier 0.05 --delta 1e-3 --steps 2 -q --schema",
                   dir_.write("s.toml", kSchema),
                   rows_,
                   secret})
                .code,
            0);
  for (const char* verb : {"evaluate", "recalibrate", "predict"}) {
    EXPECT_TRUE(warns(verb, copy, secret)) << verb;
    EXPECT_FALSE(warns(verb, more, secret)) << verb;
    EXPECT_FALSE(warns(verb, copy, open)) << verb << ": this model promises nothing";
  }
}

TEST_F(Evaluate, TwoClasses) {
  const std::string model = train({});
  const auto told = evaluated(rows_, model);
  EXPECT_EQ(told["rows"], 60);
  EXPECT_EQ(told["classes"], (json{"NO or >30", "<30"})) << "all spellings";
  EXPECT_EQ(told["majority"]["class"], "NO or >30");
  // What predict says of the same rows.
  const auto predicted = json::parse(sotto({"predict --json", rows_, model, dir_.file("p")}).out);
  EXPECT_EQ(told["confusion"], predicted["confusion"]);
  EXPECT_NEAR(told["auc"], predicted["auc"].get<double>(), 1e-12);
  EXPECT_NEAR(told["log_loss"], predicted["loss"].get<double>(), 1e-6);
  EXPECT_EQ(told["thresholds"].size(), 7u);
  EXPECT_EQ(told["thresholds"].back()["threshold"], 0.5);
  EXPECT_LE(told["reliability"].size(), 10u);
  for (const auto& group : told["reliability"]) {
    EXPECT_LE(group["low"], group["observed"]);
    EXPECT_LE(group["observed"], group["high"]);
  }
  const auto text = sotto({"evaluate", rows_, model});
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("if every row were predicted NO or >30"),
                    HasSubstr("PR-AUC"),
                    HasSubstr("Brier score"),
                    HasSubstr("observed share"),
                    HasSubstr("95 % interval"),
                    HasSubstr("precision     recall"),
                    HasSubstr("(predicted)")));
}

TEST_F(Evaluate, AThresholdThatIsPrintedFlagsAsManyRowsInPredict) {
  const std::string model = train({});
  const auto flagged = [&](const std::string& threshold) {
    const auto run = sotto({"predict", rows_, model, "-", "--threshold", threshold});
    EXPECT_EQ(run.code, 0) << run.err;
    std::int64_t count = 0;
    for (std::size_t at = 0; (at = run.out.find(",1\n", at)) != run.out.npos; ++at) ++count;
    return count;
  };
  std::istringstream lines(sotto({"evaluate", rows_, model}).out);
  std::string line;
  while (std::getline(lines, line) && line.find("thresholds:") == line.npos) {
  }
  std::getline(lines, line);  // the columns' names
  for (int k = 0; k < 6; ++k) {
    std::string threshold;
    std::int64_t rows = 0;
    lines >> threshold >> rows;
    std::getline(lines, line);
    EXPECT_EQ(flagged(threshold), rows) << threshold;
  }
  const json told = evaluated(rows_, model);
  for (const auto& cut : told["thresholds"])
    if (!cut["asked_share"].is_null()) {
      EXPECT_EQ(flagged(cut["threshold"].dump()), cut["flagged"]);
    }
}

TEST_F(Evaluate, AClassThatIsNeverPredictedIsAWarning) {
  const std::string model = train({});
  auto changed = json::parse(TempDir::read(model));
  changed["weights"].back() = changed["weights"].back().get<double>() - 10;
  const std::string timid = dir_.write("timid.json", changed.dump());
  const auto run = sotto({"evaluate", rows_, timid, "--report", dir_.file("page.html")});
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("warning: no row is predicted <30"),
                    HasSubstr("Lower the threshold: "),
                    HasSubstr("sotto predict --threshold"),
                    HasSubstr("sotto recalibrate")));
  EXPECT_THAT(TempDir::read(dir_.file("page.html")), HasSubstr("&lt;30 is never predicted"));
  EXPECT_EQ(evaluated(rows_, timid)["never_predicted"], json{"<30"});
  changed["weights"].back() = changed["weights"].back().get<double>() + 30;
  EXPECT_THAT(sotto({"evaluate", rows_, dir_.write("bold.json", changed.dump())}).err,
              HasSubstr("Raise the threshold"));
}

TEST_F(Evaluate, ALossWithoutProbabilitiesSaysWhatIsMissing) {
  const std::string model = train({"--loss sigmoid"});
  const auto run = sotto({"evaluate", rows_, model});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("AUC 0."),
                    HasSubstr("the loss sigmoid has no probabilities: log loss, Brier score"),
                    Not(HasSubstr("mean prediction 0"))));
  const auto told = evaluated(rows_, model);
  EXPECT_TRUE(told["brier"].is_null());
  EXPECT_EQ(told["thresholds_are"], "scores");
}

// Its functions are in another program, but a ranking needs none.
TEST_F(Evaluate, ALossOfAnotherProgram) {
  auto model = json::parse(TempDir::read(train({})));
  const auto known = evaluated(rows_, dir_.file("model.json"));
  model["loss"] = "own:mine";
  const auto told = evaluated(rows_, dir_.write("own.json", model.dump()));
  EXPECT_EQ(told["auc"], known["auc"]);
  EXPECT_EQ(told["confusion"], known["confusion"]);
  EXPECT_TRUE(told["log_loss"].is_null());
}

TEST_F(Evaluate, MoreClasses) {
  std::string rows;
  for (int i = 0; i < 90; ++i)
    rows += std::to_string(i % 3) + " " + std::to_string(i % 3 + 1) +
            ":1 4:" + std::to_string(0.1 * (i % 7)) + "\n";
  const std::string data = dir_.write("rows.svm", rows);
  const std::string model = train(
      {"--model softmax --method dp-sgd --dim 4 --classes 0,1,2 --epsilon 8 --delta 1e-3"}, data);
  const auto told = evaluated(data, model);
  EXPECT_EQ(told["auc"].size(), 3u);
  EXPECT_EQ(told["confusion"].size(), 3u);
  const auto predicted = json::parse(sotto({"predict --json", data, model, dir_.file("p")}).out);
  EXPECT_NEAR(told["log_loss"], predicted["loss"].get<double>(), 1e-5);
  const auto run = sotto({"evaluate", data, model, "--report", dir_.file("page.html")});
  EXPECT_THAT(run.out, HasSubstr("class against all others"));
  EXPECT_THAT(TempDir::read(dir_.file("page.html")), HasSubstr("AUC against all others"));
}

/// Beside the log loss stands that of the classes' shares, and a model that is worse is told.
TEST_F(Evaluate, WorseThanTheSharesOfTheClasses) {
  std::string rows;
  for (int i = 0; i < 100; ++i)
    rows += std::to_string(i % 10 < 6 ? 0 : i % 10 < 9 ? 1 : 2) + " 1:1\n";
  const std::string data = dir_.write("rows.svm", rows);
  const double shares = -(0.6 * std::log(0.6) + 0.3 * std::log(0.3) + 0.1 * std::log(0.1));
  const Words kNetwork = {"--loss multinomial --method sgd --dim 1 --classes 0,1,2 --steps"};
  const auto text = [&](const Words& more) {
    const std::string model = train(kNetwork + more, data);
    const auto run = sotto({"evaluate", data, model, "--report", dir_.file("page.html")});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr(fmt::format("(by chance {:.6f})", shares)));
    EXPECT_NEAR(evaluated(data, model)["log_loss_by_chance"].get<double>(), shares, 1e-12);
    return run.err + TempDir::read(dir_.file("page.html"));
  };
  // One step far too long.
  const Words kBad = {"1 --step-size 100 --expected-batch 5"};
  EXPECT_THAT(text(kBad),
              AllOf(HasSubstr("the probabilities are worse than none"),
                    HasSubstr("The probabilities are worse than the classes")));
  const auto run = sotto(Words{"train --seed 1 -q --overwrite --test", dir_.write("t.svm", rows)} +
                         kNetwork + kBad + Words{data, dir_.file("model.json")});
  EXPECT_THAT(run.out, HasSubstr(fmt::format("(by chance {:.6f})", shares)));
}

/// The loss of training weighs the classes; log losses don't.
TEST_F(Evaluate, WeightedLossesSaySo) {
  const std::string model = train({"--class-weight positive=4"});
  const auto run = sotto({"predict", rows_, model, dir_.file("p")});
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("log loss "), HasSubstr("as training weighs the classes: ")));
  const auto told = json::parse(sotto({"predict --json", rows_, model, dir_.file("p")}).out);
  EXPECT_GT(
      std::abs(told["loss"].get<double>() - evaluated(rows_, model)["log_loss"].get<double>()),
      1e-3);
}

TEST_F(Evaluate, RowsWithoutLabelsAreForPredict) {
  const std::string model = train({});
  const auto run = sotto({"evaluate", dir_.write("new.csv", "x\n1\n"), model});
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("`predict` takes rows without it"), Not(HasSubstr("Correct"))));
  const auto refused = sotto({"evaluate", dir_.write("odd.csv", "x,back\none,NO\n"), model});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, Not(HasSubstr("refusals")));
}

/// The kind of labels follows from the schema, and a loss that does not fit is told at once.
TEST_F(Evaluate, TheSchemaSaysWhatLabelsAre) {
  const std::string three = dir_.write("three.toml", kThreeClasses);
  for (const std::string& schema : {three, schema_})
    for (const std::string verb : {"check", "info"}) {
      const auto run = sotto({"data", verb, "--schema", schema, rows_});
      EXPECT_EQ(run.code, 0) << verb << run.err;
    }
  const auto poisson = sotto({"train --loss poisson --epsilon 1 --delta 1e-3 --schema",
                              schema_,
                              rows_,
                              dir_.file("none.json")});
  EXPECT_EQ(poisson.code, 2);
  EXPECT_THAT(poisson.err, AllOf(HasSubstr("declares two classes"), Not(HasSubstr("poisson:"))));
}

TEST_F(Evaluate, AHeaderWithAnotherSeparatorOrNone) {
  const auto says = [&](const std::string& text) {
    const auto run = sotto({"data check --schema", schema_, dir_.write("odd.csv", text)});
    EXPECT_EQ(run.code, 3);
    return run.err;
  };
  EXPECT_THAT(says("x;back\n1;NO\n"), HasSubstr("separator = "));
  EXPECT_THAT(says("1,NO\n2,NO\n"), HasSubstr("header = false"));
  EXPECT_THAT(says("x,bakc\n1,NO\n"), HasSubstr("Correct the name in the schema"));
}

TEST_F(Evaluate, SeveralClassesHaveNoThresholds) {
  const std::string schema = dir_.write("three.toml", kThreeClasses);
  const auto run = sotto({"train --seed 1 --loss multinomial --epsilon 1 --delta 1e-3 --schema",
                          schema,
                          "--test",
                          dir_.write("test.csv", rows_of_schema()),
                          rows_,
                          dir_.file("many.json")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, Not(HasSubstr("other thresholds")));
  // The radius follows from the schema: one number in [0, 1] and the intercept, three classes.
  EXPECT_THAT(run.err,
              HasSubstr(fmt::format("clip_radius {:.6g} (rule)", 1.1 * std::sqrt(2.0 * 2 / 3))));
}

TEST_F(Evaluate, Regression) {
  std::string rows;
  for (int i = 0; i < 40; ++i)
    rows += std::to_string(0.5 * (i % 5)) + " 1:" + std::to_string(0.2 * (i % 5)) + "\n";
  const std::string data = dir_.write("rows.svm", rows);
  const std::string model = train({"--method gd --loss squared --dim 1 --steps 2000"}, data);
  const auto told = evaluated(data, model);
  EXPECT_LT(told["rmse"].get<double>(), 0.05);
  EXPECT_GT(told["r_squared"].get<double>(), 0.99);
  EXPECT_NEAR(told["bias"], 0, 0.05);
  EXPECT_THAT(sotto({"evaluate", data, model}).out, AllOf(HasSubstr("R^2"), HasSubstr("bias")));
  EXPECT_EQ(sotto({"evaluate", data, model, "--report", dir_.file("page.html")}).code, 0);
}

TEST_F(Evaluate, PartsOfAModelThatDoNotFitEachOther) {
  const auto model = json::parse(TempDir::read(train({})));
  for (const auto& [name, value] : {std::pair<const char*, json>{"weights", json::array()},
                                    {"weights", {1, 2, 3, 4}},
                                    {"schema", "no schema"},
                                    {"network", "no network"}}) {
    auto changed = model;
    changed[name] = value;
    const std::string path = dir_.write("changed.json", changed.dump());
    EXPECT_EQ(sotto({"evaluate", rows_, path}).code, 3) << name << value;
    EXPECT_EQ(sotto({"recalibrate", rows_, path, dir_.file("new.json")}).code, 3) << name << value;
    EXPECT_EQ(sotto({"show", path}).code, 3) << name << value;
  }
}

TEST_F(Evaluate, OneRowAndOneClassOnly) {
  const std::string model = train({});
  const std::string one = dir_.write("one.csv", "x,back\n3,NO\n");
  const auto told = evaluated(one, model);
  EXPECT_TRUE(told["auc"].is_null());
  EXPECT_TRUE(told["average_precision"].is_null());
  EXPECT_EQ(sotto({"evaluate", one, model, "--report", dir_.file("page.html")}).code, 0);
  EXPECT_THAT(TempDir::read(dir_.file("page.html")), HasSubstr("All rows are of one class"));
}

TEST_F(Evaluate, ThePageIsCompleteAndSaysForWhichRowsItIs) {
  const std::string model = train({});
  const auto run = sotto({"evaluate", rows_, model, "--report", dir_.file("page.html")});
  EXPECT_EQ(run.code, 0) << run.err;
  const std::string page = TempDir::read(dir_.file("page.html"));
  EXPECT_THAT(page,
              AllOf(HasSubstr("Exact numbers, for public rows only"),
                    HasSubstr("ROC curve"),
                    HasSubstr("Precision and recall"),
                    HasSubstr("Reliability"),
                    HasSubstr("Chart.js"),
                    HasSubstr("NO or &gt;30")));
  EXPECT_EQ(page.find("src="), std::string::npos) << "nothing is fetched";
}

TEST_F(Evaluate, Mistakes) {
  const std::string model = train({});
  const std::string page = dir_.file("page.html");
  const std::string unlabelled = dir_.write("bare.csv", "x\n3\n");
  EXPECT_EQ(sotto({"evaluate", unlabelled, model, "--report", page}).code, 3);
  EXPECT_EQ(sotto({"evaluate", dir_.file("none.csv"), model, "--report", page}).code, 6);
  EXPECT_EQ(sotto({"evaluate", rows_, dir_.file("none.json"), "--report", page}).code, 6);
  EXPECT_EQ(sotto({"evaluate", rows_, rows_, "--report", page}).code, 3);
  EXPECT_EQ(sotto({"evaluate", rows_}).code, 2);
  EXPECT_EQ(sotto({"evaluate", rows_, model, "--report", model}).code, 2);
  EXPECT_EQ(sotto({"evaluate", rows_, model, "--report", rows_}).code, 2);
  EXPECT_FALSE(std::filesystem::exists(page));
  auto huge = json::parse(TempDir::read(model));
  huge["weights"] = {1e308, 1.7e308};
  const auto run =
      sotto({"evaluate", rows_, dir_.write("huge.json", huge.dump()), "--report", page});
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("not a finite number"));
  EXPECT_FALSE(std::filesystem::exists(page));
}

}  // namespace
}  // namespace sotto::testing
