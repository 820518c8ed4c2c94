// account, calibrate, methods, data, demo from the outside.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/command.hpp"
#include "tests/support/persons.hpp"

namespace sotto::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Account, PricesAnEvent) {
  const auto run = sotto({"account --event",
                          std::string("repeat(100, gaussian(42.2468))"),
                          "--neighbours zero-out --delta 1e-6 --json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["delta"], 1e-6);
  ASSERT_EQ(json["accountants"].size(), 1u);
  EXPECT_EQ(json["accountants"][0]["name"], "gaussian");
  EXPECT_NEAR(json["accountants"][0]["epsilon_upper"].get<double>(), 1, 1e-4);
}

TEST(Account, AllAccountantsThatApply) {
  const auto run = sotto({"account --event",
                          std::string("repeat(100, poisson(0.01, gaussian(1)))"),
                          "--neighbours add-remove --delta 1e-6 --accountant all --json"});
  ASSERT_EQ(run.code, 0) << run.err;
  std::vector<std::string> names;
  const auto json = nlohmann::json::parse(run.out);
  for (const auto& each : json["accountants"]) names.push_back(each["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"rdp", "pld"}))
      << "the others don't apply and are left out";
}

TEST(Account, Mistakes) {
  EXPECT_EQ(sotto({"account --event gaussian(1) --delta 1e-6"}).code, 2) << "no relation";
  EXPECT_EQ(sotto({"account --event gaussian(1 --neighbours zero-out --delta 1e-6"}).code, 2);
  EXPECT_EQ(sotto({"account --event gaussian(1) --neighbours zero-out"}).code, 2);
  EXPECT_EQ(sotto({"account --event gaussian(-1) --neighbours zero-out --delta 1e-6"}).code, 2);
  EXPECT_EQ(sotto({"account --event gaussian(1) --neighbours zero-out --delta 2"}).code, 2);
  EXPECT_EQ(sotto({"account --journal /no/such/file"}).code, 6);
}

TEST(Account, CurveAsJsonAndAsAPage) {
  const Words command = {"account --event",
                         std::string("repeat(100, poisson(0.01, gaussian(1)))"),
                         "--neighbours zero-out --curve"};
  const auto json = nlohmann::json::parse(sotto(command).out);
  ASSERT_GT(json["curve"].size(), 100u);
  double before = 1;
  for (const auto& point : json["curve"]) {
    EXPECT_LE(point["delta_lower"].get<double>(), point["delta_upper"].get<double>());
    EXPECT_LE(point["delta_upper"].get<double>(), before * (1 + 1e-9));
    before = point["delta_upper"].get<double>();
  }
  EXPECT_NEAR(json["trade_off"].front()["type_2"].get<double>(), 1, 1e-6);
  const TempDir dir;
  ASSERT_EQ(sotto(command + Words{"--html", dir.file("curve.html")}).code, 0);
  const std::string html = TempDir::read(dir.file("curve.html"));
  EXPECT_THAT(
      html, AllOf(HasSubstr("Chart.js"), HasSubstr("Delta over epsilon"), HasSubstr("repeat(100")));
  EXPECT_EQ(html.find("src="), std::string::npos) << "nothing is fetched";
}

TEST(Account, FormulaTellsWhatAPapersNoiseSpends) {
  const auto run =
      sotto({"account --formula dp-str --n 581012 --steps 2000 --batch 50000 --epsilon 1 --delta "
             "1.72e-6"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("MORE than claimed"), HasSubstr("T10")));
  EXPECT_EQ(sotto({"account --formula dp-magic --n 10 --steps 2 --epsilon 1 --delta 1e-6"}).code,
            2);
  EXPECT_EQ(sotto({"account --formula dp-gd --n 10 --steps 2"}).code, 2);
}

TEST(Calibrate, GivesTheSmallestNoise) {
  const auto run =
      sotto({"calibrate --method dp-sgd --epochs 20 --batch 256 --n 60000 --epsilon 2 --delta 1e-5 "
             "--neighbours zero-out --json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_LE(json["epsilon_upper"].get<double>(), 2);
  EXPECT_GT(json["epsilon_upper"].get<double>(), 1.99999);
  const auto event = sotto({"calibrate --event",
                            std::string("repeat(100, gaussian(z))"),
                            "--epsilon 1 --delta 1e-6 --neighbours zero-out --json"});
  ASSERT_EQ(event.code, 0) << event.err;
  // mu(1, 1e-6) = 0.236704 [BW18]
  EXPECT_NEAR(
      nlohmann::json::parse(event.out)["noise_multiplier"].get<double>(), 10 / 0.236704, 1e-3);
}

TEST(Calibrate, AMethodUnderAFilterHasNoMultiplier) {
  const Words ask = {
      "calibrate --method dp-agd --n 32561 --dim 123 --neighbours zero-out --epsilon 1 --delta "
      "1e-6"};
  const auto run = sotto(ask);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("no single noise multiplier"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("spends epsilon 1 of 1"), std::string::npos) << run.out;
  const auto json = nlohmann::json::parse(sotto(ask + "--json").out);
  EXPECT_TRUE(json["noise_multiplier"].is_null());
  EXPECT_EQ(json["epsilon_upper"], 1);
}

TEST(Calibrate, Mistakes) {
  EXPECT_EQ(
      sotto({"calibrate --event gaussian(1) --epsilon 1 --delta 1e-6 --neighbours zero-out"}).code,
      2)
      << "nothing to calibrate";
  EXPECT_EQ(sotto({"calibrate --event gaussian(z) --epsilon 1 --delta 1e-6"}).code, 2);
  EXPECT_EQ(sotto({"calibrate --event",
                   std::string("compose(gaussian(z), exponential(3))"),
                   "--epsilon 1 --delta 1e-6 --neighbours zero-out"})
                .code,
            4)
      << "no noise can meet it";
  EXPECT_EQ(sotto({"calibrate --method dp-gd --epsilon 1 --delta 1e-6 --neighbours zero-out"}).code,
            2)
      << "no n";
}

TEST(Methods, ListAndDescribe) {
  const auto list = sotto({"methods"});
  EXPECT_EQ(list.code, 0);
  EXPECT_THAT(list.out, AllOf(HasSubstr("dp-gd"), HasSubstr("dp-sgd"), HasSubstr("NOT private")));
  const auto one = sotto({"methods dp-sgd"});
  EXPECT_THAT(
      one.out,
      AllOf(HasSubstr("--expected-batch"), HasSubstr("auto"), HasSubstr("poisson|fixed_size")));
  EXPECT_EQ(sotto({"methods dp-magic"}).code, 2);
  EXPECT_TRUE(nlohmann::json::accept(sotto({"methods --json"}).out));
}

TEST(Data, InfoTellsPublicFactsOnly) {
  const TempDir dir;
  const std::string data = dir.write("train.svm", small_libsvm());
  const auto info = sotto({"data info", data, "--dim 2 --json"});
  ASSERT_EQ(info.code, 0) << info.err;
  const auto json = nlohmann::json::parse(info.out);
  EXPECT_EQ(json["units"], 200);
  EXPECT_FALSE(json.contains("diagnostics"));
  EXPECT_FALSE(json.contains("file_bytes")) << "as many as the rows need";
  EXPECT_EQ(sotto({"data info", data}).code, 2) << "no number of features from the rows";
  EXPECT_TRUE(nlohmann::json::parse(sotto({"data info", data, "--json --unsafe-diagnostics"}).out)
                  .contains("diagnostics"));
  EXPECT_EQ(nlohmann::json::parse(
                sotto({"data info", data, "--dim 2 --json --public-n 250"}).out)["units"],
            250);
}

TEST(Data, ConvertsAndTrainsFromTheResult) {
  const TempDir dir;
  const std::string data = dir.write("train.svm", small_libsvm());
  const std::string pair = dir.file("x.npy") + "," + dir.file("y.npy");
  ASSERT_EQ(sotto({"data convert", data, pair}).code, 0);
  const auto train = [&](const std::string& path, const std::string& model) {
    return sotto({"train --epsilon 1 --delta 1e-4 --row-norm 1 --dim 2 --classes -1,1 --seed 1",
                  path,
                  model})
        .code;
  };
  ASSERT_EQ(train(data, dir.file("a.json")), 0);
  ASSERT_EQ(train(pair, dir.file("b.json")), 0);
  EXPECT_EQ(nlohmann::json::parse(TempDir::read(dir.file("a.json")))["weights"],
            nlohmann::json::parse(TempDir::read(dir.file("b.json")))["weights"]);
}

TEST(Demo, EndsWithAComparison) {
  const TempDir dir;
  const auto run = sotto({"demo --out", dir.file("demo")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("private (dp-gd)"),
                    HasSubstr("not private (gd)"),
                    HasSubstr("What to try next")));
}

TEST(Predict, AModelWhoseLossIsAProgramsOwnPredictsWithoutMetrics) {
  const TempDir dir;
  const std::string rows = dir.write("rows.svm", small_libsvm());
  ASSERT_EQ(
      sotto(
          {"train -q --epsilon 1 --delta 1e-5 --dim 2 --row-norm 1", rows, dir.file("model.json")})
          .code,
      0);
  std::string model = TempDir::read(dir.file("model.json"));
  const std::string ours = "\"loss\": \"logistic\"";
  ASSERT_NE(model.find(ours), model.npos);
  model.replace(model.find(ours), ours.size(), "\"loss\": \"own:theirs\"");
  const CommandResult result =
      sotto({"predict", rows, dir.write("own.json", model), dir.file("predictions")});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("'theirs' has no functions here"));
  ASSERT_EQ(sotto({"predict", rows, dir.file("model.json"), dir.file("before")}).code, 0);
  // The same classes; what the numbers of a loss that is not known here mean is not told.
  std::istringstream own(TempDir::read(dir.file("predictions"))),
      known(TempDir::read(dir.file("before")));
  std::string a, b;
  ASSERT_TRUE(std::getline(own, a) && std::getline(known, b));
  EXPECT_EQ(a, "row,prediction,score");
  EXPECT_EQ(b, "row,prediction,probability");
  while (std::getline(own, a) && std::getline(known, b))
    EXPECT_EQ(a.substr(0, a.rfind(',')), b.substr(0, b.rfind(',')));
}

TEST(Extremes, WithoutPrivacyRowsBeyondAllMeasureGiveNoModel) {
  const TempDir dir;
  std::string rows;
  for (int i = 0; i < 20; ++i) rows += "0." + std::to_string(i) + " 1:3e38 2:-3.1e38\n";
  const CommandResult result = sotto(
      {"train --method newton --loss squared", dir.write("big.svm", rows), dir.file("model.json")});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("diverged"));
}

// A person's rows add up: no algebra bounds their curvature.
TEST(Persons, CurvatureIsTestedAndNotDeduced) {
  const TempDir dir;
  std::string rows = "who,x,y\n";
  for (int i = 0; i < 200; ++i) rows += "p" + std::to_string(i / 2) + ",0.5,sick\n";
  for (const bool persons : {true, false}) {
    const CommandResult result =
        sotto({"train --method dp-tr --loss sigmoid --epsilon 1 --delta 1e-5 --dry-run --json",
               "--curvature-tolerance 0.2 --gradient-tolerance 100 --public-n 100 --schema",
               dir.write("schema.toml", persons ? kPersons : sick_or_well())});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out.find("by algebra") == result.out.npos, persons) << result.out;
  }
}

TEST(Sotto, HelpTeachesAndUnknownVerbsAreUsageErrors) {
  const auto help = sotto({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("Exit codes"), HasSubstr("sotto demo")));
  for (const char* verb : {"train", "predict", "account", "calibrate", "methods", "data", "demo"})
    EXPECT_EQ(sotto({verb, "--help"}).code, 0) << verb;
  EXPECT_EQ(sotto({}).code, 2);
  EXPECT_EQ(sotto({"fly"}).code, 2);
  EXPECT_EQ(sotto({"--version"}).code, 0);
}

TEST(PhaseRetrieval, IsMadeAndTrained) {
  const TempDir dir;
  const std::string data = dir.file("train.svm");
  const auto made = sotto({"data phase-retrieval --rows 3000 --dim 4", data});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto run =
      sotto({"train --loss phase-retrieval:6 --row-norm 1 --dim 4 --epsilon 4 --delta 1e-5 --test",
             dir.write("test.svm", TempDir::read(data)),
             "--json",
             data,
             dir.file("model.json")});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_TRUE(json["test"].contains("mae")) << "labels are numbers, predictions squares";
  EXPECT_EQ(sotto({"data phase-retrieval --rows 0", data}).code, 2);
}

}  // namespace
}  // namespace sotto::testing
