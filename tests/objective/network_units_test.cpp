// Persons in networks: a unit's gradient is the sum of its rows', and its norm that of the sum.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sotto/objective/network/engine.hpp"
#include "sotto/objective/network/features.hpp"
#include "tests/objective/engine_conformance.hpp"
#include "tests/objective/network_reference.hpp"

namespace sotto {
namespace {

using testing::all_units;
using testing::gradient_of;
using testing::layer_zoo;
using testing::make_spec;
using testing::NamedSpec;
using testing::span_of;

/// The same rows twice: as persons of 1, 2, 3, 1, 2, 3, … rows and one of `long_one`; and each row
/// a unit of its own, in the persons' order.
struct Persons {
  Persons(const NetworkSpec& network, std::int64_t count, std::int64_t long_one = 21)
      : spec(network) {
    for (std::int64_t u = 0; u < count; ++u)
      owner.resize(owner.size() + static_cast<std::size_t>(u == count / 2 ? long_one : 1 + u % 3),
                   u);
    const auto n = static_cast<std::int64_t>(owner.size());
    rows = testing::random_rows(spec, n, 31);
    std::vector<float> values;
    for (std::int64_t i = 0; i < n; ++i)
      values.insert(values.end(), rows.row(i), rows.row(i) + rows.dim());
    persons = TableBuilder::dense(
        n, rows.dim(), values, {rows.labels().begin(), rows.labels().end()}, {}, owner);
    by_row = NetworkEngine::make(rows, spec).value();
    by_person = NetworkEngine::make(persons, spec).value();
    w = initial_weights(spec, 11);
    before = w + 0.01 * initial_weights(spec, 2);
  }
  NetworkSpec spec;
  std::vector<std::int64_t> owner;
  Table rows, persons;
  std::unique_ptr<NetworkEngine> by_row, by_person;
  Vector w, before;
};

/// What a unit adds with these weights of a pair, and its norm.
std::pair<Vector, double> pair_of(
    const Persons& p, const Engine& engine, std::int64_t unit, double gradient, double difference) {
  const auto workspace = engine.make_workspace();
  Vector sum = Vector::Zero(engine.parameters());
  double norm = 0;
  engine.evaluate_gradient_pairs({&unit, 0, 1}, span_of(p.w), span_of(p.before), *workspace);
  engine.pair_norms(*workspace, gradient, difference, {&norm, 1});
  engine.add_gradient_pairs(
      *workspace, std::vector<double>{gradient}, std::vector<double>{difference}, span_of(sum));
  return {sum, norm};
}

class NetworkPersons : public ::testing::TestWithParam<NamedSpec> {};

TEST_P(NetworkPersons, EngineConforms) {
  const Persons p(GetParam().spec, 13);
  testing::expect_contributions_bounded(*p.by_person, span_of(p.w), false, 1e-9);
  testing::expect_blocks_agree(*p.by_person, span_of(p.w), false);
}

TEST_P(NetworkPersons, APersonIsTheSumOfHerRows) {
  const Persons p(GetParam().spec, 7);
  ASSERT_EQ(p.by_person->units(), 7);
  std::vector<Vector> sums(7, Vector::Zero(p.w.size()));
  std::vector<Vector> differences = sums;
  std::vector<double> losses(7), row_losses(p.owner.size()), found(7);
  auto workspace = p.by_row->make_workspace();
  p.by_row->evaluate_losses(
      {nullptr, 0, std::ssize(row_losses)}, span_of(p.w), *workspace, row_losses);
  for (std::size_t i = 0; i < p.owner.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    const auto person = static_cast<std::size_t>(p.owner[i]);
    sums[person] += gradient_of(*p.by_row, row, p.w);
    differences[person] += pair_of(p, *p.by_row, row, 0, 1).first;
    losses[person] += row_losses[i];
  }
  workspace = p.by_person->make_workspace();
  p.by_person->evaluate_losses({nullptr, 0, 7}, span_of(p.w), *workspace, found);
  for (std::int64_t u = 0; u < 7; ++u) {
    const auto k = static_cast<std::size_t>(u);
    EXPECT_EQ(gradient_of(*p.by_person, u, p.w), sums[k]) << u;
    EXPECT_EQ(found[k], losses[k]) << u;
    for (const auto& [a, b] : {std::pair{1.0, 0.0}, {0.0, 1.0}, {0.3, 0.7}, {1.0, -1.0}}) {
      const auto [sum, norm] = pair_of(p, *p.by_person, u, a, b);
      const Vector expected = a * sums[k] + b * differences[k];
      const double size = sums[k].norm() + differences[k].norm();
      EXPECT_LE((sum - expected).norm(), 1e-12 * size) << u << " " << a << " " << b;
      EXPECT_LE(sum.norm(), norm);
      EXPECT_GE(sum.norm() + 1e-4 * size, norm);
    }
  }
}

TEST_P(NetworkPersons, LayersHaveTheirOwnNorms) {
  const Persons p(GetParam().spec, 6);
  const auto layers = static_cast<std::size_t>(p.by_person->layers());
  const auto workspace = p.by_person->make_workspace();
  std::vector<double> norms(6), by_layer(6 * layers);
  p.by_person->evaluate_gradients({nullptr, 0, 6}, span_of(p.w), *workspace, norms);
  p.by_person->layer_norms(*workspace, by_layer);
  for (std::size_t k = 0; k < 6; ++k)
    for (std::size_t l = 0; l < layers; ++l) {
      std::vector<double> weights(6 * layers);
      weights[k * layers + l] = 1;
      Vector sum = Vector::Zero(p.w.size());
      p.by_person->add_layer_gradients(*workspace, weights, span_of(sum));
      EXPECT_LE(sum.norm(), by_layer[k * layers + l]);
      EXPECT_GE(sum.norm() * (1 + 1e-9), by_layer[k * layers + l]);
      // Nothing but that layer of that person.
      EXPECT_LE(
          (sum - gradient_of(*p.by_person, static_cast<std::int64_t>(k), p.w)).norm() + sum.norm(),
          1.5 * norms[k]);
    }
}

INSTANTIATE_TEST_SUITE_P(Zoo,
                         NetworkPersons,
                         ::testing::ValuesIn(layer_zoo()),
                         [](const auto& named) { return named.param.name; });

/// One person with these rows (label, scale of x), and a stranger.
Table one_person(const std::vector<std::pair<float, float>>& rows, std::int64_t dim) {
  std::vector<float> values, labels;
  std::vector<std::int64_t> owner(rows.size(), 0);
  for (const auto& [label, scale] : rows) {
    labels.push_back(label);
    for (std::int64_t j = 0; j < dim; ++j) values.push_back(scale * static_cast<float>(j % 7 + 1));
  }
  values.resize(values.size() + static_cast<std::size_t>(dim), 1);
  labels.push_back(1);
  owner.push_back(1);
  return TableBuilder::dense(
      static_cast<std::int64_t>(rows.size()) + 1, dim, values, labels, {}, owner);
}

// Rows whose gradients (nearly) cancel: the norm is that of what is left, and never below it,
// although each row's is 10^7 times as long.
TEST(NetworkUnits, NormsOfRowsThatCancel) {
  for (const std::int64_t dim : {9, 200}) {
    const NetworkSpec spec = [&] {
      NetworkSpec made = make_spec({dim, 1, 1}, {"linear 1"});
      made.loss = NetworkLoss::kLogistic;
      return made;
    }();
    const Vector w = Vector::Zero(dim + 1);
    const Table exact = one_person({{1.0F, 1.0F}, {-1.0F, 1.0F}}, dim);
    const auto nothing = NetworkEngine::make(exact, spec).value();
    EXPECT_EQ(gradient_of(*nothing, 0, w).norm(), 0);
    testing::expect_contributions_bounded(*nothing, span_of(w), false, 1e-9);
    const Table nearly = one_person({{1.0F, 1.0F}, {-1.0F, 1.0F + 0x1p-23F}}, dim);
    const auto little = NetworkEngine::make(nearly, spec).value();
    const double left = gradient_of(*little, 0, w).norm();
    EXPECT_GT(left, 0);
    EXPECT_LT(left, 1e-6 * gradient_of(*little, 1, w).norm() * static_cast<double>(dim));
    testing::expect_contributions_bounded(*little, span_of(w), false, 1e-9);
  }
}

// The twin that takes a norm for clipping from one row, or from its rows' squares.
TEST(NetworkUnits, TwinsThatTakeNormsOfRowsAreCaught) {
  const Persons p(make_spec({9, 1, 1}, {"linear 4"}), 5, 30);
  const double norm = gradient_of(*p.by_person, 2, p.w).norm();
  double largest = 0, sum = 0;
  for (std::size_t i = 0; i < p.owner.size(); ++i) {
    if (p.owner[i] != 2) continue;
    const double row = gradient_of(*p.by_row, static_cast<std::int64_t>(i), p.w).norm();
    largest = std::max(largest, row);
    sum += row * row;
  }
  EXPECT_GT(norm, 1.5 * largest);
  const Table alike = one_person(std::vector<std::pair<float, float>>(30, {1.0F, 1.0F}), 9);
  NetworkSpec spec = make_spec({9, 1, 1}, {"linear 1"});
  spec.loss = NetworkLoss::kLogistic;
  const auto engine = NetworkEngine::make(alike, spec).value();
  const Vector w = Vector::Zero(10);
  const Table single = one_person({{1.0F, 1.0F}}, 9);
  const double row = gradient_of(*NetworkEngine::make(single, spec).value(), 0, w).norm();
  EXPECT_NEAR(gradient_of(*engine, 0, w).norm(), 30 * row, 1e-6) << "rows add up";
}

// Far more rows than a block has room for.
TEST(NetworkUnits, APersonMayHaveManyRows) {
  const Persons p(make_spec({1, 6, 6}, {"conv 5 3", "relu", "flatten", "linear 3"}), 3, 3000);
  ASSERT_GT(3000, 10 * p.by_person->block_size());
  testing::expect_contributions_bounded(*p.by_person, span_of(p.w), false, 1e-9);
  Vector sum = Vector::Zero(p.w.size());
  for (std::size_t i = 0; i < p.owner.size(); ++i)
    if (p.owner[i] == 1) sum += gradient_of(*p.by_row, static_cast<std::int64_t>(i), p.w);
  EXPECT_EQ(gradient_of(*p.by_person, 1, p.w), sum);
}

TEST(NetworkUnits, ARowThatIsNotFiniteMakesItsPersonSo) {
  const NetworkSpec spec = make_spec({9, 1, 1}, {"linear 4", "linear 3"});
  const Table table = one_person({{1.0F, 1.0F}, {0.0F, 3e38F}}, 9);
  const auto engine = NetworkEngine::make(table, spec).value();
  const Vector w = initial_weights(spec, 3);
  const auto workspace = engine->make_workspace();
  std::vector<double> norms(2);
  engine->evaluate_gradients({nullptr, 0, 2}, span_of(w), *workspace, norms);
  EXPECT_FALSE(std::isfinite(norms[0]));
  EXPECT_TRUE(std::isfinite(norms[1]));
  Vector sum = Vector::Zero(w.size());
  engine->add_gradients(*workspace, std::vector<double>{0, 1}, span_of(sum));
  EXPECT_EQ(sum, gradient_of(*engine, 1, w)) << "weight 0 adds exactly nothing";
}

TEST(NetworkUnits, FeaturesOfFrozenLayersKeepPersons) {
  Persons p(make_spec({9, 1, 1}, {"linear 12", "tanh", "linear 4"}), 9);
  NetworkSpec part = p.spec;
  part.layers[0].frozen = true;
  const auto features = frozen_features(p.persons, part, p.w).value();
  ASSERT_TRUE(features);
  ASSERT_EQ(features->table.units(), 9);
  EXPECT_EQ(features->table.rows(), p.persons.rows());
  const auto rest = NetworkEngine::make(features->table, features->rest).value();
  const Vector w = p.w.tail(rest->parameters());
  for (std::int64_t u = 0; u < 9; ++u)
    EXPECT_EQ(gradient_of(*rest, u, w), gradient_of(*p.by_person, u, p.w).tail(w.size()));
}

}  // namespace
}  // namespace sotto
