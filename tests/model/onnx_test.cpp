#include "sotto/model/onnx/onnx.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "sotto/model/onnx/graph.hpp"
#include "tests/objective/network_reference.hpp"

namespace sotto {
namespace {

using ::testing::HasSubstr;

constexpr double kSingle = 1e-5;  // weights rounded to float32

Model model_of(const NetworkSpec& spec, std::uint64_t seed = 3) {
  Model model;
  model.method = "dp-sgd";
  model.network = to_text(spec);
  model.w = initial_weights(spec, seed);
  // Gains of 1 and shifts of 0 would hide mistakes.
  for (Eigen::Index j = 0; j < model.w.size(); ++j)
    model.w[j] += 0.05 * std::sin(1.0 + 7.0 * static_cast<double>(j));
  model.privacy.is_private = true;
  model.privacy.epsilon = 1.25;
  model.privacy.delta = 1e-5;
  model.class_names = {"cat", "dog"};
  return model;
}

std::vector<testing::NamedSpec> zoo() {
  auto all = testing::layer_zoo();
  all.push_back({"mnist_cnn4", builtin_network("mnist-cnn4", 784, 10).value()});
  all.push_back({"softmax", builtin_network("softmax", 20, 3).value()});
  all.push_back({"mlp", builtin_network("mlp:8,5", 20, 3).value()});
  all.push_back({"regression", builtin_network("mlp:4", 6, 0).value()});
  NetworkSpec constants =
      testing::make_spec({2, 5, 5}, {"conv 3 3", "relu", "flatten", "linear 3"});
  constants.mean = {0.25, 0.5};
  constants.deviation = {0.5, 0.125};
  all.push_back({"constants", constants});
  NetworkSpec features = testing::make_spec({4, 1, 1}, {"linear 3"});
  features.mean = {0.1, 0.2, 0.3, 0.4};
  features.deviation = {1, 2, 3, 4};
  all.push_back({"features", features});
  return all;
}

onnx::ModelProto proto_of(const std::string& bytes) {
  onnx::ModelProto proto;
  EXPECT_TRUE(proto.ParseFromString(bytes));
  return proto;
}

TEST(Onnx, EveryLayerReadsBackAsTheSameFunction) {
  for (const auto& named : zoo()) {
    SCOPED_TRACE(named.name);
    const Model model = model_of(named.spec);
    const auto back = network_from_onnx(to_onnx(model).value(), "x.onnx");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->spec.loss, named.spec.loss);
    EXPECT_EQ(back->weights.size(), model.w.size());
    const Table rows = testing::random_rows(named.spec, 3, 11);
    const testing::ReferenceNetwork before(named.spec);
    const testing::ReferenceNetwork after(back->spec);
    for (std::int64_t i = 0; i < 3; ++i) {
      const auto expected = before.outputs(rows.row(i), model.w);
      const auto found = after.outputs(rows.row(i), back->weights);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], kSingle);
    }
  }
}

TEST(Onnx, FilesPassTheOfficialChecker) {
  for (const auto& named : zoo()) {
    SCOPED_TRACE(named.name);
    onnx::ModelProto proto = proto_of(to_onnx(model_of(named.spec)).value());
    EXPECT_NO_THROW(onnx::checker::check_model(proto));
    EXPECT_NO_THROW(onnx::shape_inference::InferShapes(
        proto, onnx::OpSchemaRegistry::Instance(), onnx::ShapeInferenceOptions{true, 1, false}));
  }
  onnx::ModelProto broken = proto_of(to_onnx(model_of(zoo()[0].spec)).value());
  broken.mutable_graph()->mutable_node(0)->set_op_type("NoSuchOperator");
  EXPECT_ANY_THROW(onnx::checker::check_model(broken));
}

TEST(Onnx, ThePrivacyStatementTravelsAlong) {
  const Model model = model_of(builtin_network("softmax", 4, 2).value());
  const onnx::ModelProto proto = proto_of(to_onnx(model).value());
  std::map<std::string, std::string> props;
  for (const auto& each : proto.metadata_props()) props[each.key()] = each.value();
  const auto privacy = nlohmann::json::parse(props["sotto.privacy"]);
  EXPECT_EQ(privacy["epsilon"], 1.25);
  EXPECT_EQ(privacy["private"], true);
  EXPECT_EQ(props["sotto.loss"], "softmax");
  EXPECT_EQ(props["sotto.class_names"], R"(["cat","dog"])");
  EXPECT_THAT(proto.doc_string(), HasSubstr("epsilon 1.25, delta 1e-05"));
  const auto back = network_from_onnx(proto.SerializeAsString(), "x").value();
  ASSERT_TRUE(back.privacy);
  EXPECT_EQ(back.privacy->epsilon, 1.25);
}

