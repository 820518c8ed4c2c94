// The searches for second-order points and Newton steps: what is particular to them. That they stay
// within their budget is tested for every method in conformance_test.cpp.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "sotto/data/table.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/optimizer/registry.hpp"
#include "sotto/optimizer/second_order/scout.hpp"
#include "sotto/oracle/exact_oracle.hpp"
#include "sotto/oracle/private_oracle.hpp"
#include "tests/support/funds.hpp"
#include "tests/support/passing_oracle.hpp"
#include "tests/support/recording_oracle.hpp"
#include "tests/support/search_problems.hpp"
#include "tests/support/toy_engine.hpp"

namespace sotto {
namespace {

using testing::Saddle;
using testing::Small;

TEST(Tr, WithoutNoiseIsThePlainTrustRegionMethod) {
  const Small small;
  const auto result = small.run("tr", {{"gradient_tolerance", "1e-4"}, {"radius", "0.3"}});
  Vector w = Vector::Zero(3);
  std::int64_t steps = 0;
  while (small.gradient(w).norm() > 1e-4) {
    w += solve_trust_region(symmetric_eigen(small.hessian(w)), small.gradient(w), 0.3).step;
    ++steps;
  }
  EXPECT_GT(steps, 3);
  EXPECT_EQ(result.steps, steps);
  EXPECT_LE((result.w - w).norm(), 1e-9);
  EXPECT_EQ(result.stopped, StopReason::kPointFound);
}

TEST(Tr, LanczosWalksTheSamePath) {
  const Small small;
  const GivenOptions options = {{"gradient_tolerance", "1e-4"}, {"radius", "0.3"}};
  const auto dense = small.run("tr", options);
  GivenOptions lanczos = options;
  lanczos.emplace_back("solver", "lanczos");
  const auto result = small.run("tr", lanczos);
  EXPECT_EQ(result.steps, dense.steps);
  EXPECT_LE((result.w - dense.w).norm(), 1e-6);
}

TEST(Tr, ThePublishedStopIsTheMultipliers) {
  const Small small;
  const auto result =
      small.run("tr", {{"gradient_tolerance", "0.05"}, {"radius", "0.3"}, {"stop", "multiplier"}});
  // M = R³ / (6 sqrt 3); the first step whose multiplier is at most sqrt(eps_g M) ends the run.
  const double bar = std::sqrt(0.05 * 2.3 * 2.3 * 2.3 / (6 * std::sqrt(3.0)));
  Vector w = Vector::Zero(3);
  while (true) {
    const auto step = solve_trust_region(symmetric_eigen(small.hessian(w)), small.gradient(w), 0.3);
    w += step.step;
    if (step.multiplier <= bar * (1 + 1e-9)) break;
  }
  EXPECT_LE((result.w - w).norm(), 1e-9);
}

TEST(Newton, WithoutNoiseIsNewtonsMethod) {
  const Small small;
  const auto result = small.run("newton", {{"steps", "6"}, {"longest_step", "100"}});
  Vector w = Vector::Zero(3);
  for (int t = 0; t < 6; ++t) w -= small.hessian(w).ldlt().solve(small.gradient(w));
  EXPECT_LE((result.w - w).norm(), 1e-9);
  EXPECT_LE(small.gradient(result.w).norm(), 1e-9);
}

TEST(Newton, SharesGrowAndAddUp) {
  const Small small;
  const auto configured =
      (*find_method("dp-newton"))->configure({{"steps", "4"}, {"growth", "2"}}, small.facts());
  ASSERT_TRUE(configured);
  const CanonicalEvent plan =
      *canonical(configured->optimizer->plan(small.facts().problem, 3).event);
  ASSERT_EQ(plan.terms.size(), 4u);
  double sum = 0;
  for (const Term& term : plan.terms) sum += 9 / (term.parameter * term.parameter);
  EXPECT_NEAR(sum, 1, 1e-12) << "together as much as one release with the multiplier 3";
}

TEST(Opt, WithoutNoiseIsGradientDescentUntilTheTolerance) {
  const Small small;
  for (const char* method : {"opt", "dp-gd-sosp"}) {
    const auto result = small.run(method, {{"gradient_tolerance", "0.01"}});
    Vector w = Vector::Zero(3);
    std::int64_t steps = 0;
    for (; small.gradient(w).norm() > 0.01; ++steps) w -= small.gradient(w) / small.smoothness();
    EXPECT_EQ(result.steps, steps) << method;
    EXPECT_LE((result.w - w).norm(), 1e-9) << method;
  }
}

TEST(Searches, LeaveAStrictSaddle) {
  const Saddle saddle;
  for (const char* method : {"tr", "opt", "2opt", "opt-ls", "2opt-ls"}) {
    const auto result = saddle.run(method, {});
    ASSERT_TRUE(result) << method << ": " << result.error().message;
    EXPECT_EQ(result->stopped, StopReason::kPointFound) << method;
    const double distance =
        std::min((result->w - saddle.truth).norm(), (result->w + saddle.truth).norm());
    EXPECT_LT(distance, 0.3) << method;
  }
  // Without noise nothing pushes it off, and it does not claim to have arrived.
  const auto stuck = saddle.run("dp-gd-sosp", {{"steps", "50"}});
  ASSERT_TRUE(stuck);
  EXPECT_EQ(stuck->w.norm(), 0);
  EXPECT_EQ(stuck->stopped, StopReason::kPlanComplete);
}

TEST(Searches, ConstantsThatNoAlgebraGivesMustBeGiven) {
  const Saddle saddle;
  const auto configured = (*find_method("dp-tr"))->configure({}, saddle.facts());
  ASSERT_FALSE(configured);
  EXPECT_EQ(configured.error().kind, ErrorKind::kUsage);
  EXPECT_NE(configured.error().message.find("‘smoothness’"), std::string::npos);
}

TEST(Searches, TheCurvatureFloorSavesTheHessian) {
  const Small small;
  for (const bool floor : {true, false}) {
    const auto configured =
        (*find_method("opt"))
            ->configure({{"gradient_tolerance", "0.05"}, {"curvature_floor", floor ? "on" : "off"}},
                        small.facts());
    ASSERT_TRUE(configured);
    const auto& said = configured->settings.back();
    EXPECT_EQ(said.name, "second_order_condition");
    EXPECT_EQ(said.value.find("by algebra") != std::string::npos, floor);
    ExactOracle exact(small.engine, small.facts().problem, Stream::seeded(1, Purpose::kSampling));
    testing::RecordingOracle oracle(exact);
    NoObserver observer;
    const auto result = configured->optimizer->run(oracle, 1, observer);
    ASSERT_TRUE(result);
    ASSERT_TRUE(result->certificate);
    EXPECT_EQ(result->certificate->curvature_by_algebra, floor);
    EXPECT_EQ(result->certificate->verdict, Certificate::Verdict::kCertified);
    // Gradients take 3 samples each, Hessians 6.
    const std::int64_t hessians = (oracle.samples() - 3 * (result->steps + 2)) / 6;
    EXPECT_EQ(hessians, floor ? 0 : 2) << "one for the test, one for the certificate";
  }
}

TEST(Searches, StepsFollowFromThePublicGap) {
  const Small small;
  const auto gap = public_gap(small.facts().problem, Vector::Zero(3));
  ASSERT_TRUE(gap);
  EXPECT_DOUBLE_EQ(*gap, std::log(2.0));
  Vector w = Vector::Constant(3, 1);
  EXPECT_NEAR(*public_gap(small.facts().problem, w),
              std::log1p(std::exp(2.3 * std::sqrt(3.0))) + 0.15,
              1e-12);
  EXPECT_FALSE(public_gap(Saddle().facts().problem, Vector::Zero(4)));
}

TEST(Searches, AGapThatIsNotPublicIsPaidFor) {
  Saddle saddle;
  const Table table =
      TableBuilder::dense(Saddle::kRows, Saddle::kDim, saddle.rows, saddle.labels, {});
  const GlmEngine engine(table, saddle.loss);
  const auto configured = (*find_method("opt"))
                              ->configure({{"smoothness", "6"},
                                           {"hessian_lipschitz", "6"},
                                           {"gradient_tolerance", "0.01"},
                                           {"curvature_tolerance", "0.02"}},
                                          saddle.facts());
  ASSERT_TRUE(configured);
  ExactOracle exact(engine, saddle.facts().problem, Stream::seeded(1, Purpose::kSampling));
  class CountLosses final : public testing::PassingOracle {
   public:
    using PassingOracle::PassingOracle;
    Expected<Released<double>> loss(const LossQuery& q) override {
      ++losses;
      return inner_.loss(q);
    }
    int losses = 0;
  } oracle(exact);
  NoObserver observer;
  ASSERT_TRUE(configured->optimizer->run(oracle, 1, observer));
  EXPECT_EQ(oracle.losses, 1);
}

TEST(Searches, StartFromAPublicPoint) {
  EXPECT_EQ(initial_point(Init::kZero, 1, 5).norm(), 0);
  const Vector w = initial_point(Init::kNormal, 1, 10'000);
  EXPECT_EQ(w, initial_point(Init::kNormal, 1, 10'000));
  EXPECT_NEAR(w.mean(), 0, 0.05);
  EXPECT_NEAR(w.squaredNorm() / 10'000, 1, 0.07);
  EXPECT_NE(w, initial_point(Init::kNormal, 2, 10'000));
}

using testing::Funds;
using testing::kSingle;

TEST(TwoPhases, WhatTheFirstLeavesGoesToTheSecond) {
  // Gradients never shrink, so that both phases run to their end.
  const testing::FixedGradients engine(std::vector<std::vector<double>>(5000, {0.3, -0.2, 0.1}));
  PublicFacts facts;
  facts.problem.n = 5000;
  facts.problem.dimension = 3;
  facts.problem.row_norm = 1;
  facts.single_release_multiplier = kSingle;
  const auto configured =
      (*find_method("2opt"))
          ->configure(
              {{"gradient_tolerance", "0.004"}, {"steps", "10000"}, {"certificate_share", "0"}},
              facts);
  ASSERT_TRUE(configured) << configured.error().message;
  Funds funds("gaussian");
  ASSERT_TRUE(funds.ledger);
  PrivateOracle oracle(engine,
                       facts.problem,
                       *funds.ledger,
                       Stream::seeded(1, Purpose::kSampling),
                       Stream::seeded(2, Purpose::kNoise));
  NoObserver observer;
  const auto result = configured->optimizer->run(oracle, 1, observer);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->stopped == StopReason::kBudgetSpent ||
              result->stopped == StopReason::kPlanComplete);
  std::int64_t first = 0;
  double spent = 0;
  const CanonicalEvent all = funds.ledger->spent();
  for (const Term& term : all.terms) {
    first = std::max(first, term.count);
    spent += static_cast<double>(term.count) / (term.parameter * term.parameter);
  }
  EXPECT_GT(result->steps, 100) << "the first phase has sqrt(10000) steps, the second went on";
  EXPECT_LE(spent, 1 / (kSingle * kSingle) * (1 + 1e-6));
}

TEST(Batches, NoiseIsForTheMeanOverTheBatch) {
  // No signal at all: an answer is noise, of the standard deviation that was asked for (at most a
  // grid step of 9 % above it). Scaled by n instead of b it would be fifty times less.
  const std::int64_t n = 500, d = 4000;
  const testing::FixedGradients engine(
      std::vector<std::vector<double>>(n, std::vector<double>(d, 0.0)), 50);
  PublicProblem problem;
  problem.n = n;
  problem.dimension = d;
  Funds funds("rdp", 4);
  ASSERT_TRUE(funds.ledger);
  PrivateOracle oracle(engine,
                       problem,
                       *funds.ledger,
                       Stream::seeded(1, Purpose::kSampling),
                       Stream::seeded(2, Purpose::kNoise));
  SearchOptions options;
  options.gradient_tolerance = 1;
  options.curvature_tolerance = 1;
  options.clip_radius = 1;
  options.hessian_clip = 1;
  options.expected_batch = 10;
  Scout scout(oracle, options);
  const auto look = scout.slope(Vector::Zero(d), 0.3, Sampling::poisson(10.0 / n));
  ASSERT_TRUE(look) << look.error().message;
  const double measured = look->norm / std::sqrt(static_cast<double>(d));
  EXPECT_GE(measured, 0.3 * 0.95);
  EXPECT_LE(measured, 0.3 * 1.15);
  EXPECT_NEAR(look->sigma, measured, 0.06 * measured);
}

TEST(Searches, DenseHessiansThatDoNotFitAreRefused) {
  PublicFacts facts;
  facts.problem.n = 100;
  facts.problem.dimension = 3'000'000;
  facts.problem.row_norm = 1;
  facts.single_release_multiplier = 4;
  for (const char* method : {"dp-newton", "newton"}) {
    const auto configured = (*find_method(method))->configure({}, facts);
    ASSERT_FALSE(configured) << method;
    EXPECT_EQ(configured.error().kind, ErrorKind::kUsage);
  }
  EXPECT_FALSE((*find_method("dp-tr"))->configure({{"solver", "dense"}}, facts));
  EXPECT_TRUE((*find_method("dp-tr"))->configure({}, facts)) << "Lanczos needs no matrix";
}

// [WX20] Theorem 4, recomputed apart: G = 1, L = 1/4 + 2e-3, M = 1/(6 sqrt 3) + 4.6685593e-3, d =
// 54, zeta = 0.05, ln(54/0.05) = 6.98472. alpha = 0.1: 698.5 gradients, 44.0 Hessians. alpha = 5:
// 0.3 and 0.9. With L = 8 the Hessian's decides.
TEST(StochasticTrustRegion, SampleSizesOfTheTheorem) {
  PublicFacts facts;
  facts.problem.n = 100'000;
  facts.problem.dimension = 54;
  facts.problem.row_norm = 1;
  facts.problem.regularizer = Regularizer(RegularizerKind::kNonconvex, 1e-3);
  facts.single_release_multiplier = kSingle;
  const auto batch = [&](const GivenOptions& more) {
    GivenOptions options = {{"sample_sizes", "theory"}, {"gradient_tolerance", "0.1"}};
    options.insert(options.end(), more.begin(), more.end());
    const auto configured = (*find_method("dp-str"))->configure(options, facts);
    EXPECT_TRUE(configured) << configured.error().message;
    for (const Setting& setting : configured->settings)
      if (setting.name == "expected_batch") return std::stoll(setting.value);
    return -1LL;
  };
  EXPECT_EQ(batch({}), 699);
  EXPECT_EQ(batch({{"sample_miss", "0.001"}}), 1090);  // 100 ln(54,000) = 1089.7
  EXPECT_EQ(batch({{"smoothness", "8"}}), 44'307);     // 64 · 6.98472 / (0.1 · 0.1008936)
  EXPECT_EQ(batch({{"smoothness", "80"}}), 100'000);   // no more than there are
  facts.problem.n = 300;
  EXPECT_EQ(batch({}), 300);
  const auto both = (*find_method("dp-str"))
                        ->configure({{"sample_sizes", "theory"}, {"expected_batch", "9"}}, facts);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().kind, ErrorKind::kUsage);
}

// Their steps and certificates would leave out the part that has no gradient.
TEST(Searches, RefuseARegularizerThatIsNotSmooth) {
  for (const MethodInfo& method : methods()) {
    const bool follows_gradients =
        method.needs.has(Capability::kHessians) || method.needs.has(Capability::kLosses);
    if (!follows_gradients) continue;
    for (const char* regularizer : {"l1:0.1", "elastic:0.1,0.2", "group-l1:0.1,2"}) {
      PublicFacts facts;
      facts.problem.n = 100;
      facts.problem.dimension = 4;
      facts.problem.row_norm = 1;
      facts.problem.regularizer = *Regularizer::parse(regularizer);
      facts.single_release_multiplier = 2;
      const auto configured = method.configure({}, facts);
      ASSERT_FALSE(configured) << method.name << " " << regularizer;
      EXPECT_EQ(configured.error().kind, ErrorKind::kUsage);
      EXPECT_THAT(configured.error().message, ::testing::HasSubstr("smooth")) << method.name;
    }
  }
}

TEST(Searches, RefuseWhatMakesNoSense) {
  PublicFacts facts;
  facts.problem.n = 100;
  facts.problem.dimension = 2;
  facts.problem.row_norm = 1;
  for (const GivenOptions& bad : std::vector<GivenOptions>{{{"gradient_tolerance", "0"}},
                                                           {{"steps", "0"}},
                                                           {{"certificate_share", "1"}},
                                                           {{"certificate_confidence", "1"}},
                                                           {{"radius", "-1"}},
                                                           {{"init", "one"}},
                                                           {{"line_search", "gumbel"}},
                                                           {{"precision", "nan"}}}) {
    const auto configured = (*find_method("dp-tr"))->configure(bad, facts);
    ASSERT_FALSE(configured) << bad[0].first;
    EXPECT_EQ(configured.error().kind, ErrorKind::kUsage);
  }
}

}  // namespace
}  // namespace sotto
