#include "sotto/optimizer/first_order/recursive_descent.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/data/table.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/oracle/exact_oracle.hpp"
#include "sotto/oracle/private_oracle.hpp"
#include "tests/support/recording_oracle.hpp"

namespace sotto {
namespace {

constexpr double kExactRecursion = 1e-12;

/// Logistic (or least squares) on few rows, with everything computed plainly.
struct Small {
  explicit Small(LossKind kind, int copies = 1) : loss{kind} {
    for (int c = 0; c < copies; ++c) {
      for (const float x :
           {1.0F, 0.0F, 0.5F, 0.0F, 2.0F, -1.0F, 1.0F, 1.0F, 1.0F, -0.5F, 0.25F, 0.0F})
        rows.push_back(x);
      for (const float y : {1.0F, -1.0F, 1.0F, -1.0F}) labels.push_back(y);
    }
    table = TableBuilder::dense(std::ssize(labels), 3, rows, labels, {});
    engine = std::make_unique<GlmEngine>(table, loss);
  }

  PublicProblem problem(Regularizer regularizer = {},
                        Relation relation = Relation::kZeroOut) const {
    PublicProblem p;
    p.n = std::ssize(labels);
    p.dimension = 3;
    p.row_norm = 2.3;
    p.loss = loss_info(loss);
    p.regularizer = regularizer;
    p.relation = relation;
    return p;
  }

  Vector gradient(std::size_t i, const Vector& w) const {
    Vector x(3);
    for (Eigen::Index j = 0; j < 3; ++j)
      x[j] = static_cast<double>(rows[3 * i + static_cast<std::size_t>(j)]);
    const auto y = static_cast<double>(labels[i]);
    if (loss.kind == LossKind::kSquared) return (x.dot(w) - y) * x;
    return -y / (1 + std::exp(y * x.dot(w))) * x;
  }

