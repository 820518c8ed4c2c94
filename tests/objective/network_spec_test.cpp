#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "sotto/data/table.hpp"
#include "sotto/objective/network/engine.hpp"
#include "sotto/objective/network/spec.hpp"
#include "tests/objective/network_reference.hpp"

namespace sotto {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
  const auto spec = parse_network(text, "net.toml");
  return spec ? "" : spec.error().message;
}

TEST(NetworkSpec, ReadsAModelFile) {
  const auto spec = parse_network(R"(
input = [1, 28, 28]
mean = [0.1307]
deviation = [0.3081]
loss = "softmax"
layers = ["conv 16 8x8 stride 2 pad 3", "relu", "maxpool 2 stride 1", "conv 32 4 stride 2", "relu",
          "maxpool 2 stride 1", "flatten", "linear 32", "relu", "linear 10"]
)",
                                  "net.toml")
                        .value();
  EXPECT_EQ(spec.layers.size(), 10u);
  EXPECT_EQ(spec.layers[0].padding, (Pair{3, 3}));
  const auto shapes = shapes_of(spec).value();
  EXPECT_EQ(shapes[1], (ImageShape{16, 14, 14}));
  EXPECT_EQ(shapes[3], (ImageShape{16, 13, 13}));
  EXPECT_EQ(shapes[4], (ImageShape{32, 5, 5}));
  EXPECT_EQ(shapes[7], (ImageShape{512, 1, 1}));
  EXPECT_EQ(parameter_count(spec), 26010);
  NetworkSpec builtin = builtin_network("mnist-cnn4", 784, 10).value();
  builtin.mean = spec.mean;
  builtin.deviation = spec.deviation;
  EXPECT_EQ(spec, builtin);
}

TEST(NetworkSpec, TextReadsBack) {
  for (const auto& named : testing::layer_zoo())
    EXPECT_EQ(parse_network(to_text(named.spec), "x").value(), named.spec) << named.name;
  NetworkSpec spec = builtin_network("cifar-cnn6", 3072, 10).value();
  spec.layers[0].frozen = true;
  spec.mean = {0.1, 0.2, 1.0 / 3};
  EXPECT_EQ(parse_network(to_text(spec), "x").value(), spec);
}

TEST(NetworkSpec, BuiltIns) {
  EXPECT_EQ(parameter_count(builtin_network("cifar-cnn5", 3072, 10).value()), 62006);
  EXPECT_EQ(parameter_count(builtin_network("softmax", 784, 10).value()), 7850);
  EXPECT_EQ(parameter_count(builtin_network("mlp:5,4", 3, 2).value()), 20 + 24 + 10);
  EXPECT_EQ(parameter_count(builtin_network("mlp:5", 3, 0).value()), 20 + 6);
  EXPECT_FALSE(builtin_network("mnist-cnn4", 785, 10));
  EXPECT_FALSE(builtin_network("mlp:5,x", 3, 2));
  EXPECT_FALSE(builtin_network("resnet", 3, 2));
}

TEST(NetworkSpec, RefusesWhatMixesExamplesAndSaysWhatToUse) {
  const std::string text =
      error_of("input = [1, 4, 4]\nlayers = [\"conv 2 3\", \"batchnorm\", \"flatten\"]\n");
  EXPECT_THAT(text, HasSubstr("net.toml: layer 2"));
  EXPECT_THAT(text, HasSubstr("no example has a gradient of its own"));
  EXPECT_THAT(text, HasSubstr("groupnorm"));
}

