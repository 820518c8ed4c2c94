#include <gtest/gtest.h>

#include <cmath>

#include "sotto/geometry/trust_region.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/optimizer/second_order/search_options.hpp"
#include "sotto/oracle/exact_oracle.hpp"
#include "sotto/study/published/search.hpp"
#include "sotto/training/train.hpp"
#include "tests/support/small_glm.hpp"

namespace sotto::study {
namespace {

using sotto::testing::SmallGlm;

GivenOptions search_options(GivenOptions more = {}) {
  GivenOptions all = {{"steps", "400"},
                      {"gradient_tolerance", "0.01"},
                      {"curvature_tolerance", "0.1"},
                      {"smoothness", "1.5"},
                      {"clip_radius", "10"}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

OptimizerResult run_exactly(const char* name, const GivenOptions& given) {
  const SmallGlm small(LossKind::kLogistic);
  const PublicFacts facts = small.facts();
  const auto configured = find_published(name)->configure(given, facts);
  EXPECT_TRUE(configured) << configured.error().message;
  ExactOracle oracle(small.engine(), facts.problem, Stream::seeded(1, Purpose::kSampling), true);
  NoObserver observer;
  const auto result = configured->optimizer->run(oracle, 1, observer);
  EXPECT_TRUE(result);
  return *result;
}

double gradient_norm(const Vector& w) {
  const SmallGlm small(LossKind::kLogistic);
  Vector g = small.data_gradient(w);
  small.facts().problem.regularizer.add_gradient(w, g);
  return g.norm();
}

TEST(PublishedSearch, WithoutNoiseEveryRecipeFindsAPointWithinItsTolerance) {
  for (const char* name : {"published-opt", "published-tr", "published-gd-sosp"}) {
    GivenOptions given = search_options();
    if (name == std::string("published-tr")) given.emplace_back("radius", "0.3");
    const OptimizerResult result = run_exactly(name, given);
    EXPECT_EQ(result.stopped, StopReason::kPointFound) << name;
    EXPECT_GT(result.steps, 1) << name;
    // The trust region's rule accepts by the multiplier: then the next point is at most a step's
    // error away from stationary.
    EXPECT_LE(gradient_norm(result.w), name == std::string("published-tr") ? 0.1 : 0.01) << name;
  }
}

TEST(PublishedSearch, AShortHorizonEndsWithoutAPoint) {
  const OptimizerResult result = run_exactly(
      "published-opt", search_options({{"gradient_tolerance", "1e-9"}, {"steps", "3"}}));
  EXPECT_EQ(result.stopped, StopReason::kPlanComplete);
  EXPECT_EQ(result.steps, 3);
}

TEST(PublishedSearch, TheLineSearchTakesTheLongestStepThatDecreases) {
  const OptimizerResult plain = run_exactly("published-opt", search_options());
  const OptimizerResult searched =
      run_exactly("published-opt", search_options({{"line_search_epsilon", "1"}}));
  EXPECT_EQ(searched.stopped, StopReason::kPointFound);
  EXPECT_LE(gradient_norm(searched.w), 0.01);
  EXPECT_LT(searched.steps, plain.steps);
}

// A point where the sigmoid loss bends down, a gradient tolerance that is met: the first step is
// along the lowest eigenvector, and it is searched for its length like a gradient's.
TEST(PublishedSearch, TheLineSearchAlsoSetsTheLengthOfCurvatureSteps) {
  const SmallGlm small(LossKind::kSigmoid, 1, 0);
  const PublicFacts facts = small.facts();
  const GivenOptions given = {{"steps", "1"},
                              {"gradient_tolerance", "10"},
                              {"curvature_tolerance", "1e-4"},
                              {"hessian_lipschitz", "1"},
                              {"clip_radius", "10"},
                              {"init", "normal"},
                              {"init_seed", "4"}};
  const auto step = [&](bool searched) {
    GivenOptions all = given;
    if (searched) all.emplace_back("line_search_epsilon", "1");
    const auto configured = find_published("published-opt")->configure(all, facts);
    EXPECT_TRUE(configured) << configured.error().message;
    ExactOracle oracle(small.engine(), facts.problem, Stream::seeded(1, Purpose::kSampling));
    NoObserver observer;
    const auto result = configured->optimizer->run(oracle, 1, observer);
    EXPECT_EQ(result->stopped, StopReason::kPlanComplete);
    return result->w;
  };
  const Vector w = initial_point(Init::kNormal, 4, 3);
  ExactOracle oracle(small.engine(), facts.problem, Stream::seeded(1, Purpose::kSampling));
  const SymmetricEigen H =
      symmetric_eigen(oracle.hessian({w, Sampling::full(), 1e9, 1})->value().value);
  const double l = -H.values[0];
  ASSERT_GT(l, 1e-3);
  EXPECT_NEAR((step(false) - w).norm(), 2 * l, 1e-9) << "the short step 2 l / M";
  Vector p = H.vectors.col(0);
  const Vector g = oracle.gradient({w, Sampling::full(), 1e9, 1})->value();
  if (p.dot(g) > 0) p = -p;
  const auto mean_loss = [&](const Vector& at) {
    return oracle.loss({at, Sampling::full(), 1e9, 1})->value();
  };
  double length = 1.6463 * l;  // t_2 l / M
  for (double gamma = 20 * length; gamma > length; gamma /= 2)
    if (mean_loss(w) - mean_loss(w + gamma * p) >= 0.25 * gamma * gamma * l / 2) {
      length = gamma;
      break;
    }
  EXPECT_NEAR((step(true) - w).norm() / length, 1, 1e-4);
}

TEST(PublishedSearch, PlansHoldEveryReleaseOfBothPhases) {
  const SmallGlm small(LossKind::kLogistic);
  const PublicFacts facts = small.facts(Relation::kReplaceOne);
  const auto configured =
      find_published("published-opt")
          ->configure(search_options({{"two_phases", "yes"}, {"line_search_epsilon", "0.01"}}),
                      facts);
  ASSERT_TRUE(configured) << configured.error().message;
  const auto event = canonical(configured->optimizer->plan(facts.problem, 2).event);
  ASSERT_TRUE(event) << event.error().message;
  std::int64_t gaussians = 0, sessions = 0;
  double finest = 1e9;
  for (const Term& term : event->terms) {
    if (term.mechanism == Term::Mechanism::kGaussian) {
      gaussians += term.count;
      finest = std::min(finest, term.parameter);
    } else {
      sessions += term.count;
    }
  }
  EXPECT_EQ(gaussians, 2 * (400 + 20));
  EXPECT_EQ(sessions, 400 + 20);
  // Three quarters of rho for 20 steps against a quarter for 400.
  EXPECT_NEAR(finest, 2 * std::sqrt(20.0 / (3 * 400)), 1e-12);
}

TEST(PublishedSearch, RunsPrivatelyWithinItsPlan) {
  const SmallGlm small(LossKind::kLogistic, 500);
  const PublicFacts facts = small.facts(Relation::kReplaceOne);
  TrainOptions train_options;
  train_options.unlisted = find_published("published-opt");
  train_options.options = search_options({{"gradient_noise", "5"}, {"hessian_noise", "5"}});
  train_options.noise_multiplier = 1;
  train_options.delta = 1e-5;
  train_options.seed = 3;
  auto prepared = prepare(facts.problem, train_options);
  ASSERT_TRUE(prepared) << prepared.error().message;
  const double planned = prepared->epsilon_planned;
  NoObserver observer;
  const auto result =
      train(small.engine(), facts.problem, train_options, *std::move(prepared), observer);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->record.method, "published-opt");
  EXPECT_LE(result->record.privacy.epsilon, planned);
}

TEST(PublishedSearch, SettingsThatMakeNoSenseAreRefused) {
  const SmallGlm small(LossKind::kLogistic);
  EXPECT_FALSE(find_published("published-opt")->configure({}, small.facts()));
  EXPECT_FALSE(find_published("opt"));
}

}  // namespace
}  // namespace sotto::study
