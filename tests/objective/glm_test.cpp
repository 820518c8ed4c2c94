#include "sotto/objective/glm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sotto/core/numbers.hpp"
#include "tests/objective/engine_conformance.hpp"

namespace sotto {
namespace {

using testing::all_units;
using testing::weighted_sum;

struct Shape {
  std::int64_t rows = 203;
  std::int64_t dim = 54;
  bool sparse = false;
  bool units = false;
  bool wild = false;  ///< rows of all magnitudes, opposite and repeated rows
};

/// Rows as a user of the table sees them, and the table.
struct Data {
  Table table;
  std::vector<std::vector<float>> rows;  // in the table's order
};

Data make_data(const Shape& shape) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  std::vector<std::vector<float>> rows(static_cast<std::size_t>(shape.rows));
  std::vector<float> labels;
  std::vector<std::int64_t> units;
  std::int64_t unit = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // Units of 1, 2, 3, … rows.
    if (i > 0 && (units.size() < 2 || uniform(random) < 0.4)) ++unit;
    units.push_back(i % 97 < 70 ? unit : -1);  // and one of many
    labels.push_back(uniform(random) < 0.5 ? -1.0f : 1.0f);
    const double scale = shape.wild ? std::pow(10.0, 60 * uniform(random) - 40) : 0.3;
    rows[i].assign(static_cast<std::size_t>(shape.dim), 0.0f);
    for (float& x : rows[i])
      if (!shape.sparse || uniform(random) < 0.2) x = static_cast<float>(scale * normal(random));
    if (shape.wild && i % 5 == 1) rows[i] = rows[i - 1];
    if (shape.wild && i % 5 == 2)
      for (std::size_t j = 0; j < rows[i].size(); ++j) rows[i][j] = -rows[i - 1][j];
    if (i == 11) rows[i].assign(rows[i].size(), 0.0f);
    if (shape.wild && i == 12) rows[i].back() = FLT_TRUE_MIN;
    if (shape.wild && i == 13) rows[i].assign(rows[i].size(), FLT_MAX / 4);
  }
  Data data;
  const std::span<const std::int64_t> unit_span =
      shape.units ? std::span<const std::int64_t>(units) : std::span<const std::int64_t>();
  if (shape.sparse) {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> columns;
    std::vector<float> values;
    for (const auto& row : rows) {
      for (std::size_t j = 0; j < row.size(); ++j)
        if (row[j] != 0) {
          columns.push_back(static_cast<std::int32_t>(j));
          values.push_back(row[j]);
        }
      offsets.push_back(std::ssize(values));
    }
    data.table = TableBuilder::sparse(shape.dim, offsets, columns, values, labels, {}, unit_span);
  } else {
    std::vector<float> values;
    for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
    data.table = TableBuilder::dense(shape.rows, shape.dim, values, labels, {}, unit_span);
  }
  // The builder brings rows of one unit together: read them back.
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    std::vector<float> row(static_cast<std::size_t>(shape.dim));
    if (shape.sparse) {
      const auto k = static_cast<std::size_t>(i);
      for (auto e = data.table.offsets()[k]; e < data.table.offsets()[k + 1]; ++e) {
        const auto entry = static_cast<std::size_t>(e);
        row[static_cast<std::size_t>(data.table.columns()[entry])] = data.table.values()[entry];
      }
    } else {
      row.assign(data.table.row(i), data.table.row(i) + shape.dim);
    }
    data.rows.push_back(row);
  }
  return data;
}

std::vector<double> make_point(std::int64_t dim, double scale = 1) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(0, scale);
  std::vector<double> w(static_cast<std::size_t>(dim));
  for (double& x : w) x = normal(random);
  return w;
}

