// A model with its encoding as ONNX, run by onnxruntime and compared with `sotto predict`.

#include <gmock/gmock.h>

#include <filesystem>

#include "sotto/model/onnx/columns.hpp"
#include "sotto/model/onnx/onnx.hpp"
#include "tests/deploy/support.hpp"
#include "tests/support/onnxruntime.hpp"

namespace sotto::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// What onnxruntime says of these rows.
std::string run_onnx(const DeployedModel& deployed,
                     const nlohmann::json& rows,
                     const std::string& file) {
  const std::string data = deployed.dir().write("rows.json", rows.dump());
  const std::string names =
      deployed.dir().write("names.json", nlohmann::json(HostileRows::columns()).dump());
  const auto run = in_a_shell([&](const std::string& to) {
    return onnxruntime_python() + " " SOTTO_SOURCE_DIR "/tests/deploy/onnx_columns.py " +
           in_quotes(file) + " " + in_quotes(data) + " " + in_quotes(names) + to;
  });
  EXPECT_EQ(run.code, 0) << run.err.substr(0, 3000);
  return run.out;
}

class OnnxColumns : public ::testing::TestWithParam<std::size_t> {};

TEST_P(OnnxColumns, GiveWhatPredictGives) {
  if (onnxruntime_python().empty()) GTEST_SKIP() << kNoOnnxruntime;
  const DeployCase which = deploy_cases()[GetParam()];
  const DeployedModel deployed(which);
  const std::string file = deployed.file("risk.onnx");
  const auto exported = sotto({"export", deployed.model(), file});
  ASSERT_EQ(exported.code, 0) << exported.err;
  expect_same(answers_in(run_onnx(deployed, typed_rows(deployed.rows()), file), deployed.classes()),
              deployed.expected(),
              deployed.tolerance(1e-11),
              deployed.classes());
}

INSTANTIATE_TEST_SUITE_P(All,
                         OnnxColumns,
                         ::testing::Range<std::size_t>(0, deploy_cases().size()),
                         case_name);

TEST(OnnxRows, ThatDoNotFitHaveNoAnswer) {
  if (onnxruntime_python().empty()) GTEST_SKIP() << kNoOnnxruntime;
  for (const std::size_t which : {0U, 6U, 9U}) {  // also where a ReLU or a minimum could hide it
    const DeployedModel deployed(deploy_cases()[which]);
    const std::string file = deployed.file("risk.onnx");
    ASSERT_EQ(sotto({"export", deployed.model(), file}).code, 0);
    const nlohmann::json good = {30, 1, 100, 0.2, "a", "", 0, 0, 1};
    nlohmann::json rows = {good, good};
    rows[1][0] = nullptr;
    const auto add = [&](std::size_t column, const nlohmann::json& value) {
      rows.push_back(good);
      rows.back()[column] = value;
    };
    add(3, nullptr);
    add(3, 999);
    add(0, 1e300 * 1e300);
    add(7, 1);
    add(7, 2);
    add(7, nullptr);
    rows[4][0] = 1e308;  // large, not infinite: JSON has no infinity
    const auto answers = lines_of(run_onnx(deployed, rows, file));
    ASSERT_EQ(answers.size(), 8U);
    for (std::size_t i = 0; i < answers.size(); ++i)
      EXPECT_EQ(answers[i].find("nan") != std::string::npos, i == 2 || i == 3 || i >= 5)
          << which << ": " << answers[i];
  }
}