  LossSpec loss;
  std::vector<float> rows;
  std::vector<float> labels;
  Table table;
  std::unique_ptr<GlmEngine> engine;
};

RecursiveOptions recursive_options(std::int64_t steps, std::int64_t n) {
  RecursiveOptions options;
  options.average = 0;
  options.steps = steps;
  options.step_size = 0.4;
  options.clip_radius = 0.5;
  options.difference_clip = 0.02;
  options.adaptive_bound = false;
  options.mixture = 0.25;
  options.expected_batch = n;
  options.anchor_batch = n;
  options.anchor_share = 0.3;
  return options;
}

Vector clipped(const Vector& v, double radius) {
  return v * std::min(1.0, radius / std::max(v.norm(), 1e-300));
}

/// [WJEG23] and [ABGGMU23] without noise, written once more.
Vector reference(const Small& small, const RecursiveOptions& o, double lambda) {
  Vector w = Vector::Zero(3), before = w, v = w;
  const double gamma = *o.mixture;
  const double C1 = *o.clip_radius, C2 = *o.difference_clip;
  const auto n = small.labels.size();
  for (std::int64_t t = 0; t < *o.steps; ++t) {
    Vector mean = Vector::Zero(3);
    const bool anchor = t == 0 || (o.phase && t % *o.phase == 0);
    for (std::size_t i = 0; i < n; ++i) {
      const Vector g = small.gradient(i, w);
      const Vector d = g - small.gradient(i, before);
      if (anchor)
        mean += clipped(g, C1);
      else if (o.clip_together)
        mean += clipped(gamma * g + (1 - gamma) * d, gamma * C1 + (1 - gamma) * C2);
      else
        mean += gamma * clipped(g, C1) + (1 - gamma) * clipped(d, C2);
    }
    mean /= static_cast<double>(n);
    v = anchor ? mean : Vector(mean + (1 - gamma) * v);
    before = w;
    w -= *o.step_size * (v + lambda * w);
  }
  return w;
}

TEST(RecursiveDescent, WithoutNoiseEqualsThePlainlyWrittenMethod) {
  const Small small(LossKind::kLogistic);
  const Regularizer l2(RegularizerKind::kL2, 0.1);
  for (const bool together : {false, true})
    for (const bool phases : {false, true}) {
      RecursiveOptions options = recursive_options(23, 4);
      options.clip_together = together;
      if (phases) {
        options.phase = 5;
        options.mixture = 0;
      }
      ExactOracle oracle(
          *small.engine, small.problem(l2), Stream::seeded(1, Purpose::kSampling), true);
      NoObserver observer;
      const auto result = RecursiveDescent(options, small.problem(l2)).run(oracle, 1, observer);
      ASSERT_TRUE(result);
      EXPECT_LE((result->w - reference(small, options, 0.1)).norm(), kExactRecursion);
      RecursiveOptions unclipped = options;
      unclipped.clip_radius = 100;
      unclipped.difference_clip = 100;
      EXPECT_GT((result->w - reference(small, unclipped, 0.1)).norm(), 1e-3)
          << "clipping was tested";
    }
}

TEST(RecursiveDescent, TheAdaptiveBoundClipsNothing) {
  const Small small(LossKind::kLogistic);
  RecursiveOptions options = recursive_options(23, 4);
  options.clip_radius = 100;
  options.difference_clip = 100;
  options.adaptive_bound = true;
  ExactOracle oracle(*small.engine, small.problem(), Stream::seeded(1, Purpose::kSampling), true);
  NoObserver observer;
  const auto result = RecursiveDescent(options, small.problem()).run(oracle, 1, observer);
  EXPECT_LE((result->w - reference(small, options, 0)).norm(), kExactRecursion);
}

TEST(RecursiveDescent, ReleasesExactlyOnceAStep) {
  const Small small(LossKind::kLogistic);
  for (const auto& [phase, anchors] : {std::pair{std::int64_t{0}, 1}, {4, 3}, {1, 9}}) {
    RecursiveOptions options = recursive_options(9, 4);
    if (phase) options.phase = phase;
    ExactOracle exact(*small.engine, small.problem(), Stream::seeded(1, Purpose::kSampling), true);
    testing::RecordingOracle oracle(exact);
    NoObserver observer;
    const RecursiveDescent method(options, small.problem());
    ASSERT_TRUE(method.run(oracle, 2, observer));
    const CanonicalEvent spent = *canonical(oracle.spent());
    std::int64_t releases = 0;
    for (const Term& term : spent.terms) releases += term.count;
    EXPECT_EQ(releases, 9) << "T steps, T releases, and none whose answer is thrown away";
    EXPECT_EQ(exact.gradient_evaluations(), 4 * (anchors + 2 * (9 - anchors)));
  }
}

TEST(RecursiveDescent, ARandomOutputIsPlannedForItsOwnStepsOnly) {
  const Small small(LossKind::kLogistic);
  RecursiveOptions options = recursive_options(100, 4);
  options.output = OutputKind::kRandom;
  fill_output(options, 100, 0.419);
  EXPECT_EQ(*options.drawn_steps, 42);
  const RecursiveDescent method(options, small.problem());
  std::int64_t releases = 0;
  const CanonicalEvent plan = *canonical(method.plan(small.problem(), 3).event);
  for (const Term& term : plan.terms) releases += term.count;
  EXPECT_EQ(releases, 42);
  ExactOracle oracle(*small.engine, small.problem(), Stream::seeded(1, Purpose::kSampling), true);
  NoObserver observer;
  RecursiveOptions short_run = recursive_options(42, 4);
  EXPECT_LE((method.run(oracle, 1, observer)->w - reference(small, short_run, 0)).norm(),
            kExactRecursion);
}

TEST(RecursiveDescent, TheAnchorsShareIsKept) {
  const Small small(LossKind::kLogistic);
  const RecursiveDescent method(recursive_options(10, 4), small.problem());
  double anchor = 0, pairs = 0;
  const CanonicalEvent plan = *canonical(method.plan(small.problem(), 3).event);
  for (const Term& term : plan.terms) {
    const double cost = static_cast<double>(term.count) / (term.parameter * term.parameter);
    (term.count == 1 ? anchor : pairs) += cost;
  }
  EXPECT_NEAR(anchor / (anchor + pairs), 0.3, 1e-12);
}

/// Least squares without clipping: the mean of noisy runs is the run without noise.
TEST(RecursiveDescent, TheMeanOver200SeedsIsTheClosedForm) {
  const Small small(LossKind::kSquared, 50);
  PublicProblem problem = small.problem();
  RecursiveOptions options = recursive_options(12, 200);
  options.step_size = 0.2;
  options.clip_radius = 40;
  options.difference_clip = 40;
  const RecursiveDescent method(options, problem);
  const Plan plan = method.plan(problem, 1);
  Vector sum = Vector::Zero(3), squares = Vector::Zero(3);
  constexpr int kSeeds = 200;
  for (int seed = 0; seed < kSeeds; ++seed) {
    LedgerOptions granted;
    granted.budget.delta = 1e-5;
    granted.plan = plan.event;
    granted.planned_samples = plan.noise_samples;
    Ledger ledger = *Ledger::open(granted);
    PrivateOracle oracle(*small.engine,
                         problem,
                         ledger,
                         Stream::seeded(static_cast<std::uint64_t>(seed), Purpose::kSampling),
                         Stream::seeded(static_cast<std::uint64_t>(seed), Purpose::kNoise));
    NoObserver observer;
    const auto result = method.run(oracle, 1, observer);
    ASSERT_TRUE(result) << result.error().message;
    sum += result->w;
    squares += result->w.cwiseProduct(result->w);
  }
  const Vector mean = sum / kSeeds;
  const Vector deviation =
      (squares / kSeeds - mean.cwiseProduct(mean)).cwiseSqrt() / std::sqrt(kSeeds - 1);
  const auto worst = [&](const Vector& expected) {
    return (mean - expected).cwiseQuotient(deviation).cwiseAbs().maxCoeff();
  };
  // Student's t with 199 degrees of freedom in three coordinates: above 6 with probability 3e-8.
  EXPECT_LE(worst(reference(small, options, 0)), 6);
  // The power twin: a run whose steps are half as long.
  RecursiveOptions slower = options;
  slower.step_size = 0.1;
  slower.steps = 3;
  EXPECT_GT(worst(reference(small, slower, 0)), 6);
}

}  // namespace
}  // namespace sotto