/// The losses again, in long double and from their textbook definitions.
struct Reference {
  LossSpec loss;
  long double derivative(int order, long double z, long double y) const {
    return (y > 0 ? loss.weights.positive : loss.weights.negative) * unweighted(order, z, y);
  }
  long double unweighted(int order, long double z, long double y) const {
    const long double m = y * z, r = z - y, p = 1 / (1 + std::exp(-m));
    const long double delta = loss.threshold;
    switch (loss.kind) {
      case LossKind::kLogistic:
        return order == 0 ? std::log1p(std::exp(-m)) : order == 1 ? y * (p - 1) : p * (1 - p);
      case LossKind::kSigmoid:
        return order == 0 ? 1 - p : order == 1 ? -y * p * (1 - p) : p * (1 - p) * (2 * p - 1);
      case LossKind::kSquared:
        return order == 0 ? r * r / 2 : order == 1 ? r : 1;
      case LossKind::kHuber:
        if (std::fabs(r) <= delta) return order == 0 ? r * r / 2 : order == 1 ? r : 1;
        return order == 0   ? delta * (std::fabs(r) - delta / 2)
               : order == 1 ? std::copysign(delta, r)
                            : 0;
      case LossKind::kPhaseRetrieval: {
        const long double label = std::clamp(y, 0.0L, delta);
        const long double gap = z * z - label;
        return order == 0 ? gap * gap / 4 : order == 1 ? z * gap : 3 * z * z - label;
      }
      case LossKind::kPoisson: {
        const long double label = std::clamp(y, 0.0L, delta);
        const long double last = std::log(delta), rate = z > last ? delta : std::exp(z);
        if (order == 1) return rate - label;
        if (order == 2) return z > last ? 0 : rate;
        const long double entropy = label > 0 ? label * std::log(label) - label : 0;
        return rate + (z > last ? delta * (z - last) : 0) - label * z + entropy;
      }
      case LossKind::kOwn:  // tests/oracle/own_loss_test.cpp
        break;
    }
    return 0;
  }
};

/// Sums over all rows of one unit: loss, gradient, Hessian (lower triangle).
std::vector<long double> unit_reference(const Data& data,
                                        const LossSpec& loss,
                                        const std::vector<double>& w,
                                        std::int64_t u,
                                        int order) {
  const std::size_t p = w.size();
  std::vector<long double> sum(order == 0 ? 1 : order == 1 ? p : p * p);
  for (auto i = data.table.unit_begin(u); i < data.table.unit_begin(u + 1); ++i) {
    const auto& x = data.rows[static_cast<std::size_t>(i)];
    long double z = 0;
    for (std::size_t j = 0; j < p; ++j) z += static_cast<long double>(x[j]) * w[j];
    const long double y = data.table.labels()[static_cast<std::size_t>(i)];
    const long double a = Reference{loss}.derivative(order, z, y);
    if (order == 0) sum[0] += a;
    if (order == 1)
      for (std::size_t j = 0; j < p; ++j) sum[j] += a * x[j];
    if (order == 2)
      for (std::size_t j = 0; j < p; ++j)
        for (std::size_t k = 0; k <= j; ++k) sum[j * p + k] += a * x[j] * x[k];
  }
  return sum;
}

struct Param {
  LossSpec loss;
  bool sparse;
  bool units;
};

std::string name(const ::testing::TestParamInfo<Param>& info) {
  std::string text = to_string({info.param.loss.kind, 1}).substr(0, 5);
  if (info.param.loss.weights != ClassWeights{}) text += "Weighted";
  return text + (info.param.sparse ? "Sparse" : "Dense") + (info.param.units ? "Units" : "Rows");
}

class Glm : public ::testing::TestWithParam<Param> {
 protected:
  Shape shape() const { return {.sparse = GetParam().sparse, .units = GetParam().units}; }
};

