// show from the outside.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
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
name = "age"
kind = "numeric"
min = 0
max = 50
[[column]]
name = "ward, floor"
kind = "categorical"
values = ["a", "b"]
[[column]]
name = "back"
kind = "label"
negative = ["NO", ">30"]
positive = ["<30"]
)";

class Show : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string rows = "age,\"ward, floor\",back\n";
    for (int i = 0; i < 40; ++i)
      rows += std::to_string(i) + (i % 2 ? ",a" : ",b") + (i % 3 ? ",NO\n" : ",<30\n");
    model_ = dir_.file("model.json");
    const auto run = sotto({"train --epsilon 1 --delta 1e-3 --steps 3 --bias -q --schema",
                            dir_.write("schema.toml", kSchema),
                            "--record",
                            dir_.file("run.json"),
                            dir_.write("rows.csv", rows),
                            model_});
    ASSERT_EQ(run.code, 0) << run.err;
  }

  TempDir dir_;
  std::string model_;
};

TEST_F(Show, TheGuaranteeTheClassesAndTheCoefficients) {
  const auto run = sotto({"show", model_});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("would look almost the same without any one row"),
                    HasSubstr("epsilon at most 1 at delta"),
                    HasSubstr("NO or >30 (negative scores), <30 (positive scores)"),
                    HasSubstr("age (0 to 50)"),
                    HasSubstr("ward, floor=a"),
                    HasSubstr("intercept"),
                    Not(HasSubstr("largest of"))));
}

TEST_F(Show, AWeightPerUnitOfTheColumn) {
  const auto told = json::parse(sotto({"show --json", model_}).out);
  const auto model = json::parse(TempDir::read(model_));
  ASSERT_EQ(told["coefficients"].size(), 3u);
  double before = 1e300;
  for (const auto& each : told["coefficients"]) {
    EXPECT_LE(std::abs(each["weight"].get<double>()), before) << "the largest first";
    before = std::abs(each["weight"].get<double>());
    if (each["feature"] != "age") continue;
    EXPECT_EQ(each["weight"], model["weights"][0]);
    EXPECT_DOUBLE_EQ(each["per_unit"], model["weights"][0].get<double>() / 50);
  }
  EXPECT_EQ(told["intercept"], model["weights"][3]);
  EXPECT_EQ(told["privacy"], model["privacy"]);
  EXPECT_EQ(told["classes"], (json{"NO or >30", "<30"}));
}

TEST_F(Show, TheLargestAlone) {
  const auto run = sotto({"show --top 1", model_});
  EXPECT_THAT(run.out, HasSubstr("the 1 largest of 3 features; --top 3 shows all"));
  EXPECT_EQ(json::parse(sotto({"show --top 2 --json", model_}).out)["coefficients"].size(), 2u);
  EXPECT_EQ(sotto({"show --top 9", model_}).code, 0);
  EXPECT_EQ(sotto({"show --top 0", model_}).code, 2);
  // More features than a screen has lines.
  const std::string wide = dir_.file("wide.json");
  ASSERT_EQ(
      sotto({"train --method gd --dim 50 -q", dir_.write("r.svm", small_libsvm()), wide}).code, 0);
  const auto shown = sotto({"show", wide});
  EXPECT_THAT(shown.out,
              AllOf(HasSubstr("the 40 largest of 50 features"),
                    HasSubstr("feature 1\n"),
                    HasSubstr("None: the method adds no noise"),
                    Not(HasSubstr("per unit")),
                    HasSubstr("-1 (negative scores), 1 (positive scores)")));
  EXPECT_EQ(json::parse(sotto({"show --json", wide}).out)["coefficients"].size(), 50u);
}

TEST_F(Show, AModelThatSomebodyChangedIsRefusedAsByPredict) {
  const auto refused = [&](const auto& change) {
    auto model = json::parse(TempDir::read(model_));
    change(model);
    const auto run = sotto({"show", dir_.write("changed.json", model.dump())});
    return run.code == 3 && run.out.empty();
  };
  EXPECT_FALSE(refused([](json&) {})) << "as it is";
  EXPECT_TRUE(refused([](json& model) {
    std::reverse(model["feature_names"].begin(), model["feature_names"].end() - 1);
  }));
  EXPECT_TRUE(refused([](json& model) { model["privacy"]["epsilon"] = -1; }));
  EXPECT_TRUE(refused([](json& model) { model["privacy"]["delta"] = 1.5; }));
  EXPECT_TRUE(refused([](json& model) { model["privacy"]["public_n"] = -5; }));
  EXPECT_TRUE(refused([](json& model) { model["privacy"]["most_rows"] = 2; }));
  EXPECT_TRUE(refused([](json& model) { model["row_norm"] = -1; }));
}

