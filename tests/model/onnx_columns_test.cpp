// Models with the encoding of their columns, under ONNX's own checker.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <cmath>
#include <limits>
#include <set>

#include "sotto/data/schema.hpp"
#include "sotto/model/deploy/c_header.hpp"
#include "sotto/model/deploy/sql.hpp"
#include "sotto/model/onnx/onnx.hpp"

namespace sotto {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string columns_schema(const std::string& first = "age", const std::string& classes = "") {
  return "[file]\nmissing = [\"?\", \"99\"]\n[[column]]\nname = \"" + first +
         "\"\nkind = \"numeric\"\nmin = 0\nmax = 9\nfiller = 3\nmissing_indicator = true\n"
         "[[column]]\nname = \"sex\"\nkind = \"categorical\"\nvalues = [[\"f\", \"F\"], \"m\"]\n"
         "other = true\n[[column]]\nnames = [\"a\", \"b\"]\nkind = \"onehot\"\n"
         "[[column]]\nname = \"y\"\nkind = \"label\"\n" +
         (classes.empty() ? "negative = \"no\"\npositive = \"yes\"\n" : classes);
}

/// Seven features.
Model with_columns(const std::string& schema) {
  Model model;
  model.schema = schema;
  model.bias = true;
  model.row_norm = 1.25;
  model.w = Vector::LinSpaced(8, -1, 1);
  model.method = "gd";
  return model;
}

Model network_with_columns(const std::string& layers, const std::string& loss = "softmax") {
  Model model = with_columns(columns_schema("age", "classes = [\"no\", \"some\", \"yes\"]\n"));
  model.network = "input = [7]\nloss = \"" + loss + "\"\nlayers = [" + layers + "]\n";
  const NetworkSpec spec = parse_network(model.network, "net").value();
  model.w = initial_weights(spec, 1);
  return model;
}

onnx::ModelProto columns_proto(const Model& model) {
  onnx::ModelProto proto;
  const auto bytes = to_onnx(model, OnnxInput::kColumns);
  EXPECT_TRUE(bytes) << bytes.error().message;
  EXPECT_TRUE(bytes && proto.ParseFromString(*bytes));
  return proto;
}

TEST(OnnxOfColumns, PassesTheOfficialChecker) {
  Model counts = with_columns(columns_schema("age", "min = 0\nmax = 50\n"));
  counts.loss = LossSpec(LossKind::kPoisson, 50);
  Model phase = counts;
  phase.loss = LossSpec(LossKind::kPhaseRetrieval, 50);
  const std::vector<Model> models = {
      with_columns(columns_schema()),
      counts,
      phase,
      network_with_columns("\"linear 4\", \"relu\", \"layernorm\", \"tanh\", \"linear 3\""),
      network_with_columns("\"linear 4\", \"gelu\", \"groupnorm 2\", \"linear 3\"")};
  for (std::size_t k = 0; k < models.size(); ++k) {
    SCOPED_TRACE(k);
    onnx::ModelProto proto = columns_proto(models[k]);
    EXPECT_NO_THROW(onnx::checker::check_model(proto));
    EXPECT_NO_THROW(onnx::shape_inference::InferShapes(
        proto, onnx::OpSchemaRegistry::Instance(), onnx::ShapeInferenceOptions{true, 1, false}));
    std::set<std::string> inputs;
    for (const auto& each : proto.graph().input()) inputs.insert(each.name());
    EXPECT_EQ(inputs, (std::set<std::string>{"age", "sex", "a", "b"}));
  }
  onnx::ModelProto broken = columns_proto(models[0]);
  for (auto& node : *broken.mutable_graph()->mutable_node())
    if (node.op_type() == "LabelEncoder") node.set_domain("");
  EXPECT_ANY_THROW(onnx::checker::check_model(broken));
}

TEST(OnnxOfColumns, TellsTheStatementAndItsInputs) {
  Model model = with_columns(columns_schema());
  model.privacy.is_private = true;
  model.privacy.epsilon = 1.25;
  model.privacy.insecure_seed = true;
  const onnx::ModelProto proto = columns_proto(model);
  std::map<std::string, std::string> props;
  for (const auto& each : proto.metadata_props()) props[each.key()] = each.value();
  EXPECT_THAT(props["sotto.privacy"], HasSubstr("\"epsilon\":1.25"));
  EXPECT_THAT(props["sotto.columns"], HasSubstr(R"({"name":"sex","type":"text"})"));
  EXPECT_EQ(props["sotto.loss"], "logistic");
  EXPECT_THAT(proto.doc_string(), HasSubstr("not a guarantee: insecure seed"));
}

TEST(OnnxOfColumns, NamesOfOutputsAreNoColumns) {
  for (const char* name : {"class", "scores", "probabilities", "prediction"}) {
    const auto file = to_onnx(with_columns(columns_schema(name)), OnnxInput::kColumns);
    ASSERT_FALSE(file) << name;
    EXPECT_EQ(file.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(file.error().message,
                AllOf(HasSubstr("'" + std::string(name) + "'"), HasSubstr("‘format sql’")));
  }
  // Our own names give way.
  for (const char* name : {"sotto.value_1", "sotto.weight", "value_1"})
    EXPECT_NO_THROW(onnx::checker::check_model(columns_proto(with_columns(columns_schema(name)))));
}

// Files of strangers: nothing that does not fit is exported.
TEST(Deployed, ModelsThatContradictThemselvesAreRefused) {
  const auto refused = [](const Model& model, const char* text) {
    for (const auto& made : {to_onnx(model, OnnxInput::kColumns),
                             to_c_header(model, "m"),
                             to_sql(model, SqlOptions())}) {
      ASSERT_FALSE(made);
      EXPECT_EQ(made.error().kind, ErrorKind::kBadData);
      EXPECT_THAT(made.error().message, HasSubstr(text));
    }
  };
  Model model = with_columns(columns_schema());
  model.w[3] = std::numeric_limits<double>::quiet_NaN();
  refused(model, "not a finite number");
  model = with_columns(columns_schema());
  model.w.conservativeResize(5);
  refused(model, "4 features, but its schema says 7");
  refused(with_columns("[[column]]\nname = 1\n"), "schema");
  model = network_with_columns("\"linear 4\", \"relu\", \"linear 3\"");
  model.w.conservativeResize(5);
  refused(model, "5 weights");
  model = network_with_columns("\"linear 4\", \"relu\", \"linear 2\"");
  refused(model, "the model has 2 classes, but its schema declares 3");
}

TEST(Deployed, ANetworkThatIsTooLargeForSqlIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"\"linear 2000\", \"relu\", \"linear 3\"", "2000 columns at once"},
      {"\"linear 300\", \"relu\", \"linear 200\", \"relu\", \"linear 3\"", "bytes"}};
  for (const auto& [layers, why] : cases) {
    const Model model = network_with_columns(layers);
    const auto made = to_sql(model, SqlOptions());
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(made.error().message, AllOf(HasSubstr(why), HasSubstr("‘format onnx’")));
    EXPECT_TRUE(to_c_header(model, "m"));
  }
}

}  // namespace
}  // namespace sotto