TEST_P(Glm, MatchesALoopOverSingleRows) {
  for (const std::int64_t dim : {1, 8, 21, 54}) {
    Shape s = shape();
    s.dim = dim;
    const Data data = make_data(s);
    const auto w = make_point(dim);
    const auto weigh = [](double norm) { return std::min(1.0, 0.6 / norm); };
    for (int v = 0; const auto* kernels = glm_kernels::variant(v); ++v) {
      const GlmEngine engine(data.table, GetParam().loss, *kernels);
      ASSERT_EQ(engine.units(), data.table.units());
      ASSERT_EQ(engine.parameters(), dim);
      auto workspace = engine.make_workspace();
      std::vector<double> losses(static_cast<std::size_t>(engine.units()));
      engine.evaluate_losses({nullptr, 0, engine.units()}, w, *workspace, losses);
      for (const std::int64_t u : all_units(engine)) {
        const double loss = static_cast<double>(unit_reference(data, GetParam().loss, w, u, 0)[0]);
        EXPECT_NEAR(losses[static_cast<std::size_t>(u)], loss, 1e-13 * (1 + loss));
      }
      for (const bool hessian : {false, true}) {
        const auto actual = weighted_sum(engine, all_units(engine), w, hessian, weigh, 50);
        std::vector<long double> expected(actual.sum.size());
        for (const std::int64_t u : all_units(engine)) {
          const auto one = unit_reference(data, GetParam().loss, w, u, hessian ? 2 : 1);
          const std::vector<double> rounded(one.begin(), one.end());
          const double norm = static_cast<double>(testing::true_norm(rounded, w.size()));
          EXPECT_NEAR(actual.norms[static_cast<std::size_t>(u)], norm, 1e-6 * norm + 1e-13);
          const double weight = weigh(actual.norms[static_cast<std::size_t>(u)]);
          for (std::size_t j = 0; j < one.size(); ++j) expected[j] += weight * one[j];
        }
        for (std::size_t j = 0; j < expected.size(); ++j)
          EXPECT_NEAR(actual.sum[j], static_cast<double>(expected[j]), 1e-12) << j;
      }
    }
  }
}

TEST_P(Glm, ProductsAreThoseOfTheMatrixAndJointVisitsEqualSeparateOnes) {
  for (const std::int64_t dim : {5, 54}) {
    Shape s = shape();
    s.dim = dim;
    const Data data = make_data(s);
    const auto w = make_point(dim);
    const auto v = make_point(dim, 0.4);
    const auto p = static_cast<std::size_t>(dim);
    for (int k = 0; const auto* kernels = glm_kernels::variant(k); ++k) {
      const GlmEngine engine(data.table, GetParam().loss, *kernels);
      const auto count = static_cast<std::size_t>(engine.units());
      const Block all{nullptr, 0, engine.units()};
      auto workspace = engine.make_workspace();
      std::vector<double> norms(count), hessian_norms(count), weights(count);
      for (std::size_t i = 0; i < count; ++i) weights[i] = 0.1 * static_cast<double>(i % 9);
      std::vector<double> matrix(p * p), product(p), gradient(p), joint_matrix(p * p), joint(p);
      engine.evaluate_hessians(all, w, *workspace, norms);
      engine.add_hessians(*workspace, weights, matrix);
      engine.add_hessian_products(*workspace, weights, v, product);
      for (std::size_t i = 0; i < p; ++i) {
        double expected = 0, size = 1;
        for (std::size_t j = 0; j < p; ++j) {
          const double entry = i >= j ? matrix[i * p + j] : matrix[j * p + i];
          expected += entry * v[j];
          size += std::fabs(entry * v[j]);
        }
        EXPECT_NEAR(product[i], expected, 1e-12 * size);
      }
      EXPECT_THROW(engine.add_gradients(*workspace, weights, gradient), std::logic_error);
      engine.evaluate_gradients_and_hessians(all, w, *workspace, norms, hessian_norms);
      engine.add_gradients(*workspace, weights, joint);
      engine.add_hessians(*workspace, weights, joint_matrix);
      EXPECT_EQ(joint_matrix, matrix);
      std::vector<double> alone(count);
      engine.evaluate_gradients(all, w, *workspace, alone);
      engine.add_gradients(*workspace, weights, gradient);
      EXPECT_EQ(joint, gradient);
      EXPECT_EQ(norms, alone);
      engine.evaluate_hessians(all, w, *workspace, alone);
      EXPECT_EQ(hessian_norms, alone);
    }
  }
}