// What rests on somebody's declaration must not get lost on the way out.
TEST(Onnx, WhatWasDeclaredPublicTravelsAlong) {
  Model model = model_of(builtin_network("softmax", 4, 2).value());
  const onnx::ModelProto plain = proto_of(to_onnx(model).value());
  EXPECT_THAT(plain.doc_string(), ::testing::Not(HasSubstr("declared public")));
  for (const auto& each : plain.metadata_props()) EXPECT_NE(each.key(), "sotto.recalibrated");

  model.privacy.start_declared_public = true;
  model.recalibrated = Recalibration{Recalibration::Method::kIntercept, 1.0 / 3, -1e-9, 12};
  const onnx::ModelProto proto = proto_of(to_onnx(model).value());
  std::map<std::string, std::string> props;
  for (const auto& each : proto.metadata_props()) props[each.key()] = each.value();
  EXPECT_EQ(nlohmann::json::parse(props["sotto.recalibrated"]),
            nlohmann::json::parse(to_text(model))["recalibrated"]);
  EXPECT_EQ(nlohmann::json::parse(props["sotto.privacy"])["start_declared_public"], true);
  EXPECT_THAT(proto.doc_string(), HasSubstr("started from weights that were declared public."));
  EXPECT_THAT(proto.doc_string(), HasSubstr("recalibrated on rows that were declared public."));
  const auto back = network_from_onnx(proto.SerializeAsString(), "x").value();
  ASSERT_TRUE(back.privacy);
  EXPECT_TRUE(back.privacy->start_declared_public);
}

TEST(Onnx, LinearModelsAreWrittenToo) {
  Model model;
  model.w = Vector::LinSpaced(4, 1, 4);
  model.bias = true;
  const auto back = network_from_onnx(to_onnx(model).value(), "x");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->weights, model.w);
  EXPECT_EQ(back->spec.loss, NetworkLoss::kLogistic);
  EXPECT_EQ(back->spec.input, (ImageShape{3, 1, 1}));
  model.row_norm = 2;
  EXPECT_NO_THROW(onnx::checker::check_model(proto_of(to_onnx(model).value())));
  model.network = to_text(builtin_network("softmax", 4, 2).value());
  EXPECT_FALSE(to_onnx(model));  // weights of another model
}

/// What reading says about a file that was changed in one way.
std::string error_after(const std::function<void(onnx::ModelProto&)>& change,
                        const std::vector<const char*>& layers = {
                            "conv 2 3", "relu", "flatten", "linear 3"}) {
  onnx::ModelProto proto =
      proto_of(to_onnx(model_of(testing::make_spec({1, 5, 5}, layers))).value());
  change(proto);
  const auto network = network_from_onnx(proto.SerializeAsString(), "net.onnx");
  return network ? "" : network.error().message;
}

onnx::TensorProto& constant(onnx::ModelProto& model, const std::string& name) {
  for (auto& each : *model.mutable_graph()->mutable_initializer())
    if (each.name() == name) return each;
  ADD_FAILURE() << name;
  return *model.mutable_graph()->mutable_initializer(0);
}

