// Gradient pairs of networks: norms, sums, and the accuracy of differences.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sotto/objective/network/engine.hpp"
#include "tests/objective/engine_conformance.hpp"
#include "tests/objective/network_reference.hpp"

namespace sotto {
namespace {

using testing::gradient_of;
using testing::layer_zoo;
using testing::make_spec;
using testing::NamedSpec;
using testing::random_rows;
using testing::ReferenceNetwork;
using testing::span_of;

struct Pairs {
  std::vector<double> norms;
  Vector sum;
};

/// The norm for (gradient, difference) of one unit, and what it adds with these weights.
Pairs pair_of(const Engine& engine,
              std::int64_t unit,
              const Vector& w,
              const Vector& before,
              double gradient,
              double difference) {
  auto workspace = engine.make_workspace();
  Pairs result{std::vector<double>(1), Vector::Zero(engine.parameters())};
  engine.evaluate_gradient_pairs({&unit, 0, 1}, span_of(w), span_of(before), *workspace);
  engine.pair_norms(*workspace, gradient, difference, result.norms);
  engine.add_gradient_pairs(*workspace,
                            std::vector<double>{gradient},
                            std::vector<double>{difference},
                            {result.sum.data(), static_cast<std::size_t>(result.sum.size())});
  return result;
}

class NetworkPairs : public ::testing::TestWithParam<NamedSpec> {};

TEST_P(NetworkPairs, AgreeWithSingleGradientsAndStayWithinTheirNorms) {
  const NetworkSpec& spec = GetParam().spec;
  const Table table = random_rows(spec, 4, 21);
  const auto engine = NetworkEngine::make(table, spec).value();
  const Vector w = initial_weights(spec, 1);
  const Vector before = w + 0.01 * initial_weights(spec, 2);
  for (std::int64_t unit = 0; unit < 4; ++unit) {
    const Vector here = gradient_of(*engine, unit, w);
    const Vector there = gradient_of(*engine, unit, before);
    for (const auto& [a, b] : {std::pair{1.0, 0.0}, {0.0, 1.0}, {0.3, 0.7}, {1.0, -1.0}}) {
      const Pairs pair = pair_of(*engine, unit, w, before, a, b);
      const Vector expected = a * here + b * (here - there);
      EXPECT_LE((pair.sum - expected).norm(), 1e-6 * (here.norm() + there.norm()));
      EXPECT_LE(pair.sum.norm(), pair.norms[0]);
      EXPECT_GE(pair.sum.norm() + 1e-4 * (here.norm() + there.norm()), pair.norms[0]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo,
                         NetworkPairs,
                         ::testing::ValuesIn(layer_zoo()),
                         [](const auto& named) { return named.param.name; });

// Against float64: what is left of cancellation is the float32 passes' own rounding, relative to
// the gradients and not amplified; a linear layer's difference is exact to its own size.
TEST(NetworkPairs, DifferencesAgainstFloat64) {
  const NetworkSpec spec = make_spec(
      {1, 8, 8}, {"conv 6 3 stride 2 pad 1", "tanh", "flatten", "linear 7", "tanh", "linear 4"});
  const ReferenceNetwork reference(spec);
  const Table table = random_rows(spec, 3, 4);
  const auto engine = NetworkEngine::make(table, spec).value();
  const Vector w = initial_weights(spec, 1);
  for (const double step : {1e-1, 1e-2, 1e-3}) {
    const Vector before = w + step * initial_weights(spec, 2);
    for (std::int64_t unit = 0; unit < 3; ++unit) {
      const double label = table.labels()[static_cast<std::size_t>(unit)];
      const Vector here = reference.gradient(table.row(unit), label, w, 1e-4);
      const Vector there = reference.gradient(table.row(unit), label, before, 1e-4);
      const Pairs pair = pair_of(*engine, unit, w, before, 0, 1);
      EXPECT_LE((pair.sum - (here - there)).norm(), 2e-6 * here.norm()) << step;
      EXPECT_NEAR(pair.norms[0], (here - there).norm(), 4e-6 * here.norm()) << step;
    }
  }
}

TEST(NetworkPairs, EqualPointsHaveNoDifference) {
  const NetworkSpec spec = make_spec({1, 6, 6}, {"conv 5 3", "relu", "flatten", "linear 3"});
  const Table table = random_rows(spec, 2, 4);
  const auto engine = NetworkEngine::make(table, spec).value();
  const Vector w = initial_weights(spec, 1);
  const Pairs pair = pair_of(*engine, 1, w, w, 0, 1);
  EXPECT_EQ(pair.sum.norm(), 0);
  EXPECT_EQ(pair.norms[0], 0);
}

TEST(NetworkPairs, AWeightOfZeroAddsNothingOfAnInfinitePiece) {
  const NetworkSpec spec = make_spec({1, 6, 6}, {"conv 5 3", "relu", "flatten", "linear 3"});
  const Table table = random_rows(spec, 2, 4);
  const auto engine = NetworkEngine::make(table, spec).value();
  const Vector w = initial_weights(spec, 1);
  const Vector before = 1e30 * w;
  const Pairs pair = pair_of(*engine, 1, w, before, 1, 0);
  EXPECT_TRUE(std::isfinite(pair.norms[0]));
  EXPECT_LE((pair.sum - gradient_of(*engine, 1, w)).norm(), 1e-12);
  const Pairs broken = pair_of(*engine, 1, w, before, 0, 1);
  EXPECT_FALSE(std::isfinite(broken.norms[0]));
}

}  // namespace
}  // namespace sotto
