#include "sotto/loss/slope_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "sotto/core/vector.hpp"

namespace sotto {
namespace {

const LossInfo kLogisticLoss = loss_info({LossKind::kLogistic});

TEST(SlopeBound, AgreesWithTheTableOfTheDesign) {
  // algorithms.md 2.1, computed by an independent prototype; three digits.
  for (const auto& [W, bound, diameter] : {std::tuple{0.0, 0.5, 1.0},
                                           {0.5, 0.623, 1.029},
                                           {1.0, 0.731, 1.099},
                                           {2.0, 0.881, 1.270},
                                           {5.0, 0.993, 1.617},
                                           {10.0, 1.0, 1.821},
                                           {50.0, 1.0, 1.981}}) {
    EXPECT_NEAR(gradient_bound(kLogisticLoss, 1, W), bound, 6e-4) << W;
    EXPECT_GE(gradient_diameter(kLogisticLoss, 1, W), diameter - 6e-4) << W;
    EXPECT_LE(gradient_diameter(kLogisticLoss, 1, W), diameter * 1.001 + 6e-4) << W;
    EXPECT_DOUBLE_EQ(gradient_bound(kLogisticLoss, 4, W / 4),
                     4 * gradient_bound(kLogisticLoss, 1, W));
  }
}

/// Random and adversarial rows: their gradients must stay within the bounds, and come close.
TEST(SlopeBound, HoldsForRowsAndIsNearlyReached) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const double R = 1.7;
  for (const double length : {0.0, 0.2, 1.0, 3.0, 20.0}) {
    const double bound = gradient_bound(kLogisticLoss, R, length);
    const double diameter = gradient_diameter(kLogisticLoss, R, length);
    double longest = 0;
    double widest = 0;
    const auto gradient = [&](double along, double across) {
      const double slope = 1 / (1 + std::exp(length * along));
      return std::pair{slope * along, slope * across};
    };
    for (int k = 0; k < 20'000; ++k) {
      double p[2][3];  // two rows in three dimensions, w along the first
      for (auto& row : p) {
        double square = 0;
        for (double& x : row) {
          x = normal(random);
          square += x * x;
        }
        const double r = R * (k % 2 ? 1 : uniform(random)) / std::sqrt(square);
        for (double& x : row) x *= r;
        const double slope = 1 / (1 + std::exp(length * row[0]));
        for (double& x : row) x *= slope;
        longest = std::max(longest, std::hypot(row[0], row[1], row[2]));
      }
      widest =
          std::max(widest, std::hypot(p[0][0] - p[1][0], p[0][1] - p[1][1], p[0][2] - p[1][2]));
    }
    for (int k = 0; k <= 2000; ++k) {  // mirrored rows of full length
      const double a = R * std::cos(M_PI * k / 2000);
      const auto [x, y] = gradient(a, std::sqrt(std::max(0.0, R * R - a * a)));
      longest = std::max(longest, std::hypot(x, y));
      widest = std::max(widest, 2 * y);
    }
    EXPECT_LE(longest, bound);
    EXPECT_GE(longest, 0.999 * bound);
    EXPECT_LE(widest, diameter);
    EXPECT_GE(widest, 0.99 * diameter) << "twice the bound would fail here";
  }
}

TEST(SlopeBound, OtherLossesAreFlatAndSquaredHasNoBound) {
  const LossInfo sigmoid = loss_info({LossKind::kSigmoid});
  EXPECT_DOUBLE_EQ(gradient_bound(sigmoid, 2, 7), 0.5);
  EXPECT_DOUBLE_EQ(gradient_diameter(sigmoid, 2, 7), 1);
  EXPECT_TRUE(std::isinf(gradient_bound(loss_info({LossKind::kSquared}), 1, 1)));
  EXPECT_LE(gradient_diameter(kLogisticLoss, 1, 1e300), 2.0001) << "far out: twice the bound";
}

struct TestLoss {
  LossSpec spec;
  double (*slope)(double);
  double (*value)(double);
};
double squash(double x) { return 1 / (1 + std::exp(-x)); }
const TestLoss kLosses[] = {
    {{LossKind::kLogistic},
     [](double m) { return -squash(-m); },
     [](double m) { return std::log1p(std::exp(-m)); }},
    {{LossKind::kSigmoid},
     [](double m) { return -squash(m) * squash(-m); },
     [](double m) { return squash(-m); }},
    {{LossKind::kHuber, 0.3}, [](double r) { return std::clamp(r, -0.3, 0.3); }, nullptr},
    {{LossKind::kSquared}, [](double r) { return r; }, nullptr},
};

/// A random row; every third has full length, every third is also in the plane of w and w'.
Eigen::Vector3d random_row(std::mt19937_64& random, double R, int k) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Eigen::Vector3d x(normal(random), normal(random), normal(random));
  if (k % 3 == 2) x[2] = 0;
  return R * (k % 3 == 0 ? uniform(random) : 1) / x.norm() * x;
}

