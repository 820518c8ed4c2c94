#include <gtest/gtest.h>

#include <cmath>

#include "sotto/objective/network/engine.hpp"
#include "sotto/objective/network/features.hpp"
#include "sotto/objective/network/network_kernels.hpp"
#include "sotto/objective/network/transfer.hpp"
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

// float32 passes: a few rounding units of numbers about 1.
constexpr double kSingle = 2e-5;

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

TEST(NetworkEngine, FrozenLayersAreNotTrainedAndTheirFeaturesChangeNothing) {
  NetworkSpec spec = make_spec({2, 8, 8},
                               {"conv 6 3 pad 1",
                                "relu",
                                "maxpool 2",
                                "conv 5 2",
                                "tanh",
                                "flatten",
                                "linear 7",
                                "relu",
                                "linear 3"});
  const Vector all = initial_weights(spec, 2);
  const Table table = random_rows(spec, 20, 9);
  const auto whole = NetworkEngine::make(table, spec).value();
  for (std::size_t frozen_up_to : {1u, 4u}) {
    NetworkSpec part = spec;
    for (std::size_t i = 0; i < frozen_up_to; ++i) part.layers[i].frozen = true;
    const auto engine = NetworkEngine::make(table, part, all).value();
    const Vector w = all.tail(engine->parameters());
    const auto features = frozen_features(table, part, all).value();
    ASSERT_TRUE(features);
    const auto rest = NetworkEngine::make(features->table, features->rest).value();
    const auto mapped = frozen_features(table, part, all, 0).value();  // in a file
    const auto on_disk = NetworkEngine::make(mapped->table, mapped->rest).value();
    ASSERT_EQ(rest->parameters(), engine->parameters());
    for (std::int64_t unit = 0; unit < 20; ++unit) {
      const Vector expected = gradient_of(*whole, unit, all).tail(w.size());
      EXPECT_EQ(gradient_of(*engine, unit, w), expected);
      EXPECT_EQ(gradient_of(*rest, unit, w), expected);
      EXPECT_EQ(gradient_of(*on_disk, unit, w), expected);
    }
  }
  EXPECT_FALSE(frozen_features(table, spec, all).value());
}

// A network of which any field were left behind would have other gradients, or another loss.
TEST(NetworkEngine, FeaturesKeepEverythingOfTheNetworkBehindThem) {
  NetworkSpec spec = make_spec({2, 8, 8}, {"flatten", "linear 7", "relu", "linear 3"});
  spec.mean = {0.5, 0.25};
  spec.deviation = {0.5, 2};
  spec.class_weights = {1, 40, 0.5};
  spec.layers[1].frozen = true;
  const Vector all = initial_weights(spec, 2);
  const Table table = random_rows(spec, 20, 9);
  const auto whole = NetworkEngine::make(table, spec, all).value();
  const auto features = frozen_features(table, spec, all).value();
  ASSERT_TRUE(features);
  const auto rest = NetworkEngine::make(features->table, features->rest).value();
  const Vector w = trained_part(spec, all);
  for (std::int64_t unit = 0; unit < 20; ++unit)
    EXPECT_EQ(gradient_of(*rest, unit, w), gradient_of(*whole, unit, w)) << unit;
  NetworkSpec expected = spec;
  expected.input = {7, 1, 1};
  expected.mean = expected.deviation = {};
  expected.layers = {spec.layers[3]};
  EXPECT_EQ(features->rest, expected);

  spec.loss = NetworkLoss::kLogistic;
  spec.class_weights = {1, 8};
  spec.layers.back().outputs = 1;
  const Vector other = initial_weights(spec, 2);
  EXPECT_EQ(frozen_features(random_rows(spec, 4, 9), spec, other).value()->rest.class_weights,
            spec.class_weights);
}

TEST(NetworkEngine, FeaturesOfALongLayerChangeNothing) {
  NetworkSpec spec = make_spec({9, 1, 1}, {"linear 150", "tanh", "linear 6"});
  const Vector all = initial_weights(spec, 2);
  const Table table = random_rows(spec, 20, 9);
  const auto whole = NetworkEngine::make(table, spec).value();
  spec.layers[0].frozen = true;
  const auto features = frozen_features(table, spec, all).value();
  const auto rest = NetworkEngine::make(features->table, features->rest).value();
  const Vector w = all.tail(rest->parameters());
  for (std::int64_t unit = 0; unit < 20; ++unit)
    EXPECT_EQ(gradient_of(*rest, unit, w), gradient_of(*whole, unit, all).tail(w.size()));
}