TEST(NetworkSpec, RefusesLayersThatDontFit) {
  const auto layers = [](const std::string& list) {
    return error_of("input = [2, 5, 5]\nlayers = [" + list + "]\n");
  };
  EXPECT_THAT(layers("\"linear 3\""), HasSubstr("flatten"));
  EXPECT_THAT(layers("\"conv 3 6\", \"flatten\""), HasSubstr("larger than its input"));
  EXPECT_THAT(layers("\"maxpool 6\", \"flatten\""), HasSubstr("larger than its input"));
  EXPECT_THAT(layers("\"conv 3 2 groups 2\", \"flatten\""), HasSubstr("groups"));
  EXPECT_THAT(layers("\"groupnorm 3\", \"flatten\""), HasSubstr("groups"));
  EXPECT_THAT(layers("\"relu\", \"flatten\""), HasSubstr("parameters to train"));
  EXPECT_THAT(layers("\"conv 3 2\""), HasSubstr("list of outputs"));
  EXPECT_THAT(layers("\"flatten\", \"linear 1\""), HasSubstr("two outputs"));
  EXPECT_THAT(layers("\"flatten\", \"linear 999999\", \"linear 999999\", \"linear 2\""),
              HasSubstr("too large"));
  EXPECT_THAT(layers("\"conv\""), HasSubstr("layer 1"));
  EXPECT_THAT(layers("\"linear -3\""), HasSubstr("layer 1"));
  EXPECT_THAT(layers("\"what 3\""), HasSubstr("unknown layer 'what'"));
  EXPECT_THAT(error_of("input = [0]\nlayers = [\"linear 2\"]"), HasSubstr("input"));
  EXPECT_THAT(error_of("input = [2]\nlayers = 3"), HasSubstr("layers"));
  EXPECT_THAT(error_of("input = [2]\nlayer = []"), HasSubstr("unknown key 'layer'"));
  EXPECT_THAT(error_of("input = [2"), HasSubstr("net.toml:1"));
  EXPECT_THAT(error_of("input = [2]\ndeviation = [0]\nlayers = [\"linear 2\"]"), HasSubstr("> 0"));
  EXPECT_THAT(error_of("input = [2]\nloss = \"hinge\"\nlayers = [\"linear 2\"]"),
              HasSubstr("loss"));
}

// Damaged files end in an error or in a network, never in a crash (the sanitizers run this too).
TEST(NetworkSpec, FuzzedFilesNeverCrash) {
  const std::string good = to_text(builtin_network("mnist-cnn4", 784, 10).value());
  std::mt19937_64 random(1);
  int accepted = 0;
  for (int round = 0; round < 10'000; ++round) {
    std::string text = good;
    const std::uint64_t edits = 1 + random() % 4;
    for (std::uint64_t e = 0; e < edits; ++e) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          text.erase(at, random() % 9);
          break;
        case 2:
          text.insert(at, std::to_string(random() % 1000000));
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 20));
      }
      if (text.empty()) text = " ";
    }
    if (const auto spec = parse_network(text, "fuzz")) {
      ++accepted;
      ASSERT_TRUE(shapes_of(*spec)) << text;
      ASSERT_GE(parameter_count(*spec), 1);
    }
  }
  EXPECT_GT(accepted, 10);
}

TEST(NetworkSpec, InitialWeightsFollowTheSeedAndTheFanIn) {
  const NetworkSpec spec =
      testing::make_spec({1, 6, 6}, {"conv 4 3", "groupnorm 2", "relu", "flatten", "linear 3"});
  const Vector w = initial_weights(spec, 1);
  EXPECT_EQ(w, initial_weights(spec, 1));
  EXPECT_NE(w, initial_weights(spec, 2));
  EXPECT_LE(w.head(40).cwiseAbs().maxCoeff(), 1.0 / 3);
  EXPECT_GE(w.head(40).cwiseAbs().maxCoeff(), 0.9 / 3);
  EXPECT_EQ(w.segment(40, 4), Vector::Ones(4));
  EXPECT_EQ(w.segment(44, 4), Vector::Zero(4));
}

TEST(NetworkEngine, RefusesTablesThatDontFit) {
  const NetworkSpec spec = testing::make_spec({4, 1, 1}, {"linear 3"});
  const auto table = [](std::int64_t dim, std::vector<float> labels) {
    std::vector<float> values(static_cast<std::size_t>(dim) * labels.size());
    const auto rows = static_cast<std::int64_t>(labels.size());
    return TableBuilder::dense(rows, dim, values, std::move(labels), {});
  };
  const Table good = table(4, {0, 1, 2});
  const Table wide = table(5, {0, 1, 2});
  const Table more_classes = table(4, {0, 1, 3});
  const Table half = table(4, {0, 0.5, 1});
  EXPECT_TRUE(NetworkEngine::make(good, spec));
  for (const Table* bad : {&wide, &more_classes, &half})
    EXPECT_FALSE(NetworkEngine::make(*bad, spec));
}

}  // namespace
}  // namespace sotto
