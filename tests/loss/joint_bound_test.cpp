#include "sotto/loss/joint_bound.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <random>

#include "sotto/loss/slope_bound.hpp"

namespace sotto {
namespace {

using Vector3 = Eigen::Vector3d;
using Matrix3 = Eigen::Matrix3d;

const LossInfo kLogistic = loss_info({LossKind::kLogistic});
const LossInfo kSigmoid = loss_info({LossKind::kSigmoid});
const LossInfo kPhase = loss_info({LossKind::kPhaseRetrieval, 2});

double sigma(double x) { return 1 / (1 + std::exp(-x)); }

/// First and second derivative in the prediction, from the losses' textbook definitions.
std::pair<double, double> derivatives(const LossInfo& loss, double z, double y) {
  const double p = sigma(y * z);
  switch (loss.kind) {
    case LossKind::kLogistic:
      return {-y * (1 - p), p * (1 - p)};
    case LossKind::kSigmoid:
      return {-y * p * (1 - p), p * (1 - p) * (2 * p - 1)};
    default:
      return {z * (z * z - y), 3 * z * z - y};
  }
}

struct Pair {
  Vector3 gradient;
  Matrix3 hessian;
};

Pair pair_of(const LossInfo& loss, double length, const Vector3& x, double y) {
  const auto [first, second] = derivatives(loss, length * x[0], y);  // w along the first axis
  return {first * x, second * x * x.transpose()};
}

double joint_norm(const Pair& p, double h) {
  return std::sqrt(p.gradient.squaredNorm() + p.hessian.squaredNorm() / (h * h));
}

/// Rows of all lengths and directions, and those where bounds are reached: opposite labels on one
/// row, orthogonal rows, rows with p = 0.382.
template <class Visit>
void visit_rows(const LossInfo& loss, double R, double length, const Visit& visit) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const auto row = [&](bool longest) -> Vector3 {
    Vector3 x(normal(random), normal(random), normal(random));
    return x * (R * (longest ? 1 : std::cbrt(uniform(random))) / x.norm());
  };
  const auto label = [&] {
    if (loss.kind == LossKind::kPhaseRetrieval)
      return uniform(random) < 0.5 ? (uniform(random) < 0.5 ? 0.0 : 2.0) : 2 * uniform(random);
    return random() % 2 ? 1.0 : -1.0;
  };
  for (int k = 0; k < 20'000; ++k) {
    const Vector3 x = row(k % 2);
    Vector3 z = row(k % 3);
    if (k % 7 == 0) z = x;
    if (k % 7 == 1) z = x.cross(row(true)).normalized() * R;
    visit(x, label(), z, label());
  }
  // p = (3 - sqrt 5) / 2 of the joint bound: a margin of -0.481, if w is long enough.
  const double along = -0.4812118 / std::max(length, 1e-9);
  if (std::abs(along) <= R) {
    const Vector3 x(along, std::sqrt(R * R - along * along), 0);
    visit(x, 1.0, Vector3(x[0], -x[1], 0), 1.0);
    visit(x, 1.0, Vector3(x[0], 0, x[1]), 1.0);
  }
  visit(Vector3(0, R, 0), 1.0, Vector3(0, 0, R), 1.0);
  visit(Vector3(0, R, 0), 1.0, Vector3(0, R, 0), -1.0);
}

TEST(JointBound, HoldsForRowsAndIsReached) {
  for (const auto& loss : {kLogistic, kSigmoid, kPhase})
    for (const double R : {1.0, 1.7})
      for (const double length : {0.0, 0.2, 1.0, 3.0})
        for (const double scale : {0.1, 0.3003, 1.0, 5.0}) {
          const double h = scale * R;
          const double hessian = hessian_bound(loss, R, length);
          const double joint = joint_bound(loss, R, length, h);
          const double diameter = joint_diameter(loss, R, length, h);
          double most_hessian = 0, most_joint = 0, widest = 0, widest_hessian = 0;
          visit_rows(loss, R, length, [&](const Vector3& x, double y, const Vector3& z, double v) {
            const Pair a = pair_of(loss, length, x, y);
            const Pair b = pair_of(loss, length, z, v);
            const Pair d{a.gradient - b.gradient, a.hessian - b.hessian};
            most_hessian = std::max(most_hessian, a.hessian.norm());
            most_joint = std::max(most_joint, joint_norm(a, h));
            widest = std::max(widest, joint_norm(d, h));
            widest_hessian = std::max(widest_hessian, d.hessian.norm());
          });
          EXPECT_LE(most_hessian, hessian) << length;
          EXPECT_LE(most_joint, joint) << length << " " << scale;
          EXPECT_LE(widest, diameter) << length << " " << scale;
          EXPECT_LE(widest_hessian, hessian_diameter(loss, R, length, 1e9)) << length;
          if (loss.kind == LossKind::kLogistic) {
            EXPECT_GE(most_hessian, 0.98 * hessian);
            EXPECT_GE(most_joint, 0.95 * joint) << length << " " << scale;
            EXPECT_GE(widest, 0.93 * diameter) << length << " " << scale;
          }
        }
}

TEST(JointBound, TheHessianIsFreeUpToTheGoldenRatiosFifthPower) {
  const double far = 1e3;
  for (const auto& loss : {kLogistic, kSigmoid}) {
    const double h = free_hessian_scale(loss, 2);
    EXPECT_NEAR(joint_bound(loss, 2, far, h), 2 * loss.sup_first, 1e-8);
    EXPECT_GT(joint_bound(loss, 2, far, h / 1.05), 2 * loss.sup_first * 1.001);
  }
  EXPECT_NEAR(free_hessian_scale(kLogistic, 1), 0.3003, 5e-5);
  EXPECT_NEAR(free_hessian_scale(kSigmoid, 1), 0.7071, 5e-5);
  // algorithms.md 2.4: sup = 1.286 at kappa = 16 and 3.385 at 50.
  EXPECT_NEAR(std::pow(joint_bound(kLogistic, 1, far, 0.25), 2), 1.286, 5e-4);
  EXPECT_NEAR(std::pow(joint_bound(kLogistic, 1, far, std::sqrt(0.02)), 2), 3.385, 5e-4);
}

TEST(JointBound, CostAgainstTheIterateDependentGradientBound) {
  // algorithms.md 2.4: noise x 1.94 at W = 0 and x 1.37 at W = 1 for the free scale.
  const double h = free_hessian_scale(kLogistic, 1);
  EXPECT_NEAR(joint_cost(kLogistic, 1, 0, h, false), 1.94, 5e-3);
  EXPECT_NEAR(joint_cost(kLogistic, 1, 1, h, false), 1.37, 5e-3);
  // Replaced rows: less, because gradients and Hessians can't both be extremal. At W = 0 the
  // distance is 0.5 (1 - c) + (kappa / 8) (1 - c²), largest at c = -2 / kappa.
  const double kappa = 5.5 + 2.5 * std::sqrt(5.0);
  const double c = -2 / kappa;
  EXPECT_NEAR(joint_cost(kLogistic, 1, 0, h, true),
              std::sqrt(0.5 * (1 - c) + kappa / 8 * (1 - c * c)),
              2e-3);
}

TEST(JointBound, HessianDiameterHasTheFactorOfItsSigns) {
  EXPECT_NEAR(hessian_diameter(kLogistic, 1, 5, 1), std::sqrt(2.0) / 4, 1e-9);
  EXPECT_NEAR(hessian_diameter(kLogistic, 1, 5, 0.1), std::sqrt(2.0) / 10, 1e-9);
  EXPECT_NEAR(hessian_diameter(kSigmoid, 1, 5, 1), 2 * 0.0962250, 1e-6);
  EXPECT_NEAR(hessian_diameter(kSigmoid, 1, 0, 1), 0, 1e-6);
  EXPECT_NEAR(hessian_diameter(kPhase, 1, 0, 1e9), std::sqrt(2.0) * 2, 1e-8);
  EXPECT_NEAR(hessian_diameter(kPhase, 1, 1, 1e9), 5, 1e-8);
}

TEST(JointBound, ScalesBalanceTheNoiseThatMatters) {
  for (const bool replace : {false, true}) {
    const double short_step = hessian_scale_for_step(kLogistic, 1, 1, 0.01, replace);
    const double long_step = hessian_scale_for_step(kLogistic, 1, 1, 30, replace);
    EXPECT_GT(short_step, long_step);
    const auto noise = [&](double h, double step) {
      return joint_cost(kLogistic, 1, 1, h, replace) * std::sqrt(1 + h * h * step * step / 2);
    };
    for (const double step : {0.01, 1.0, 30.0}) {
      const double h = hessian_scale_for_step(kLogistic, 1, 1, step, replace);
      EXPECT_LE(noise(h, step), 1.002 * noise(1.5 * h, step));
      EXPECT_LE(noise(h, step), 1.002 * noise(h / 1.5, step));
    }
  }
  EXPECT_NEAR(hessian_scale_for_tolerances(0.06, 0.245), 0.245 / 0.06 / std::sqrt(2.0), 1e-12);
}

TEST(LossRange, HoldsForRowsAndIsReached) {
  for (const auto& loss : {kLogistic, kSigmoid, kPhase})
    for (const double length : {0.0, 0.3, 2.0}) {
      const auto [lowest, highest] = loss_range(loss, 1.5, length);
      double least = 1e300, most = 0;
      visit_rows(loss, 1.5, length, [&](const Vector3& x, double y, const Vector3&, double) {
        const double z = length * x[0];
        const double value = loss.kind == LossKind::kLogistic  ? std::log1p(std::exp(-y * z))
                             : loss.kind == LossKind::kSigmoid ? sigma(-y * z)
                                                               : 0.25 * std::pow(z * z - y, 2);
        least = std::min(least, value);
        most = std::max(most, value);
      });
      EXPECT_LE(lowest, least);
      EXPECT_GE(highest, most);
      EXPECT_LE(lowest, least * 1.02 + 1e-9);
      EXPECT_GE(most, highest * 0.98 - 1e-9);
    }
  EXPECT_NEAR(
      loss_range(kLogistic, 2, 1.5).highest - loss_range(kLogistic, 2, 1.5).lowest, 3, 1e-8);
}

}  // namespace
}  // namespace sotto
