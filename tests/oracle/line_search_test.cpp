// Losses at public weights, sparse-vector line search and selection by changes of the loss.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sotto/core/numbers.hpp"
#include "sotto/data/table.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/oracle/exact_oracle.hpp"
#include "sotto/oracle/private_oracle.hpp"
#include "tests/support/statistics.hpp"

namespace sotto {
namespace {

constexpr double kSearchNoise = 2;

/// n rows (1, 0) with label 1: the mean loss at w is ln(1 + exp(-w[0])).
struct SearchWorld {
  SearchWorld(std::int64_t n, Relation relation, Event plan, std::uint64_t seed = 1)
      : table(make(n)),
        engine(table, {}),
        ledger(open(std::move(plan))),
        exact(engine, problem(n, relation), Stream::seeded(1, Purpose::kSampling)),
        oracle(engine,
               problem(n, relation),
               ledger,
               Stream::seeded(1, Purpose::kSampling),
               Stream::seeded(2, Purpose::kNoise, seed)) {}
  static Table make(std::int64_t n) {
    const auto count = static_cast<std::size_t>(n);
    std::vector<float> values(2 * count);
    for (std::size_t i = 0; i < count; ++i) values[2 * i] = 1;
    return TableBuilder::dense(n, 2, values, std::vector<float>(count, 1.0f), {});
  }
  static Ledger open(Event plan) {
    LedgerOptions options;
    options.budget.delta = 1e-5;
    options.plan = std::move(plan);
    options.planned_samples = 1 << 30;
    return *Ledger::open(options);
  }
  static PublicProblem problem(std::int64_t n, Relation relation) {
    PublicProblem problem;
    problem.n = n;
    problem.dimension = 2;
    problem.row_norm = 1;
    problem.relation = relation;
    problem.linear_rows = true;
    return problem;
  }
  Table table;
  GlmEngine engine;
  Ledger ledger;
  ExactOracle exact;
  PrivateOracle oracle;
};

Vector point(double along) { return Vector(Eigen::Vector2d(along, 0)); }
double loss_at(double along) { return std::log1p(std::exp(-along)); }

TEST(LossAtPublicWeights, NoiseFollowsTheRangeOfTheLoss) {
  constexpr int kDraws = 3000;
  for (const auto& [relation, length, sensitivity] : {std::tuple{Relation::kZeroOut, 1.0, 1.0},
                                                      {Relation::kReplaceOne, 1.0, 1.0},
                                                      {Relation::kReplaceOne, 0.25, 0.25}}) {
    SearchWorld world(
        100, relation, Event::repeat(kDraws, Event::gaussian(kSearchNoise, relation)));
    const Vector w = point(length);
    double square = 0;
    for (int k = 0; k < kDraws; ++k) {
      const auto answer =
          world.oracle.loss({w, Sampling::full(), 50, kSearchNoise, ClipRule::kGlm});
      square += std::pow(100 * (answer->value() - loss_at(length)), 2) / kDraws;
    }
    // Five standard errors of 1/sqrt(2 kDraws).
    EXPECT_NEAR(std::sqrt(square) / (kSearchNoise * sensitivity), 1, 0.065);
  }
  // At w = 0 every data set has the loss ln 2: there is nothing to hide.
  SearchWorld world(
      100, Relation::kReplaceOne, Event::gaussian(kSearchNoise, Relation::kReplaceOne));
  const Vector w = point(0);
  EXPECT_NEAR(world.oracle.loss({w, Sampling::full(), 50, kSearchNoise, ClipRule::kGlm})->value(),
              std::log(2.0),
              1e-6);
}

std::vector<Vector> steps(const std::vector<double>& lengths) {
  std::vector<Vector> candidates;
  for (const double each : lengths) candidates.push_back(point(each));
  return candidates;
}

TEST(FirstDecrease, ExactlyTheFirstCandidateThatFallsEnough) {
  SearchWorld world(50, Relation::kZeroOut, Event::compose({}));
  const Vector w = point(0);
  const auto candidates = steps({-1, 0.1, 2, 1});
  const std::vector<double> needed = {0, 0.2, 0.2, 0.2};
  EXPECT_EQ(world.exact.first_decrease({w, candidates, needed, 1, 1})->value(), 2);
  const std::vector<double> too_much(4, 1.0);
  EXPECT_EQ(world.exact.first_decrease({w, candidates, too_much, 1, 1})->value(), -1);
}

TEST(FirstDecrease, PrivatelyFindsAClearDecreaseAndChargesTheSession) {
  const Event event = Event::sparse_vector(1, Relation::kZeroOut);
  SearchWorld world(100'000, Relation::kZeroOut, Event::repeat(3, event));
  const Vector w = point(0);
  const auto candidates = steps({-1, 0.1, 2, 1});
  const std::vector<double> needed = {0, 0.2, 0.2, 0.2};
  const auto found = world.oracle.first_decrease({w, candidates, needed, 1, 1});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->value(), 2);
  const std::vector<double> too_much(4, 1.0);
  EXPECT_EQ(world.oracle.first_decrease({w, candidates, too_much, 1, 1})->value(), -1);
  EXPECT_EQ(to_string(to_event(world.ledger.spent())), "repeat(2, sparse_vector(1))");
}

/// What can't be answered is refused before it is paid for.
TEST(FirstDecrease, CandidatesThatDoNotMoveCostNothing) {
  SearchWorld world(100, Relation::kZeroOut, Event::sparse_vector(1, Relation::kZeroOut));
  const Vector w = point(0);
  for (const auto& candidates : {steps({1, 0}), steps({kInfinity}), steps({})}) {
    const std::vector<double> needed(candidates.size(), 0.0);
    const auto found = world.oracle.first_decrease({w, candidates, needed, 1, 1});
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, ErrorKind::kUsage);
  }
  EXPECT_TRUE(world.ledger.spent().terms.empty());
}

/// The noise is in units of each candidate's own clip, whatever its length: one unit decides with
/// the probabilities of a comparison of Lap(2) + Lap(4), scaled by the relation's sensitivity.
TEST(FirstDecrease, NoiseIsThatOfOneUnit) {
  constexpr int kDraws = 4000;
  for (const auto& [relation, sensitivity] :
       {std::pair{Relation::kZeroOut, 1.0}, {Relation::kReplaceOne, 2.0}}) {
    const Event event = Event::sparse_vector(1, relation);
    SearchWorld world(10, relation, Event::repeat(2 * kDraws, event));
    for (const double length : {1e-3, 2.0}) {
      const Vector w = point(0);
      const auto candidates = steps({length});
      // A true decrease of 8 sensitivities above what is needed.
      const std::vector<double> needed = {loss_at(0) - loss_at(length) -
                                          8 * sensitivity * length / 10};
      std::int64_t accepted = 0;
      for (int k = 0; k < kDraws; ++k)
        accepted += world.oracle.first_decrease({w, candidates, needed, 1, 1})->value() == 0;
      // P(Lap(2) - Lap(4) <= 8) = 1 - (a² e^{-8/a} - b² e^{-8/b}) / (2 (a² - b²)), a = 4, b = 2.
      const double p = 1 - (16 * std::exp(-2.0) - 4 * std::exp(-4.0)) / 24;
      EXPECT_TRUE(testing::plausible(accepted, kDraws, p)) << length << " " << accepted;
      EXPECT_FALSE(testing::plausible(accepted, kDraws, 1 - (1 - p) / 2));
    }
  }
}

TEST(SelectionByChanges, NeedsFarLessNoiseThanByLosses) {
  const Event event = Event::exponential(1, Relation::kZeroOut);
  SearchWorld world(2000, Relation::kZeroOut, Event::repeat(1000, event));
  const Vector w = point(0);
  const auto candidates = steps({0, 0.01});
  int by_changes = 0, by_losses = 0;
  for (int k = 0; k < 500; ++k) {
    by_changes += world.oracle.select({candidates, 0.01, 1, {}, ClipRule::kFlat, &w})->value() == 1;
    by_losses += world.oracle.select({candidates, 2, 1, {}})->value() == 1;
  }
  EXPECT_EQ(by_changes, 500);  // the sums differ by 10, that is, by 1000 sensitivities
  EXPECT_LT(by_losses, 500);
  EXPECT_EQ(world.exact.select({candidates, 0.01, 1, {}, ClipRule::kFlat, &w})->value(), 1);
}

/// Changes can go up for one candidate and down for another: a selection that used the monotone
/// form would be twice as sure of itself as it may be. With a score difference of t sensitivities
/// the better one is chosen with probability 1 / (1 + e^{-t / 2}).
TEST(SelectionByChanges, IsNotTreatedAsMonotone) {
  constexpr int kDraws = 4000;
  const Event event = Event::exponential(1, Relation::kZeroOut);
  SearchWorld world(10, Relation::kZeroOut, Event::repeat(kDraws, event));
  const Vector w = point(0);
  const auto candidates = steps({0, 0.5});
  const double change = 10 * (loss_at(0) - loss_at(0.5));
  const double clip = change / 4;  // a unit's change is a tenth of this sum: not clipped
  std::int64_t better = 0;
  for (int k = 0; k < kDraws; ++k)
    better += world.oracle.select({candidates, clip, 1, {}, ClipRule::kFlat, &w})->value() == 1;
  EXPECT_TRUE(testing::plausible(better, kDraws, 1 / (1 + std::exp(-2.0)))) << better;
  EXPECT_FALSE(testing::plausible(better, kDraws, 1 / (1 + std::exp(-4.0))));
}

TEST(GradientSigma, IsTheStandardDeviationOfTheAnswer) {
  constexpr int kDraws = 1600;
  for (const Relation relation : {Relation::kZeroOut, Relation::kReplaceOne}) {
    SearchWorld world(20, relation, Event::repeat(kDraws, Event::gaussian(kSearchNoise, relation)));
    const Vector w = point(0.5);
    for (const ClipRule rule : {ClipRule::kFlat, ClipRule::kGlm}) {
      const GradientQuery query{w, Sampling::full(), 3, kSearchNoise, rule};
      double square = 0;
      for (int k = 0; k < kDraws / 2; ++k)
        square += std::pow(world.oracle.gradient(query)->value()[1], 2);
      EXPECT_NEAR(std::sqrt(2 * square / kDraws) / world.oracle.gradient_sigma(query),
                  1,
                  0.12);  // nearly five standard errors
      EXPECT_EQ(world.exact.gradient_sigma(query), 0);
    }
  }
}

/// Under replace-one the distance of two gradients may replace twice their length, but not for
/// Poisson batches, whose price assumes terms of half the sensitivity (clip_rule.proof.md).
TEST(GradientSigma, DiametersDoNotCountForPoissonBatches) {
  SearchWorld world(20, Relation::kReplaceOne, Event::compose({}));
  const Vector w = point(1);
  const double radius = 1 / (1 + std::exp(-1.0));  // sigma(W), W = 1; the diameter is 1.099
  for (const auto& [sampling, sensitivity] : {std::pair{Sampling::full(), 1.099},
                                              {Sampling::fixed_size(10, 20), 1.099},
                                              {Sampling::poisson(0.5), 2 * radius}}) {
    const double sigma =
        world.oracle.gradient_sigma({w, sampling, 3, kSearchNoise, ClipRule::kGlm});
    EXPECT_NEAR(sigma * 20 * sampling.rate, kSearchNoise * sensitivity, 0.003)
        << to_string(sampling);
  }
}

}  // namespace
}  // namespace sotto