TEST(Onnx, RefusesWithTheReason) {
  using Proto = onnx::ModelProto;
  EXPECT_EQ(error_after([](Proto&) {}), "");
  const auto op = [](const char* name) {
    return error_after([&](Proto& m) { m.mutable_graph()->mutable_node(1)->set_op_type(name); });
  };
  EXPECT_THAT(op("BatchNormalization"),
              HasSubstr("net.onnx: node 2 (BatchNormalization 'Relu_2')"));
  EXPECT_THAT(op("BatchNormalization"), HasSubstr("no example has a gradient of its own"));
  EXPECT_THAT(op("BatchNormalization"), HasSubstr("GroupNorm"));
  EXPECT_THAT(op("LSTM"),
              HasSubstr("(LSTM 'Relu_2'): this operator is not supported. Supported: "));
  EXPECT_THAT(error_after([](Proto& m) { m.mutable_graph()->mutable_node(1)->set_domain("my"); }),
              HasSubstr("my::Relu"));
  // Branches, cycles, gaps.
  EXPECT_THAT(error_after([](Proto& m) {
                auto* node = m.mutable_graph()->add_node();
                node->set_op_type("Add");
                node->add_input("value_1");
                node->add_input("scores");
                node->add_output("sum");
              }),
              HasSubstr("chain"));
  const auto last_input = [](const char* name) {
    return error_after(
        [&](Proto& m) { *m.mutable_graph()->mutable_node(3)->mutable_input(0) = name; });
  };
  EXPECT_THAT(last_input("value_1"), HasSubstr("the network branches here"));
  EXPECT_THAT(last_input("value_2"), HasSubstr("put a Flatten before it"));
  EXPECT_THAT(error_after([](Proto& m) {
                *m.mutable_graph()->mutable_node(0)->mutable_input(0) = "scores";
              }),
              HasSubstr("neither a constant of this file nor made by a node before it"));
  EXPECT_THAT(error_after([](Proto& m) {
                *m.mutable_graph()->mutable_node(2)->mutable_output(0) = "value_1";
              }),
              HasSubstr("made before"));
  EXPECT_THAT(error_after([](Proto& m) { m.mutable_graph()->clear_initializer(); }),
              HasSubstr("neither a constant"));
  EXPECT_THAT(
      error_after([](Proto& m) { m.mutable_graph()->mutable_output(0)->set_name("value_1"); }),
      HasSubstr("last layer"));
  // Constants.
  const auto weight = [](const std::function<void(onnx::TensorProto&)>& change) {
    return error_after([&](Proto& m) { change(constant(m, "layer1.weight")); });
  };
  EXPECT_THAT(weight([](auto& t) { t.set_data_location(onnx::TensorProto::EXTERNAL); }),
              HasSubstr("another file"));
  EXPECT_THAT(weight([](auto& t) { t.set_dims(0, -2); }), HasSubstr("negative or huge"));
  EXPECT_THAT(weight([](auto& t) { t.set_dims(0, std::int64_t{1} << 62); }), HasSubstr("huge"));
  EXPECT_THAT(weight([](auto& t) { t.set_dims(0, 3); }), HasSubstr("numbers, but its extents"));
  EXPECT_THAT(weight([](auto& t) { t.mutable_raw_data()->push_back('x'); }), HasSubstr("extents"));
  EXPECT_THAT(weight([](auto& t) { t.set_data_type(onnx::TensorProto::FLOAT16); }),
              HasSubstr("float32"));
  EXPECT_THAT(weight([](auto& t) {
                const float nan = std::numeric_limits<float>::quiet_NaN();
                t.mutable_raw_data()->replace(0, 4, reinterpret_cast<const char*>(&nan), 4);
              }),
              HasSubstr("finite"));
  // Attributes: kernel_shape, strides, pads, dilations, group.
  const auto attribute = [](int index, int entry, std::int64_t value) {
    return error_after([&](Proto& m) {
      auto* a = m.mutable_graph()->mutable_node(0)->mutable_attribute(index);
      if (a->ints_size() > 0)
        a->set_ints(entry, value);
      else
        a->set_i(value);
    });
  };
  EXPECT_THAT(attribute(0, 0, 2), HasSubstr("kernel_shape"));
  EXPECT_THAT(attribute(1, 0, 0), HasSubstr("stride"));
  EXPECT_THAT(attribute(1, 1, std::int64_t{1} << 60), HasSubstr("stride"));
  EXPECT_THAT(attribute(2, 0, 1), HasSubstr("both sides"));
  EXPECT_THAT(attribute(2, 0, -1), HasSubstr("padding"));
  EXPECT_THAT(attribute(3, 0, 2), HasSubstr("dilations"));
  EXPECT_THAT(attribute(4, 0, 2), HasSubstr("channels"));
  EXPECT_THAT(error_after([](Proto& m) {
                m.mutable_graph()->mutable_node(0)->mutable_attribute(4)->set_type(
                    onnx::AttributeProto::FLOAT);
              }),
              HasSubstr("wrong type"));
  // The rest of the file.
  EXPECT_THAT(error_after([](Proto& m) { m.mutable_opset_import(0)->set_version(9); }),
              HasSubstr("operator set is 9"));
  EXPECT_THAT(error_after([](Proto& m) { m.clear_opset_import(); }),
              HasSubstr("operator set is 0"));
  EXPECT_THAT(error_after([](Proto& m) { m.mutable_graph()->clear_input(); }),
              HasSubstr("one input"));
  EXPECT_THAT(error_after([](Proto& m) {
                m.mutable_graph()
                    ->mutable_input(0)
                    ->mutable_type()
                    ->mutable_tensor_type()
                    ->mutable_shape()
                    ->mutable_dim(1)
                    ->set_dim_param("channels");
              }),
              HasSubstr("fixed dimensions"));
  EXPECT_THAT(network_from_onnx("", "net.onnx").error().message, HasSubstr("not a complete ONNX"));
  EXPECT_THAT(network_from_onnx("{}", "net.onnx").error().message,
              HasSubstr("not a complete ONNX"));
  EXPECT_EQ(load_onnx("/nonexistent.onnx").error().kind, ErrorKind::kIo);
}