TEST_F(Show, AsCsv) {
  const std::string path = dir_.file("c.csv");
  ASSERT_EQ(sotto({"show --csv", path, model_}).code, 0);
  const std::string text = TempDir::read(path);
  EXPECT_THAT(text,
              AllOf(HasSubstr("feature,weight,per_unit,min,max\n"),
                    HasSubstr("\"ward, floor=a\","),
                    HasSubstr(",0,50\n"),
                    HasSubstr("\nintercept,")));
  EXPECT_EQ(sotto({"show --csv", model_, model_}).code, 2) << "not over the model";
}

TEST_F(Show, SettingsOfItsOwnRecordOnly) {
  const auto run = sotto({"show", model_, "--record", dir_.file("run.json")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("origin"), HasSubstr("clip_radius"), HasSubstr("given")));
  const auto told =
      json::parse(sotto({"show --json", model_, "--record", dir_.file("run.json")}).out);
  EXPECT_GT(told["settings"].size(), 5u);

  auto other = json::parse(TempDir::read(dir_.file("run.json")));
  other["privacy"]["epsilon"] = 0.1;
  const auto refused = sotto({"show", model_, "--record", dir_.write("o.json", other.dump())});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("is not the record of"));
  EXPECT_EQ(sotto({"show", model_, "--record", model_}).code, 3);
}

TEST_F(Show, TheNoiseInEachWeight) {
  EXPECT_THAT(sotto({"show", model_}).out,
              HasSubstr("--record RUN, the record of this model's run"));
  const Words asked = {model_, "--record", dir_.file("run.json")};
  const auto run = sotto(Words{"show"} + asked);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("     noise     per unit     noise   feature"),
                    HasSubstr("To first order the noise in this model is not larger"),
                    HasSubstr("indistinguishable from 0 at this epsilon, less than 2 x noise: "),
                    Not(HasSubstr("--record RUN"))));
  EXPECT_EQ(sotto(Words{"show"} + asked).out, run.out) << "the same files, the same numbers";

  const auto told = json::parse(sotto(Words{"show --json"} + asked).out);
  const double noise = told["noise"]["weight"].get<double>();
  EXPECT_GT(noise, 0);
  EXPECT_EQ(told["noise"]["intercept"], noise) << "no regularizer";
  EXPECT_EQ(told["noise"]["bound_to_first_order"], true);
  std::int64_t marked = 0;
  for (const auto& each : told["coefficients"]) {
    EXPECT_EQ(each["noise"], noise);
    const bool lost = std::abs(each["weight"].get<double>()) < 2 * noise;
    EXPECT_EQ(each["indistinguishable_from_0"], lost);
    marked += lost ? 1 : 0;
    EXPECT_EQ(each.contains("noise_per_unit"), each["feature"] == "age");
    EXPECT_DOUBLE_EQ(each.value("noise_per_unit", noise / 50), noise / 50);
  }
  EXPECT_THAT(run.out, HasSubstr(std::to_string(marked) + " of 3 features"));

  const std::string path = dir_.file("c.csv");
  ASSERT_EQ(sotto(Words{"show --csv", path} + asked).code, 0);
  EXPECT_THAT(TempDir::read(path),
              HasSubstr("feature,weight,per_unit,min,max,noise,noise_per_unit,"
                        "indistinguishable_from_0\n"));
}

TEST_F(Show, OfWhichMethodsTheNoiseIsNotTold) {
  const std::string rows = dir_.write("r.svm", small_libsvm());
  const auto shown = [&](const Words& options) {
    const std::string model = dir_.file("m.json"), record = dir_.file("m.run");
    const auto run = sotto(Words{"train --dim 2 --row-norm 1 --delta 1e-3 -q --overwrite --again"} +
                           options + Words{"--record", record, rows, model});
    EXPECT_EQ(run.code, 0) << run.err;
    const auto told = sotto({"show", model, "--record", record});
    EXPECT_EQ(told.code, 0) << told.err;
    return told.out;
  };
  const auto refused = [](const char* why) {
    return AllOf(HasSubstr("The noise in the weights is not shown: "), HasSubstr(why));
  };
  EXPECT_THAT(shown("--epsilon 1 --method dp-newton"), refused("dp-newton steps by more than"));
  EXPECT_THAT(shown("--epsilon 1 --method dp-agd"), refused("dp-agd steps by more than"));
  EXPECT_THAT(shown("--epsilon 1 --method dp-gd --update adam"), refused("in proportion"));
  EXPECT_THAT(shown("--epsilon 1 --method dp-fw-l2 --constraint l2:1"),
              refused("dp-fw-l2 can't be run without its constraint set"));
  EXPECT_THAT(shown("--epsilon 1 --method dp-pmd --constraint l1:1"), refused("dp-pmd measures"));
  EXPECT_THAT(shown("--epsilon 1 --method dp-gd --regularizer l2:0.01"),
              HasSubstr("no weight's noise is larger than the intercept's"));
  EXPECT_THAT(shown("--epsilon 1 --method dp-gd --loss sigmoid"), HasSubstr("a yardstick"));
  EXPECT_THAT(shown("--epsilon 1 --method dp-pgd --constraint l2:0.01"),
              HasSubstr("To first order"));
}

