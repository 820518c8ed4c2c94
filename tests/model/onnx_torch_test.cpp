// Networks that PyTorch exports, read, run and written back; what PyTorch computes is the truth.
// Skipped where it is absent.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "sotto/model/onnx/onnx.hpp"
#include "sotto/objective/network/engine.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::TempDir;

constexpr double kRoundTrip = 1e-5;

bool has_torch() { return std::system("/usr/bin/python3 -c 'import torch' >/dev/null 2>&1") == 0; }

std::vector<float> read_floats(const std::string& path) {
  const std::string bytes = TempDir::read(path);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

/// Runs the script beside this file; its output.
std::string run_script(const std::string& what, const std::string& folder, const TempDir& logs) {
  const std::string command = "/usr/bin/python3 " SOTTO_SOURCE_DIR "/tests/model/onnx_torch.py " +
                              what + " " + folder + " >" + logs.file("log") + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << TempDir::read(logs.file("log"));
  return TempDir::read(logs.file("log"));
}

/// The largest difference between what the network gives and what PyTorch gave.
double largest_difference(const OnnxNetwork& network, const std::string& stem) {
  const auto rows = read_floats(stem + ".rows.f32");
  const auto expected = read_floats(stem + ".outputs.f32");
  const std::int64_t dim = network.spec.input.size();
  const std::int64_t count = std::ssize(rows) / dim;
  std::vector<float> labels(static_cast<std::size_t>(count),
                            network.spec.loss == NetworkLoss::kSoftmax ? 0.0F : 1.0F);
  const Table table = TableBuilder::dense(count, dim, rows, std::move(labels), {});
  const auto engine = NetworkEngine::make(table, network.spec).value();
  std::vector<double> found(static_cast<std::size_t>(count * engine->outputs()));
  EXPECT_EQ(found.size(), expected.size());
  if (found.size() != expected.size()) return INFINITY;
  auto workspace = engine->make_workspace();
  engine->evaluate_outputs(
      {nullptr, 0, count},
      {network.weights.data(), static_cast<std::size_t>(network.weights.size())},
      *workspace,
      found);
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    largest = std::max(largest, std::abs(found[i] - static_cast<double>(expected[i])));
  return largest;
}

// One process of PyTorch each way for all networks: loading it takes longest.
TEST(OnnxAgainstTorch, ExportsAreReadAndGoBackWithTheSameOutputs) {
  if (!has_torch()) GTEST_SKIP() << "PyTorch is not installed (python3-torch)";
  const TempDir folder;
  const TempDir logs;
  fs::create_directories(folder.file("nets"));
  run_script("export", folder.file("nets"), logs);
  int networks = 0;
  std::vector<std::string> stems;
  for (const auto& entry : fs::directory_iterator(folder.file("nets")))
    if (entry.path().extension() == ".onnx")
      stems.push_back(entry.path().string().substr(0, entry.path().string().size() - 5));
  for (const auto& stem : stems) {
    SCOPED_TRACE(stem);
    const auto network = load_onnx(stem + ".onnx");
    ASSERT_TRUE(network) << network.error().message;
    EXPECT_LE(largest_difference(*network, stem), kRoundTrip);
    Model model;
    model.network = to_text(network->spec);
    model.w = network->weights;
    ASSERT_TRUE(save_onnx(model, stem + ".back.onnx"));
    const auto again = load_onnx(stem + ".back.onnx");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_LE(largest_difference(*again, stem), kRoundTrip);
    ++networks;
  }
  EXPECT_EQ(networks, 96);
  std::istringstream answers(run_script("evaluate", folder.file("nets"), logs));
  std::string name;
  double difference = 0;
  int evaluated = 0;
  while (answers >> name >> difference) {
    EXPECT_LE(difference, kRoundTrip) << name;
    ++evaluated;
  }
  EXPECT_EQ(evaluated, networks);

  const auto refused = load_onnx(folder.file("nets/refused.bn"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("BatchNormalization"));
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("Use GroupNorm or LayerNorm"));
}

}  // namespace
}  // namespace sotto
