// Files from the outside: whose line a prediction is, and what is written over what.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/command.hpp"
#include "tests/support/persons.hpp"

namespace sotto::testing {
namespace {

using ::testing::HasSubstr;

/// Two persons whose rows alternate, each now sick, now well.
TEST(Predict, ALineIsItsRowsWhoeverTheRowsBelongTo) {
  const TempDir folder;
  const std::string schema = folder.write("people.toml", kPersons);
  std::string rows = "who,x,y\n";
  std::vector<std::string> labels;
  for (int i = 0; i < 60; ++i) {
    const bool sick = i % 3 == 0;
    labels.emplace_back(sick ? "sick" : "well");
    rows +=
        std::string(i % 2 == 0 ? "b" : "a") + (sick ? ",0.9," : ",-0.9,") + labels.back() + "\n";
  }
  const std::string data = folder.write("people.csv", rows);
  const std::string model = folder.file("model.json");
  const auto train = sotto({"train --method gd --bias --schema", schema, data, model});
  ASSERT_EQ(train.code, 0) << train.err;
  const auto predict = sotto({"predict", data, model, folder.file("out.txt")});
  ASSERT_EQ(predict.code, 0) << predict.err;
  std::istringstream lines(TempDir::read(folder.file("out.txt")));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "row,prediction,probability");
  for (std::size_t i = 0; i < labels.size(); ++i) {
    std::getline(lines, line);
    EXPECT_THAT(line, ::testing::StartsWith(std::to_string(i + 1) + "," + labels[i] + ","));
  }
}

TEST(Persons, AreProtectedNotRows) {
  const TempDir folder;
  std::string rows = "who,x,y\n";
  for (int i = 0; i < 120; ++i)
    rows += "p" + std::to_string(i % 40) + (i % 3 == 0 ? ",0.9,sick\n" : ",-0.9,well\n");
  const auto run = sotto({"train --epsilon 1 --delta 1e-5 --seed 1 --json --schema",
                          folder.write("people.toml", kPersons),
                          folder.write("people.csv", rows),
                          folder.file("model.json")});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto privacy = nlohmann::json::parse(run.out)["privacy"];
  EXPECT_EQ(privacy["unit"], "who");
  EXPECT_EQ(privacy["public_n"], 40) << "persons, not the 120 rows";
}

TEST(Outputs, AreNeverWrittenOverInputsOrOneAnother) {
  const TempDir folder;
  const std::string text = small_libsvm();
  const std::string data = folder.write("rows.svm", text);
  const std::string model = folder.file("m.json");
  const auto with = [&](const Words& more) {
    return sotto("train --epsilon 1 --delta 1e-5 --row-norm 1 --dim 2" + more);
  };
  const std::vector<Words> collisions = {
      {data, data},
      {"--record", model, data, model},
      {"--report", model + ".journal", data, model},
      {"--checkpoint", model, "--every 5", data, model},
      {"--checkpoint", model + ".journal", "--every 5", data, model},
      {"--record", data, data, model},
      {"--record", folder.file("r"), "--report", folder.file("r"), data, model},
      {"--model softmax --method dp-sgd --classes -1,1", data, data},
      {"--model softmax --method dp-sgd --classes -1,1 --record", model, data, model}};
  for (const auto& each : collisions) {
    const auto run = with(each);
    EXPECT_EQ(run.code, 2) << each[0] << " " << each[1] << run.err;
    EXPECT_THAT(run.err, HasSubstr("Choose "));
  }
  EXPECT_EQ(TempDir::read(data), text);
  EXPECT_FALSE(std::filesystem::exists(model));
  EXPECT_FALSE(std::filesystem::exists(model + ".journal"));
  ASSERT_EQ(with({data, model}).code, 0);
  const std::string trained = TempDir::read(model);
  EXPECT_EQ(sotto({"predict", data, model, data}).code, 2);
  EXPECT_EQ(sotto({"predict", data, model, model}).code, 2);
  EXPECT_EQ(sotto({"data convert --dim 2", data, data}).code, 2);
  EXPECT_EQ(TempDir::read(data), text);
  EXPECT_EQ(TempDir::read(model), trained);
}

}  // namespace
}  // namespace sotto::testing
