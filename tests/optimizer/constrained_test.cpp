// dp-pgd, dp-pmd, dp-fw-l2 and dp-fw-l1 without noise against references written from the papers'
// formulas, and their refusals.

#include "sotto/optimizer/parts/constrained.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "sotto/data/table.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/oracle/exact_oracle.hpp"
#include "tests/support/passing_oracle.hpp"

namespace sotto {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kRows = 200;
constexpr std::int64_t kDim = 6;
constexpr double kExact = 1e-9;

/// Logistic regression on random rows, with its gradient on paper; no row is clipped.
struct Fixture {
  std::vector<std::vector<double>> x;
  std::vector<double> y;
  Table table;
  std::unique_ptr<GlmEngine> engine;

  Fixture() {
    std::mt19937_64 random(8);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> values, labels;
    for (std::int64_t i = 0; i < kRows; ++i) {
      x.emplace_back();
      for (std::int64_t j = 0; j < kDim; ++j) {
        const float v = uniform(random);
        values.push_back(v);
        x.back().push_back(v);
      }
      y.push_back(x.back()[0] - 0.7 * x.back()[1] + 0.3 * uniform(random) > 0 ? 1 : -1);
      labels.push_back(static_cast<float>(y.back()));
    }
    table = TableBuilder::dense(kRows, kDim, values, labels, {});
    engine = std::make_unique<GlmEngine>(table, LossSpec{});
  }
  Vector gradient(const Vector& w) const {
    Vector sum = Vector::Zero(kDim);
    for (std::size_t i = 0; i < x.size(); ++i) {
      double z = 0;
      for (std::size_t j = 0; j < kDim; ++j) z += x[i][j] * w[static_cast<Eigen::Index>(j)];
      const double slope = -y[i] / (1 + std::exp(y[i] * z));
      for (std::size_t j = 0; j < kDim; ++j) sum[static_cast<Eigen::Index>(j)] += slope * x[i][j];
    }
    return sum / kRows;
  }
  PublicFacts facts(const std::string& constraint, const std::string& regularizer = "none") const {
    PublicFacts facts;
    facts.problem.n = kRows;
    facts.problem.dimension = kDim;
    facts.problem.row_norm = std::sqrt(static_cast<double>(kDim));
    facts.problem.row_max = 1;
    facts.problem.linear_rows = true;
    facts.problem.constraint = *parse_constraint(constraint);
    facts.problem.regularizer = *Regularizer::parse(regularizer);
    facts.single_release_multiplier = 2;
    return facts;
  }
  OptimizerResult run(const std::string& method,
                      const GivenOptions& given,
                      const PublicFacts& facts) const {
    const auto configured = (*find_method(method))->configure(given, facts);
    EXPECT_TRUE(configured) << configured.error().message;
    ExactOracle oracle(*engine, facts.problem, Stream::seeded(1, Purpose::kSampling), true);
    NoObserver observer;
    const auto result = configured->optimizer->run(oracle, 1, observer);
    EXPECT_TRUE(result) << result.error().message;
    return *result;
  }
};

double shrink(double v, double t) { return std::copysign(std::max(std::fabs(v) - t, 0.0), v); }

TEST(DpPgd, IsProximalGradientDescentWithoutNoise) {
  const Fixture f;
  const PublicFacts facts = f.facts("l2:0.8", "l1:0.05");
  const auto result =
      f.run("dp-pgd", {{"steps", "40"}, {"step_size", "0.7"}, {"clip_radius", "9"}}, facts);
  Vector w = Vector::Zero(kDim);
  for (int t = 0; t < 40; ++t) {
    w -= 0.7 * f.gradient(w);
    for (double& v : w) v = shrink(v, 0.7 * 0.05);
    if (w.norm() > 0.8) w *= 0.8 / w.norm();
  }
  EXPECT_LE((result.w - w).norm(), kExact);
  EXPECT_NEAR(w.norm(), 0.8, 1e-9) << "the ball is active, or the test shows little";
}

TEST(DpPmd, EntropyIsExponentiatedGradientWithoutNoise) {
  const Fixture f;
  const PublicFacts facts = f.facts("simplex:1.5");
  const auto result =
      f.run("dp-pmd", {{"steps", "30"}, {"step_size", "0.5"}, {"clip_radius", "9"}}, facts);
  Vector w = Vector::Constant(kDim, 1.5 / kDim);
  for (int t = 0; t < 30; ++t) {
    const Vector g = f.gradient(w);
    for (Eigen::Index j = 0; j < kDim; ++j) w[j] *= std::exp(-0.5 * g[j]);
    w *= 1.5 / w.sum();
  }
  EXPECT_LE((result.w - w).norm(), kExact);
}

TEST(DpPmd, EuclideanIsDpPgd) {
  const Fixture f;
  const PublicFacts facts = f.facts("l1:1");
  const GivenOptions given = {{"steps", "25"}, {"step_size", "0.5"}, {"clip_radius", "9"}};
  GivenOptions euclidean = given;
  euclidean.emplace_back("mirror", "euclidean");
  EXPECT_EQ(f.run("dp-pmd", euclidean, facts).w, f.run("dp-pgd", given, facts).w);
}

/// Plain Frank–Wolfe on an l1 ball.
Vector frank_wolfe(const Fixture& f, double radius, int steps, double gamma, double l2) {
  Vector w = Vector::Zero(kDim);
  for (int t = 0; t < steps; ++t) {
    const Vector g = f.gradient(w) + l2 * w;
    Eigen::Index best = 0;
    for (Eigen::Index j = 1; j < kDim; ++j)
      if (std::fabs(g[j]) > std::fabs(g[best])) best = j;
    const double step = gamma > 0 ? gamma : 2.0 / (t + 2);
    w *= 1 - step;
    w[best] += step * (g[best] > 0 ? -radius : radius);
  }
  return w;
}

TEST(DpFwL1, IsFrankWolfeWithoutNoise) {
  const Fixture f;
  const PublicFacts facts = f.facts("l1:3", "l2:0.1");
  for (const auto* selection : {"exponential", "noisy_max", "gaussian"}) {
    const GivenOptions given = {{"steps", "50"},
                                {"step_size", "0.05"},
                                {"selection", selection},
                                {"clip_radius", "9"},
                                {"clip_max", "9"}};
    const Vector expected = frank_wolfe(f, 3, 50, 0.05, 0.1);
    EXPECT_LE((f.run("dp-fw-l1", given, facts).w - expected).norm(), 1e-6) << selection;
    GivenOptions harmonic = given;
    harmonic.emplace_back("step_rule", "harmonic");
    EXPECT_LE((f.run("dp-fw-l1", harmonic, facts).w - frank_wolfe(f, 3, 50, 0, 0.1)).norm(), 1e-6)
        << selection;
  }
  EXPECT_LE(
      (f.run("dp-fw-l2", {{"steps", "50"}, {"step_size", "0.05"}, {"clip_radius", "9"}}, facts).w -
       frank_wolfe(f, 3, 50, 0.05, 0.1))
          .norm(),
      kExact);
}

TEST(DpFwL1, AveragesAndPolytopes) {
  const Fixture f;
  const PublicFacts facts = f.facts("l1:3");
  const GivenOptions given = {{"steps", "40"},
                              {"step_size", "0.05"},
                              {"selection", "exponential"},
                              {"clip_max", "9"},
                              {"output", "average"}};
  Vector mean = Vector::Zero(kDim);
  for (int t = 21; t <= 40; ++t) mean += frank_wolfe(f, 3, t, 0.05, 0) / 20;
  EXPECT_LE((f.run("dp-fw-l1", given, facts).w - mean).norm(), 1e-6);

  // The ball's corners, listed: the same run.
  PublicFacts listed = facts;
  Matrix corners(2 * kDim, kDim);
  corners << 3 * Matrix::Identity(kDim, kDim), -3 * Matrix::Identity(kDim, kDim);
  listed.problem.constraint = polytope(corners);
  EXPECT_LE((f.run("dp-fw-l1", given, listed).w - mean).norm(), 1e-6);
}

TEST(DpFwL1, OnASimplexStartsAtAVertexAndStaysInside) {
  const Fixture f;
  const PublicFacts facts = f.facts("simplex:2");
  const auto result =
      f.run("dp-fw-l1", {{"steps", "60"}, {"selection", "exponential"}, {"clip_max", "9"}}, facts);
  EXPECT_TRUE(facts.problem.constraint->contains(result.w));
}

TEST(Constrained, TheSelectionFollowsTheRowsGeometry) {
  const auto selection = [](double row_norm, double row_max, std::int64_t d) {
    PublicFacts facts;
    facts.problem.n = 10000;
    facts.problem.dimension = d;
    facts.problem.row_norm = row_norm;
    facts.problem.row_max = row_max;
    facts.problem.constraint = l1_ball(1);
    facts.single_release_multiplier = 4;
    const auto configured = (*find_method("dp-fw-l1"))->configure({}, facts);
    EXPECT_TRUE(configured);
    for (const auto& setting : configured->settings)
      if (setting.name == "selection") return setting.value;
    return std::string();
  };
  EXPECT_EQ(selection(1, 1, 54), "gaussian") << "normalized rows";
  EXPECT_EQ(selection(std::sqrt(50.0), 1, 100000), "exponential") << "50 entries of size 1";
  // The switch lies at √(ln(2d)/2): 2.47 for d = 1e5.
  EXPECT_EQ(selection(2.4, 1, 100000), "gaussian");
  EXPECT_EQ(selection(2.5, 1, 100000), "exponential");
}

TEST(Constrained, BadSetsAndOptionsSayWhatIsWrong) {
  const Fixture f;
  const auto message = [&](const std::string& method,
                           const GivenOptions& given,
                           const std::string& constraint,
                           const std::string& regularizer = "none") {
    const auto configured =
        (*find_method(method))->configure(given, f.facts(constraint, regularizer));
    EXPECT_FALSE(configured) << method << " " << constraint;
    if (configured) return std::string();
    EXPECT_EQ(configured.error().kind, ErrorKind::kUsage);
    return configured.error().message;
  };
  EXPECT_THAT(message("dp-fw-l1", {}, "none"), HasSubstr("needs a bounded set"));
  EXPECT_THAT(message("dp-fw-l2", {}, "box:-inf,1"), HasSubstr("needs a bounded set"));
  EXPECT_THAT(message("dp-pgd", {{"start", "zero"}}, "box:1,2"), HasSubstr("outside"));
  EXPECT_THAT(message("dp-fw-l2", {{"start", "zero"}}, "simplex"), HasSubstr("outside"));
  EXPECT_THAT(message("dp-fw-l1", {{"start", "zero"}, {"selection", "exponential"}}, "simplex"),
              HasSubstr("outside"));
  EXPECT_THAT(message("dp-fw-l1", {{"selection", "exponential"}}, "box:-1,1"), HasSubstr("2^d"));
  EXPECT_THAT(message("dp-fw-l1", {}, "l1:1", "l1:0.1"), HasSubstr("smooth"));
  EXPECT_THAT(message("dp-pgd", {}, "box:-1,1", "group-l1:1,2"), HasSubstr("no exact step"));
  EXPECT_THAT(message("dp-pmd", {{"mirror", "entropy"}}, "l2:1"), HasSubstr("simplex"));
  EXPECT_THAT(message("dp-pgd", {{"certificate_share", "0.1"}}, "none"), HasSubstr("bounded"));
  EXPECT_THAT(message("dp-fw-l1", {{"step_size", "1.5"}}, "l1:1"), HasSubstr("(0, 1]"));
  EXPECT_THAT(message("dp-pgd", {}, "group-l1:1,9"), HasSubstr("groups of 9"));
  EXPECT_THAT(message("dp-fw-l1", {{"start", "random"}, {"selection", "exponential"}}, "l1:1"),
              HasSubstr("sparse"));
  EXPECT_THAT(message("dp-pmd", {{"start", "random"}, {"mirror", "entropy"}}, "l1:1"),
              HasSubstr("starts at 0"));
  EXPECT_THAT(message("dp-pmd", {{"start", "random"}}, "simplex:0.1"), HasSubstr("edge"));
}

// The paper's experiments start at a random vector, and its algorithms may return it.
TEST(Constrained, ARandomStartIsThatOfTheCoinAndMayBeTheModel) {
  const Fixture f;
  const GivenOptions first = {
      {"steps", "9"}, {"output", "random_before"}, {"drawn_steps", "1"}, {"start", "random"}};
  for (const std::string method : {"dp-pgd", "dp-pmd", "dp-fw-l2"}) {
    std::set<double> seen;
    for (const double coin : {0.1, 0.2, 0.9}) {
      PublicFacts facts = f.facts("l2:0.8");
      facts.coin = coin;
      const Vector start = f.run(method, first, facts).w;
      EXPECT_NEAR(start.norm(), 0.8, 1e-9) << "N(0, I) lies outside of this ball as a rule";
      EXPECT_EQ(start, f.run(method, first, facts).w);
      seen.insert(start[0]);
    }
    EXPECT_EQ(seen.size(), 3u);
  }
  // Without a set it has the norm of a normal vector, and the steps begin there.
  PublicFacts facts = f.facts("none");
  facts.coin = 0.3;
  GivenOptions second = {{"steps", "9"},
                         {"step_size", "0.7"},
                         {"clip_radius", "9"},
                         {"output", "random_before"},
                         {"drawn_steps", "2"},
                         {"start", "random"}};
  const Vector start = f.run("dp-pgd", first, facts).w;
  EXPECT_GT(start.norm(), 0.5);
  EXPECT_LE((f.run("dp-pgd", second, facts).w - (start - 0.7 * f.gradient(start))).norm(), kExact);
}

TEST(DpFwL1, TheIterateBeforeTheDrawnStepIsThePathBeforeItsMove) {
  const Fixture f;
  const PublicFacts facts = f.facts("l1:3");
  const auto with = [&](const char* output, const char* drawn) {
    return f
        .run("dp-fw-l1",
             {{"steps", "20"},
              {"step_size", "0.2"},
              {"clip_max", "9"},
              {"selection", "exponential"},
              {"output", output},
              {"drawn_steps", drawn}},
             facts)
        .w;
  };
  EXPECT_EQ(with("random_before", "8"), with("random", "7"));
  EXPECT_EQ(with("random_before", "1"), Vector::Zero(kDim));
}

// The release that certifies has a radius of its own: what the loss can reach at w on rows as they
// are declared, in the norm that asks for less noise, whatever the steps clip to.
TEST(Certificate, ClipsWhereNoRowReachesAndInTheBetterNorm) {
  class Asked final : public testing::PassingOracle {
   public:
    using PassingOracle::PassingOracle;
    Expected<Released<NoisyGap>> gap(const GapQuery& q) override {
      in_max_norm = q.in_max_norm;
      clip = q.clip;
      at = q.at;
      return inner_.gap(q);
    }
    bool in_max_norm = false;
    double clip = 0;
    Vector at;
  };
  const Fixture f;
  for (const auto* set : {"l1:3", "l2:3"}) {
    const PublicFacts facts = f.facts(set);
    const auto configured =
        (*find_method("dp-pgd"))
            ->configure({{"steps", "9"}, {"clip_radius", "0.1"}, {"certificate_share", "0.2"}},
                        facts);
    ASSERT_TRUE(configured) << configured.error().message;
    ExactOracle exact(*f.engine, facts.problem, Stream::seeded(1, Purpose::kSampling), true);
    Asked oracle(exact);
    NoObserver observer;
    const auto result = configured->optimizer->run(oracle, 1, observer);
    ASSERT_TRUE(result && result->gap);
    // Entries of 1, rows of length R: the smaller of what a unit moves the gap by in either norm.
    const double R = facts.problem.row_norm;
    const auto d = facts.problem.dimension;
    const double by_entries = oracle.at.lpNorm<1>() + facts.problem.constraint->largest_l1(d);
    const bool entries = by_entries < R * facts.problem.constraint->diameter(d);
    EXPECT_EQ(oracle.in_max_norm, entries);
    const double margin = std::min(R * oracle.at.norm(), oracle.at.lpNorm<1>());
    EXPECT_NEAR(oracle.clip, (entries ? 1 : R) / (1 + std::exp(-margin)), 1e-5);
    EXPECT_NEAR(
        result->gap->gap, facts.problem.constraint->gap(result->w, f.gradient(result->w)), 1e-6);
  }
}

TEST(Certificate, IsRefusedWhereGradientsHaveNoBound) {
  const Fixture f;
  const auto expect_refusal = [&](const std::string& words, const auto& change) {
    PublicFacts facts = f.facts("l1:3");
    change(facts.problem);
    for (const auto* method : {"dp-pgd", "dp-pmd", "dp-fw-l2", "dp-fw-l1"}) {
      const auto refused = (*find_method(method))->configure({{"certificate_share", "0.1"}}, facts);
      ASSERT_FALSE(refused) << method;
      EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
      EXPECT_THAT(refused.error().message, HasSubstr(words)) << method;
      EXPECT_THAT(refused.error().message, HasSubstr("‘certificate_share’")) << method;
    }
  };
  constexpr double kNone = std::numeric_limits<double>::infinity();
  expect_refusal("one row", [](PublicProblem& p) { p.linear_rows = false; });
  expect_refusal("‘row_norm’ or ‘row_max’",
                 [](PublicProblem& p) { p.row_norm = p.row_max = kNone; });
  expect_refusal("‘loss huber’",
                 [](PublicProblem& p) { p.loss = loss_info({LossKind::kSquared}); });
  expect_refusal("l1:0.1",
                 [](PublicProblem& p) { p.regularizer = Regularizer(RegularizerKind::kL1, 0.1); });
}

}  // namespace
}  // namespace sotto