TEST(Onnx, NormalizationsNeedTheEnginesFloor) {
  const auto floor = [](const char* layer, const std::function<void(onnx::ModelProto&)>& change) {
    return error_after(change, {layer, "flatten", "linear 3"});
  };
  EXPECT_THAT(floor("groupnorm 1",
                    [](onnx::ModelProto& m) {
                      m.mutable_graph()->mutable_node(1)->mutable_attribute(0)->set_f(1e-3F);
                    }),
              HasSubstr("eps=1e-5"));
  EXPECT_THAT(floor("layernorm",
                    [](onnx::ModelProto& m) {
                      const float large = 1e-3F;
                      constant(m, "layer1.floor")
                          .set_raw_data(reinterpret_cast<const char*>(&large), sizeof(large));
                    }),
              HasSubstr("eps=1e-5"));
}

TEST(Onnx, ALastSoftmaxOrSigmoidBelongsToTheLoss) {
  const auto with_end = [](const NetworkSpec& spec, const char* op, OnnxReading reading = {}) {
    onnx::ModelProto proto = proto_of(to_onnx(model_of(spec)).value());
    proto.clear_metadata_props();
    auto* node = proto.mutable_graph()->add_node();
    node->set_op_type(op);
    node->add_input("scores");
    node->add_output("probabilities");
    proto.mutable_graph()->mutable_output(0)->set_name("probabilities");
    return network_from_onnx(proto.SerializeAsString(), "x", reading);
  };
  const NetworkSpec three = builtin_network("mlp:4", 5, 3).value();
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    const auto network = with_end(three, op);
    ASSERT_TRUE(network) << network.error().message;
    EXPECT_EQ(network->spec, three);
    ASSERT_EQ(network->notes.size(), 1u);
    EXPECT_THAT(network->notes[0], HasSubstr(op));
  }
  const NetworkSpec one = builtin_network("mlp:4", 5, 0).value();
  const auto logistic = with_end(one, "Sigmoid");
  ASSERT_TRUE(logistic);
  EXPECT_EQ(logistic->spec.layers, one.layers);
  EXPECT_EQ(logistic->spec.loss, NetworkLoss::kLogistic);
  OnnxReading regression;
  regression.regression = true;
  const auto squared = with_end(one, "Sigmoid", regression);
  ASSERT_TRUE(squared);
  EXPECT_EQ(squared->spec.layers.size(), one.layers.size() + 1);
  EXPECT_EQ(squared->spec.loss, NetworkLoss::kSquared);
}

std::string damaged(std::string bytes, std::mt19937_64& random) {
  const std::uint64_t edits = 1 + random() % 4;
  for (std::uint64_t e = 0; e < edits && !bytes.empty(); ++e) {
    const std::size_t at = random() % bytes.size();
    switch (random() % 6) {
      case 0:
        bytes[at] = static_cast<char>(random() % 256);
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
        break;
      case 2:
        bytes.erase(at, 1 + random() % 9);
        break;
      case 3:
        bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 20));
        break;
      case 4:
        bytes[at] = static_cast<char>(0xff);
        break;
      default:
        if (random() % 8 == 0) bytes.resize(at);
    }
  }
  return bytes;
}

