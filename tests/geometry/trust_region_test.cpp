#include "sotto/geometry/trust_region.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>
#include <random>
#include <vector>

namespace sotto {
namespace {

constexpr double kKkt = 1e-8;

/// The three conditions computed from H itself, not from a decomposition.
double worst_residual(const Matrix& H, const Vector& g, double r, const TrustRegionStep& s) {
  const double norm = symmetric_eigen(H).values.cwiseAbs().maxCoeff();
  const double scale = g.norm() + (norm + s.multiplier) * r + 1e-300;
  const double lowest = symmetric_eigen(H).values[0];
  return std::max({(H * s.step + s.multiplier * s.step + g).norm() / scale,
                   s.multiplier * std::abs(r - s.step.norm()) / scale,
                   (s.step.norm() - r) / r,
                   -s.multiplier,
                   -(s.multiplier + lowest) / (norm + s.multiplier + 1e-300)});
}

struct Problem {
  Matrix H;
  Vector g;
  double radius = 1;
  const char* kind = "";
};

/// Random problems and constructed ones: definite, indefinite, hard, near-hard by 1e-2 … 1e-14,
/// clustered lowest eigenvalues, zero gradient, zero Hessian, widely spread scales.
Problem problem(std::mt19937_64& dice, int number, int most) {
  std::normal_distribution<double> normal;
  const auto uniform = [&](double a, double b) {
    return std::uniform_real_distribution<double>(a, b)(dice);
  };
  const int d = 1 + static_cast<int>(dice() % static_cast<unsigned>(most));
  const Matrix raw = Matrix::NullaryExpr(d, d, [&] { return normal(dice); });
  const Matrix Q = Eigen::HouseholderQR<Matrix>(raw).householderQ();
  Vector values = Vector::NullaryExpr(d, [&] { return normal(dice); });
  Vector c = Vector::NullaryExpr(d, [&] { return normal(dice); });
  Problem p;
  p.radius = std::pow(10.0, uniform(-2, 2));
  switch (number % 9) {
    case 0:
      p.kind = "random";
      break;
    case 1:
      p.kind = "definite";
      values = values.cwiseAbs().array() + 0.1;
      break;
    case 2:
      p.kind = "semidefinite";
      values = values.cwiseAbs();
      values[0] = 0;
      break;
    case 3:
      p.kind = "hard";
      values[0] = -3.5 - std::abs(values[0]);
      c[0] = 0;
      p.radius = 10 + c.norm();
      break;
    case 4:
      p.kind = "near-hard";
      values[0] = -3.5 - std::abs(values[0]);
      c[0] = std::pow(10.0, uniform(-14, -2));
      p.radius = uniform(0.1, 2) * (c.norm() + 1);
      break;
    case 5:
      p.kind = "hard, lowest eigenvalue repeated";
      values[0] = -4;
      if (d > 1) values[1] = -4 + (number % 2 ? 0 : 1e-13);
      c.head(std::min(d, 2)).setZero();
      p.radius = 10 + c.norm();
      break;
    case 6:
      p.kind = "no gradient";
      c.setZero();
      break;
    case 7:
      p.kind = "no Hessian";
      values.setZero();
      break;
    default:
      p.kind = "scales";
      for (double& v : values) v *= std::pow(10.0, uniform(-6, 6));
      c *= std::pow(10.0, uniform(-6, 6));
  }
  p.H = Q * values.asDiagonal() * Q.transpose();
  p.H = ((p.H + p.H.transpose()) / 2).eval();
  p.g = Q * c;
  return p;
}

TEST(TrustRegion, TenThousandDenseCasesMeetTheConditions) {
  std::mt19937_64 dice(7);
  for (int k = 0; k < 10'000; ++k) {
    const Problem p = problem(dice, k, 12);
    const TrustRegionStep s = solve_trust_region(symmetric_eigen(p.H), p.g, p.radius);
    ASSERT_LE(worst_residual(p.H, p.g, p.radius, s), kKkt) << p.kind << " " << k;
    ASSERT_LE(s.residuals.largest(), kKkt) << p.kind << " " << k;
  }
}

TEST(TrustRegion, TenThousandLanczosCasesMeetTheConditions) {
  std::mt19937_64 dice(8);
  for (int k = 0; k < 10'000; ++k) {
    const Problem p = problem(dice, k, 12);
    const TrustRegionStep s =
        solve_trust_region([&](const Vector& v, Vector& out) { out = p.H * v; }, p.g, p.radius);
    ASSERT_LE(worst_residual(p.H, p.g, p.radius, s), kKkt) << p.kind << " " << k;
  }
}

TEST(TrustRegion, LanczosNeedsFarFewerProductsThanDimensions) {
  std::mt19937_64 dice(9);
  std::normal_distribution<double> normal;
  const int d = 400;
  for (const bool hard : {false, true}) {
    // A few large eigenvalues, a bulk near zero, one negative: like a noisy Hessian.
    Vector values = Vector::LinSpaced(d, 0, 0.1);
    values[0] = -1;
    for (int k = 1; k < 10; ++k) values[d - k] = k;
    const Matrix Q = Eigen::HouseholderQR<Matrix>(Matrix::NullaryExpr(d, d, [&] {
                       return normal(dice);
                     })).householderQ();
    const Matrix H = Q * values.asDiagonal() * Q.transpose();
    Vector c = Vector::NullaryExpr(d, [&] { return normal(dice) / 20; });
    if (hard) c[0] = 0;
    const Vector g = Q * c;
    const double r = hard ? 5 : 0.5;
    const auto s = solve_trust_region([&](const Vector& v, Vector& out) { out = H * v; }, g, r);
    EXPECT_LE(worst_residual(H, g, r, s), kKkt) << hard;
    EXPECT_LT(s.products, 120);
    EXPECT_EQ(s.hard_case, hard);
    const auto dense = solve_trust_region(symmetric_eigen(H), g, r);
    EXPECT_NEAR(s.multiplier, dense.multiplier, 1e-7);
    const auto model = [&](const Vector& h) { return g.dot(h) + h.dot(H * h) / 2; };
    EXPECT_NEAR(model(s.step), model(dense.step), 1e-7);
  }
}

// Three products can't find one eigenvector among sixty: the answer must not look as if they had.
TEST(TrustRegion, LanczosThatRanOutOfProductsSaysSo) {
  Vector values = Vector::LinSpaced(60, 0.5, 1.5);
  values[0] = -1;
  const Vector g = Vector::Constant(60, 0.01);
  LanczosOptions limits;
  limits.most_products = 3;
  const auto s = solve_trust_region(
      [&](const Vector& v, Vector& out) { out = values.cwiseProduct(v); }, g, 0.5, limits);
  EXPECT_EQ(s.products, 3);
  ASSERT_GT(s.smallest_eigenvalue, -0.9) << "missed";
  EXPECT_GT(s.residuals.curvature, 1e-6);
}

TEST(TrustRegion, ProductsAreAskedForOrthonormalVectorsOnly) {
  std::mt19937_64 dice(10);
  for (int k = 0; k < 200; ++k) {
    const Problem p = problem(dice, k, 30);
    std::vector<Vector> asked;
    solve_trust_region(
        [&](const Vector& v, Vector& out) {
          EXPECT_NEAR(v.norm(), 1, 1e-12);
          for (const auto& other : asked) EXPECT_LE(std::abs(other.dot(v)), 1e-12);
          asked.push_back(v);
          out = p.H * v;
        },
        p.g,
        p.radius);
  }
}

TEST(TrustRegion, TheTextbookHardCase) {
  // H = diag(-1, 1), g = (0, 1): lambda = 1 and h = (±sqrt(r² - 1/4), -1/2) once r >= 1/2.
  const Matrix H = Eigen::Vector2d(-1, 1).asDiagonal();
  const Vector g = Eigen::Vector2d(0, 1);
  const auto easy = solve_trust_region(symmetric_eigen(H), g, 0.4);
  EXPECT_FALSE(easy.hard_case);
  EXPECT_NEAR(easy.multiplier, 1 / 0.4 - 1, 1e-12);
  EXPECT_NEAR(easy.step[1], -0.4, 1e-12);
  const auto hard = solve_trust_region(symmetric_eigen(H), g, 0.6);
  EXPECT_TRUE(hard.hard_case);
  EXPECT_NEAR(hard.multiplier, 1, 1e-12);
  EXPECT_NEAR(hard.step[0], std::sqrt(0.36 - 0.25), 1e-12) << "the sign is fixed";
  EXPECT_NEAR(hard.step[1], -0.5, 1e-12);
  EXPECT_EQ(hard.smallest_eigenvalue, -1);
}

TEST(TrustRegion, NoPointOfTheDiscIsBetter) {
  std::mt19937_64 dice(11);
  for (int k = 0; k < 300; ++k) {
    Problem p = problem(dice, k, 2);
    if (p.g.size() != 2) continue;
    const auto model = [&](const Vector& h) { return p.g.dot(h) + h.dot(p.H * h) / 2; };
    const auto s = solve_trust_region(symmetric_eigen(p.H), p.g, p.radius);
    const double scale = p.g.norm() * p.radius + p.H.norm() * p.radius * p.radius;
    for (int i = 0; i <= 20; ++i)
      for (int j = 0; j < 90; ++j) {
        const double rho = p.radius * i / 20.0, phi = 2 * M_PI * j / 90.0;
        const Vector h = Eigen::Vector2d(rho * std::cos(phi), rho * std::sin(phi));
        ASSERT_LE(model(s.step), model(h) + 1e-9 * scale) << p.kind;
      }
  }
}

TEST(TrustRegion, TheResidualsCanFail) {
  const Matrix H = Eigen::Vector2d(-1, 1).asDiagonal();
  const Vector g = Eigen::Vector2d(0, 1);
  auto s = solve_trust_region(symmetric_eigen(H), g, 0.6);
  s.multiplier = 0.5;
  EXPECT_GT(worst_residual(H, g, 0.6, s), 0.1);
}

}  // namespace
}  // namespace sotto
