#include "sotto/optimizer/first_order/noisy_descent.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/data/table.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/optimizer/parts/schedule.hpp"
#include "sotto/optimizer/parts/tail_average.hpp"
#include "sotto/oracle/exact_oracle.hpp"

namespace sotto {
namespace {

constexpr double kExact = 1e-12;

/// Least squares on few rows: everything has a closed form.
struct SmallProblem {
  std::vector<float> rows = {1, 0, 0.5F, 0, 2, -1, 1, 1, 1, -0.5F, 0.25F, 0};
  std::vector<float> labels = {1, -1, 0.5F, 2};
  Table table = TableBuilder::dense(4, 3, rows, labels, {});
  GlmEngine engine{table, {LossKind::kSquared}};

  PublicProblem problem(Regularizer regularizer = {}) const {
    PublicProblem p;
    p.n = 4;
    p.dimension = 3;
    p.row_norm = 3;
    p.loss = loss_info({LossKind::kSquared});
    p.regularizer = regularizer;
    return p;
  }
  Vector gradient(const Vector& w) const {
    Vector g = Vector::Zero(3);
    for (int i = 0; i < 4; ++i) {
      double prediction = 0;
      for (int j = 0; j < 3; ++j) prediction += rows[static_cast<std::size_t>(3 * i + j)] * w[j];
      for (int j = 0; j < 3; ++j)
        g[j] += (prediction - labels[static_cast<std::size_t>(i)]) *
                rows[static_cast<std::size_t>(3 * i + j)] / 4;
    }
    return g;
  }
};

DescentOptions options_of(std::int64_t steps, double step_size) {
  DescentOptions options;
  options.steps = steps;
  options.step_size = step_size;
  options.clip_radius = 16;  // above every gradient here: nothing is clipped
  return options;
}

TEST(NoisyDescent, WithoutNoiseIsPlainGradientDescentWithMomentum) {
  const SmallProblem small;
  const Regularizer l2(RegularizerKind::kL2, 0.1);
  ExactOracle oracle(small.engine, small.problem(l2), Stream::seeded(1, Purpose::kSampling), true);
  DescentOptions options = options_of(25, 0.3);
  options.momentum = 0.5;
  options.schedule = Schedule::kLinear;
  NoObserver observer;
  const auto result = NoisyDescent(options, Sampling::full()).run(oracle, 1, observer);
  ASSERT_TRUE(result);

  // An independent, plainly written reference.
  Vector w = Vector::Zero(3);
  Vector v = Vector::Zero(3);
  for (int t = 0; t < 25; ++t) {
    v = 0.5 * v + small.gradient(w) + 0.1 * w;
    w = w - 0.3 * (1 - t / 25.0) * v;
  }
  EXPECT_LE((result->w - w).norm(), kExact);
}

TEST(NoisyDescent, L1GoesThroughItsProx) {
  const SmallProblem small;
  const Regularizer l1(RegularizerKind::kL1, 10);
  ExactOracle oracle(small.engine, small.problem(l1), Stream::seeded(1, Purpose::kSampling));
  NoObserver observer;
  const auto result = NoisyDescent(options_of(20, 0.1), Sampling::full()).run(oracle, 1, observer);
  EXPECT_EQ(result->w, Vector::Zero(3)) << "a strong l1 keeps every weight at exactly zero";
}

TEST(NoisyDescent, FullParticipationOfAPoissonBatchIsTheFullBatch) {
  const SmallProblem small;
  NoObserver observer;
  ExactOracle a(small.engine, small.problem(), Stream::seeded(1, Purpose::kSampling));
  ExactOracle b(small.engine, small.problem(), Stream::seeded(2, Purpose::kSampling));
  const auto full = NoisyDescent(options_of(10, 0.2), Sampling::full()).run(a, 1, observer);
  const auto poisson = NoisyDescent(options_of(10, 0.2), Sampling::poisson(1)).run(b, 1, observer);
  EXPECT_EQ(full->w, poisson->w);
}

TEST(StepSchedule, Shapes) {
  EXPECT_EQ(StepSchedule(Schedule::kConstant, 2, 10)(7), 2);
  EXPECT_DOUBLE_EQ(StepSchedule(Schedule::kLinear, 2, 10)(5), 1);
  EXPECT_DOUBLE_EQ(StepSchedule(Schedule::kCosine, 2, 10)(5), 1);
  EXPECT_DOUBLE_EQ(StepSchedule(Schedule::kInverseSqrt, 2, 10)(3), 1);
}

TEST(TailAverage, IsTheMeanOfTheLastShare) {
  const auto average_of = [](double share, int steps, int seen) {
    TailAverage average(share, steps);
    for (int t = 1; t <= seen; ++t) average.add(Vector::Constant(1, t));
    return average.value()[0];
  };
  EXPECT_DOUBLE_EQ(average_of(0, 10, 10), 10);
  EXPECT_DOUBLE_EQ(average_of(0.5, 10, 10), (6 + 7 + 8 + 9 + 10) / 5.0);
  EXPECT_DOUBLE_EQ(average_of(1, 10, 10), 5.5);
  EXPECT_DOUBLE_EQ(average_of(0.5, 10, 3), 3) << "stopped before the tail: the last iterate";
}

TEST(Defaults, ComeFromPublicFactsAndReactToThem) {
  PublicFacts facts;
  facts.problem.n = 10'000;
  facts.problem.dimension = 50;
  facts.problem.row_norm = 2;
  facts.single_release_multiplier = 4;
  const DescentOptions base = with_defaults({}, facts);
  EXPECT_DOUBLE_EQ(*base.clip_radius, 1.1)
      << "above half the row norm for logistic: nothing is clipped at w = 0";
  EXPECT_GT(*base.steps, 0);
  // More noise, or fewer rows: a shorter run.
  const auto horizon = [](const DescentOptions& o) {
    return *o.step_size * static_cast<double>(*o.steps);
  };
  PublicFacts noisy = facts;
  noisy.single_release_multiplier = 40;
  EXPECT_LT(horizon(with_defaults({}, noisy)), horizon(base));
  // What is given stays.
  DescentOptions given;
  given.steps = 17;
  given.clip_radius = 0.1;
  EXPECT_EQ(*with_defaults(given, facts).steps, 17);
  EXPECT_EQ(*with_defaults(given, facts).clip_radius, 0.1);
}

}  // namespace
}  // namespace sotto
