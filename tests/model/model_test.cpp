#include "sotto/model/model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sotto/core/json.hpp"
#include "sotto/core/version.hpp"
#include "sotto/model/model_json.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto {
namespace {

using ::testing::HasSubstr;
using testing::TempDir;

Model sample_model() {
  Model model;
  model.method = "dp-gd";
  model.loss = {LossKind::kHuber, 0.3};
  model.regularizer = "nonconvex:0.001";
  model.w = Vector::LinSpaced(5, -1.0 / 3, std::numbers::pi);
  model.w[2] = 5e-324;
  model.bias = true;
  model.row_norm = 3.7417;
  model.class_names = {"<=50K", ">50K"};
  model.schema = "[file]\nheader = true\n";
  model.privacy = {.is_private = true,
                   .epsilon = 0.2,
                   .delta = 1e-5,
                   .neighbours = Relation::kReplaceOne,
                   .unit = "patient_nbr",
                   .most_rows = 3,
                   .public_n = 32561,
                   .accountant = "gaussian",
                   .rule = "plan",
                   .events = "repeat(3, gaussian(2))",
                   .noise_samples = 15,
                   .insecure_seed = true,
                   .test_declared_public = true,
                   .journal = JournalPlace{"a run", {7, "c0ffee"}}};
  return model;
}

nlohmann::json to_json(const Recalibration& recalibration) {
  return {{"intercept", recalibration.intercept},
          {"method", to_string(recalibration.method)},
          {"rows", recalibration.rows},
          {"slope", recalibration.slope}};
}

/// The text as JSON's own objects give it.
std::string text_of_objects(const Model& model) {
  nlohmann::ordered_json json = {{"sotto_model", kModelVersion},
                                 {"made_by", std::string("sotto ") + kVersion},
                                 {"method", model.method},
                                 {"privacy", to_json(model.privacy)},
                                 {"loss", to_string(model.loss)},
                                 {"regularizer", model.regularizer},
                                 {"bias", model.bias},
                                 {"row_norm", model.row_norm},
                                 {"class_names", model.class_names},
                                 {"feature_names", model.feature_names},
                                 {"schema", model.schema},
                                 {"weights", std::vector<double>(model.w.begin(), model.w.end())}};
  if (!model.network.empty()) json["network"] = model.network;
  if (model.certificate) json["certificate"] = to_json(*model.certificate);
  if (model.recalibrated) json["recalibrated"] = to_json(*model.recalibrated);
  return json_text(json, 1) + "\n";
}

TEST(Model, PiecesMakeTheTextOfItsObjects) {
  Model model = sample_model();
  EXPECT_EQ(to_text(model), text_of_objects(model));
  model.certificate = Certificate{};
  model.certificate->reason = "a \"quoted\" reason";
  model.recalibrated = Recalibration{Recalibration::Method::kIntercept, 1.0 / 3, -1e-9, 12};
  model.network = "[input]\nsize = 3\n";
  model.feature_names = {"a", "caf\xc3\xa9", "not \xff UTF-8"};
  model.w = Vector::LinSpaced(40'000, -1e-7, 1e300);
  EXPECT_EQ(to_text(model), text_of_objects(model));
  model = Model();
  model.privacy.epsilon = std::numeric_limits<double>::infinity();
  EXPECT_EQ(to_text(model), text_of_objects(model));
  model.w = Vector::Constant(2, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(to_text(model), text_of_objects(model));
}

TEST(Model, ReadsBackToTheLastBit) {
  const Model model = sample_model();
  const auto again = model_from_text(to_text(model), "m.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->w, model.w);
  EXPECT_EQ(to_text(*again), to_text(model));
  EXPECT_EQ(again->privacy.unit, "patient_nbr");
  EXPECT_EQ(again->privacy.most_rows, 3);
  EXPECT_TRUE(again->privacy.insecure_seed);
  EXPECT_TRUE(again->privacy.test_declared_public);
  EXPECT_EQ(again->privacy.rule, "plan");
}

TEST(Model, SaysThatItWasRecalibrated) {
  Model model = sample_model();
  EXPECT_FALSE(model_from_text(to_text(model), "m.json")->recalibrated);
  model.recalibrated = Recalibration{Recalibration::Method::kIntercept, 1.0 / 3, -1e-9, 12};
  const auto again = model_from_text(to_text(model), "m.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_text(*again), to_text(model));
  auto json = nlohmann::json::parse(to_text(model));
  json["recalibrated"]["method"] = "magic";
  EXPECT_THAT(model_from_text(json.dump(), "m.json").error().message,
              HasSubstr("platt, intercept"));
}

TEST(Model, SaysThatItsStartWasDeclaredPublic) {
  Model model = sample_model();
  EXPECT_EQ(to_text(model).find("start_declared_public"), std::string::npos)
      << "the bytes of all other models stay as they were";
  EXPECT_FALSE(model_from_text(to_text(model), "m.json")->privacy.start_declared_public);
  model.privacy.start_declared_public = true;
  EXPECT_EQ(to_text(model), text_of_objects(model));
  const auto again = model_from_text(to_text(model), "m.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->privacy.start_declared_public);
  auto json = nlohmann::json::parse(to_text(model));
  EXPECT_EQ(json["privacy"]["start_declared_public"], true);
  json["privacy"]["start_declared_public"] = 1;
  EXPECT_FALSE(model_from_text(json.dump(), "m.json"));
}

TEST(Model, ThoseOfVersion01StateNoRule) {
  const auto old =
      load_model(std::string(SOTTO_SOURCE_DIR) + "/tests/privacy/golden/v0_1/plan_model.json");
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(old->privacy.rule, "");
  EXPECT_FALSE(old->privacy.test_declared_public);
}

TEST(Model, CarriesItsCertificate) {
  Model model = sample_model();
  EXPECT_FALSE(model_from_text(to_text(model), "m.json")->certificate);
  Certificate c;
  c.verdict = Certificate::Verdict::kCertified;
  c.confidence = 0.95;
  c.gradient_tolerance = 0.06;
  c.gradient_upper = 1.0 / 30;
  c.curvature_lower = -5e-4;
  c.curvature_by_algebra = true;
  model.certificate = c;
  const auto again = model_from_text(to_text(model), "m.json");
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_TRUE(again->certificate);
  EXPECT_EQ(again->certificate->verdict, Certificate::Verdict::kCertified);
  EXPECT_EQ(again->certificate->gradient_upper, 1.0 / 30);
  EXPECT_TRUE(again->certificate->curvature_by_algebra);
  EXPECT_EQ(to_text(*again), to_text(model));
}

// 0 would be the strongest bound there is.
TEST(Model, ARefusedCertificateBoundsNothing) {
  Model model = sample_model();
  model.certificate = Certificate{};
  model.certificate->verdict = Certificate::Verdict::kRefused;
  const auto json = nlohmann::json::parse(to_text(model));
  EXPECT_TRUE(json["certificate"]["gradient_upper"].is_null());
  EXPECT_TRUE(json["certificate"]["curvature_lower"].is_null());
  auto old = json;  // as 0.2.0 wrote it
  old["certificate"]["gradient_upper"] = old["certificate"]["curvature_lower"] = 0.0;
  for (const std::string& text : {json.dump(), old.dump()}) {
    const auto again = model_from_text(text, "m.json");
    ASSERT_TRUE(again && again->certificate);
    EXPECT_EQ(again->certificate->gradient_upper, std::numeric_limits<double>::infinity());
    EXPECT_EQ(again->certificate->curvature_lower, -std::numeric_limits<double>::infinity());
  }
}

TEST(Model, AnInfiniteEpsilonSurvives) {
  Model model = sample_model();
  model.privacy.is_private = false;
  model.privacy.epsilon = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isinf(model_from_text(to_text(model), "m")->privacy.epsilon));
}

TEST(Model, AnyCutIsRefusedAsCutShort) {
  const std::string text = to_text(sample_model());
  for (std::size_t length = 0; length + 2 < text.size(); length += 3) {
    const auto model = model_from_text(text.substr(0, length), "m.json");
    ASSERT_FALSE(model) << length;
    EXPECT_EQ(model.error().kind, ErrorKind::kBadData);
  }
}

TEST(Model, NewerVersionsAndOtherJsonAreRefusedByName) {
  auto json = nlohmann::json::parse(to_text(sample_model()));
  json["sotto_model"] = 99;
  EXPECT_THAT(model_from_text(json.dump(), "m.json").error().message, HasSubstr("newer"));
  EXPECT_THAT(model_from_text("{\"a\": 1}", "m.json").error().message,
              HasSubstr("not a Sotto model"));
  EXPECT_THAT(model_from_text("[1]", "m.json").error().message, HasSubstr("not a Sotto model"));
  json["sotto_model"] = 1;
  json.erase("weights");
  EXPECT_THAT(model_from_text(json.dump(), "m.json").error().message, HasSubstr("misses parts"));
}

TEST(Model, StatesNoImpossibleNumberOfRowsPerPerson) {
  auto json = nlohmann::json::parse(to_text(sample_model()));
  for (const char* most : {"-3", "0", "2.5", "\"3\"", "null"}) {
    json["privacy"]["most_rows"] = nlohmann::json::parse(most);
    const auto model = model_from_text(json.dump(), "m.json");
    ASSERT_FALSE(model) << most;
    EXPECT_EQ(model.error().kind, ErrorKind::kBadData);
    EXPECT_THAT(model.error().message, HasSubstr("most_rows"));
  }
  json["privacy"].erase("most_rows");
  EXPECT_EQ(model_from_text(json.dump(), "m.json")->privacy.most_rows, 0);
}

TEST(Model, IsWrittenWholeOrNotAtAll) {
  const TempDir dir;
  const std::string path = dir.write("m.json", "before");
  ASSERT_TRUE(save_model(sample_model(), path));
  EXPECT_TRUE(load_model(path));
  const auto refused = save_model(sample_model(), dir.file("no/such/folder/m.json"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kIo);
}

}  // namespace
}  // namespace sotto
