#include "sotto/geometry/mirror_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace sotto {
namespace {

using ::testing::HasSubstr;

constexpr double kMirrorStep = 0.3;

std::unique_ptr<MirrorIterate> made(MirrorMap map,
                                    const ConstraintPtr& set,
                                    const Regularizer& r,
                                    const Vector& start) {
  auto iterate = MirrorIterate::make(map, set, r, start);
  EXPECT_TRUE(iterate) << iterate.error().message;
  return *std::move(iterate);
}

/// ψ(u) - ψ(w) - ⟨∇ψ(w), u - w⟩ with ψ = ‖·‖_q² / (2(q-1)), the gradient by central differences.
double pnorm_distance(const Vector& u, const Vector& w) {
  const double q = std::min(2.0, 1 + 1 / std::log(static_cast<double>(w.size())));
  const auto psi = [q](const Vector& x) {
    return std::pow(x.array().abs().pow(q).sum(), 2 / q) / (2 * (q - 1));
  };
  Vector gradient(w.size());
  for (Eigen::Index j = 0; j < w.size(); ++j) {
    Vector high = w, low = w;
    high[j] += 1e-5;
    low[j] -= 1e-5;
    gradient[j] = (psi(high) - psi(low)) / 2e-5;
  }
  return psi(u) - psi(w) - gradient.dot(u - w);
}

TEST(MirrorMap, PNormStepsMinimizeTheirModel) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  for (const double radius : {0.6, 5.0})
    for (const double lambda : {0.0, 0.2}) {
      const Regularizer r(RegularizerKind::kL1, lambda);
      const ConstraintPtr ball = l1_ball(radius);
      Vector start(5);
      start << 0.2, -0.1, 0.05, 0.1, -0.1;
      auto iterate = made(MirrorMap::kPNorm, ball, r, start);
      Vector g(5);
      g << 1, -2, 0.5, 0.1, 3;
      iterate->move(g, kMirrorStep);
      const Vector answer = iterate->w();
      EXPECT_TRUE(ball->contains(answer, 1e-9));
      const auto model = [&](const Vector& u) {
        return g.dot(u) + r.value(u) + pnorm_distance(u, start) / kMirrorStep;
      };
      for (int k = 0; k < 3000; ++k) {
        Vector u = answer;
        for (double& x : u) x += std::pow(10.0, -(k % 5)) * normal(random);
        ball->project(u);
        EXPECT_GE(model(u), model(answer) - 1e-7) << radius << " " << lambda;
      }
    }
}

TEST(MirrorMap, EntropyOnTheSimplexIsExponentiatedGradient) {
  Vector start(3);
  start << 0.5, 0.3, 0.2;
  auto iterate = made(MirrorMap::kEntropy, simplex(1), Regularizer(), start);
  EXPECT_LE((iterate->w() - start).norm(), 1e-14);
  Vector g(3);
  g << 1, -1, 2;
  iterate->move(g, kMirrorStep);
  Vector expected(3);
  expected << 0.5 * std::exp(-kMirrorStep), 0.3 * std::exp(kMirrorStep),
      0.2 * std::exp(-2 * kMirrorStep);
  expected /= expected.sum();
  EXPECT_LE((iterate->w() - expected).norm(), 1e-14);
}

TEST(MirrorMap, EntropyOnTheBallUsesBothSigns) {
  constexpr double kRadius = 2;
  auto iterate = made(MirrorMap::kEntropy, l1_ball(kRadius), Regularizer(), Vector::Zero(2));
  EXPECT_EQ(iterate->w().norm(), 0);
  Vector g(2);
  g << 1, -0.5;
  iterate->move(g, kMirrorStep);
  const double sum =
      std::exp(-0.3) + std::exp(0.3) + std::exp(0.15) + std::exp(-0.15) + 1;  // and the slack
  EXPECT_NEAR(iterate->w()[0], kRadius * (std::exp(-0.3) - std::exp(0.3)) / sum, 1e-14);
  EXPECT_NEAR(iterate->w()[1], kRadius * (std::exp(0.15) - std::exp(-0.15)) / sum, 1e-14);
  // A steady gradient leads to the vertex, whatever the logarithms' size.
  for (int k = 0; k < 5000; ++k) iterate->move(g, 10);
  EXPECT_NEAR(iterate->w()[0], -kRadius, 1e-9);
  EXPECT_NEAR(iterate->w()[1], 0, 1e-9);
}

/// All maps find the minimizer of a quadratic on the ball.
TEST(MirrorMap, AllMapsReachTheSameMinimizer) {
  Vector target(4);
  target << 1.5, -1, 0.2, 0;
  const ConstraintPtr ball = l1_ball(1.5);
  Vector best = target;
  ball->project(best);  // the nearest point is the minimizer of the distance
  for (const auto map : {MirrorMap::kEuclidean, MirrorMap::kPNorm, MirrorMap::kEntropy}) {
    auto iterate = made(map, ball, Regularizer(), Vector::Zero(4));
    for (int k = 0; k < 20000; ++k) iterate->move(iterate->w() - target, 0.2 * iterate->modulus());
    EXPECT_LE((iterate->w() - best).norm(), 1e-3) << name_of(map, kMirrorMaps);
  }
}

TEST(MirrorMap, AnL1PenaltyShrinksInEveryMap) {
  Vector g = Vector::Constant(4, 0.1);
  for (const auto map : {MirrorMap::kEuclidean, MirrorMap::kPNorm}) {
    auto iterate =
        made(map, l1_ball(1), Regularizer(RegularizerKind::kL1, 0.2), Vector::Constant(4, 0.2));
    for (int k = 0; k < 2000; ++k) iterate->move(g, 0.1);
    EXPECT_LE(iterate->w().norm(), 1e-9) << name_of(map, kMirrorMaps);
  }
  auto iterate = made(
      MirrorMap::kEntropy, l1_ball(1), Regularizer(RegularizerKind::kL1, 0.2), Vector::Zero(4));
  for (int k = 0; k < 2000; ++k) iterate->move(g, 0.5);
  EXPECT_LE(iterate->w().norm(), 1e-9);
}

TEST(MirrorMap, ChoosesByTheSetAndRefusesWithReasons) {
  EXPECT_EQ(made(MirrorMap::kAuto, simplex(1), {}, Vector::Constant(4, 0.25))->map(),
            MirrorMap::kEntropy);
  EXPECT_EQ(made(MirrorMap::kAuto, l1_ball(1), {}, Vector::Zero(4))->map(), MirrorMap::kPNorm);
  EXPECT_EQ(made(MirrorMap::kAuto, l2_ball(1), {}, Vector::Zero(4))->map(), MirrorMap::kEuclidean);
  const auto message = [](MirrorMap map, const ConstraintPtr& set, const Regularizer& r) {
    const auto iterate = MirrorIterate::make(map, set, r, Vector::Zero(4));
    EXPECT_FALSE(iterate);
    return iterate ? std::string() : iterate.error().message;
  };
  EXPECT_THAT(message(MirrorMap::kPNorm, l2_ball(1), {}), HasSubstr("l1 balls only"));
  EXPECT_THAT(message(MirrorMap::kEntropy, nullptr, {}), HasSubstr("simplex"));
  EXPECT_THAT(message(MirrorMap::kPNorm, l1_ball(1), Regularizer::group_l1(1, 2)),
              HasSubstr("group l1"));
}

}  // namespace
}  // namespace sotto
