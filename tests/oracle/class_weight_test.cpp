// Two data sets that differ in one row, under weights of classes: their sums, clipped as the oracle
// clips with ClipRule::kGlm, stay within the claims. A twin of the facts that leaves the weights
// out claims less than rows move a sum by.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "sotto/objective/glm.hpp"
#include "sotto/oracle/claims/claims.hpp"
#include "sotto/oracle/per_example_sum.hpp"

namespace sotto {
namespace {

constexpr double kR = 1.5;
constexpr double kScale = 0.7;
constexpr double kHuge = 1e6;  // radii that clip nothing, so that all is up to the loss's bounds

LossSpec weighted_loss(LossKind kind) {
  LossSpec loss{kind};
  loss.weights = {0.5, 4};
  return loss;
}

PublicProblem problem_of(const LossInfo& loss) {
  PublicProblem problem;
  problem.n = 5;
  problem.dimension = 3;
  problem.row_norm = kR;
  problem.linear_rows = true;
  problem.relation = Relation::kReplaceOne;
  problem.loss = loss;
  return problem;
}

/// Four fixed rows and a last one.
Table table_with(const Eigen::Vector3d& x, float label) {
  std::vector<float> values, labels = {1, -1, 1, -1, label};
  for (int i = 0; i < 12; ++i) values.push_back(static_cast<float>(0.5 * std::sin(1.3 * i)));
  for (const double entry : x) values.push_back(static_cast<float>(entry));
  return TableBuilder::dense(5, 3, values, labels, {});
}

/// All sums of one data set, clipped to what the facts say.
struct Sums {
  Vector gradient, pair, joint_gradient;
  double loss = 0;
  Matrix hessian, joint_hessian;
};

struct Trial {
  PublicProblem problem;
  Vector w, before;

  GradientQuery gradient() const { return {w, Sampling::full(), kHuge, 1, ClipRule::kGlm}; }
  GradientPairQuery pair() const {
    return {w, before, Sampling::full(), {0.4, kHuge, kHuge}, 1, ClipRule::kGlm};
  }
  LossQuery loss() const { return {w, Sampling::full(), kHuge, 1, ClipRule::kGlm}; }
  HessianQuery hessian() const { return {w, Sampling::full(), kHuge, 1, ClipRule::kGlm}; }
  JointQuery joint() const { return {w, Sampling::full(), kHuge, kScale, 1, ClipRule::kGlm}; }

  Sums sums(const Table& table, const LossSpec& spec) const {
    const GlmEngine engine(table, spec);
    PerExampleSum sum(engine);
    Sums all;
    sum.clipped_gradients({}, w, bounds_of(gradient(), problem).radius, all.gradient);
    sum.clipped_gradient_pairs({}, w, before, bounds_of(pair(), problem).clip, all.pair);
    const TermBounds losses = bounds_of(loss(), problem);
    all.loss = sum.clipped_losses({}, w, losses.radius, losses.floor);
    sum.clipped_hessians({}, w, bounds_of(hessian(), problem).radius, all.hessian);
    sum.clipped_pairs(
        {}, w, bounds_of(joint(), problem).radius, kScale, all.joint_gradient, all.joint_hessian);
    return all;
  }
  std::vector<double> claimed() const {
    const Claims claims(problem);
    return {claims.of(gradient()).sensitivity(),
            claims.of(pair()).sensitivity(),
            claims.of(loss()).sensitivity(),
            claims.of(hessian()).sensitivity(),
            claims.of(joint()).sensitivity()};
  }
};

/// The largest share of each claim that replacing the last row moves a sum by.
std::vector<double> moved(const Trial& trial, const LossSpec& spec) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  std::vector<Sums> all;
  const auto add = [&](Eigen::Vector3d x, float label) {
    x *= kR * (1 - 1e-7) / x.norm();
    all.push_back(trial.sums(table_with(x, label), spec));
  };
  const Eigen::Vector3d along = trial.w.head<3>().normalized();
  const Eigen::Vector3d across(-along[1], along[0], 0);
  for (int k = 0; k < 24; ++k)
    for (const float label : {1.0F, -1.0F})
      add(std::cos(M_PI * k / 12) * along + std::sin(M_PI * k / 12) * across, label);
  for (int k = 0; k < 40; ++k)
    add(Eigen::Vector3d(normal(random), normal(random), normal(random)), k % 2 ? 1.0F : -1.0F);
  const auto claims = trial.claimed();
  std::vector<double> most(claims.size());
  for (const Sums& a : all)
    for (const Sums& b : all) {
      const double distances[] = {(a.gradient - b.gradient).norm(),
                                  (a.pair - b.pair).norm(),
                                  std::abs(a.loss - b.loss),
                                  (a.hessian - b.hessian).norm(),
                                  std::hypot((a.joint_gradient - b.joint_gradient).norm(),
                                             (a.joint_hessian - b.joint_hessian).norm() / kScale)};
      for (std::size_t k = 0; k < most.size(); ++k)
        most[k] = std::max(most[k], distances[k] / claims[k]);
    }
  return most;
}

Trial trial_of(const LossInfo& loss, double length) {
  Trial trial;
  trial.problem = problem_of(loss);
  trial.w = Vector::Zero(3);
  trial.w << 0.8 * length, 0.6 * length, 0;
  trial.before = 0.3 * trial.w;
  return trial;
}

TEST(ClassWeightClaims, HoldForReplacedRows) {
  for (const LossKind kind : {LossKind::kLogistic, LossKind::kSigmoid})
    for (const double length : {0.1, 1.0, 3.0}) {
      const LossSpec spec = weighted_loss(kind);
      const auto shares = moved(trial_of(loss_info(spec), length), spec);
      for (std::size_t k = 0; k < shares.size(); ++k)
        EXPECT_LE(shares[k], 1) << to_string(spec) << " " << length << " " << k;
      EXPECT_GT(*std::max_element(shares.begin(), shares.end()), 0.9) << "twice would pass";
    }
}

TEST(ClassWeightClaims, ATwinWithoutTheWeightsIsCaught) {
  // Its clip radius is too small, too, and enforced; but a replaced row moves the sum by more than
  // the diameter that it claims of unweighted rows.
  const LossSpec spec = weighted_loss(LossKind::kLogistic);
  const auto shares = moved(trial_of(loss_info({}), 1), spec);
  EXPECT_GT(shares[0], 1.2) << "gradients";
  EXPECT_GT(shares[4], 1.05) << "pairs";
}

}  // namespace
}  // namespace sotto