TEST(NetworkEngine, LongInputsAreNormalizedToo) {
  NetworkSpec spec = make_spec({200, 1, 1}, {"linear 4"});
  const Table raw = random_rows(spec, 40, 9);
  NetworkSpec scaled = spec;
  scaled.mean.assign(200, 0.5);
  scaled.deviation.assign(200, 0.25);
  std::vector<float> values;
  for (std::int64_t i = 0; i < 40; ++i)
    for (std::int64_t j = 0; j < 200; ++j) values.push_back(raw.row(i)[j] * 4 - 2);
  const Table table = TableBuilder::dense(
      40, 200, values, std::vector<float>(raw.labels().begin(), raw.labels().end()), {});
  const auto first = NetworkEngine::make(raw, scaled).value();
  const auto second = NetworkEngine::make(table, spec).value();
  const Vector w = initial_weights(spec, 3);
  for (std::int64_t unit = 0; unit < 40; ++unit)
    EXPECT_LT((gradient_of(*first, unit, w) - gradient_of(*second, unit, w)).norm(), 1e-5);
  testing::expect_contributions_bounded(*first, span_of(w), false, 1e-9);
  testing::expect_blocks_agree(*first, span_of(w), false);
}

TEST(NetworkEngine, WeightZeroAddsNothingOfAGradientThatIsNotFinite) {
  const NetworkSpec spec = make_spec({1, 6, 6}, {"conv 5 3", "relu", "flatten", "linear 3"});
  const Table table = random_rows(spec, 3, 9);
  const auto engine = NetworkEngine::make(table, spec).value();
  const Vector w = 1e30 * initial_weights(spec, 1);
  auto workspace = engine->make_workspace();
  std::vector<double> norms(3);
  engine->evaluate_gradients({nullptr, 0, 3}, span_of(w), *workspace, norms);
  for (const double norm : norms) EXPECT_FALSE(std::isfinite(norm));
  std::vector<double> sum(static_cast<std::size_t>(w.size()));
  engine->add_gradients(*workspace, std::vector<double>(3, 0.0), sum);
  for (const double each : sum) EXPECT_EQ(each, 0);
}

TEST(NetworkEngine, LayerNormsAddUpToTheWhole) {
  const NetworkSpec spec =
      make_spec({1, 6, 6}, {"conv 5 3", "groupnorm 5", "relu", "flatten", "linear 4", "linear 3"});
  const Table table = random_rows(spec, 6, 9);
  const auto engine = NetworkEngine::make(table, spec).value();
  ASSERT_EQ(engine->layers(), 4);
  const Vector w = initial_weights(spec, 1);
  auto workspace = engine->make_workspace();
  std::vector<double> norms(6), parts(24);
  engine->evaluate_gradients({nullptr, 0, 6}, span_of(w), *workspace, norms);
  engine->layer_norms(*workspace, parts);
  for (std::size_t k = 0; k < 6; ++k) {
    double squares = 0;
    for (std::size_t l = 0; l < 4; ++l) squares += parts[4 * k + l] * parts[4 * k + l];
    EXPECT_NEAR(std::sqrt(squares), norms[k], 1e-9 * norms[k]);
  }
  Vector flat = Vector::Zero(w.size()), layered = flat;
  engine->add_gradients(*workspace,
                        std::vector<double>(6, 0.5),
                        {flat.data(), static_cast<std::size_t>(flat.size())});
  engine->add_layer_gradients(*workspace,
                              std::vector<double>(24, 0.5),
                              {layered.data(), static_cast<std::size_t>(layered.size())});
  EXPECT_EQ(flat, layered);
}

TEST(NetworkEngine, PublicConstantsNormalizeTheInput) {
  NetworkSpec spec = make_spec({2, 3, 3}, {"conv 3 2", "tanh", "flatten", "linear 3"});
  spec.mean = {0.5, -1};
  spec.deviation = {2, 0.25};
  const ReferenceNetwork reference(spec);
  const Table table = random_rows(spec, 2, 9);
  const auto engine = NetworkEngine::make(table, spec).value();
  const Vector w = initial_weights(spec, 1);
  auto workspace = engine->make_workspace();
  std::vector<double> losses(2);
  engine->evaluate_losses({nullptr, 0, 2}, span_of(w), *workspace, losses);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_NEAR(losses[i],
                reference.loss(table.row(static_cast<std::int64_t>(i)), table.labels()[i], w),
                kSingle);
}

}  // namespace
}  // namespace sotto
