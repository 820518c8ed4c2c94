// recalibrate from the outside: what it mends, what it leaves alone, and who says so.

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

/// Two features and classes that overlap; a third of the rows are positive.
std::string overlapping_rows() {
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += ((i * 7) % 30 < i % 10 + i % 13 - 2 ? "+1 1:" : "-1 1:") +
            std::to_string(0.07 * (i % 10)) + " 2:" + std::to_string(0.05 * (i % 13)) + "\n";
  return text;
}

class Recalibrate : public ::testing::Test {
 protected:
  void SetUp() override {
    rows_ = dir_.write("rows.svm", overlapping_rows());
    ASSERT_EQ(train({"--bias"}, "model.json").code, 0);
  }
  CommandResult train(const Words& more, const std::string& name) const {
    return sotto("train --epsilon 4 --delta 1e-4 --dim 2 --row-norm 2 -q --record" +
                 Words{dir_.file("run.json")} + more + Words{rows_, dir_.file(name)});
  }
  json read(const std::string& name) const { return json::parse(TempDir::read(dir_.file(name))); }
  json evaluated(const std::string& name) const {
    return json::parse(sotto({"evaluate --json", rows_, dir_.file(name)}).out);
  }
  /// The model with this slope and shift of its scores: wrong probabilities, the same ranking.
  std::string miscalibrated(double slope, double shift) const {
    json model = read("model.json");
    for (auto& weight : model["weights"]) weight = slope * weight.get<double>();
    model["weights"].back() = model["weights"].back().get<double>() + shift;
    return dir_.write("wrong.json", model.dump(1));
  }

  TempDir dir_;
  std::string rows_;
};

TEST_F(Recalibrate, TheMeanPredictionBecomesTheObservedShare) {
  const std::string wrong = miscalibrated(3, -2);
  const json before = evaluated("wrong.json");
  EXPECT_GT(
      std::abs(before["mean_prediction"].get<double>() - before["observed_share"].get<double>()),
      0.1);
  for (const char* method : {"platt", "intercept"}) {
    const auto run = sotto({"recalibrate --json --method",
                            method,
                            rows_,
                            wrong,
                            dir_.file(std::string(method) + ".json")});
    ASSERT_EQ(run.code, 0) << run.err;
    const json after = evaluated(std::string(method) + ".json");
    EXPECT_NEAR(after["mean_prediction"], after["observed_share"].get<double>(), 1e-9) << method;
    EXPECT_LT(after["log_loss"], before["log_loss"]) << method;
    EXPECT_NEAR(after["auc"], before["auc"].get<double>(), 1e-12) << "the ranking stays";
    EXPECT_EQ(json::parse(run.out)["after"]["log_loss"], after["log_loss"]);

    // predict says the same probabilities.
    const std::string path = dir_.file("p");
    ASSERT_EQ(sotto({"predict", rows_, dir_.file(std::string(method) + ".json"), path}).code, 0);
    std::istringstream lines(TempDir::read(path));
    double sum = 0;
    std::string line;
    for (std::getline(lines, line); std::getline(lines, line);)
      sum += std::stod(line.substr(line.rfind(',') + 1));
    EXPECT_NEAR(sum / 300, after["observed_share"].get<double>(), 1e-9) << method;
  }
  // Whichever scale it begins with, the best one is the same.
  ASSERT_EQ(sotto({"recalibrate", rows_, dir_.file("model.json"), dir_.file("b.json")}).code, 0);
  EXPECT_NEAR(
      evaluated("b.json")["log_loss"], evaluated("platt.json")["log_loss"].get<double>(), 1e-9);
}

TEST_F(Recalibrate, TheGuaranteeStaysAndVerifySaysWhatWasDone) {
  const auto run = sotto({"recalibrate", rows_, dir_.file("model.json"), dir_.file("new.json")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("its guarantee is that of"), HasSubstr("epsilon 4")));
  const json model = read("new.json");
  EXPECT_EQ(model["privacy"], read("model.json")["privacy"]);
  EXPECT_EQ(model["recalibrated"]["rows"], 300);
  const auto verified = sotto({"verify", dir_.file("run.json"), "--model", dir_.file("new.json")});
  EXPECT_EQ(verified.code, 0) << verified.out;
  EXPECT_THAT(verified.out, AllOf(HasSubstr("FLAG"), HasSubstr("model: recalibrated")));
  EXPECT_EQ(sotto({"verify", dir_.file("run.json"), "--model", dir_.file("model.json")})
                .out.find("recalibrated"),
            std::string::npos);
  // The mark excuses other weights, and nothing else.
  for (const char* path : {"/privacy/epsilon", "/row_norm"}) {
    json forged = model;
    forged[json::json_pointer(path)] = 0.1;
    EXPECT_EQ(
        sotto(
            {"verify", dir_.file("run.json"), "--model", dir_.write("forged.json", forged.dump(1))})
            .code,
        5)
        << path;
  }
  ASSERT_EQ(sotto({"export", dir_.file("new.json"), dir_.file("new.onnx")}).code, 0);
  EXPECT_THAT(TempDir::read(dir_.file("new.onnx")),
              AllOf(HasSubstr("sotto.recalibrated"),
                    HasSubstr("Its scores were recalibrated on rows that were declared public.")));
  ASSERT_EQ(sotto({"export", dir_.file("model.json"), dir_.file("old.onnx")}).code, 0);
  EXPECT_EQ(TempDir::read(dir_.file("old.onnx")).find("recalibrated"), std::string::npos);
}