TEST_P(Glm, OneExampleAddsAtMostTheRadius) {
  for (const bool wild : {false, true})
    for (const std::int64_t dim : {3, 54}) {
      Shape s = shape();
      s.dim = dim;
      s.wild = wild;
      const Data data = make_data(s);
      for (int v = 0; const auto* kernels = glm_kernels::variant(v); ++v) {
        const GlmEngine engine(data.table, GetParam().loss, *kernels);
        // Norms of one row are sharp; those of a unit allow for cancellation between its rows.
        for (const double scale : {0.0, 1.0, 1e-9}) {
          const double slack = s.units ? kInfinity : 1e-13;
          testing::expect_contributions_bounded(engine, make_point(dim, scale), false, slack);
        }
        testing::expect_contributions_bounded(
            engine, make_point(dim), true, s.units ? kInfinity : 1e-13);
      }
    }
}

TEST_P(Glm, AnyBlocksGiveTheSameExamples) {
  const Data data = make_data(shape());
  const GlmEngine engine(data.table, GetParam().loss);
  testing::expect_blocks_agree(engine, make_point(54), false);
  testing::expect_blocks_agree(engine, make_point(54), true);
}

TEST_P(Glm, ProcessorVariantsAgree) {
  const Data data = make_data(shape());
  const auto w = make_point(54);
  const GlmEngine first(data.table, GetParam().loss, *glm_kernels::variant(0));
  const auto weigh = [](double) { return 1.0; };
  for (int v = 1; const auto* kernels = glm_kernels::variant(v); ++v) {
    const GlmEngine other(data.table, GetParam().loss, *kernels);
    for (const bool hessian : {false, true}) {
      const auto a = weighted_sum(first, all_units(first), w, hessian, weigh, 64);
      const auto b = weighted_sum(other, all_units(other), w, hessian, weigh, 64);
      for (std::size_t j = 0; j < a.sum.size(); ++j)
        EXPECT_NEAR(a.sum[j], b.sum[j], 1e-13 * static_cast<double>(data.rows.size()));
    }
  }
}

TEST_P(Glm, WeightZeroAddsNothingEvenFromRowsThatAreNotFinite) {
  const std::vector<float> values = {1, 2, HUGE_VALF, 1, NAN, 0, 3, -1, 1, -HUGE_VALF};
  const std::vector<float> labels = {1, -1, 1, -1, 1};
  const std::vector<std::int64_t> units = {0, 1, 2, 3, 3};
  const std::span<const std::int64_t> unit_span =
      GetParam().units ? std::span(units) : std::span<const std::int64_t>();
  const Table table = GetParam().sparse ? TableBuilder::sparse(2,
                                                               {0, 2, 4, 6, 8, 10},
                                                               {0, 1, 0, 1, 0, 1, 0, 1, 0, 1},
                                                               values,
                                                               labels,
                                                               {},
                                                               unit_span)
                                        : TableBuilder::dense(5, 2, values, labels, {}, unit_span);
  const GlmEngine engine(table, GetParam().loss);
  const auto weigh = [](double norm) { return std::isfinite(norm) ? 1.0 : 0.0; };
  for (const auto& w : {std::vector<double>{0.5, -1}, {0.0, 0.0}, {1e308, 1e308}})
    for (const bool hessian : {false, true}) {
      const auto all = weighted_sum(engine, all_units(engine), w, hessian, weigh, 10);
      EXPECT_FALSE(std::isfinite(all.norms[1]));
      EXPECT_FALSE(std::isfinite(all.norms[2]));
      std::vector<std::int64_t> finite;
      for (std::size_t k = 0; k < all.norms.size(); ++k)
        if (std::isfinite(all.norms[k])) finite.push_back(static_cast<std::int64_t>(k));
      EXPECT_LE(finite.size(), GetParam().units ? 1u : 2u);
      EXPECT_EQ(all.sum, weighted_sum(engine, finite, w, hessian, weigh, 10).sum);
      for (const double x : all.sum) EXPECT_TRUE(std::isfinite(x));
    }
}

std::vector<Param> params() {
  std::vector<Param> all;
  for (const LossKind kind : {LossKind::kLogistic,
                              LossKind::kSigmoid,
                              LossKind::kSquared,
                              LossKind::kHuber,
                              LossKind::kPhaseRetrieval,
                              LossKind::kPoisson})
    for (const bool sparse : {false, true})
      for (const bool units : {false, true}) {
        LossSpec loss{kind, 0.8};
        all.push_back({loss, sparse, units});
        if (kind != LossKind::kLogistic && kind != LossKind::kSigmoid) continue;
        loss.weights = {0.3, 4};
        all.push_back({loss, sparse, units});
      }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Glm, ::testing::ValuesIn(params()), name);

