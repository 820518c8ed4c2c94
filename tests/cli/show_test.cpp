// show from the outside.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST_F(Show, WhatIsNoModel) {
  EXPECT_EQ(sotto({"show", dir_.file("none.json")}).code, 6);
  EXPECT_EQ(sotto({"show", dir_.file("schema.toml")}).code, 3);
  EXPECT_EQ(sotto({"show"}).code, 2);
}

}  // namespace
}  // namespace sotto::testing
