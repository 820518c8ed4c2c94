// The searches for second-order points and Newton steps: what is particular to them. That they stay
// within their budget is tested for every method in conformance_test.cpp.

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
#include "tests/support/recording_oracle.hpp"
#include "tests/support/toy_engine.hpp"

namespace sotto {
namespace {

/// Logistic loss + 0.05 |w|^2 on four rows.
struct Small {
  std::vector<float> rows = {1, 0, 0.5F, 0, 2, -1, 1, 1, 1, -0.5F, 0.25F, 0};
  std::vector<float> labels = {1, -1, 1, -1};
  Table table = TableBuilder::dense(4, 3, rows, labels, {});
  GlmEngine engine{table, {}};

  PublicFacts facts() const {
    PublicFacts facts;
    facts.problem.n = 4;
    facts.problem.dimension = 3;
    facts.problem.row_norm = 2.3;
    facts.problem.linear_rows = true;
    facts.problem.regularizer = Regularizer(RegularizerKind::kL2, 0.1);
    facts.single_release_multiplier = 0;  // no budget to keep: answers are exact
    return facts;
  }
  Eigen::Vector3d row(std::size_t i) const {
    return {rows[3 * i], rows[3 * i + 1], rows[3 * i + 2]};
  }
  Vector gradient(const Vector& w) const {
    Vector g = 0.1 * w;
    for (std::size_t i = 0; i < 4; ++i) {
      const auto y = static_cast<double>(labels[i]);
      g -= y / (1 + std::exp(y * row(i).dot(w))) * row(i) / 4;
    }
    return g;
  }
  Matrix hessian(const Vector& w) const {
    Matrix H = 0.1 * Matrix::Identity(3, 3);
    for (std::size_t i = 0; i < 4; ++i) {
      const double p = 1 / (1 + std::exp(-row(i).dot(w)));
      H += p * (1 - p) * row(i) * row(i).transpose() / 4;
    }
    return H;
  }
  double objective(const Vector& w) const {
    double sum = 0.05 * w.squaredNorm();
    for (std::size_t i = 0; i < 4; ++i)
      sum += std::log1p(std::exp(-static_cast<double>(labels[i]) * row(i).dot(w))) / 4;
    return sum;
  }
  /// G of F: R²/4 + 0.1.
  double smoothness() const { return 2.3 * 2.3 / 4 + 0.1; }

  OptimizerResult run(const std::string& method, const GivenOptions& options) const {
    const auto configured = (*find_method(method))->configure(options, facts());
    EXPECT_TRUE(configured) << configured.error().message;
    ExactOracle oracle(engine, facts().problem, Stream::seeded(1, Purpose::kSampling));
    NoObserver observer;
    auto result = configured->optimizer->run(oracle, 1, observer);
    EXPECT_TRUE(result) << result.error().message;
    return *result;
  }
};

/// (<x, w>^2 - y)^2 / 4 with y = <x, w*>^2: w = 0 is a strict saddle, ±w* are minima.
struct Saddle {
  static constexpr int kRows = 60, kDim = 4;
  std::vector<float> rows, labels;
  Vector truth = Eigen::Vector4d(1, -0.5, 0.25, 0.75);
  LossSpec loss{LossKind::kPhaseRetrieval, 4};

