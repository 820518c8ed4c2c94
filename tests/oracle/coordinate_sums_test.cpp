#include "sotto/oracle/coordinate_sums.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "sotto/core/parallel.hpp"
#include "sotto/data/table.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/oracle/exact_oracle.hpp"
#include "sotto/oracle/private_oracle.hpp"
#include "tests/support/toy_engine.hpp"

namespace sotto {
namespace {

using testing::FixedGradients;

constexpr std::int64_t kRows = 3000;
constexpr std::int64_t kDim = 40;
constexpr double kClip = 0.3;

/// The same rows, dense or sparse, with entries up to 2.
struct CoordinateRows {
  std::vector<std::vector<float>> x;
  std::vector<float> y;
  Table dense, sparse;

  CoordinateRows() {
    std::mt19937_64 random(3);
    std::uniform_real_distribution<float> uniform(-2, 2);
    std::vector<float> flat, values;
    std::vector<std::int64_t> offsets = {0};
    std::vector<std::int32_t> columns;
    for (std::int64_t i = 0; i < kRows; ++i) {
      x.emplace_back(kDim, 0.0F);
      for (std::int32_t j = 0; j < kDim; ++j)
        if (random() % 5 == 0) {
          x.back()[static_cast<std::size_t>(j)] = uniform(random);
          columns.push_back(j);
          values.push_back(x.back()[static_cast<std::size_t>(j)]);
        }
      offsets.push_back(std::ssize(values));
      flat.insert(flat.end(), x.back().begin(), x.back().end());
      y.push_back(random() % 2 ? 1.0F : -1.0F);
    }
    dense = TableBuilder::dense(kRows, kDim, flat, y, {});
    sparse = TableBuilder::sparse(kDim, offsets, columns, values, y, {});
  }