/// It can be made again; a model that was trained is kept whatever is given.
TEST_F(Recalibrate, ACorrectedModelIsReplacedOnlyIfAsked) {
  const Words into = {"recalibrate", rows_, dir_.file("model.json"), dir_.file("corrected.json")};
  ASSERT_EQ(sotto(into).code, 0);
  const std::string before = TempDir::read(dir_.file("corrected.json"));
  const auto refused = sotto(into + Words{"--method intercept"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("give --overwrite"), Not(HasSubstr("paid"))));
  EXPECT_EQ(TempDir::read(dir_.file("corrected.json")), before);
  EXPECT_EQ(sotto(into + Words{"--method intercept --overwrite"}).code, 0);
  EXPECT_NE(TempDir::read(dir_.file("corrected.json")), before);
  ASSERT_EQ(train({}, "other.json").code, 0);
  const auto kept =
      sotto({"recalibrate --overwrite", rows_, dir_.file("model.json"), dir_.file("other.json")});
  EXPECT_EQ(kept.code, 2);
  EXPECT_THAT(kept.err, HasSubstr("a model as it was trained"));
}

TEST_F(Recalibrate, AFileOfAnotherKindIsKept) {
  const std::string schema = dir_.write("schema.toml", "# hours of work\n");
  const Words command = {"recalibrate", rows_, dir_.file("model.json"), schema};
  for (const Words& each : {command, command + "--overwrite"}) {
    const auto refused = sotto(each);
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("is no model, so that it is kept"));
  }
  EXPECT_EQ(TempDir::read(schema), "# hours of work\n");
}

TEST_F(Recalibrate, RowsThatWereRescaledAreTold) {
  ASSERT_EQ(
      sotto({"train --method gd --bias --dim 2 --row-norm 1.05 -q", rows_, dir_.file("short.json")})
          .code,
      0);
  const auto run = sotto({"recalibrate", rows_, dir_.file("short.json"), dir_.file("new.json")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("of the rows are longer than --row-norm"));
}

TEST_F(Recalibrate, RefusesByNameAndWritesNothing) {
  const std::string out = dir_.file("new.json");
  ASSERT_EQ(train({"--no-bias"}, "unbiased.json").code, 0);
  const auto unbiased = sotto({"recalibrate", rows_, dir_.file("unbiased.json"), out});
  EXPECT_EQ(unbiased.code, 2);
  EXPECT_THAT(unbiased.err, HasSubstr("Train with --bias"));
  ASSERT_EQ(train({"--bias --loss sigmoid"}, "sigmoid.json").code, 0);
  const auto sigmoid = sotto({"recalibrate", rows_, dir_.file("sigmoid.json"), out});
  EXPECT_EQ(sigmoid.code, 2);
  EXPECT_THAT(sigmoid.err, HasSubstr("the loss sigmoid"));

  const auto refused = [&](const std::string& rows, const std::string& model, const char* why) {
    const auto run = sotto({"recalibrate", rows, model, out});
    EXPECT_EQ(run.code, 3) << why;
    EXPECT_THAT(run.err, HasSubstr(why));
  };
  const std::string model = dir_.file("model.json");
  refused(rows_, miscalibrated(-1, 0), "the best slope is -");
  refused(rows_, miscalibrated(0, 1), "all scores are equal");
  refused(dir_.write("one.svm", "+1 1:0.1\n+1 1:0.2\n"), model, "one class");
  refused(dir_.write("apart.svm", "-1 1:0\n+1 1:1 2:1\n"), model, "--method intercept");
  EXPECT_EQ(sotto({"recalibrate --method magic", rows_, model, out}).code, 2);
  EXPECT_EQ(sotto({"recalibrate", rows_, model, model}).code, 2);
  EXPECT_EQ(sotto({"recalibrate", rows_, model, dir_.file("no/such/folder.json")}).code, 6);
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace sotto::testing
