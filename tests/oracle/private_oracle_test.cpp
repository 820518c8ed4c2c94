#include "sotto/oracle/private_oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/mechanism/gaussian.hpp"
#include "sotto/oracle/exact_oracle.hpp"
#include "tests/support/funds.hpp"
#include "tests/support/toy_engine.hpp"

namespace sotto {
namespace {

using testing::ledger_for;

using testing::FixedGradients;

constexpr double kZ = 2;

PublicProblem problem_of(const Engine& engine, Relation relation) {
  PublicProblem problem;
  problem.n = std::int64_t{engine.units()};
  problem.dimension = engine.parameters();
  problem.row_norm = 1;
  problem.relation = relation;
  return problem;
}

struct World {
  World(std::vector<std::vector<double>> gradients,
        Relation relation,
        Sampling sampling,
        int queries)
      : engine(std::move(gradients)),
        ledger(
            ledger_for(Event::repeat(queries, sampling.applied_to(Event::gaussian(kZ, relation))),
                       queries * engine.parameters())),
        oracle(engine,
               problem_of(engine, relation),
               ledger,
               Stream::seeded(5, Purpose::kSampling),
               Stream::seeded(6, Purpose::kNoise)) {}
  FixedGradients engine;
  Ledger ledger;
  PrivateOracle oracle;
};

TEST(PrivateOracle, NoiseHasTheDeclaredScaleUnderEachRelation) {
  // 4000 queries of 50 coordinates each: the relative standard error of the measured deviation is
  // 1/sqrt(2 * 200,000) = 0.16 %, so 1 % is six standard errors (false alarm below 1e-8), and a
  // scale wrong by 1.5 lies far outside.
  for (const auto& [relation, sensitivity] : {std::pair{Relation::kZeroOut, 1.0},
                                              {Relation::kReplaceOne, 2.0},
                                              {Relation::kAddRemove, 1.0}}) {
    const int queries = 4000;
    World world(std::vector<std::vector<double>>(10, std::vector<double>(50, 0)),
                relation,
                Sampling::full(),
                queries);
    const Vector w = Vector::Zero(50);
    double square = 0;
    for (int k = 0; k < queries; ++k) {
      const auto answer = world.oracle.gradient({w, Sampling::full(), 1.0, kZ});
      ASSERT_TRUE(answer) << answer.error().message;
      square += answer->value().squaredNorm();
    }
    const double measured = std::sqrt(square / (50.0 * queries)) * 10;  // back to the sum
    EXPECT_NEAR(measured / (kZ * sensitivity), 1, 0.01) << to_string(relation);
    EXPECT_FALSE(std::abs(measured / (1.5 * kZ * sensitivity) - 1) < 0.01) << "the power twin";
  }
}

TEST(PrivateOracle, AnswersAreNoisyClippedMeans) {
  // All gradients are (3, 4), of norm 5: clipped to 1 they are (0.6, 0.8).
  World world(
      std::vector<std::vector<double>>(1000, {3, 4}), Relation::kZeroOut, Sampling::full(), 1);
  const Vector w = Vector::Zero(2);
  const auto answer = world.oracle.gradient({w, Sampling::full(), 1.0, kZ});
  ASSERT_TRUE(answer);
  // The noise on the mean has standard deviation 2/1000; 0.012 is six of them.
  EXPECT_NEAR(answer->value()[0], 0.6, 0.012);
  EXPECT_NEAR(answer->value()[1], 0.8, 0.012);
}

TEST(PrivateOracle, RefusesBeforeReadingWhatIsNotInThePlan) {
  World world({{1, 0}}, Relation::kZeroOut, Sampling::full(), 1);
  const Vector w = Vector::Zero(2);
  EXPECT_FALSE(world.oracle.gradient({w, Sampling::full(), 1.0, kZ / 2}))
      << "less noise than planned";
  EXPECT_FALSE(world.oracle.gradient({w, Sampling::poisson(0.5), 1.0, kZ})) << "another sampling";
  EXPECT_TRUE(world.oracle.gradient({w, Sampling::full(), 1.0, kZ}));
  const auto again = world.oracle.gradient({w, Sampling::full(), 1.0, kZ});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::kBudget);
  ASSERT_EQ(world.oracle.drawn().size(), 1u) << "refused queries draw no batch";
  EXPECT_EQ(world.oracle.drawn()[0].count, 1);
}

TEST(PrivateOracle, DividesByTheExpectedBatchNeverTheRealizedOne) {
  // Gradients are all 1 and the rate is 0.5: the mean of the answers is 1, and their spread shows
  // the sampling: dividing by the realized size would make every answer (but for noise) exactly 1.
  const int queries = 400;
  World world(std::vector<std::vector<double>>(10'000, {1.0}),
              Relation::kZeroOut,
              Sampling::poisson(0.5),
              queries);
  const Vector w = Vector::Zero(1);
  double sum = 0;
  double square = 0;
  for (int k = 0; k < queries; ++k) {
    const double value = world.oracle.gradient({w, Sampling::poisson(0.5), 1.0, kZ})->value()[0];
    sum += value;
    square += (value - 1) * (value - 1);
  }
  // Standard deviation of one answer: sqrt(10,000 / 4) / 5,000 = 0.01 (noise adds 0.0004).
  EXPECT_NEAR(sum / queries, 1, 6 * 0.01 / std::sqrt(queries));
  EXPECT_NEAR(std::sqrt(square / queries), 0.01, 0.01 * 6 / std::sqrt(2.0 * queries));
}

TEST(PrivateOracle, LossSensitivityIsTheRangeUnderEveryRelation) {
  for (const Relation relation :
       {Relation::kZeroOut, Relation::kReplaceOne, Relation::kAddRemove}) {
    const int queries = 20'000;
    World world({{0.25}, {0.75}}, relation, Sampling::full(), queries);
    const Vector w = Vector::Zero(1);
    double sum = 0;
    double square = 0;
    for (int k = 0; k < queries; ++k) {
      const double value = world.oracle.loss({w, Sampling::full(), 1.0, kZ})->value();
      sum += value;
      square += (value - 0.5) * (value - 0.5);
    }
    // Noise on the mean of two: z * clip / 2 = 1; six standard errors each.
    EXPECT_NEAR(sum / queries, 0.5, 6 / std::sqrt(queries));
    EXPECT_NEAR(std::sqrt(square / queries), 1, 6 / std::sqrt(2.0 * queries))
        << to_string(relation);
  }
}

TEST(ExactOracle, IsMarkedAsNotPrivate) {
  const FixedGradients engine({{1, 2}, {3, 4}});
  ExactOracle oracle(
      engine, problem_of(engine, Relation::kZeroOut), Stream::seeded(1, Purpose::kSampling));
  const Vector w = Vector::Zero(2);
  const auto answer = oracle.gradient({w, Sampling::full(), 0.1, 1});
  EXPECT_EQ(answer->value(), Vector(Eigen::Vector2d(2, 3))) << "neither clipped nor noised";
  EXPECT_EQ(to_string(answer->event()), "non_private");
}

}  // namespace
}  // namespace sotto
