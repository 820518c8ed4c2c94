#include "sotto/privacy/accountant/pld_grid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "sotto/privacy/accountant/pld_compose.hpp"
#include "sotto/privacy/accountant/pld_curve.hpp"

namespace sotto::pld {
namespace {

double normal_tail(double x) { return 0.5 * std::erfc(x / std::numbers::sqrt2); }

double gaussian_delta(double mu, double eps) {
  return normal_tail(eps / mu - mu / 2) - std::exp(eps) * normal_tail(eps / mu + mu / 2);
}

std::vector<std::int64_t> knots(std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(last - first + 1));
  std::iota(result.begin(), result.end(), first);
  return result;
}

Measure gaussian_lattice(double mu, double step, double tilt, double origin, Bound bound) {
  const LossLaw law = LossLaw::gaussian(mu);
  const LossLaw::Range range = law.range(-60, -60);
  const auto low = static_cast<std::int64_t>(std::floor(range.low / step)) - 2;
  const auto high = static_cast<std::int64_t>(std::ceil(range.high / step)) + 2;
  return discretize(law, range, tilt, 0, origin, step, knots(low, high), bound);
}

// P- and Q-mass of a tilted measure.
std::pair<double, double> masses(const Measure& m, double tilt) {
  double p = 0, q = 0;
  for (std::size_t j = 0; j < m.mass.size(); ++j) {
    const double loss = m.origin + static_cast<double>(m.index[j]) * m.step;
    p += m.mass[j] * std::exp(-tilt * loss);
    q += m.mass[j] * std::exp(-(tilt + 1) * loss);
  }
  return {p, q};
}

TEST(PldGrid, BoundsBracketTheGaussianAtEveryEpsilon) {
  const double mu = 1;
  for (const double step : {0.5, 0.1, 0.02}) {
    for (const double tilt : {1e-3, 2.0}) {
      for (const double origin : {0.0, 0.3 * step}) {
        const DeltaCurve up(
            gaussian_lattice(mu, step, tilt, origin, Bound::kUpper), tilt, 0, Bound::kUpper);
        const DeltaCurve low(
            gaussian_lattice(mu, step, tilt, origin, Bound::kLower), tilt, 0, Bound::kLower);
        double gap = 0;
        for (double eps = -4; eps < 5; eps += 0.0137) {
          const double exact = gaussian_delta(mu, eps);
          ASSERT_GE(up.delta(eps), exact * (1 - 1e-9)) << step << " " << eps;
          ASSERT_LE(low.delta(eps), exact * (1 + 1e-9)) << step << " " << eps;
          gap = std::max(gap, up.delta(eps) - low.delta(eps));
        }
        EXPECT_LT(gap, 0.15 * step * step);  // second order
        EXPECT_GT(gap, 0.01 * step * step);
      }
    }
  }
}

TEST(PldGrid, BothBoundsKeepBothMasses) {
  for (const Bound bound : {Bound::kUpper, Bound::kLower}) {
    const auto [p, q] = masses(gaussian_lattice(1, 0.05, 1, 0, bound), 1);
    EXPECT_NEAR(p, 1, 1e-10);
    EXPECT_NEAR(q, 1, 1e-10);
  }
}

TEST(PldGrid, CoarseningBracketsItsInput) {
  const double tilt = 1.5;
  const Measure fine = gaussian_lattice(1, 0.01, tilt, 0, Bound::kUpper);
  const DeltaCurve exact(fine, tilt, 0, Bound::kUpper);
  for (const std::int64_t ratio : {1, 2, 7, 30}) {
    const DeltaCurve up(coarsen(fine, ratio, tilt, Bound::kUpper), tilt, 0, Bound::kUpper);
    const DeltaCurve low(coarsen(fine, ratio, tilt, Bound::kLower), tilt, 0, Bound::kLower);
    const double width = 0.01 * static_cast<double>(ratio);
    for (double eps = -4; eps < 5; eps += 0.0137) {
      ASSERT_GE(up.delta(eps), exact.delta(eps) * (1 - 1e-9)) << ratio << " " << eps;
      ASSERT_LE(low.delta(eps), exact.delta(eps) * (1 + 1e-9)) << ratio << " " << eps;
      ASSERT_LE(up.delta(eps) - low.delta(eps), 0.15 * width * width + 1e-9);
    }
  }
}

TEST(PldGrid, ContractionOfMassThatFitsNoKnotStaysBelow) {
  // Randomized response with atoms between knots: nothing second-order exists, but it must be
  // valid.
  const LossLaw law = LossLaw::pure(0.77);
  const double tilt = 0.5;
  const Measure m =
      discretize(law, law.range(-1, -1), tilt, 0, 0, 0.1, knots(-10, 10), Bound::kLower);
  const DeltaCurve low(m, tilt, 0, Bound::kLower);
  const double p = 1 / (1 + std::exp(-0.77));
  for (double eps = -1; eps < 1; eps += 0.0173) {
    const double exact = p * std::max(0.0, -std::expm1(eps - 0.77)) +
                         (1 - p) * std::max(0.0, -std::expm1(eps + 0.77));
    ASSERT_LE(low.delta(eps), exact * (1 + 1e-9)) << eps;
  }
  for (const double mass : m.mass) EXPECT_GE(mass, 0);
}

TEST(PldCompose, TransformPowerIsRepeatedConvolution) {
  Measure coin{0.25, 0.5, {-1, 1}, {0.25, 0.75}, 0, 0};
  const Measure sum = convolve({{&coin, 10}}, {-40, 40, 0, -1, 1});
  EXPECT_DOUBLE_EQ(sum.origin, 2.5);
  double binomial = 1;
  for (int j = 0; j <= 10; ++j) {
    const double exact = binomial * std::pow(0.75, j) * std::pow(0.25, 10 - j);
    const auto at = static_cast<std::size_t>(2 * j - 10 - sum.index.front());
    EXPECT_NEAR(sum.mass[at], exact, 1e-14);
    binomial *= (10.0 - j) / (j + 1.0);
  }
  EXPECT_LT(sum.error, 1e-6);
}

TEST(PldCompose, WrappedMassIsPaidFor) {
  Measure coin{0, 0.5, {-1, 1}, {0.5, 0.5}, 0, 0};
  // 100 tosses spread over +-50; a window of +-4 can't hold them and must say so.
  EXPECT_GT(convolve({{&coin, 100}}, {-4, 4, 0, -0.1, 0.1}).error, 0.5);
}

TEST(PldCompose, CutTailsDominateTheUncutLaw) {
  const LossLaw law =
      LossLaw::poisson(Rate::poisson(0.001), LossLaw::gaussian(1 / 0.6), Direction::kRemove);
  const std::vector<CountedLaw> whole{{law, 20000}};
  const double delta = 1e-6;
  const Plan plan = plan_for_delta(whole, delta);
  const std::vector<CountedLaw> pieces = cut_tails(whole, plan);
  ASSERT_EQ(pieces.size(), 2u);
  const Plan cut = plan_near(pieces, delta, plan.epsilon);
  EXPECT_LT(cut.size, 0.5 * plan.size);
  const auto infinite = [](const std::vector<CountedLaw>& laws, const Plan& p) {
    double sum = 0;
    for (std::size_t i = 0; i < laws.size(); ++i)
      sum += static_cast<double>(laws[i].count) * p.laws[i].range.above;
    return sum;
  };
  const DeltaCurve above(
      compose(pieces, cut, Bound::kUpper), cut.tilt, infinite(pieces, cut), Bound::kUpper);
  const DeltaCurve below(compose(whole, plan, Bound::kLower), plan.tilt, 0, Bound::kLower);
  const double eps = above.epsilon_above(delta);
  EXPECT_GE(eps, below.epsilon_below(delta, eps));
  EXPECT_LE(eps, below.epsilon_below(delta, eps) * (1 + 1e-3));
}

}  // namespace
}  // namespace sotto::pld
