// Outputs and per-example gradients against PyTorch, in a child process; skipped where it is
// absent.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sotto/objective/network/engine.hpp"
#include "tests/objective/engine_conformance.hpp"
#include "tests/objective/network_reference.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto {
namespace {

using testing::random_rows;

constexpr const char* kPython = "/usr/bin/python3";
constexpr double kTorchSingle = 2e-5;  // float32 against float64

template <class T>
void write(const std::string& path, const std::vector<T>& values) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(T)));
}

std::vector<double> read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream buffer;
  buffer << stream.rdbuf();
  const std::string bytes = buffer.str();
  std::vector<double> values(bytes.size() / sizeof(double));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
  return values;
}

std::vector<testing::NamedSpec> cases() {
  auto all = testing::layer_zoo();
  all.push_back({"mnist_cnn4", builtin_network("mnist-cnn4", 784, 10).value()});
  all.push_back({"cifar_cnn5", builtin_network("cifar-cnn5", 3072, 10).value()});
  all.push_back({"cifar_cnn6", builtin_network("cifar-cnn6", 3072, 10).value()});
  return all;
}

constexpr std::int64_t kRows = 3;

void write_case(const std::string& folder, const NetworkSpec& spec) {
  std::filesystem::create_directories(folder);
  const Table table = random_rows(spec, kRows, 31);
  const Vector w = initial_weights(spec, 7);
  nlohmann::json layers = nlohmann::json::array();
  for (const auto& layer : spec.layers) layers.push_back(to_text(layer));
  auto input = nlohmann::json::array({spec.input.channels});
  if (spec.input.height * spec.input.width > 1) {
    input.push_back(spec.input.height);
    input.push_back(spec.input.width);
  }
  const char* losses[] = {"softmax", "logistic", "squared"};
  std::ofstream(folder + "/case.json") << nlohmann::json{
      {"input", input}, {"layers", layers}, {"loss", losses[static_cast<int>(spec.loss)]}};
  write(folder + "/weights.f64", std::vector<double>(w.begin(), w.end()));
  std::vector<float> values;
  for (std::int64_t i = 0; i < kRows; ++i)
    values.insert(values.end(), table.row(i), table.row(i) + table.dim());
  write(folder + "/rows.f32", values);
  write(folder + "/labels.f32", std::vector<float>(table.labels().begin(), table.labels().end()));
}

void compare(const std::string& folder, const NetworkSpec& spec) {
  const Table table = random_rows(spec, kRows, 31);
  const Vector w = initial_weights(spec, 7);
  const auto outputs = read(folder + "/outputs.f64");
  const auto gradients = read(folder + "/gradients.f64");
  const auto engine = NetworkEngine::make(table, spec).value();
  ASSERT_EQ(std::ssize(outputs), kRows * engine->outputs());
  ASSERT_EQ(std::ssize(gradients), kRows * engine->parameters());
  const std::span<const double> point(w.data(), static_cast<std::size_t>(w.size()));
  auto workspace = engine->make_workspace();
  std::vector<double> found(outputs.size());
  engine->evaluate_outputs({nullptr, 0, kRows}, point, *workspace, found);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], outputs[i], kTorchSingle);
  for (std::int64_t i = 0; i < kRows; ++i) {
    const auto one = testing::weighted_sum(
        *engine, {i}, point, false, [](double) { return 1.0; }, 1);
    const double* expected = gradients.data() + i * engine->parameters();
    double norm = 0;
    for (std::int64_t j = 0; j < engine->parameters(); ++j) norm += expected[j] * expected[j];
    for (std::size_t j = 0; j < one.sum.size(); ++j)
      ASSERT_NEAR(one.sum[j], expected[j], kTorchSingle * (1 + std::sqrt(norm))) << j;
    EXPECT_NEAR(one.norms[0], std::sqrt(norm), kTorchSingle * (1 + std::sqrt(norm)));
  }
}

// One child process for all networks: loading PyTorch takes longer than all of them.
TEST(AgainstTorch, OutputsAndPerExampleGradientsAgree) {
  if (std::system((std::string(kPython) + " -c 'import torch' >/dev/null 2>&1").c_str()) != 0)
    GTEST_SKIP() << "PyTorch is not installed (python3-torch)";
  const testing::TempDir folder;
  std::string command =
      std::string(kPython) + " " + SOTTO_SOURCE_DIR + "/tests/objective/network_torch.py";
  for (const auto& each : cases()) {
    write_case(folder.file(each.name), each.spec);
    command += " " + folder.file(each.name);
  }
  ASSERT_EQ(std::system((command + " >" + folder.file("log") + " 2>&1").c_str()), 0)
      << testing::TempDir::read(folder.file("log"));
  for (const auto& each : cases()) {
    SCOPED_TRACE(each.name);
    compare(folder.file(each.name), each.spec);
  }
}

}  // namespace
}  // namespace sotto