TEST(GlmUnits, OppositeRowsCancelBeforeTheNorm) {
  // Same row, opposite labels: at w = 0 the unit's gradient is 0, and so is (nearly) its norm.
  const std::vector<float> values = {3, 4, 3, 4, 3, 4};
  const std::vector<std::int64_t> units = {9, 9, 8};
  const Table table = TableBuilder::dense(3, 2, values, {1, -1, 1}, {}, units);
  const GlmEngine engine(table, {LossKind::kLogistic});
  ASSERT_EQ(engine.units(), 2);
  auto workspace = engine.make_workspace();
  std::vector<double> norms(2);
  const std::vector<double> w(2);
  engine.evaluate_gradients({nullptr, 0, 2}, w, *workspace, norms);
  EXPECT_LT(norms[0], 1e-13);
  EXPECT_NEAR(norms[1], 2.5, 1e-13);
}

TEST(GlmEngine, BlocksAreSizedForTheCacheAndCoverWideSparseRows) {
  const Data dense = make_data({.rows = 50});
  const auto rows = GlmEngine(dense.table, {}).block_size();
  EXPECT_GE(rows * dense.table.stride() * 4, 64 << 10);
  EXPECT_LE(rows * dense.table.stride() * 4, 512 << 10);
  const Table wide = TableBuilder::sparse(1000000, {0, 1, 2}, {5, 6}, {1, 1}, {1, -1}, {});
  EXPECT_GE(GlmEngine(wide, {}).block_size(), 32768);
}

TEST(GlmEngine, EmptyBlocksAndEmptyTablesAddNothing) {
  const Data data = make_data({.rows = 5});
  const GlmEngine engine(data.table, {});
  const auto w = make_point(54);
  const auto none = weighted_sum(
      engine, {}, w, false, [](double) { return 1.0; }, 4);
  EXPECT_EQ(none.sum, std::vector<double>(54));
  auto workspace = engine.make_workspace();
  std::vector<double> sum(54);
  engine.evaluate_gradients({nullptr, 2, 0}, w, *workspace, {});
  engine.add_gradients(*workspace, {}, sum);
  EXPECT_EQ(sum, std::vector<double>(54));
}

TEST(GlmEngine, AddingWithoutAnEvaluationIsABug) {
  const Data data = make_data({.rows = 5});
  const GlmEngine engine(data.table, {});
  const auto w = make_point(54);
  auto workspace = engine.make_workspace();
  std::vector<double> norms(5), weights(5, 1.0), sum(54);
  engine.evaluate_gradients({nullptr, 0, 3}, w, *workspace, norms);
  engine.add_gradients(*workspace, weights, sum);
  engine.evaluate_losses({nullptr, 0, 5}, w, *workspace, norms);
  EXPECT_THROW(engine.add_gradients(*workspace, weights, sum), std::logic_error);
}

TEST(Engine, HessiansOfAnEngineWithoutThemAreABug) {
  class Plain : public Engine {
   public:
    PrivateCount units() const override { return 0; }
    std::int64_t parameters() const override { return 0; }
    std::int64_t block_size() const override { return 1; }
    std::unique_ptr<Workspace> make_workspace() const override {
      return std::make_unique<Workspace>();
    }
    void evaluate_gradients(const Block&,
                            std::span<const double>,
                            Workspace&,
                            std::span<double>) const override {}
    void add_gradients(Workspace&, std::span<const double>, std::span<double>) const override {}
    void evaluate_losses(const Block&,
                         std::span<const double>,
                         Workspace&,
                         std::span<double>) const override {}
  };
  const Plain engine;
  EXPECT_FALSE(engine.offers().has(Capability::kHessians));
  const auto workspace = engine.make_workspace();
  EXPECT_THROW(engine.evaluate_hessians({}, {}, *workspace, {}), std::logic_error);
  EXPECT_THROW(engine.add_hessians(*workspace, {}, {}), std::logic_error);
}

}  // namespace
}  // namespace sotto
