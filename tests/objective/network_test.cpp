#include <gtest/gtest.h>

#include <cmath>

#include "sotto/objective/network/engine.hpp"
#include "sotto/objective/network/network_kernels.hpp"
#include "tests/objective/engine_conformance.hpp"
#include "tests/objective/network_reference.hpp"

namespace sotto {
namespace {

using testing::layer_zoo;
using testing::make_spec;
using testing::NamedSpec;
using testing::random_rows;
using testing::ReferenceNetwork;

// float32 passes: a few rounding units of numbers about 1.
constexpr double kSingle = 2e-5;

std::span<const double> span_of(const Vector& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}

Vector gradient_of(const Engine& engine, std::int64_t unit, const Vector& w) {
  const auto one = testing::weighted_sum(
      engine, {unit}, span_of(w), false, [](double) { return 1.0; }, 1);
  return Eigen::Map<const Vector>(one.sum.data(), static_cast<Eigen::Index>(one.sum.size()));
}

class NetworkLayers : public ::testing::TestWithParam<NamedSpec> {};

TEST_P(NetworkLayers, LossAndGradientMatchCentralDifferences) {
  const NetworkSpec& spec = GetParam().spec;
  const ReferenceNetwork reference(spec);
  const Table table = random_rows(spec, 3, 17);
  const Vector w = initial_weights(spec, 3);
  for (int v = 0; network_kernels::variant(v); ++v) {
    const auto engine = NetworkEngine::make(table, spec, {}, *network_kernels::variant(v)).value();
    ASSERT_EQ(engine->parameters(), w.size());
    auto workspace = engine->make_workspace();
    std::vector<double> losses(3);
    engine->evaluate_losses({nullptr, 0, 3}, span_of(w), *workspace, losses);
    for (std::int64_t i = 0; i < 3; ++i) {
      const double label = table.labels()[static_cast<std::size_t>(i)];
      EXPECT_NEAR(
          losses[static_cast<std::size_t>(i)], reference.loss(table.row(i), label, w), kSingle);
      const Vector expected = reference.gradient(table.row(i), label, w);
      const Vector found = gradient_of(*engine, i, w);
      for (Eigen::Index j = 0; j < w.size(); ++j)
        ASSERT_NEAR(found[j], expected[j], kSingle * (1 + expected.norm()))
            << "row " << i << " parameter " << j << " variant " << v;
    }
  }
}

TEST_P(NetworkLayers, EngineConforms) {
  const NetworkSpec& spec = GetParam().spec;
  const Table table = random_rows(spec, 29, 5);
  const auto engine = NetworkEngine::make(table, spec).value();
  const Vector w = initial_weights(spec, 11);
  testing::expect_contributions_bounded(*engine, span_of(w), false, 1e-9);
  testing::expect_blocks_agree(*engine, span_of(w), false);
}

INSTANTIATE_TEST_SUITE_P(Zoo,
                         NetworkLayers,
                         ::testing::ValuesIn(layer_zoo()),
                         [](const auto& named) { return named.param.name; });

}  // namespace
}  // namespace sotto
