// From the files that users have to a private model, in one command each.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/command.hpp"
#include "tests/support/shared_data.hpp"

namespace sotto::testing {
namespace {

const std::string kExamples = std::string(SOTTO_SOURCE_DIR) + "/examples/";

/// What a run says, with these files and options.
nlohmann::json trained(const Words& words) {
  const auto run = sotto("train --json --seed 1" + words);
  EXPECT_EQ(run.code, 0) << run.err;
  return nlohmann::json::parse(run.out);
}

TEST(RealData, AdultFromCsvAndSchema) {
  SOTTO_NEEDS_DATA("uci/adult.data.gz");
  const TempDir dir;
  const auto json = trained({"--epsilon 1 --delta 1e-6 --bias --schema",
                             kExamples + "adult.toml",
                             "--test",
                             shared_data("uci/adult.test.gz"),
                             shared_data("uci/adult.data.gz"),
                             dir.file("model.json")});
  EXPECT_LE(json["epsilon_spent"].get<double>(), 1);
  EXPECT_GT(json["test"]["accuracy"].get<double>(), 0.82) << "the majority class alone is 0.764";
  const auto predict = sotto({"predict",
                              shared_data("uci/adult.test.gz"),
                              dir.file("model.json"),
                              dir.file("out.txt"),
                              "--json"});
  ASSERT_EQ(predict.code, 0) << "the schema travels inside the model: " << predict.err;
  EXPECT_EQ(nlohmann::json::parse(predict.out)["accuracy"], json["test"]["accuracy"]);
}

TEST(RealData, DiabetesProtectsPersonsNotStays) {
  SOTTO_NEEDS_DATA("uci/diabetic_data.csv.gz");
  const TempDir dir;
  const auto privacy = trained({"--epsilon 1 --delta 1e-6 --bias --schema",
                                kExamples + "diabetes.toml",
                                shared_data("uci/diabetic_data.csv.gz"),
                                dir.file("model.json")})["privacy"];
  EXPECT_EQ(privacy["unit"], "patient_nbr");
  EXPECT_EQ(privacy["public_n"], 71518) << "persons, not the 101,766 stays";
}

// Three classes of readmission by patients: trained, scored and evaluated from the command line.
// The class set is declared, and the ranking is far from chance (0.5).
TEST(RealData, ThreeClassesOfReadmissionByPersons) {
  SOTTO_NEEDS_DATA("uci/diabetic_data.csv.gz");
  for (const char* model_name : {"softmax", "mlp:16"}) {
    const TempDir dir;
    const std::string rows = shared_data("uci/diabetic_data.csv.gz");
    const std::string model = dir.file("model.json");
    const auto privacy =
        trained({"--method dp-sgd --clip-radius 5 --epsilon 3 --delta 1e-6 --most-rows 5 --model",
                 model_name,
                 "--schema",
                 kExamples + "diabetes3.toml",
                 rows,
                 model})["privacy"];
    EXPECT_EQ(privacy["unit"], "patient_nbr");
    EXPECT_EQ(privacy["public_n"], 71518);
    EXPECT_EQ(privacy["most_rows"], 5);
    const auto predicted =
        sotto({"predict --proba --keep encounter_id", rows, model, dir.file("scores.csv")});
    EXPECT_EQ(predicted.code, 0) << predicted.err;
    EXPECT_THAT(TempDir::read(dir.file("scores.csv")),
                ::testing::StartsWith("encounter_id,prediction,probability of NO,probability of "
                                      ">30,probability of <30\n"));
    const auto told = sotto({"evaluate --json", rows, model});
    ASSERT_EQ(told.code, 0) << told.err;
    const auto json = nlohmann::json::parse(told.out);
    EXPECT_EQ(json["rows"], 101766) << "stays: each counts alone";
    EXPECT_LT(json["log_loss"].get<double>(), 0.95);
    for (const auto& auc : json["auc"]) EXPECT_GT(auc.get<double>(), 0.55);
  }
}

TEST(RealData, A9aInOneCommand) {
  SOTTO_NEEDS_DATA("libsvm/a9a.gz");
  const TempDir dir;
  // One run; the mean of twenty is held against 0.356 in tests/slow.
  EXPECT_LT(trained(a9a_words() + dir.file("model.json"))["test"]["objective"].get<double>(), 0.38);
}

}  // namespace
}  // namespace sotto::testing