TEST_F(Show, ANetworkHasLayers) {
  const std::string network = dir_.file("network.json");
  ASSERT_EQ(sotto({"train --model mlp:3 --method dp-sgd --epsilon 1 --delta 1e-3 --steps 2 --dim 2 "
                   "--classes -1,1 -q",
                   dir_.write("r.svm", small_libsvm()),
                   network})
                .code,
            0);
  const auto run = sotto({"show", network});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("network, 3 layers"),
                    HasSubstr("almost the same"),
                    HasSubstr("           9            3   linear 3"),
                    HasSubstr("          17                all")));
  EXPECT_EQ(json::parse(sotto({"show --json", network}).out)["weights"], 17);
  EXPECT_EQ(sotto({"show --csv", dir_.file("c.csv"), network}).code, 2);
  EXPECT_FALSE(std::filesystem::exists(dir_.file("c.csv")));
}

TEST_F(Show, AModelOfThreeClassesHasATableOfThem) {
  std::string rows = "age,back\n";
  for (int i = 0; i < 60; ++i)
    rows += std::to_string(i % 50) + (i % 3 == 0 ? ",no\n" : i % 3 == 1 ? ",late\n" : ",soon\n");
  const std::string schema = dir_.write("three.toml", R"([file]
header = true
[[column]]
name = "age"
kind = "numeric"
min = 0
max = 50
[[column]]
name = "back"
kind = "label"
classes = ["no", "late", "soon"]
)");
  const std::string model = dir_.file("three.json");
  const auto run = sotto({"train --method gd --steps 5 --loss multinomial -q --schema",
                          schema,
                          dir_.write("three.csv", rows),
                          model});
  ASSERT_EQ(run.code, 0) << run.err;
  const json file = json::parse(TempDir::read(model));
  const auto w = file.at("weights").get<std::vector<double>>();
  ASSERT_EQ(w.size(), 6u);  // a weight per class, then an intercept per class
  const double age_mean = (w[0] + w[1] + w[2]) / 3;
  const double intercept_mean = (w[3] + w[4] + w[5]) / 3;

  const json shown = json::parse(sotto({"show --json", model}).out);
  ASSERT_EQ(shown["coefficients"].size(), 1u);
  EXPECT_EQ(shown["coefficients"][0]["feature"], "age");
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_DOUBLE_EQ(shown["coefficients"][0]["weights"][c], w[c] - age_mean) << c;
    EXPECT_DOUBLE_EQ(shown["intercept"][c], w[3 + c] - intercept_mean) << c;
  }
  const std::string csv = dir_.file("three.csv.out");
  const auto text = sotto({"show --csv", csv, model});
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("linear, one score per class"),
                    HasSubstr("        no       late       soon   feature"),
                    HasSubstr("   age\n"),
                    HasSubstr("   intercept\n"),
                    HasSubstr("against the mean of all classes")));
  EXPECT_THAT(TempDir::read(csv), ::testing::StartsWith("feature,no,late,soon\nage,"));
}

/// A network that starts at random, one that starts from it, and their records.
class Start : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto first = train({"--seed 1 --quiet"}, "first");
    ASSERT_EQ(first.code, 0) << first.err;
  }
  CommandResult train(const Words& more, const std::string& name) const {
    return sotto(Words{"train --model mlp:3 --method dp-sgd --epsilon 1 --delta 1e-3 --steps 2 "
                       "--dim 2 --classes -1,1 --record",
                       file(name, ".run")} +
                 more + Words{rows_, file(name, ".json")});
  }
  std::string file(const std::string& name, const char* suffix) const {
    return dir_.file(name + suffix);
  }
  json record(const std::string& name) const {
    return json::parse(TempDir::read(file(name, ".run")));
  }
  CommandResult verified(const json& asked) const {
    return sotto({"verify", dir_.write("asked.run", asked.dump(1))});
  }

  TempDir dir_;
  std::string rows_ = dir_.write("rows.svm", small_libsvm());
};

