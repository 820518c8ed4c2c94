// Hessians, joint releases, noisy operators and line searches through the oracles.

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <random>

#include "sotto/core/numbers.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/data/table.hpp"
#include "sotto/loss/joint_bound.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/oracle/exact_oracle.hpp"
#include "sotto/oracle/per_example_sum.hpp"
#include "sotto/oracle/private_oracle.hpp"
#include "tests/oracle/hessian_rows.hpp"
#include "tests/support/toy_engine.hpp"

namespace sotto {
namespace {

constexpr double kZ = 2;

using testing::random_rows;
using testing::Rows;
using testing::wave;

PublicProblem problem_of(
    const Engine& engine, const LossSpec& loss, Relation relation, double row_norm, bool linear) {
  PublicProblem problem;
  problem.n = std::int64_t{engine.units()};
  problem.dimension = engine.parameters();
  problem.row_norm = row_norm;
  problem.loss = loss_info(loss);
  problem.relation = relation;
  problem.linear_rows = linear;
  return problem;
}

/// A private oracle with an unlimited ledger for `plan`.
struct Private {
  Private(const Rows& rows,
          const LossSpec& loss,
          Relation relation,
          Event plan,
          double row_norm = 1,
          bool linear = true,
          unsigned seed = 6)
      : table(rows.table()),
        engine(table, loss),
        ledger(open(std::move(plan))),
        oracle(engine,
               problem_of(engine, loss, relation, row_norm, linear),
               ledger,
               Stream::seeded(5, Purpose::kSampling, seed),
               Stream::seeded(6, Purpose::kNoise, seed)) {}
  static Ledger open(Event plan) {
    LedgerOptions options;
    options.budget.delta = 1e-5;
    options.plan = std::move(plan);
    options.planned_samples = std::int64_t{1} << 40;
    return *Ledger::open(options);
  }
  Table table;
  GlmEngine engine;
  Ledger ledger;
  PrivateOracle oracle;
};

Event many(Relation relation, std::int64_t count = 100'000) {
  return Event::repeat(count, Event::gaussian(kZ, relation));
}

/// Adversarial pairs of rows for one unit that is replaced or removed: the same row with the
/// opposite label, orthogonal rows, p = 0.382, and random ones. All of norm 1.
std::vector<std::pair<Rows, Rows>> neighbours(double length) {
  std::vector<std::pair<Rows, Rows>> pairs;
  const auto one = [](std::vector<double> x, double y) {
    for (double& each : x) each *= 1 - 2e-7;  // stays below 1 as a row of floats
    return Rows{{std::move(x)}, {y}, {}};
  };
  const auto add = [&](std::vector<double> a, double y, std::vector<double> b, double v) {
    pairs.emplace_back(one(std::move(a), y), one(std::move(b), v));
  };
  add({1, 0, 0}, 1, {1, 0, 0}, -1);
  add({0, 1, 0}, 1, {0, 1, 0}, -1);
  add({0, 1, 0}, 1, {0, 0, 1}, 1);
  add({0, 1, 0}, 1, {0, -1, 0}, 1);
  if (length > 0.4812118) {
    const double c = -0.4812118 / length;
    const double s = std::sqrt(1 - c * c);
    add({c, s, 0}, 1, {c, -s, 0}, 1);
    add({c, s, 0}, 1, {c, 0, s}, 1);
  }
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  for (int k = 0; k < 200; ++k) {
    Vector a(3), b(3);
    for (Eigen::Index j = 0; j < 3; ++j) {
      a[j] = normal(random);
      b[j] = normal(random);
    }
    a.normalize();
    b.normalize();
    add({a[0], a[1], a[2]}, 1, {b[0], b[1], b[2]}, k % 2 ? 1 : -1);
  }
  return pairs;
}

/// What the released noise says about the claimed sensitivity, against what neighbours really do:
/// for every loss, clip and relation the motion must stay below it, and come near for some pair.
TEST(HessianSensitivity, HoldsOnAdversarialPairsUnderBothRelations) {
  for (const LossKind kind : {LossKind::kLogistic, LossKind::kSigmoid, LossKind::kPhaseRetrieval})
    for (const Relation relation : {Relation::kZeroOut, Relation::kReplaceOne})
      for (const double length : {0.0, 0.5, 2.0})
        for (const double radius : {0.05, 10.0})
          for (const bool glm : {false, true}) {
            const LossSpec loss{kind, 1};
            Vector w = Vector::Zero(3);
            w[0] = length;
            double moved = 0, moved_pair = 0, claimed = 0, claimed_pair = 0;
            constexpr double h = 0.3003;
            for (const auto& [a, b] : neighbours(length)) {
              Private one(a, loss, relation, many(relation));
              const ClipRule rule = glm ? ClipRule::kGlm : ClipRule::kFlat;
              if (claimed == 0) {
                const HessianQuery query{w, Sampling::full(), radius, kZ, rule};
                claimed = one.oracle.hessian(query)->value().sigma / kZ;
                const JointQuery joint{w, Sampling::full(), radius, h, kZ, rule};
                claimed_pair = one.oracle.gradient_and_hessian(joint)->value().gradient_sigma / kZ;
              }
              // The sums as the oracle makes them, without noise.
              const Table other_table = b.table();
              const GlmEngine other(other_table, loss);
              const auto within = [&](double bound) {
                return glm ? std::min(radius, bound) : radius;
              };
              const double hessian_radius =
                  within(hessian_bound(loss_info(loss), 1 + 1e-8, length));
              const double pair_radius = within(joint_bound(loss_info(loss), 1 + 1e-8, length, h));
              Matrix A, B;
              Vector g, k;
              PerExampleSum(one.engine).clipped_hessians({}, w, hessian_radius, A);
              PerExampleSum(other).clipped_hessians({}, w, hessian_radius, B);
              const bool replace = relation == Relation::kReplaceOne;
              moved = std::max(moved, (replace ? Matrix(A - B) : A).norm());
              PerExampleSum(one.engine).clipped_pairs({}, w, pair_radius, h, g, A);
              PerExampleSum(other).clipped_pairs({}, w, pair_radius, h, k, B);
              const Vector dg = replace ? Vector(g - k) : g;
              const Matrix dh = replace ? Matrix(A - B) : A;
              moved_pair =
                  std::max(moved_pair, std::sqrt(dg.squaredNorm() + dh.squaredNorm() / (h * h)));
            }
            EXPECT_LE(moved, claimed) << int(kind) << length << radius << glm;
            EXPECT_LE(moved_pair, claimed_pair) << int(kind) << length << radius << glm;
            if (glm && kind == LossKind::kLogistic) {
              EXPECT_GE(moved, 0.98 * claimed) << length << radius;
              if (radius > 1) {
                EXPECT_GE(moved_pair, 0.93 * claimed_pair) << length;
              }
            }
          }
}

TEST(HessianSensitivity, PersonsWithManyRowsOfAConvexLossKeepTheSquareRootOfTwo) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  const double radius = 0.4;
  const Vector w = wave(4, 0.5);
  double widest = 0;
  for (int k = 0; k < 300; ++k) {
    Rows rows = random_rows(6, 4, 100 + static_cast<unsigned>(k), 1);
    if (k % 3 == 0)  // one person on the first two axes, the other on the last two
      for (std::size_t i = 0; i < 6; ++i)
        for (std::size_t j = 0; j < 4; ++j)
          if ((j < 2) != (i < 3)) rows.x[i][j] = 0;
    rows.persons = {1, 1, 1, 2, 2, 2};
    const Table table = rows.table();
    const GlmEngine engine(table, {});
    ASSERT_TRUE(engine.is_convex());
    ASSERT_EQ(engine.units(), 2);
    PerExampleSum sums(engine);
    Matrix a, b;
    const std::int64_t first = 0, second = 1;
    sums.clipped_hessians({false, {&first, 1}}, w, radius, a);
    sums.clipped_hessians({false, {&second, 1}}, w, radius, b);
    EXPECT_LE(a.norm(), radius);
    widest = std::max(widest, (a - b).norm());
  }
  EXPECT_LE(widest, std::sqrt(2.0) * radius);
  EXPECT_GE(widest, 1.4 * radius);  // a claim without the square root would be caught
  EXPECT_FALSE(GlmEngine(Rows{{{1}}, {1}, {}}.table(), {LossKind::kSigmoid}).is_convex());
}

TEST(PrivateHessian, NoiseHasTheScaleThatTheAnswerStates) {
  const Rows rows = random_rows(50, 4, 8, 0.2);
  for (const Relation relation : {Relation::kZeroOut, Relation::kReplaceOne}) {
    for (const Sampling sampling : {Sampling::full(), Sampling::poisson(0.5)}) {
      constexpr int kDraws = 4000;
      Private one(rows,
                  {},
                  relation,
                  Event::repeat(2 * kDraws, sampling.applied_to(Event::gaussian(kZ, relation))),
                  2);
      const Vector w = Vector::Zero(4);
      const HessianQuery query{w, sampling, 1e3, kZ, ClipRule::kGlm};
      const JointQuery joint{w, sampling, 1e3, 0.5, kZ, ClipRule::kGlm};
      double diagonal = 0, lower = 0, gradient = 0, hessian = 0, sigma = 0;
      NoisyGradientHessian pair;
      Matrix mean = Matrix::Zero(4, 4);
      std::vector<Matrix> draws;
      for (int k = 0; k < kDraws; ++k) {
        const auto released = one.oracle.hessian(query);
        ASSERT_TRUE(released) << released.error().message;
        sigma = released->value().sigma;
        pair = one.oracle.gradient_and_hessian(joint)->value();
        mean += released->value().value / kDraws;
        draws.push_back(released->value().value);
        if (sampling == Sampling::full()) {
          gradient += pair.gradient[0] * pair.gradient[0] / kDraws;
          hessian += pair.hessian(1, 1) * pair.hessian(1, 1) / kDraws;
        }
      }
      for (const Matrix& each : draws) {
        diagonal += std::pow(each(0, 0) - mean(0, 0), 2) / kDraws;
        lower += std::pow(each(1, 0) - mean(1, 0), 2) / kDraws;
      }
      // Sampling adds variance of its own, a few percent here; noise alone has a relative standard
      // error of 1/sqrt(2 kDraws) = 1.1 %, and 6 % is more than five of them.
      const double slack = sampling == Sampling::full() ? 0.06 : 0.12;
      EXPECT_NEAR(std::sqrt(diagonal) / sigma, 1, slack);
      EXPECT_NEAR(std::sqrt(2 * lower) / sigma, 1, slack);
      // R = 2, w = 0: sensitivity 1 on the sum; times sqrt 2 if it is replaced, and times 2 if the
      // batch may also lack it.
      const bool full = sampling == Sampling::full();
      const double expected = relation == Relation::kZeroOut ? 1 : full ? std::sqrt(2.0) : 2;
      const double batch = 50 * sampling.rate;
      EXPECT_NEAR(sigma * batch, kZ * expected, 1e-6);
      EXPECT_NEAR(pair.hessian_sigma / pair.gradient_sigma, 0.5, 1e-12);
      if (sampling == Sampling::full()) {
        const Table table = rows.table();
        const GlmEngine engine(table, {});
        Vector g;
        Matrix H;
        PerExampleSum(engine).clipped_pairs({}, w, 1e9, 0.5, g, H);
        const double bias_g = std::pow(g[0] / 50, 2), bias_h = std::pow(H(1, 1) / 50, 2);
        EXPECT_NEAR(std::sqrt(gradient - bias_g) / pair.gradient_sigma, 1, 0.06);
        EXPECT_NEAR(std::sqrt(hessian - bias_h) / pair.hessian_sigma, 1, 0.06);
      }
    }
  }
}

TEST(PrivateHessian, OperatorHasTheNoiseOfTheMatrixAndNeverFormsIt) {
  const Rows rows = random_rows(60, 5, 8, 0.2);
  const auto relation = Relation::kZeroOut;
  Private one(rows, {}, relation, many(relation));
  const Vector w = wave(5, 0.3);
  const HessianQuery dense{w, Sampling::full(), 0.5, kZ, ClipRule::kGlm};
  const HessianOperatorQuery lazy{w, Sampling::full(), 0.5, kZ, ClipRule::kGlm, 5};
  const double sigma = one.oracle.hessian(dense)->value().sigma;
  auto op = one.oracle.hessian_operator(lazy);
  ASSERT_TRUE(op);
  EXPECT_NEAR((*op)->sigma() / sigma, 1, 1e-6);
  EXPECT_EQ((*op)->dimension(), 5);
  double square = 0;
  constexpr int kDraws = 2000;
  Matrix truth;
  PerExampleSum(one.engine).clipped_hessians({}, w, 0.5, truth);
  for (int k = 0; k < kDraws; ++k) {
    auto again = one.oracle.hessian_operator(lazy);
    Vector v = Vector::Unit(5, k % 5);
    const Vector noise = (*again)->apply(v)->value() - truth.col(k % 5) / 60;
    square += noise[k % 5] * noise[k % 5] / kDraws;
  }
  EXPECT_NEAR(std::sqrt(square) / sigma, 1, 0.08);  // five standard errors
}

/// d = 20,000: a matrix would take 3.2 GB. Lanczos on the noisy operator: a vector that knows
/// nothing of the noise E gets |E v| = sigma sqrt(d / 2), later ones sqrt(2) times that, because
/// symmetry hands them the component along their predecessor as well.
TEST(PrivateHessian, OperatorWorksWhereAMatrixWouldNotFit) {
  constexpr std::int64_t d = 20'000;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  std::mt19937_64 random(12);
  for (int i = 0; i < 300; ++i) {
    for (std::int32_t j = 0; j < 20; ++j) {
      columns.push_back(j * 1000 + static_cast<std::int32_t>(random() % 1000));
      values.push_back(0.2f);
    }
    offsets.push_back(std::ssize(values));
  }
  const Table table =
      TableBuilder::sparse(d, offsets, columns, values, std::vector<float>(300, 1.0f), {});
  const GlmEngine engine(table, {});
  Ledger ledger = Private::open(many(Relation::kZeroOut));
  PrivateOracle oracle(engine,
                       problem_of(engine, {}, Relation::kZeroOut, 1, true),
                       ledger,
                       Stream::seeded(1, Purpose::kSampling),
                       Stream::seeded(2, Purpose::kNoise));
  const Vector w = Vector::Zero(d);
  auto op = oracle.hessian_operator({w, Sampling::full(), 1, kZ, ClipRule::kGlm, 6});
  ASSERT_TRUE(op);
  PerExampleSum sums(engine);
  Vector v = wave(d, 1).normalized(), last_v = Vector::Zero(d), last;
  for (int k = 0; k < 6; ++k) {
    const Vector answer = (*op)->apply(v)->value();
    Vector truth;
    sums.clipped_hessian_products({}, w, 1, v, truth);
    const double noise = (answer - truth / 300).norm();
    const double alone = (*op)->sigma() * std::sqrt(d / 2.0);
    EXPECT_NEAR(noise / alone, k == 0 ? 1 : std::sqrt(2.0), 0.05) << k;
    if (k > 0) {
      EXPECT_NEAR(last_v.dot(answer), v.dot(last), 1e-10 * answer.norm());
    }
    const Vector next = answer - v.dot(answer) * v - last_v.dot(answer) * last_v;
    last_v = v;
    last = answer;
    v = next.normalized();
  }
}

TEST(PrivateHessian, RefusesWhatCanNotBe) {
  const testing::FixedGradientsOnly engine({{1, 0}, {0, 1}});
  PublicProblem problem = problem_of(engine, {}, Relation::kZeroOut, 1, false);
  Ledger ledger = Private::open(many(Relation::kZeroOut));
  PrivateOracle oracle(engine,
                       problem,
                       ledger,
                       Stream::seeded(1, Purpose::kSampling),
                       Stream::seeded(2, Purpose::kNoise));
  const Vector w = Vector::Zero(2);
  const auto refused = oracle.hessian({w, Sampling::full(), 1, kZ});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_FALSE(oracle.gradient_and_hessian({w, Sampling::full(), 1, 1, kZ}));
  EXPECT_FALSE(oracle.hessian_operator({w, Sampling::full(), 1, kZ}));
  EXPECT_TRUE(ledger.spent().terms.empty());
  // A dense Hessian that no memory holds: refused before anything is charged or read.
  const Table wide = TableBuilder::sparse(3'000'000, {0, 1, 2}, {5, 6}, {1, 1}, {1, -1}, {});
  const GlmEngine big(wide, {});
  PrivateOracle large(big,
                      problem_of(big, {}, Relation::kZeroOut, 1, true),
                      ledger,
                      Stream::seeded(1, Purpose::kSampling),
                      Stream::seeded(2, Purpose::kNoise));
  const Vector origin = Vector::Zero(3'000'000);
  const auto too_big = large.hessian({origin, Sampling::full(), 1, kZ});
  ASSERT_FALSE(too_big);
  EXPECT_NE(too_big.error().message.find("lanczos"), std::string::npos);
  EXPECT_FALSE(large.gradient_and_hessian({origin, Sampling::full(), 1, 1, kZ}));
  EXPECT_TRUE(ledger.spent().terms.empty());
}

TEST(ExactHessian, AgreesWithTheSumsAndWithItsOperator) {
  const Rows rows = random_rows(80, 6, 9);
  const Table table = rows.table();
  const GlmEngine engine(table, {LossKind::kSigmoid});
  ExactOracle oracle(engine,
                     problem_of(engine, {LossKind::kSigmoid}, Relation::kZeroOut, 5, true),
                     Stream::seeded(1, Purpose::kSampling));
  const Vector w = wave(6, 0.5);
  const auto H = oracle.hessian({w, Sampling::full(), 1e-3, kZ});
  ASSERT_TRUE(H);
  EXPECT_EQ(H->value().sigma, 0);
  Matrix sum;
  PerExampleSum(engine).clipped_hessians({}, w, kInfinity, sum);
  EXPECT_EQ(H->value().value, Matrix(sum / 80));
  const auto pair = oracle.gradient_and_hessian({w, Sampling::full(), 1e-3, 0.5, kZ});
  EXPECT_EQ(pair->value().hessian, H->value().value);
  EXPECT_EQ(pair->value().gradient, oracle.gradient({w, Sampling::full(), 1e-3, kZ})->value());
  auto op = oracle.hessian_operator({w, Sampling::full(), 1e-3, kZ});
  const Vector v = wave(6, 2);
  EXPECT_LE(((*op)->apply(v)->value() - H->value().value * v).norm(), 1e-13);
}

}  // namespace
}  // namespace sotto
