// --constraint, data make and what belongs to them, from the outside.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Constraints : public ::testing::Test {
 protected:
  CommandResult train(const Words& more) const {
    return sotto("train --again --epsilon 1 --delta 1e-4 --row-norm 1 --dim 2 --seed 1" + more +
                 Words{data_, model_});
  }
  std::vector<double> weights() const {
    return nlohmann::json::parse(TempDir::read(model_))["weights"].get<std::vector<double>>();
  }

  TempDir dir_;
  std::string data_ = dir_.write("train.svm", small_libsvm());
  std::string test_ = dir_.write("test.svm", small_libsvm());
  std::string model_ = dir_.file("model.json");
};

TEST_F(Constraints, EveryMethodStaysInItsSet) {
  for (const auto* method : {"dp-pgd", "dp-pmd", "dp-fw-l2", "dp-fw-l1"}) {
    const auto run = train({"--method", method, "--constraint l1:0.5"});
    ASSERT_EQ(run.code, 0) << run.err;
    double sum = 0;
    for (const double w : weights()) sum += std::fabs(w);
    EXPECT_LE(sum, 0.5 * (1 + 1e-9)) << method;
  }
}

TEST_F(Constraints, TheRecordHasCertificateAndMeasures) {
  const auto run =
      train({"--method dp-fw-l1 --selection exponential --constraint l1:0.5 --certificate-share "
             "0.2 --unsafe-diagnostics --test",
             test_,
             "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["constraint"], "l1:0.5");
  EXPECT_GT(json["gap_certificate"]["half_width"].get<double>(), 0);
  EXPECT_EQ(json["gap_certificate"]["confidence"], 0.95);
  EXPECT_GE(json["diagnostics"]["frank_wolfe_gap"].get<double>(), 0);
  EXPECT_TRUE(json["diagnostics"].contains("projected_gradient_norm"));
  EXPECT_GT(json["population_gradient"]["standard_error"].get<double>(), 0);
  EXPECT_THAT(json["plan"].get<std::string>(),
              AllOf(HasSubstr("exponential("), HasSubstr("gaussian(")));
}

TEST_F(Constraints, BadSetsAreUsageErrors) {
  const auto message = [&](const Words& more) {
    const auto run = train(more);
    EXPECT_EQ(run.code, 2) << run.err;
    return run.err;
  };
  EXPECT_THAT(message({"--method dp-fw-l1"}), HasSubstr("needs a bounded set"));
  EXPECT_THAT(message({"--method dp-fw-l2 --constraint box:0,inf"}),
              HasSubstr("needs a bounded set"));
  EXPECT_THAT(message({"--method dp-pgd --constraint l1:-1"}), HasSubstr("empty"));
  EXPECT_THAT(message({"--method dp-pgd --constraint box:1,2 --start zero"}), HasSubstr("outside"));
  EXPECT_THAT(message({"--method dp-gd --constraint l1:1"}), HasSubstr("dp-pgd"));
  const std::string vertices = dir_.write("vertices", "1 0\n0 1\n");
  EXPECT_THAT(message({"--method dp-pgd --constraint", "polytope:" + vertices, "--bias"}),
              HasSubstr("coordinates"));
}

TEST_F(Constraints, ACertificateWithoutABoundIsRefusedBeforeAnythingIsCharged) {
  for (const auto& [options, remedy] : std::vector<std::pair<Words, std::string>>{
           {{"--loss squared"}, "--loss huber"}, {{"--regularizer l1:0.1"}, "smooth"}}) {
    const auto run = train("--method dp-pgd --constraint l1:0.5 --certificate-share 0.2" + options);
    EXPECT_EQ(run.code, 2) << run.err;
    EXPECT_THAT(run.err, AllOf(HasSubstr(remedy), HasSubstr("--certificate-share")));
    EXPECT_FALSE(std::filesystem::exists(model_ + ".journal"));
    EXPECT_FALSE(std::filesystem::exists(model_));
  }
}

TEST_F(Constraints, ADryRunKnowsThatRowsAreRows) {
  const auto dry = [](const Words& more) {
    return sotto("train --dry-run --epsilon 1 --delta 1e-4 --public-n 1000" + more);
  };
  const Words certified = {"--method dp-pgd --constraint l1:1 --certificate-share 0.2"};
  const auto rows = dry(certified + "--dim 2 --row-max 1");
  EXPECT_EQ(rows.code, 0) << rows.err;
  const auto glm = dry({"--clip-rule glm --dim 2 --row-norm 1"});
  EXPECT_EQ(glm.code, 0) << glm.err;
  const std::string columns = R"([[column]]
name = "a"
kind = "numeric"
min = 0
max = 1
filler = 0
[[column]]
name = "l"
kind = "label"
positive = ["1"]
negative = ["0"]
[[column]]
name = "who"
kind = "unit"
)";
  const auto refused = dry(certified + Words{"--schema", dir_.write("persons.toml", columns)});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("one row of a linear model"));
}

TEST_F(Constraints, MadeUpRowsCanBeTrainedOn) {
  const std::string made = dir_.file("made.svm");
  const auto make = sotto({"data make sparse", made, "--rows 2000 --dim 500"});
  ASSERT_EQ(make.code, 0) << make.err;
  EXPECT_THAT(make.out, HasSubstr("+1 -51 +101"));
  const auto run =
      sotto({"train --epsilon 5 --delta 1e-5 --row-max 1 --row-norm 7.08 --dim 500 --method "
             "dp-fw-l1 --constraint l1:5",
             made,
             model_});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("selection exponential"));
  const auto bad = sotto({"data make round", made});
  EXPECT_EQ(bad.code, 2);
  EXPECT_THAT(bad.err, HasSubstr("linear, signs, sparse"));
}

}  // namespace
}  // namespace sotto::testing