  /// Σ of logistic gradients with entries scaled to at most kClip, on paper.
  Vector expected(const Vector& w) const {
    Vector sum = Vector::Zero(kDim);
    for (std::size_t i = 0; i < x.size(); ++i) {
      double z = 0;
      for (Eigen::Index j = 0; j < kDim; ++j) z += x[i][static_cast<std::size_t>(j)] * w[j];
      const double label = y[i];
      const double slope = -label / (1 + std::exp(label * z));
      double largest = 0;
      for (const float v : x[i]) largest = std::max(largest, std::fabs(slope * v));
      const double weight = largest > kClip ? kClip / largest : 1;
      for (Eigen::Index j = 0; j < kDim; ++j)
        sum[j] += weight * slope * x[i][static_cast<std::size_t>(j)];
    }
    return sum;
  }
};

/// Rounding to the grid moves a row's entry by at most half a step.
constexpr double kRounding = kRows * kClip / 0x1p31;

TEST(CoordinateSums, AreTheClippedGradientsOnPaper) {
  const CoordinateRows rows;
  std::mt19937_64 random(4);
  for (const Table* table : {&rows.dense, &rows.sparse}) {
    const GlmEngine engine(*table, {});
    CoordinateSums sums(engine);
    VertexPath path(kDim);
    for (int t = 0; t < 12; ++t) {
      sums.compute(path, kClip);
      EXPECT_LE((sums.dense(kClip) - rows.expected(path.dense())).lpNorm<Eigen::Infinity>(),
                kRounding + 1e-9);
      path.move(2.0 / (t + 3),
                {static_cast<std::int64_t>(random() % kDim), random() % 2 ? 3.0 : -3.0});
    }
    const Vector w = Vector::Random(kDim);
    sums.compute(w, kClip);
    EXPECT_LE((sums.dense(kClip) - rows.expected(w)).lpNorm<Eigen::Infinity>(), kRounding + 1e-9);
    // Another path, or one that skipped ahead, is not mistaken for the old one.
    VertexPath other(kDim);
    for (int t = 0; t < 9; ++t) other.move(0.3, {t, 2.0});
    sums.compute(other, kClip);
    EXPECT_LE((sums.dense(kClip) - rows.expected(other.dense())).lpNorm<Eigen::Infinity>(),
              kRounding + 1e-9);
  }
}

TEST(CoordinateSums, OneUnitMovesNoSumByMoreThanTheClip) {
  // A row with a huge entry, one with a NaN-making size, an ordinary one.
  const std::vector<std::vector<double>> rows = {
      {1e30, 1, 0}, {0.1, -0.2, 0.3}, {std::nan(""), 1, 1}, {-5, 5, 1e-9}};
  for (std::size_t drop = 0; drop < rows.size(); ++drop) {
    auto fewer = rows;
    fewer[drop] = {0, 0, 0};
    const FixedGradients engine(rows), neighbour(fewer);
    CoordinateSums a(engine), b(neighbour);
    a.compute(Vector::Zero(3), kClip);
    b.compute(Vector::Zero(3), kClip);
    const auto total = [](const CoordinateSums& sums, std::size_t j) {
      std::int64_t sum = 0;
      for (const auto& part : sums.parts()) sum += part[j];
      return sum;
    };
    for (std::size_t j = 0; j < 3; ++j)
      EXPECT_LE(std::abs(total(a, j) - total(b, j)), CoordinateSums::kSteps) << drop;
  }
}

TEST(CoordinateSums, GlmRowsNeverMoveASumByMoreThanTheClip) {
  const CoordinateRows rows;
  const GlmEngine engine(rows.sparse, {});
  std::vector<std::int64_t> offsets = {0, 3};
  const Table one =
      TableBuilder::sparse(kDim, offsets, {0, 5, 7}, {1e30F, -3.0F, 1e-20F}, {1.0F}, {});
  const GlmEngine single(one, {});
  CoordinateSums sums(single);
  VertexPath path(kDim);
  for (const double value : {0.0, 1e-3, -1e20}) {
    if (value != 0) path.move(0.5, {0, value});
    sums.compute(path, kClip);
    for (const auto& part : sums.parts())
      for (const std::int64_t s : part) EXPECT_LE(std::abs(s), CoordinateSums::kSteps);
  }
}

TEST(CoordinateSums, ThreadsDontMatter) {
  const CoordinateRows rows;
  const GlmEngine engine(rows.sparse, {});
  VertexPath path(kDim);
  path.move(0.5, {3, 2.0});
  Vector results[2];
  for (const int threads : {1, 3}) {
    set_thread_count(threads);
    CoordinateSums sums(engine);
    sums.compute(path, kClip);
    results[threads == 3] = sums.dense(kClip);
  }
  set_thread_count(0);
  EXPECT_EQ(results[0], results[1]);
}

PublicProblem problem_of(const Engine& engine, Relation relation) {
  PublicProblem problem;
  problem.n = std::int64_t{engine.units()};
  problem.dimension = engine.parameters();
  problem.relation = relation;
  return problem;
}

TEST(VertexAnswers, ChooseTheBestVertexWhenTheSignalIsStrong) {
  const CoordinateRows rows;
  const GlmEngine engine(rows.sparse, {});
  const PublicProblem problem = problem_of(engine, Relation::kZeroOut);
  const ConstraintPtr ball = l1_ball(2);
  const Event event = Event::exponential(20, Relation::kZeroOut);
  LedgerOptions granted;
  granted.budget = {std::numeric_limits<double>::infinity(), 1e-6};
  granted.plan = Event::compose({Event::repeat(6, event),
                                 Event::sparse_vector(20, Relation::kZeroOut),
                                 Event::gaussian(1e-3, Relation::kZeroOut)});
  granted.planned_samples = 20;
  auto ledger = Ledger::open(granted);
  ASSERT_TRUE(ledger);
  PrivateOracle oracle(engine,
                       problem,
                       *ledger,
                       Stream::seeded(1, Purpose::kSampling),
                       Stream::seeded(2, Purpose::kNoise));
  ExactOracle exact(engine, problem, Stream::seeded(1, Purpose::kSampling), true);
  VertexPath path(kDim);
  path.move(0.4, {3, -2.0});
  const Vector gradient = rows.expected(path.dense());
  Eigen::Index best = 0;
  gradient.cwiseAbs().maxCoeff(&best);
  const Vertex expected{best, gradient[best] > 0 ? -2.0 : 2.0};
  for (const VertexRule rule : {VertexRule::kExponential, VertexRule::kNoisyMax}) {
    const VertexQuery query{path, *ball, kClip, 20, rule};
    const auto answer = oracle.select_vertex(query);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->value(), expected);
    EXPECT_EQ(exact.select_vertex(query)->value(), expected);
  }
  // A public part can change the answer.
  const std::pair<std::int64_t, double> pull{7, -10.0};
  EXPECT_EQ(
      oracle.select_vertex({path, *ball, kClip, 20, VertexRule::kExponential, {&pull, 1}})->value(),
      (Vertex{7, 2.0}));
  // Entries of one coordinate could overflow together, and others reach beyond the sums.
  for (const std::vector<std::pair<std::int64_t, double>>& bad :
       {std::vector<std::pair<std::int64_t, double>>{{0, 1e300}, {1, 0}, {0, 1e300}},
        {{-1, 1}},
        {{kDim, 1}}}) {
    const auto refused =
        oracle.select_vertex({path, *ball, kClip, 20, VertexRule::kExponential, bad});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  }
  const ConstraintPtr positive = simplex(3);
  gradient.minCoeff(&best);
  EXPECT_EQ(oracle.select_vertex({path, *positive, kClip, 20})->value(), (Vertex{best, 3.0}));
  // Listed vertices: the same ball, corner by corner.
  Matrix corners(2 * kDim, kDim);
  corners << 2 * Matrix::Identity(kDim, kDim), -2 * Matrix::Identity(kDim, kDim);
  const Vector w = path.dense();
  const auto listed = oracle.select_listed_vertex({w, corners, kClip, 20});
  ASSERT_TRUE(listed) << listed.error().message;
  gradient.cwiseAbs().maxCoeff(&best);
  EXPECT_EQ(listed->value(), gradient[best] > 0 ? best + kDim : best);
  EXPECT_EQ(exact.select_listed_vertex({w, corners, kClip, 20})->value(), listed->value());
  // The gap, with next to no noise.
  const auto gap = oracle.gap({w, *ball, true, kClip, 1e-3});
  ASSERT_TRUE(gap) << gap.error().message;
  EXPECT_NEAR(gap->value().value, ball->gap(w, gradient / kRows), 1e-4);
  EXPECT_NEAR(gap->value().deviation, 1e-3 * kClip * (w.lpNorm<1>() + 2) / kRows, 1e-8);
  EXPECT_NEAR(exact.gap({w, *ball, true, kClip, 1e-3})->value().value,
              ball->gap(w, gradient / kRows),
              1e-6);
  EXPECT_FALSE(oracle.gap({w, *ball, true, kClip, 1e-3})) << "not in the plan";
}

/// The gap moves by no more than its claim when a unit is zeroed or replaced: random neighbours and
/// the worst ones.
TEST(VertexAnswers, TheGapsSensitivityHolds) {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const ConstraintPtr ball = l1_ball(2);
  double largest = 0;
  for (int k = 0; k < 300; ++k) {
    std::vector<std::vector<double>> rows(6, std::vector<double>(4));
    for (auto& row : rows)
      for (double& v : row) v = uniform(random);
    auto other = rows;
    Vector w = Vector::Random(4);
    ball->project(w);
    if (k % 3 == 0) {  // against the vertex that is best without it
      other[0] = {0, 0, 0, 0};
      for (std::size_t j = 0; j < 4; ++j) rows[0][j] = w[static_cast<Eigen::Index>(j)] > 0 ? 1 : -1;
    } else {
      for (double& v : other[0]) v = -v;
    }
    const auto gap = [&](const auto& gradients) {
      const FixedGradients engine(gradients);
      ExactOracle exact(engine,
                        problem_of(engine, Relation::kZeroOut),
                        Stream::seeded(1, Purpose::kSampling),
                        true);
      return 6 * exact.gap({w, *ball, true, kClip, 1})->value().value;
    };
    const double motion = std::abs(gap(rows) - gap(other));
    const double reach = w.lpNorm<1>() + 2;
    EXPECT_LE(motion, (k % 3 == 0 ? 1 : 2) * kClip * reach + 1e-9);
    largest = std::max(largest, motion / (kClip * reach));
  }
  EXPECT_GT(largest, 0.7) << "the pairs are far from the bound: the test shows little";
}

}  // namespace
}  // namespace sotto
