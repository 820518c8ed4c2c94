// Weights of classes against every bound on random rows, and a twin of the facts that leaves the
// weight out (class_weights.proof.md).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "sotto/core/vector.hpp"
#include "sotto/loss/joint_bound.hpp"
#include "sotto/loss/loss.hpp"
#include "sotto/loss/scalar_math.hpp"
#include "sotto/loss/slope_bound.hpp"

namespace sotto {
namespace {

using ::testing::HasSubstr;

constexpr double kR = 1.7;
constexpr double kScale = 0.6;  // of Hessians in a joint pair

struct Case {
  LossSpec spec;
  double (*value)(double);
  double (*first)(double);
  double (*second)(double);
};

template <template <class> class Loss>
Case of(LossKind kind) {
  return {kind, Loss<ScalarMath>::value, Loss<ScalarMath>::first, Loss<ScalarMath>::second};
}

const Case kCases[] = {of<LogisticLoss>(LossKind::kLogistic), of<SigmoidLoss>(LossKind::kSigmoid)};
constexpr ClassWeights kWeights[] = {{1, 4}, {0.5, 3}, {2, 0.1}, {5, 5}};

/// What a row contributes, written out.
struct Contribution {
  Eigen::Vector3d gradient, difference;
  Eigen::Matrix3d hessian;
  double loss;
};

/// Rows of all lengths up to R, and those along and across w.
std::vector<Contribution> contributions(const Case& each,
                                        const ClassWeights& weights,
                                        const Eigen::Vector3d& w,
                                        const Eigen::Vector3d& before) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  std::vector<Contribution> all;
  const auto add = [&](const Eigen::Vector3d& x, double y) {
    const double c = y > 0 ? weights.positive : weights.negative;
    const double m = y * x.dot(w);
    Contribution one;
    one.gradient = c * y * each.first(m) * x;
    one.difference = one.gradient - c * y * each.first(y * x.dot(before)) * x;
    one.hessian = c * each.second(m) * x * x.transpose();
    one.loss = c * each.value(m);
    all.push_back(one);
  };
  for (int k = 0; k < 500; ++k) {
    Eigen::Vector3d x(normal(random), normal(random), normal(random));
    if (k % 3 == 2) x[2] = 0;
    x *= kR * (k % 3 == 0 ? uniform(random) : 1) / x.norm();
    add(x, k % 2 == 0 ? 1 : -1);
  }
  for (int k = 0; k <= 90; ++k)
    for (const double y : {1.0, -1.0})
      add(kR * Eigen::Vector3d(std::cos(M_PI * k / 45), std::sin(M_PI * k / 45), 0), y);
  return all;
}

/// The largest share of each bound that the rows reach: above 1 the bound is wrong.
struct Reached {
  double most = 0;
  std::string where;
  void see(double size, double bound, const char* name) {
    if (size <= most * bound) return;
    most = size / bound;
    where = name;
  }
};

Reached reached(const LossInfo& info,
                const std::vector<Contribution>& rows,
                const Eigen::Vector3d& w,
                const Eigen::Vector3d& before) {
  Reached result;
  const double length = w.norm();
  const PointPair points{length, before.norm(), (w - before).norm()};
  const LossRange range = loss_range(info, kR, length);
  double least = 1e300, most = 0;
  const double gradient = gradient_diameter(info, kR, length);
  const double difference = difference_diameter(info, kR, points);
  const double hessian = hessian_diameter(info, kR, length, 1e300);
  const double joint = joint_diameter(info, kR, length, kScale);
  for (const Contribution& a : rows) {
    least = std::min(least, a.loss);
    most = std::max(most, a.loss);
    result.see(a.gradient.norm(), gradient_bound(info, kR, length), "gradient");
    result.see(a.difference.norm(), difference_bound(info, kR, points), "difference");
    result.see(a.hessian.norm(), hessian_bound(info, kR, length), "Hessian");
    result.see(std::hypot(a.gradient.norm(), a.hessian.norm() / kScale),
               joint_bound(info, kR, length, kScale),
               "pair");
    for (const Contribution& b : rows) {
      const double g = (a.gradient - b.gradient).norm();
      const double H = (a.hessian - b.hessian).norm();
      result.see(g, gradient, "two gradients");
      result.see((a.difference - b.difference).norm(), difference, "two differences");
      result.see(H, hessian, "two Hessians");
      result.see(std::hypot(g, H / kScale), joint, "two pairs");
    }
  }
  result.see(most, range.highest, "largest loss");
  result.see(range.lowest, least, "smallest loss");
  result.see(most - least, loss_spread(info, kR, length), "spread of losses");
  return result;
}

template <class Body>
void for_each_case(const Body& body) {
  for (const Case& each : kCases)
    for (const ClassWeights& weights : kWeights)
      for (const double length : {0.05, 1.0, 4.0}) {
        const Eigen::Vector3d w(length, 0, 0);
        const Eigen::Vector3d before(0.3 * length, -0.5 * length, 0);
        body(each, weights, w, before);
      }
}

TEST(ClassWeight, RowsStayWithinEveryBound) {
  for_each_case(
      [](const Case& each, const ClassWeights& weights, const auto& w, const auto& before) {
        LossSpec spec = each.spec;
        spec.weights = weights;
        const auto rows = contributions(each, weights, w, before);
        const Reached found = reached(loss_info(spec), rows, w, before);
        EXPECT_LE(found.most, 1) << to_string(spec) << " " << w[0] << ": " << found.where;
        EXPECT_GE(found.most, 0.98) << to_string(spec) << ": twice the bounds would pass";
      });
}

TEST(ClassWeight, ABoundThatLeavesTheWeightOutIsCaught) {
  for_each_case(
      [](const Case& each, const ClassWeights& weights, const auto& w, const auto& before) {
        const auto rows = contributions(each, weights, w, before);
        EXPECT_GT(reached(loss_info(each.spec), rows, w, before).most, 1.5) << to_string(each.spec);
        // Or takes that of the other class, or their mean.
        const double mean = (weights.negative + weights.positive) / 2;
        if (weights.negative != weights.positive) {
          EXPECT_GT(reached(weighted(loss_info(each.spec), mean, mean), rows, w, before).most,
                    1.01);
        }
      });
}

TEST(ClassWeight, TheFactsAreMultipliedByTheLargest) {
  LossSpec spec;
  spec.weights = {0.5, 4};
  const LossInfo plain = loss_info({}), weighted = loss_info(spec);
  EXPECT_EQ(weighted.sup_first, 4 * plain.sup_first);
  EXPECT_EQ(weighted.sup_second, 4 * plain.sup_second);
  EXPECT_EQ(weighted.sup_third, 4 * plain.sup_third);
  EXPECT_EQ(weighted.typical_first, 4 * plain.typical_first);
  EXPECT_EQ(weighted.inf_second, 0);
  EXPECT_TRUE(weighted.proven);
  EXPECT_EQ(free_hessian_scale(weighted, 2), free_hessian_scale(plain, 2)) << "a ratio";
}

TEST(ClassWeight, ItsTextIsReadBack) {
  for (const char* text : {"logistic weighted 1,4", "sigmoid weighted 0.25,1e-06"}) {
    const auto loss = parse_loss(text);
    ASSERT_TRUE(loss.has_value()) << loss.error().message;
    EXPECT_EQ(to_string(*loss), text);
  }
  EXPECT_EQ(parse_loss("logistic weighted 2,8")->weights, (ClassWeights{2, 8}));
  EXPECT_EQ(to_string(*parse_loss("logistic weighted 1,1")), "logistic");
}

TEST(ClassWeight, IsRefusedByNameWhereThereAreNoClasses) {
  for (const char* text :
       {"squared weighted 1,2", "poisson:3 weighted 1,2", "huber weighted 2,1"}) {
    const auto loss = parse_loss(text);
    ASSERT_FALSE(loss.has_value()) << text;
    EXPECT_THAT(loss.error().message, HasSubstr("predicts numbers"));
  }
  EXPECT_THAT(parse_loss("own:mine weighted 1,2").error().message,
              HasSubstr("can weigh classes itself"));
  for (const char* text : {"logistic weighted 0,1",
                           "logistic weighted -1,1",
                           "logistic weighted 1,1e7",
                           "logistic weighted 1,nan",
                           "logistic weighted 1",
                           "logistic weighted "})
    EXPECT_FALSE(parse_loss(text)) << text;
}

}  // namespace
}  // namespace sotto
