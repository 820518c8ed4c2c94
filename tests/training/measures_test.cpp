#include "sotto/training/measures.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/data/synthetic_linear.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/training/train.hpp"

namespace sotto {
namespace {

constexpr std::int64_t kRows = 500;
constexpr std::int64_t kDim = 40;

struct Fixture {
  LinearData data = make_dense_linear(kRows, kDim, 4);
  GlmEngine engine{data.table, {}};
  PublicProblem problem;
  Fixture() {
    problem.n = kRows;
    problem.dimension = kDim;
    problem.row_norm = 1;
    problem.linear_rows = true;
  }
  /// Per-row gradients of the logistic loss, on paper.
  std::vector<Vector> gradients(const Vector& w) const {
    std::vector<Vector> result;
    for (std::int64_t i = 0; i < kRows; ++i) {
      Vector x(kDim);
      for (Eigen::Index j = 0; j < kDim; ++j) x[j] = data.table.row(i)[j];
      const double y = data.table.labels()[static_cast<std::size_t>(i)];
      result.push_back(-y / (1 + std::exp(y * x.dot(w))) * x);
    }
    return result;
  }
};

TEST(Measures, GapAndProjectedGradientOnPaper) {
  Fixture f;
  f.problem.constraint = l1_ball(2);
  Vector w = Vector::Zero(kDim);
  w[3] = 1;
  w[7] = -0.5;
  Vector mean = Vector::Zero(kDim);
  for (const Vector& g : f.gradients(w)) mean += g / kRows;
  const Diagnostics d = true_values(f.engine, f.problem, w);
  EXPECT_NEAR(d.gradient_norm, mean.norm(), 1e-9);
  ASSERT_TRUE(d.frank_wolfe_gap);
  EXPECT_NEAR(*d.frank_wolfe_gap, w.dot(mean) + 2 * mean.lpNorm<Eigen::Infinity>(), 1e-9);
  // Inside the ball, far from its surface, the projected gradient is the gradient.
  ASSERT_TRUE(d.projected_gradient_norm);
  EXPECT_NEAR(*d.projected_gradient_norm, mean.norm(), 1e-9);
  // Without a set and with a smooth regularizer there is nothing to add.
  f.problem.constraint = nullptr;
  const Diagnostics plain = true_values(f.engine, f.problem, w);
  EXPECT_FALSE(plain.frank_wolfe_gap);
  EXPECT_FALSE(plain.projected_gradient_norm);
}

TEST(Measures, ThePopulationGradientHasItsSamplingError) {
  const Fixture f;
  const Vector w = Vector::Constant(kDim, 0.3);
  const std::vector<Vector> gradients = f.gradients(w);
  Vector mean = Vector::Zero(kDim);
  for (const Vector& g : gradients) mean += g / kRows;
  double spread = 0;
  for (const Vector& g : gradients) spread += (g - mean).squaredNorm();
  const PopulationGradient estimate = population_gradient(f.engine, f.problem, w);
  EXPECT_EQ(estimate.rows, kRows);
  EXPECT_NEAR(estimate.norm, mean.norm(), 1e-9);
  EXPECT_NEAR(estimate.standard_error, std::sqrt(spread / (kRows - 1) / kRows), 1e-9);
}

TEST(Train, AConstraintNeedsAMethodThatKeepsIt) {
  Fixture f;
  f.problem.constraint = l1_ball(2);
  TrainOptions options;
  options.epsilon = 1;
  options.delta = 1e-6;
  options.method = "dp-gd";
  const auto refused = prepare(f.problem, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  options.method = "dp-fw-l1";
  options.options = {{"certificate_share", "0.2"}, {"selection", "exponential"}};
  options.seed = 1;
  auto prepared = prepare(f.problem, options);
  ASSERT_TRUE(prepared) << prepared.error().message;
  NoObserver observer;
  const auto result = train(f.engine, f.problem, options, *std::move(prepared), observer);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(f.problem.constraint->contains(result->w));
  EXPECT_LE(result->record.privacy.epsilon, 1);
  ASSERT_TRUE(result->record.gap);
  EXPECT_GT(result->record.gap->half_width, 0);
}

}  // namespace
}  // namespace sotto