TEST_F(Start, ASeededOneIsMarkedAndWarnedOfOnce) {
  const auto run = train({"--pretrained", file("first", ".json")}, "second");
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string warning = "was trained privately (epsilon ";
  const std::size_t at = run.err.find(warning);
  ASSERT_NE(at, std::string::npos) << run.err;
  EXPECT_EQ(run.err.find(warning, at + 1), std::string::npos) << "once";
  EXPECT_THAT(
      run.err.substr(at, run.err.find('\n', at) - at),
      AllOf(HasSubstr(" IF ITS SEED IS SECRET, delta "), HasSubstr("owed the sum of both")));
}

// Whoever reads the files alone must learn of it, also where nothing was printed.
TEST_F(Start, WhatWasDeclaredPublicIsAFactOfTheStatement) {
  const auto run = train({"--quiet --pretrained", file("first", ".json")}, "second");
  ASSERT_EQ(run.code, 0) << run.err;
  const json second = record("second");
  EXPECT_EQ(second["privacy"]["start_declared_public"], true);
  const json model = json::parse(TempDir::read(file("second", ".json")));
  EXPECT_EQ(model["privacy"], second["privacy"]);
  ASSERT_EQ(second["warnings"].size(), 1u) << second["warnings"];
  EXPECT_THAT(second["warnings"][0].get<std::string>(),
              AllOf(HasSubstr("IF ITS SEED IS SECRET"), HasSubstr("owed the sum of both")));
  EXPECT_THAT(sotto({"show", file("second", ".json")}).out,
              HasSubstr("weights that were declared public"));
  const auto whole = sotto({"verify",
                            file("second", ".run"),
                            "--journal",
                            file("second", ".json.journal"),
                            "--model",
                            file("second", ".json")});
  EXPECT_EQ(whole.code, 0) << whole.out;
  EXPECT_THAT(whole.out,
              AllOf(HasSubstr("FLAG"), HasSubstr("weights that were declared public; if they")));

  // Where nothing was named, nothing says so.
  const json first = record("first");
  EXPECT_FALSE(first["privacy"].contains("start_declared_public"));
  EXPECT_EQ(first["warnings"], json::array());
  EXPECT_THAT(sotto({"show", file("first", ".json")}).out, Not(HasSubstr("declared public")));
  const auto unnamed = verified(first);
  EXPECT_EQ(unnamed.code, 0) << unnamed.out;
  EXPECT_THAT(unnamed.out, Not(HasSubstr("declared public")));
}

TEST_F(Start, ForgedOnesAreFound) {
  const auto run = train({"--quiet --pretrained", file("first", ".json")}, "second");
  ASSERT_EQ(run.code, 0) << run.err;
  const json second = record("second");
  ASSERT_EQ(verified(second).code, 0);
  json forged = second;
  forged["privacy"].erase("start_declared_public");
  EXPECT_EQ(verified(forged).code, 5) << "taken away";
  for (const json& other : {json(false), json(1), json("true"), json()}) {
    forged["privacy"]["start_declared_public"] = other;
    EXPECT_EQ(verified(forged).code, 5) << other;
  }
  forged = record("first");
  ASSERT_EQ(verified(forged).code, 0);
  for (const json& other : {json(true), json(1)}) {
    forged["privacy"]["start_declared_public"] = other;
    EXPECT_EQ(verified(forged).code, 5) << "added: " << other;
  }
}

// Its layers are those of a network: a linear model has no place for them.
TEST_F(Start, ALinearModelTakesNone) {
  const auto run = sotto({"train --epsilon 1 --delta 1e-3 --steps 2 --dim 2 --row-norm 1 --quiet",
                          "--pretrained",
                          file("first", ".json"),
                          "--record",
                          file("linear", ".run"),
                          rows_,
                          file("linear", ".json")});
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("leave --pretrained out"));
  EXPECT_FALSE(std::filesystem::exists(file("linear", ".json")));
  EXPECT_FALSE(std::filesystem::exists(file("linear", ".run")));
}

TEST_F(Show, WhatIsNoModel) {
  EXPECT_EQ(sotto({"show", dir_.file("none.json")}).code, 6);
  EXPECT_EQ(sotto({"show", dir_.file("schema.toml")}).code, 3);
  EXPECT_EQ(sotto({"show"}).code, 2);
}

}  // namespace
}  // namespace sotto::testing
