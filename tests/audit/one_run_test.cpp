#include "sotto/audit/one_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sotto/audit/canary_engine.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/objective/network/engine.hpp"
#include "sotto/oracle/per_example_sum.hpp"
#include "tests/objective/network_reference.hpp"
#include "tests/support/toy_engine.hpp"
#include "tests/support/zoo/zoo.hpp"

namespace sotto {
namespace {

using Batch = PerExampleSum::Batch;
using testing::FixedGradients;
using testing::zoo::Dice;

// Without delta the p-value is a binomial tail: 9 or 10 of 10 at probability 1/2.
TEST(OneRun, PValueIsTheBinomialTail) {
  EXPECT_NEAR(one_run_p_value(10, 10, 9, 0, 0), 11.0 / 1024, 1e-14);
  EXPECT_NEAR(one_run_p_value(10, 10, 10, std::log(3.0), 0), std::pow(0.75, 10), 1e-14);
  EXPECT_EQ(one_run_p_value(10, 0, 0, 1, 0), 1);
}

// With delta: tail + 2 m delta max_i P(v - i <= X < v) / i, summed by hand for r = 2, v = 2.
TEST(OneRun, PValueWithDelta) {
  const double right = 0.5;
  const double steepest = std::max(2 * right * (1 - right), (1 - right * right) / 2);
  EXPECT_NEAR(one_run_p_value(5, 2, 2, 0, 0.01), 0.25 + 2 * 5 * 0.01 * steepest, 1e-14);
}

TEST(OneRun, BoundInvertsThePValue) {
  const double bound = one_run_epsilon_bound(1000, 200, 180, 1e-5, 0.05);
  EXPECT_GT(bound, 1.5);
  EXPECT_LT(bound, std::log(9.0)) << "the rate itself is 0.9";
  EXPECT_NEAR(one_run_p_value(1000, 200, 180, bound, 1e-5), 0.05, 1e-9);
  EXPECT_EQ(one_run_epsilon_bound(1000, 200, 100, 1e-5, 0.05), 0);
  EXPECT_LT(one_run_epsilon_bound(1000, 200, 180, 1e-3, 0.05), bound);
}

/// 2000 canaries behind randomized response of the given epsilon.
double audit_randomized_response(double epsilon, int audit) {
  std::vector<double> scores;
  std::vector<bool> inserted;
  for (int i = 0; i < 2000; ++i) {
    Dice dice(0, 1'000'000 * (audit + 1) + i);
    inserted.push_back(dice.chance(0.5));
    const bool truth = dice.chance(1 / (1 + std::exp(-epsilon)));
    scores.push_back((inserted.back() == truth ? 1.0 : 0.0) + 1e-3 * dice.uniform());
  }
  return guess_canaries(scores, inserted, 0, 0.05).lower_bound;
}

// Alarms with probability at most 5 % each: more than 22 of 100 with probability below 1e-6.
TEST(OneRun, KeepsItsConfidenceAndIsTightForRandomizedResponse) {
  int alarms = 0;
  for (int k = 0; k < 100; ++k) alarms += audit_randomized_response(1, k) > 1;
  EXPECT_LE(alarms, 22);
  EXPECT_GT(audit_randomized_response(1, 200), 0.8);
  EXPECT_GT(audit_randomized_response(1.5, 201), 1) << "the broken twin";
}

TEST(CanaryEngine, AddsInsertedCanariesAndNothingElse) {
  const FixedGradients inner({{0.3, -0.2, 0.1}, {0.5, 0.5, 0.5}});
  Stream random = Stream::seeded(3, Purpose::kData);
  const CanaryEngine engine(inner, 20, random);
  EXPECT_EQ(engine.units(), 22);
  EXPECT_NEAR(engine.direction(3).dot(engine.direction(5)), 0, 1e-12) << "of one block of three";
  EXPECT_NEAR(engine.direction(7).norm(), 1, 1e-12);
  Vector expected(3);
  expected << 0.8, 0.3, 0.6;
  expected += 2 * engine.pull();  // clipped to 2
  PerExampleSum sums(engine);
  Vector sum;
  sums.clipped_gradients({}, Vector::Zero(3), 2, sum);
  EXPECT_LT((sum - expected).norm(), 1e-9);
  // A list of units in any order.
  const std::vector<std::int64_t> some = {1, 5, 9, 21};
  sums.clipped_gradients({false, some}, Vector::Zero(3), 2, sum);
  expected << 0.5, 0.5, 0.5;
  for (const std::int64_t unit : {5, 9, 21})
    if (engine.inserted(unit - 2)) expected += 2 * engine.direction(unit - 2);
  EXPECT_LT((sum - expected).norm(), 1e-9);
  EXPECT_NEAR(sums.clipped_losses({}, Vector::Zero(3), 10), 0.8, 1e-9) << "canaries have no loss";
}

TEST(CanaryEngine, OfAPairACanaryMovesTheGradientAlone) {
  const FixedGradients inner({{0.3, -0.2, 0.1}, {0.5, 0.5, 0.5}});
  Stream random = Stream::seeded(3, Purpose::kData);
  const CanaryEngine engine(inner, 20, random);
  PerExampleSum sums(engine);
  Vector sum;
  const Vector w = Vector::Zero(3);
  for (const bool together : {false, true}) {
    const PairClip clip{0.25, 2, 0.1, together};
    Vector expected(3);
    expected << 0.8, 0.3, 0.6;
    expected *= clip.mixture;
    expected += (together ? clip.reach() : clip.mixture * clip.radius) * engine.pull();
    sums.clipped_gradient_pairs({}, w, w, clip, sum);
    EXPECT_LT((sum - expected).norm(), 1e-9) << (together ? "together" : "separate");
  }
}

/// Twelve persons' rows as a network and as a linear model have them.
struct PersonsEngines {
  NetworkSpec spec = testing::make_spec({6, 1, 1}, {"linear 4", "tanh", "linear 2"});
  Table classes = testing::random_rows(spec, 40, 3);
  Table persons(bool signs) const {
    std::vector<float> values, labels;
    std::vector<std::int64_t> owner;
    for (std::int64_t i = 0; i < 40; ++i) {
      values.insert(values.end(), classes.row(i), classes.row(i) + 6);
      const float label = classes.labels()[static_cast<std::size_t>(i)];
      labels.push_back(signs ? 2 * label - 1 : label);
      owner.push_back(i < 18 ? 0 : i / 2);
    }
    return TableBuilder::dense(40, 6, values, labels, {}, owner);
  }
};

// A canary is a person: her share of a sum is that of everybody else with all of their rows.
TEST(CanaryEngine, StandsAmongPersons) {
  const PersonsEngines rows;
  const Table of_classes = rows.persons(false), of_signs = rows.persons(true);
  const auto network = NetworkEngine::make(of_classes, rows.spec).value();
  const GlmEngine linear(of_signs, {LossKind::kLogistic});
  for (const Engine* inner :
       {static_cast<const Engine*>(network.get()), static_cast<const Engine*>(&linear)}) {
    ASSERT_EQ(inner->units(), 12);
    Stream random = Stream::seeded(3, Purpose::kData);
    const CanaryEngine engine(*inner, 20, random);
    EXPECT_EQ(engine.units(), 32);
    const Vector w = Vector::Constant(inner->parameters(), 0.1);
    PerExampleSum without(*inner), with(engine);
    Vector less, sum;
    without.clipped_gradients({}, w, 0.5, less);
    with.clipped_gradients({}, w, 0.5, sum);
    EXPECT_LT((sum - less - 0.5 * engine.pull()).norm(), 1e-9);
    const PairClip clip{0.25, 0.5, 0.1, false};
    without.clipped_gradient_pairs({}, w, 2 * w, clip, less);
    with.clipped_gradient_pairs({}, w, 2 * w, clip, sum);
    EXPECT_LT((sum - less - 0.25 * 0.5 * engine.pull()).norm(), 1e-9);
  }
}

/// Zeroed out, a unit is one more that adds nothing, wherever it stands in a block.
TEST(CanaryEngine, AUnitThatIsZeroedOutChangesNoSum) {
  const NetworkSpec spec = testing::make_spec(
      {1, 6, 6}, {"conv 4 3 pad 1", "tanh", "flatten", "linear 6", "tanh", "linear 4"});
  const Table rows = testing::random_rows(spec, 9, 3);
  const auto inner = NetworkEngine::make(rows, spec).value();
  const CanaryEngine engine(*inner);
  EXPECT_EQ(engine.units(), 10);
  EXPECT_EQ(engine.layers(), 3);
  const Vector w = initial_weights(spec, 1);
  const Vector before = initial_weights(spec, 2);
  PerExampleSum without(*inner), with(engine);
  const std::vector<std::int64_t> some = {4, 0, 7}, and_more = {4, 9, 0, 7};
  const PairClip clip{0.5, 0.3, 0.1, false};
  for (const auto& [a, b] :
       {std::pair{Batch{}, Batch{}}, std::pair{Batch{false, some}, Batch{false, and_more}}}) {
    Vector expected, sum;
    without.clipped_gradients(a, w, 0.3, expected);
    with.clipped_gradients(b, w, 0.3, sum);
    EXPECT_LT((sum - expected).norm(), 1e-12);
    without.clipped_layer_gradients(a, w, 0.3, expected);
    with.clipped_layer_gradients(b, w, 0.3, sum);
    EXPECT_LT((sum - expected).norm(), 1e-12);
    without.clipped_gradient_pairs(a, w, before, clip, expected);
    with.clipped_gradient_pairs(b, w, before, clip, sum);
    EXPECT_LT((sum - expected).norm(), 1e-12);
    EXPECT_NEAR(with.clipped_losses(b, w, 5), without.clipped_losses(a, w, 5), 1e-12);
  }
}

PublicProblem problem_of(const Engine& engine) {
  PublicProblem problem;
  problem.n = std::int64_t{engine.units()};
  problem.dimension = engine.parameters();
  problem.row_norm = 1;
  return problem;
}

// A huge epsilon in many dimensions: the canaries are found, and never beyond the claim.
TEST(OneRun, FindsCanariesWhereEpsilonIsLarge) {
  const FixedGradients engine(std::vector<std::vector<double>>(50, std::vector<double>(400, 0.01)));
  for (const auto& [method, least] :
       {std::pair{"dp-gd", 1.0}, std::pair{"dp-srm", 0.3}, std::pair{"dp-agd", 1.0}}) {
    TrainOptions train;
    train.method = method;
    train.epsilon = 12;
    train.delta = 1e-5;
    train.seed = 5;
    NoObserver observer;
    const auto report = audit_in_one_run(engine, problem_of(engine), train, {100, 0.95}, observer);
    ASSERT_TRUE(report) << method << ": " << report.error().message;
    EXPECT_GT(report->guess.lower_bound, least) << method;
    EXPECT_LE(report->epsilon, 12) << method;
    EXPECT_LT(report->guess.lower_bound, 12) << method;
    EXPECT_NEAR(report->canary_share, 100.0 / 150, 1e-12);
    EXPECT_GT(report->canary_pull, 0);
    EXPECT_EQ(report->w.size(), 400);
  }
}

TEST(OneRun, Mistakes) {
  const FixedGradients engine({{0.1, 0.1}});
  TrainOptions train;
  train.epsilon = 1;
  train.delta = 1e-5;
  NoObserver observer;
  EXPECT_FALSE(audit_in_one_run(engine, problem_of(engine), train, {1, 0.95}, observer));
  PublicProblem replaced = problem_of(engine);
  replaced.relation = Relation::kReplaceOne;
  EXPECT_FALSE(audit_in_one_run(engine, replaced, train, {100, 0.95}, observer));
  train.method = "dp-sgd";
  train.options = {{"clip_rule", "layers"}};
  EXPECT_FALSE(audit_in_one_run(engine, problem_of(engine), train, {100, 0.95}, observer));
  train.options.clear();
  train.method = "gd";
  EXPECT_FALSE(audit_in_one_run(engine, problem_of(engine), train, {100, 0.95}, observer));
}

}  // namespace
}  // namespace sotto