/// How long a row's gradient difference gets, and how far two are apart, over many rows, those
/// along and across the step among them.
std::pair<double, double> widest_differences(const TestLoss& loss,
                                             double R,
                                             const Eigen::Vector3d& w,
                                             const Eigen::Vector3d& before) {
  std::mt19937_64 random(8);
  std::vector<Eigen::Vector3d> differences;
  const auto add = [&](const Eigen::Vector3d& u) {
    // Labels of regression shift the argument.
    const double y = loss.value ? 0 : std::uniform_real_distribution<double>(-0.5, 0.5)(random);
    differences.push_back((loss.slope(u.dot(w) - y) - loss.slope(u.dot(before) - y)) * u);
  };
  const Eigen::Vector3d step = (w - before).normalized();
  const Eigen::Vector3d across(-step[1], step[0], 0);  // w and w' are in the first two
  for (int k = 0; k < 1500; ++k) add(random_row(random, R, k));
  for (int k = 0; k <= 400; ++k)
    add(R * (std::cos(M_PI * k / 400) * step + std::sin(M_PI * k / 400) * across));
  double longest = 0, widest = 0;
  for (const auto& a : differences) {
    longest = std::max(longest, a.norm());
    for (const auto& b : differences) widest = std::max(widest, (a - b).norm());
  }
  return {longest, widest};
}

TEST(SlopeBound, DifferencesStayWithinTheirBounds) {
  const double R = 1.7;
  for (const auto& loss : kLosses)
    for (const double scale : {0.02, 0.5, 4.0})
      for (const Eigen::Vector3d& before : {Eigen::Vector3d(0, 0, 0),
                                            Eigen::Vector3d(-1, 0, 0),
                                            Eigen::Vector3d(0.9, 0.1, 0),
                                            Eigen::Vector3d(0, 2, 0)}) {
        const Eigen::Vector3d w(scale, 0, 0);
        const Eigen::Vector3d there = scale * before;
        const PointPair points{w.norm(), there.norm(), (w - there).norm()};
        const LossInfo info = loss_info(loss.spec);
        const auto [longest, widest] = widest_differences(loss, R, w, there);
        EXPECT_LE(longest, difference_bound(info, R, points)) << to_string(loss.spec) << scale;
        EXPECT_LE(widest, difference_diameter(info, R, points)) << to_string(loss.spec) << scale;
      }
}

TEST(SlopeBound, DifferenceBoundsAreNearlyReached) {
  // From -w to w, where the loss is steepest between: the bound is reached by a row along w, the
  // diameter by that and a row across. A bound or a diameter smaller by 2 % would fail.
  const Eigen::Vector3d w(0.05, 0, 0);
  const PointPair points{0.05, 0.05, 0.1};
  for (const auto& loss : kLosses) {
    if (loss.spec.kind == LossKind::kSigmoid) continue;  // its curvature is 0 there
    const LossInfo info = loss_info(loss.spec);
    const auto [longest, widest] = widest_differences(loss, 2, w, -w);
    EXPECT_GE(longest, 0.98 * difference_bound(info, 2, points)) << to_string(loss.spec);
    if (info.classification)
      EXPECT_GE(widest, 0.98 * difference_diameter(info, 2, points)) << to_string(loss.spec);
    else
      EXPECT_TRUE(std::isinf(difference_diameter(info, 2, points))) << "labels have no bound";
  }
  // Far apart the logistic slopes themselves are the bound.
  const PointPair far{10, 0, 10};
  EXPECT_LE(difference_bound(loss_info({}), 1, far), 0.5 * (1 + 1e-6));
  EXPECT_GT(difference_bound(loss_info({}), 1, {1, 1, 0}), 0) << "no noise hides a bound of 0";
}

TEST(SlopeBound, LossesStayWithinTheirBounds) {
  std::mt19937_64 random(9);
  const double R = 1.7;
  for (const auto& loss : kLosses) {
    const LossInfo info = loss_info(loss.spec);
    if (!loss.value) {
      EXPECT_TRUE(std::isinf(loss_range(info, R, 1).highest) &&
                  std::isinf(loss_spread(info, R, 1)));
      continue;
    }
    for (const double length : {0.0, 0.1, 1.0, 5.0}) {
      double least = 1e300, most = 0;
      for (int k = 0; k < 3000; ++k) {
        const double margin =
            k < 2 ? (k ? 1 : -1) * R * length : length * random_row(random, R, k)[0];
        least = std::min(least, loss.value(margin));
        most = std::max(most, loss.value(margin));
      }
      EXPECT_LE(most, loss_range(info, R, length).highest);
      EXPECT_GE(most, loss_range(info, R, length).highest * 0.999);
      EXPECT_LE(most - least, loss_spread(info, R, length));
      EXPECT_GE(most - least, loss_spread(info, R, length) * 0.999 - 1e-9);
    }
  }
}

}  // namespace
}  // namespace sotto