/// Changes that keep the file well-formed: an operator, a name, an extent, an attribute.
void damage(onnx::ModelProto& model, std::mt19937_64& random) {
  static const char* const kOps[] = {"Add",     "Mul",       "Div",        "Sub",
                                     "Reshape", "Flatten",   "Gemm",       "MatMul",
                                     "Squeeze", "Unsqueeze", "Shape",      "Gather",
                                     "Concat",  "Pad",       "ReduceMean", "Erf",
                                     "MaxPool", "Dropout",   "Softmax",    "LayerNormalization"};
  onnx::GraphProto& graph = *model.mutable_graph();
  const auto any = [&](int size) {
    return static_cast<int>(random() % static_cast<unsigned>(size));
  };
  auto& node = *graph.mutable_node(any(graph.node_size()));
  static const std::int64_t kNumbers[] = {
      0, 1, -1, 2, 7, -5, 1'000'001, std::int64_t{1} << 31, std::int64_t{1} << 62, INT64_MIN};
  const std::int64_t number = kNumbers[random() % std::size(kNumbers)];
  switch (random() % 8) {
    case 0:
      node.set_op_type(kOps[random() % std::size(kOps)]);
      break;
    case 1:
      if (node.input_size() > 0)
        node.set_input(any(node.input_size()), graph.node(any(graph.node_size())).output(0));
      break;
    case 2:
      if (node.input_size() > 0 && graph.initializer_size() > 0)
        node.set_input(any(node.input_size()),
                       graph.initializer(any(graph.initializer_size())).name());
      break;
    case 3:
      if (node.attribute_size() > 0) {
        auto& attribute = *node.mutable_attribute(any(node.attribute_size()));
        if (attribute.ints_size() > 0)
          attribute.set_ints(any(attribute.ints_size()), number);
        else
          attribute.set_i(number);
      }
      break;
    case 4:
      if (graph.initializer_size() > 0) {
        auto& tensor = *graph.mutable_initializer(any(graph.initializer_size()));
        if (tensor.dims_size() > 0) tensor.set_dims(any(tensor.dims_size()), number);
      }
      break;
    case 5: {
      auto& shape = *graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
      if (shape.dim_size() > 0) shape.mutable_dim(any(shape.dim_size()))->set_dim_value(number);
      break;
    }
    case 6:
      graph.mutable_node()->SwapElements(any(graph.node_size()), any(graph.node_size()));
      break;
    default:
      if (node.input_size() > 1) node.mutable_input()->RemoveLast();
  }
}

// Every outcome is an error or a network that holds together (the sanitizers run this too).
TEST(Onnx, FuzzedFilesNeverCrash) {
  const NetworkSpec spec = testing::make_spec({1, 6, 6},
                                              {"conv 4 3 pad 1",
                                               "groupnorm 2",
                                               "gelu",
                                               "maxpool 2",
                                               "layernorm",
                                               "avgpool 2 stride 1",
                                               "conv 2 1",
                                               "globalavg",
                                               "linear 3"});
  const std::string good = to_onnx(model_of(spec)).value();
  ASSERT_TRUE(network_from_onnx(good, "good"));
  std::mt19937_64 random(1);
  int accepted = 0;
  constexpr int kRounds = 10'000;
  for (int round = 0; round < kRounds; ++round) {
    std::string bytes = good;
    if (round % 2 == 0) {
      bytes = damaged(std::move(bytes), random);
    } else {
      onnx::ModelProto proto;
      ASSERT_TRUE(proto.ParseFromString(good));
      const std::uint64_t edits = 1 + random() % 3;
      for (std::uint64_t e = 0; e < edits; ++e) damage(proto, random);
      bytes = proto.SerializeAsString();
    }
    const auto network = network_from_onnx(bytes, "fuzz");
    if (!network) {
      ASSERT_FALSE(network.error().message.empty());
      continue;
    }
    ++accepted;
    ASSERT_TRUE(shapes_of(network->spec));
    ASSERT_EQ(network->weights.size(), parameter_count(network->spec));
    ASSERT_TRUE(network->weights.allFinite());
    ASSERT_EQ(parse_network(to_text(network->spec), "fuzz").value().layers, network->spec.layers);
  }
  EXPECT_GT(accepted, kRounds / 100);
  EXPECT_LT(accepted, kRounds);
}

}  // namespace
}  // namespace sotto
