// The loss of counts: formulas against long double, kernels against formulas, bounds against random
// rows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "sotto/core/vector.hpp"
#include "sotto/loss/joint_bound.hpp"
#include "sotto/loss/loss.hpp"
#include "sotto/loss/scalar_math.hpp"
#include "sotto/loss/slope_bound.hpp"
#include "sotto/objective/glm_kernels.hpp"

namespace sotto {
namespace {

using ::testing::HasSubstr;
using Poisson = PoissonLoss<ScalarMath>;

/// Half the deviance, by its definition, and the line that continues it.
long double reference(long double z, long double y, long double M) {
  y = std::clamp(y, 0.0L, M);
  const long double last = std::log(M);
  const long double entropy = y > 0 ? y * std::log(y) - y : 0;
  if (z <= last) return std::exp(z) - y * z + entropy;
  return M - y * last + entropy + (M - y) * (z - last);
}

TEST(Poisson, IsHalfTheDevianceContinuedByALine) {
  for (const double M : {0.3, 1.0, 20.0, 1e4})
    for (const double y : {-2.0, 0.0, 0.25, 1.0, 7.0, 20.0, 1e9})
      for (double z = -30; z < 30; z += 0.37) {
        const long double exact = reference(z, y, M);
        EXPECT_NEAR(Poisson{M}.value(z, y),
                    static_cast<double>(exact),
                    1e-14 * (1 + M) * (1 + std::abs(z) + std::abs(std::log(M))))
            << M << " " << y << " " << z;
        EXPECT_GE(Poisson{M}.value(z, y), 0);
      }
  EXPECT_NEAR(Poisson{20}.value(std::log(3.0), 3), 0, 1e-15) << "no loss at the count itself";
}

TEST(Poisson, DerivativesMatchDifferencesAndStayInTheirBounds) {
  constexpr long double kStep = 1e-5L;
  for (const double M : {0.3, 1.0, 20.0}) {
    const LossInfo info = loss_info({LossKind::kPoisson, M});
    for (const double y : {0.0, 0.5, 3.0, 40.0})
      for (double z = -12; z < 12; z += 0.173) {
        if (std::abs(z - std::log(M)) < 1e-3) continue;  // the curvature jumps
        const auto at = [&](long double t) { return reference(t, y, M); };
        const Poisson loss{M};
        EXPECT_NEAR(loss.first(z, y),
                    static_cast<double>((at(z + kStep) - at(z - kStep)) / (2 * kStep)),
                    1e-8 * (1 + M));
        EXPECT_NEAR(
            loss.second(z, y),
            static_cast<double>((at(z + kStep) - 2 * at(z) + at(z - kStep)) / (kStep * kStep)),
            1e-6 * (1 + M));
        EXPECT_LE(std::abs(loss.first(z, y)), info.sup_first);
        EXPECT_LE(loss.second(z, y), info.sup_second);
        EXPECT_GE(loss.second(z, y), info.inf_second);
      }
    EXPECT_EQ(Poisson{M}.first(1e6, 0), M) << "the bound is reached";
    EXPECT_EQ(Poisson{M}.first(-1e6, 1e6), -M);
    EXPECT_EQ(info.inf_second, 0);
    EXPECT_FALSE(std::isfinite(info.sup_third));
  }
}

TEST(Poisson, KernelsMatchTheScalarFormulas) {
  std::vector<double> z;
  std::vector<float> y;
  for (int i = 0; i < 4003; ++i) {
    z.push_back(0.004 * (i - 2000));
    y.push_back(0.5F * static_cast<float>(i % 11) - 0.5F);
  }
  const std::vector<double> row_norms(z.size(), 3.0);
  std::vector<double> c(z.size()), norms(z.size());
  for (const double M : {0.7, 4.0})
    for (int v = 0; const auto* kernels = glm_kernels::variant(v); ++v) {
      const glm_kernels::LossArguments in{z.data(), y.data(), row_norms.data(), std::ssize(z), M};
      kernels->poisson.first(in, c.data(), norms.data());
      for (std::size_t i = 0; i < z.size(); ++i) {
        EXPECT_NEAR(c[i], Poisson{M}.first(z[i], static_cast<double>(y[i])), 1e-14 * (1 + M));
        EXPECT_LE(std::abs(c[i]), M);
        EXPECT_GE(norms[i], 3 * std::abs(c[i]));
      }
      kernels->poisson.second(in, c.data(), norms.data());
      for (std::size_t i = 0; i < z.size(); ++i) {
        EXPECT_NEAR(c[i], Poisson{M}.second(z[i], static_cast<double>(y[i])), 1e-14 * (1 + M));
        EXPECT_LE(c[i], M);
        EXPECT_GE(norms[i], 9 * std::abs(c[i]));
      }
    }
}

TEST(Poisson, NotANumberStaysSoAndInfinityHasItsLimit) {
  const double z[4] = {NAN, INFINITY, -INFINITY, 800};
  const float y[4] = {1, 1, 1, 1};
  const double row_norms[4] = {1, 1, 1, 1};
  double c[4], norms[4];
  for (int v = 0; const auto* kernels = glm_kernels::variant(v); ++v) {
    kernels->poisson.first({z, y, row_norms, 4, 5}, c, norms);
    EXPECT_TRUE(std::isnan(norms[0]));
    EXPECT_EQ(c[1], 4);
    EXPECT_EQ(c[2], -1);
    EXPECT_EQ(c[3], 4);
  }
}

TEST(Poisson, RowsStayWithinEveryBound) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  constexpr double kR = 1.4;
  for (const double M : {0.5, 6.0, 100.0})
    for (const double length : {0.0, 0.3, 2.0}) {
      const LossInfo info = loss_info({LossKind::kPoisson, M});
      const Poisson loss{M};
      const Eigen::Vector3d w(length, 0, 0), before(0.2 * length, 0.5 * length + 0.1, 0);
      const PointPair points{w.norm(), before.norm(), (w - before).norm()};
      double gradient = 0, difference = 0, hessian = 0, value = 0;
      for (int k = 0; k < 20'000; ++k) {
        Eigen::Vector3d x(normal(random), normal(random), k % 3 == 2 ? 0 : normal(random));
        if (k % 7 == 0) x = Eigen::Vector3d(k % 2 == 0 ? 1 : -1, 0, 0);
        x *= (1 - 1e-12) * kR * (k % 5 == 0 ? uniform(random) : 1) / x.norm();
        const double y = k % 4 == 0 ? 0 : k % 4 == 1 ? 2 * M : M * uniform(random);
        const double here = loss.first(x.dot(w), y);
        gradient = std::max(gradient, std::abs(here) * x.norm());
        difference = std::max(difference, std::abs(here - loss.first(x.dot(before), y)) * x.norm());
        hessian = std::max(hessian, loss.second(x.dot(w), y) * x.squaredNorm());
        value = std::max(value, loss.value(x.dot(w), y));
      }
      EXPECT_LE(gradient, gradient_bound(info, kR, length));
      EXPECT_LE(difference, difference_bound(info, kR, points));
      EXPECT_LE(hessian, hessian_bound(info, kR, length));
      // Rates below 1 are beyond their line's start where predictions are about 0.
      if (M > 1) {
        EXPECT_GE(hessian, 0.99 * hessian_bound(info, kR, length)) << "tight";
      }
      EXPECT_LE(value, loss_range(info, kR, length).highest);
      EXPECT_GE(value, 0.99 * loss_range(info, kR, length).highest);
    }
  // A twin that forgets that labels are up to M: it is exceeded.
  EXPECT_GT(std::abs(Poisson{6}.first(0, 6)), 1 * loss_info({LossKind::kPoisson, 1}).sup_first);
}

TEST(Poisson, NeedsALargestRate) {
  EXPECT_EQ(to_string(*parse_loss("poisson")), "poisson");
  EXPECT_EQ(to_string(*parse_loss("poisson:14")), "poisson:14");
  const auto refused = check_loss(*parse_loss("poisson"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("‘loss poisson:RATE’"));
  EXPECT_TRUE(check_loss(*parse_loss("poisson:14")));
  for (const char* text : {"poisson:0", "poisson:-2", "poisson:inf", "poisson:x"})
    EXPECT_FALSE(parse_loss(text)) << text;
  EXPECT_FALSE(loss_info(*parse_loss("poisson:3")).classification);
}

}  // namespace
}  // namespace sotto
