// ONNX networks and `sotto export` from the outside.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

using ::testing::HasSubstr;

struct Networks {
  TempDir dir;
  std::string data = dir.write("train.svm", small_libsvm());
  std::string net = dir.write("net.toml",
                              "input = [2]\nmean = [0.1, 0.2]\ndeviation = [2, 1]\n"
                              "layers = [\"linear 4\", \"tanh\", \"linear 2\"]\n");

  CommandResult train(const Words& more, const std::string& model) const {
    return sotto(
        "train --classes -1,1 --epsilon 8 --delta 1e-3 --method dp-sgd --steps 3 --seed 1" + more +
        Words{data, dir.file(model)});
  }
  nlohmann::json model(const std::string& name) const {
    return nlohmann::json::parse(TempDir::read(dir.file(name)));
  }
};

TEST(OnnxCommands, ATrainedNetworkGoesOutAndTrainsAgain) {
  const Networks n;
  ASSERT_EQ(n.train({"--model", n.net}, "first.json").code, 0);
  const std::string onnx = n.dir.file("first.onnx");
  const auto run = sotto({"export", n.dir.file("first.json"), onnx});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("22 weights, epsilon "));

  // Layers and input constants come from the file, weights only by --pretrained.
  const auto fresh = n.train({"--model", onnx}, "fresh.json");
  ASSERT_EQ(fresh.code, 0) << fresh.err;
  EXPECT_THAT(fresh.err, HasSubstr("--pretrained " + onnx));
  ASSERT_EQ(n.train({"--model", n.net}, "same.json").code, 0);
  const auto weights = [&](const char* name) {
    return n.model(name)["weights"].get<std::vector<double>>();
  };
  const auto expected = weights("same.json");
  const auto found = weights("fresh.json");
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t j = 0; j < found.size(); ++j) EXPECT_NEAR(found[j], expected[j], 1e-6);

  const auto started =
      n.train({"--model", onnx, "--pretrained", onnx, "--step-size 1e-9"}, "on.json");
  ASSERT_EQ(started.code, 0) << started.err;
  EXPECT_THAT(started.err, ::testing::Not(HasSubstr("random weights")));
  EXPECT_THAT(started.err, HasSubstr("owed the sum of both"));
  const auto first = weights("first.json");
  const auto kept = weights("on.json");
  for (std::size_t j = 0; j < kept.size(); ++j) EXPECT_NEAR(kept[j], first[j], 1e-6);
}

TEST(OnnxCommands, LinearModelsAreExportedToo) {
  const Networks n;
  const std::string model = n.dir.file("linear.json");
  ASSERT_EQ(sotto({"train --epsilon 1 --delta 1e-3 --method dp-gd --row-norm 1 --dim 2 --steps 3",
                   n.data,
                   model})
                .code,
            0);
  EXPECT_EQ(sotto({"export", model, n.dir.file("linear.onnx")}).code, 0);
  EXPECT_FALSE(TempDir::read(n.dir.file("linear.onnx")).empty());
}

TEST(OnnxCommands, Mistakes) {
  const Networks n;
  ASSERT_EQ(n.train({"--model", n.net}, "first.json").code, 0);
  EXPECT_EQ(sotto({"export", n.dir.file("first.json"), n.dir.file("x.pt")}).code, 2);
  EXPECT_EQ(sotto({"export", n.dir.file("none.json"), n.dir.file("x.onnx")}).code, 6);
  EXPECT_EQ(sotto({"export", n.data, n.dir.file("x.onnx")}).code, 3);
  EXPECT_EQ(sotto({"export", n.dir.file("first.json"), "/nonexistent/x.onnx"}).code, 6);
  const auto broken = n.train({"--model", n.dir.write("broken.onnx", "no network")}, "m.json");
  EXPECT_EQ(broken.code, 3);
  EXPECT_THAT(broken.err, HasSubstr("not a complete ONNX file"));
  EXPECT_EQ(n.train({"--model", n.dir.file("none.onnx")}, "m.json").code, 6);
}

}  // namespace
}  // namespace sotto::testing