TEST(OnnxRows, EveryFormOfColumnIsEncodedOrRefusedByName) {
  for (const bool with_date : {false, true}) {
    Model model;
    deploy::Deployment deployment;
    deployment.encoding = every_form(with_date);
    const auto refused = onnx_file::columns_graph(model, deployment);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("the column 'code'"));
  }
  if (onnxruntime_python().empty()) GTEST_SKIP() << kNoOnnxruntime;
  Model model;
  deploy::Deployment deployment;
  deployment.encoding = every_form(/*with_date=*/false, /*with_code=*/false);
  const Encoding& encoding = *deployment.encoding;
  deployment.features = encoding.features;
  deployment.kind = {"squared", false, false};
  deployment.loss.kind = LossKind::kSquared;
  model.w.resize(encoding.features);
  for (Eigen::Index k = 0; k < model.w.size(); ++k) model.w[k] = std::ldexp(1, static_cast<int>(k));
  onnx_file::Graph graph = onnx_file::columns_graph(model, deployment).value();
  graph.opset = 13;
  const TempDir dir;
  const std::string file = dir.write("forms.onnx", onnx_file::serialize(graph));
  const auto choices = form_fields();
  std::mt19937 random(5);
  auto rows = nlohmann::json::array();
  std::vector<double> expected;
  for (int i = 0; i < 400; ++i) {
    std::vector<Field> fields;
    auto row = nlohmann::json::array();
    for (std::size_t j = 0; j < encoding.columns.size(); ++j) {
      const Field& field = choices[j][random() % choices[j].size()];
      fields.push_back(field);
      if (const auto number = field ? plain_number(*field) : std::nullopt)
        row.push_back(*number);
      else
        row.push_back(nullptr);
    }
    rows.push_back(row);
    const auto x = reference_features(encoding, fields);
    expected.push_back(x ? 0 : NAN);
    for (std::size_t k = 0; x && k < x->size(); ++k)
      expected.back() += (*x)[k] * model.w[static_cast<Eigen::Index>(k)];
  }
  const std::string data = dir.write("rows.json", rows.dump());
  const std::string names = dir.write("names.json", R"(["log", "bins", "filled"])");
  const auto run = in_a_shell([&](const std::string& to) {
    return onnxruntime_python() + " " SOTTO_SOURCE_DIR "/tests/deploy/onnx_columns.py " +
           in_quotes(file) + " " + in_quotes(data) + " " + in_quotes(names) + to;
  });
  ASSERT_EQ(run.code, 0) << run.err.substr(0, 3000);
  const auto found = answers_in(run.out, false);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i].numbers[0], expected[i], 1e-9 * std::abs(expected[i])) << i;
}

// log(1 + d) has lost most digits of such a d, and the feature with them.
TEST(OnnxRows, LogarithmsOfSmallNumbersAreExact) {
  if (onnxruntime_python().empty()) GTEST_SKIP() << kNoOnnxruntime;
  Schema schema;
  Schema::Column column;
  column.name = "d";
  column.kind = Schema::Kind::kNumeric;
  column.max = 1e-9;
  column.scale = Schema::Column::Scale::kLog1p;
  schema.columns = {column};
  Model model;
  deploy::Deployment deployment;
  deployment.encoding = encoding_of(schema);
  deployment.features = 1;
  deployment.kind = {"squared", false, false};
  deployment.loss.kind = LossKind::kSquared;
  model.w.resize(1);
  model.w[0] = 1;
  onnx_file::Graph graph = onnx_file::columns_graph(model, deployment).value();
  graph.opset = 13;
  const TempDir dir;
  const std::string file = dir.write("log.onnx", onnx_file::serialize(graph));
  auto rows = nlohmann::json::array();
  std::vector<double> expected;
  for (int i = 0; i < 50; ++i) {
    const double d = i == 1 ? 1e-320 : i * 1.9e-11;
    rows.push_back({d});
    const auto x = reference_features(*deployment.encoding, {fmt::format("{}", d)});
    ASSERT_TRUE(x);
    expected.push_back((*x)[0]);
  }
  const std::string data = dir.write("rows.json", rows.dump());
  const std::string names = dir.write("names.json", R"(["d"])");
  const auto run = in_a_shell([&](const std::string& to) {
    return onnxruntime_python() + " " SOTTO_SOURCE_DIR "/tests/deploy/onnx_columns.py " +
           in_quotes(file) + " " + in_quotes(data) + " " + in_quotes(names) + to;
  });
  ASSERT_EQ(run.code, 0) << run.err.substr(0, 3000);
  const auto found = answers_in(run.out, false);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i].numbers[0], expected[i], 1e-12) << i;
}

TEST(OnnxRows, AFileWithColumnsIsNoNetworkToTrain) {
  const DeployedModel deployed(deploy_cases()[5]);
  const std::string file = deployed.file("m.onnx");
  ASSERT_EQ(sotto({"export", deployed.model(), file}).code, 0);
  const auto read = load_onnx(file);
  ASSERT_FALSE(read);
  EXPECT_THAT(
      read.error().message,
      AllOf(HasSubstr("with the encoding of its schema's columns inside"), HasSubstr("‘raw’")));
  ASSERT_EQ(sotto({"export --raw", deployed.model(), deployed.file("raw.onnx")}).code, 0);
  EXPECT_TRUE(load_onnx(deployed.file("raw.onnx")));
  EXPECT_EQ(sotto({"export --raw --format c", deployed.model(), deployed.file("raw.h")}).code, 2);
}

}  // namespace
}  // namespace sotto::testing
