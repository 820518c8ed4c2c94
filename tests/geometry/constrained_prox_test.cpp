#include "sotto/geometry/constrained_prox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace sotto {
namespace {

using ::testing::HasSubstr;

constexpr double kStep = 0.7;

double objective(const Regularizer& r, const Vector& u, const Vector& w) {
  return kStep * r.value(u) + 0.5 * (u - w).squaredNorm();
}

/// No point of the set near the answer, in any direction and at any scale, is better: the
/// objective is convex, so that a local minimum on the set is the minimum.
double best_improvement(const ConstraintSet& set,
                        const Regularizer& r,
                        const Vector& answer,
                        const Vector& w,
                        std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  double best = 0;
  for (int k = 0; k < 3000; ++k) {
    Vector u = answer;
    const double size = std::pow(10.0, -(k % 6));
    for (double& x : u)
      if (random() % 2 == 0) x += size * normal(random);
    if (k % 3 == 0)
      for (double& x : u)
        if (random() % 3 == 0) x = 0;
    set.project(u);
    best = std::max(best, objective(r, answer, w) - objective(r, u, w));
  }
  return best;
}

TEST(ConstrainedProx, IsTheMinimizerWhereItIsOffered) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  const std::vector<ConstraintPtr> sets = {
      l2_ball(1.1), l1_ball(1.4), simplex(1.2), box(-0.4, 0.9), box(0.2, 0.9), group_ball(1.2, 2)};
  const std::vector<Regularizer> regularizers = {Regularizer(RegularizerKind::kL1, 0.4),
                                                 Regularizer(RegularizerKind::kL1, 0.4).on_first(3),
                                                 Regularizer::group_l1(0.4, 2)};
  int offered = 0;
  for (const auto& set : sets)
    for (const auto& r : regularizers) {
      const auto prox = ConstrainedProx::make(set, r);
      if (!prox) continue;
      ++offered;
      for (int k = 0; k < 10; ++k) {
        Vector w(4);
        for (double& x : w) x = 1.5 * normal(random);
        Vector u = w;
        prox->apply(kStep, u);
        ASSERT_TRUE(set->contains(u, 1e-9));
        EXPECT_LE(best_improvement(*set, r, u, w, random), 1e-9)
            << set->to_string() << " " << r.to_string();
      }
    }
  EXPECT_EQ(offered, 6 * 2 + 2);
}

/// What is refused is really wrong: there projecting after the prox misses the minimizer.
TEST(ConstrainedProx, WhatIsRefusedIsNotExact) {
  std::mt19937_64 random(5);
  const Regularizer group = Regularizer::group_l1(0.4, 2);
  for (const auto& set : {l1_ball(0.9), box(-0.4, 0.3), simplex(1)}) {
    const auto prox = ConstrainedProx::make(set, group);
    ASSERT_FALSE(prox);
    EXPECT_THAT(prox.error().message, HasSubstr("no exact step"));
    double worst = 0;
    for (int k = 0; k < 5; ++k) {
      Vector w = 1.5 * Vector::Random(4);
      Vector u = w;
      group.prox(kStep, u);
      set->project(u);
      worst = std::max(worst, best_improvement(*set, group, u, w, random));
    }
    EXPECT_GT(worst, 1e-4) << set->to_string();
  }
  EXPECT_FALSE(ConstrainedProx::make(polytope(Matrix::Identity(4, 4)),
                                     Regularizer(RegularizerKind::kL1, 1)));
  EXPECT_FALSE(ConstrainedProx::make(group_ball(1, 3), group));
  EXPECT_TRUE(ConstrainedProx::make(polytope(Matrix::Identity(4, 4)),
                                    Regularizer(RegularizerKind::kL2, 1)));
}

TEST(ConstrainedProx, TheProjectedGradientIsTheGradientWithoutSetAndRegularizer) {
  const Vector w = Vector::Random(5);
  const Vector g = Vector::Random(5);
  const auto free = ConstrainedProx::make(nullptr, Regularizer());
  ASSERT_TRUE(free);
  EXPECT_LE((free->projected_gradient(w, g, 0.3) - g).norm(), 1e-12);
  // At a corner where the gradient points outwards it is zero.
  const auto boxed = ConstrainedProx::make(box(-1, 1), Regularizer());
  EXPECT_EQ(boxed->projected_gradient(Vector::Ones(5), -Vector::Ones(5), 0.3).norm(), 0);
  // 0 is stationary for l1 as long as the gradient is within the weight.
  const auto sparse = ConstrainedProx::make(nullptr, Regularizer(RegularizerKind::kL1, 1));
  EXPECT_EQ(sparse->projected_gradient(Vector::Zero(5), Vector::Constant(5, 0.9), 0.3).norm(), 0);
}

}  // namespace
}  // namespace sotto