  Saddle() {
    Stream random = Stream::seeded(3, Purpose::kData);
    for (int i = 0; i < kRows; ++i) {
      Vector x(kDim);
      for (double& v : x) v = 2 * random.uniform() - 1;
      x.normalize();
      double inner = 0;
      for (int j = 0; j < kDim; ++j) {
        rows.push_back(static_cast<float>(0.999 * x[j]));
        inner += 0.999 * x[j] * truth[j];
      }
      labels.push_back(static_cast<float>(inner * inner));
    }
  }
  PublicFacts facts() const {
    PublicFacts facts;
    facts.problem.n = kRows;
    facts.problem.dimension = kDim;
    facts.problem.row_norm = 1;
    facts.problem.loss = loss_info(loss);
    return facts;
  }
  Expected<OptimizerResult> run(const std::string& method, GivenOptions options) const {
    options.insert(options.end(),
                   {{"smoothness", "6"},
                    {"hessian_lipschitz", "6"},
                    {"clip_radius", "100"},
                    {"hessian_clip", "100"},
                    {"gradient_tolerance", "0.01"},
                    {"curvature_tolerance", "0.02"},
                    {"gap", "1"}});
    const Table table = TableBuilder::dense(kRows, kDim, rows, labels, {});
    const GlmEngine engine(table, loss);
    const auto configured = (*find_method(method))->configure(options, facts());
    if (!configured) return tl::unexpected<Error>(configured.error());
    ExactOracle oracle(engine, facts().problem, Stream::seeded(1, Purpose::kSampling));
    NoObserver observer;
    return configured->optimizer->run(oracle, 1, observer);
  }
};

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
  EXPECT_EQ(result.stopped, "second-order point found");
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

TEST(Opt, LineSearchesChooseAsTheyShould) {
  const Small small;
  const GivenOptions options = {
      {"gradient_tolerance", "0.01"}, {"steps", "1"}, {"candidates", "4"}, {"longest_step", "8"}};
  const Vector g = small.gradient(Vector::Zero(3));
  const double G = small.smoothness();
  Vector best = Vector::Zero(3), first;
  for (const double factor : {8.0, 4.0, 2.0, 1.0}) {
    const Vector w = -factor / G * g;
    if (small.objective(w) < small.objective(best)) best = w;
    const double decrease = small.objective(Vector::Zero(3)) - small.objective(w);
    if (first.size() == 0 && decrease >= 0.6 * factor * g.squaredNorm() / (2 * G)) first = w;
  }
  EXPECT_LE((small.run("opt-ls", options).w - best).norm(), 1e-9);
  GivenOptions sparse = options;
  sparse.emplace_back("line_search", "sparse_vector");
  EXPECT_LE((small.run("opt-ls", sparse).w - first).norm(), 1e-9);
}

TEST(Searches, LeaveAStrictSaddle) {
  const Saddle saddle;
  for (const char* method : {"tr", "opt", "2opt", "opt-ls", "2opt-ls"}) {
    const auto result = saddle.run(method, {});
    ASSERT_TRUE(result) << method << ": " << result.error().message;
    EXPECT_EQ(result->stopped, "second-order point found") << method;
    const double distance =
        std::min((result->w - saddle.truth).norm(), (result->w + saddle.truth).norm());
    EXPECT_LT(distance, 0.3) << method;
  }
  // Without noise nothing pushes it off, and it does not claim to have arrived.
  const auto stuck = saddle.run("dp-gd-sosp", {{"steps", "50"}});
  ASSERT_TRUE(stuck);
  EXPECT_EQ(stuck->w.norm(), 0);
  EXPECT_EQ(stuck->stopped, "plan complete");
}

TEST(Searches, ConstantsThatNoAlgebraGivesMustBeGiven) {
  const Saddle saddle;
  const auto configured = (*find_method("dp-tr"))->configure({}, saddle.facts());
  ASSERT_FALSE(configured);
  EXPECT_EQ(configured.error().kind, ErrorKind::kUsage);
  EXPECT_NE(configured.error().message.find("--smoothness"), std::string::npos);
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
    EXPECT_EQ(result->certificate->verdict, "certified");
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
  class CountLosses final : public Oracle {
   public:
    explicit CountLosses(Oracle& inner) : inner_(inner) {}
    const PublicProblem& problem() const override { return inner_.problem(); }
    Expected<Released<Vector>> gradient(const GradientQuery& q) override {
      return inner_.gradient(q);
    }
    Expected<Released<Vector>> gradient_pair(const GradientPairQuery& q) override {
      return inner_.gradient_pair(q);
    }
    Expected<Released<std::int64_t>> select(const SelectionQuery& q) override {
      return inner_.select(q);
    }
    Expected<Released<double>> loss(const LossQuery& q) override {
      ++losses;
      return inner_.loss(q);
    }
    Expected<Released<NoisyHessian>> hessian(const HessianQuery& q) override {
      return inner_.hessian(q);
    }
    int losses = 0;

   private:
    Oracle& inner_;
  } oracle(exact);
  NoObserver observer;
  ASSERT_TRUE(configured->optimizer->run(oracle, 1, observer));
  EXPECT_EQ(oracle.losses, 1);
}

TEST(Searches, StartFromAPublicPoint) {
  SearchOptions options;
  EXPECT_EQ(initial_point(options, 5).norm(), 0);
  options.init = "normal";
  const Vector w = initial_point(options, 10'000);
  EXPECT_EQ(w, initial_point(options, 10'000));
  EXPECT_NEAR(w.mean(), 0, 0.05);
  EXPECT_NEAR(w.squaredNorm() / 10'000, 1, 0.07);
  options.init_seed = 2;
  EXPECT_NE(w, initial_point(options, 10'000));
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
  EXPECT_TRUE(result->stopped == "budget spent" || result->stopped == "plan complete");
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
