#include "sotto/loss/loss.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sotto/core/numbers.hpp"
#include "sotto/loss/loss_info.hpp"
#include "sotto/loss/scalar_math.hpp"
#include "sotto/objective/glm_kernels.hpp"

namespace sotto {
namespace {

std::vector<double> arguments() {
  std::vector<double> points = {
      0, 1e-300, 1e-9, 0.5, 0.999, 1.001, 1.3169578969, 36, 37, 500, 700, 708, 709, 745, 750, 1e3};
  for (int i = 1; i < 200; ++i) points.push_back(0.17 * i);
  const std::size_t half = points.size();
  for (std::size_t i = 0; i < half; ++i) points.push_back(-points[i]);
  return points;
}

constexpr double kStep = 1e-4;

template <class F>
double difference(const F& f, double x) {
  return (f(x + kStep) - f(x - kStep)) / (2 * kStep);
}

template <class Loss>
void expect_derivatives(const Loss& loss, const LossInfo& info) {
  for (const double x : arguments()) {
    if (std::fabs(std::fabs(x) - 1) < 0.01) continue;  // Huber's kink
    // The step's error step²/6 · φ''', and the rounding of values and of x ± step.
    const double rounding = 0x1p-52 * (1 + std::fabs(loss.value(x)) + std::fabs(x * loss.first(x)));
    const double scale = 1e-9 + rounding / kStep;
    EXPECT_NEAR(loss.first(x), difference([&](double t) { return loss.value(t); }, x), scale) << x;
    EXPECT_NEAR(loss.second(x), difference([&](double t) { return loss.first(t); }, x), 1e-8) << x;
    EXPECT_LE(std::fabs(loss.first(x)), info.sup_first);
    EXPECT_GE(loss.second(x), info.inf_second);
    EXPECT_LE(loss.second(x), info.sup_second);
    if (std::isfinite(info.sup_third)) {
      const double third = difference([&](double t) { return loss.second(t); }, x);
      EXPECT_LE(std::fabs(third), info.sup_third + 1e-8);
    }
  }
}

TEST(Loss, DerivativesMatchCentralDifferencesAndStayInTheirBounds) {
  expect_derivatives(LogisticLoss<ScalarMath>{}, loss_info({LossKind::kLogistic}));
  expect_derivatives(SigmoidLoss<ScalarMath>{}, loss_info({LossKind::kSigmoid}));
  expect_derivatives(SquaredLoss<ScalarMath>{}, loss_info({LossKind::kSquared}));
  expect_derivatives(HuberLoss<ScalarMath>{1}, loss_info({LossKind::kHuber}));
  expect_derivatives(HuberLoss<ScalarMath>{2.5}, loss_info({LossKind::kHuber, 2.5}));
}

TEST(Loss, BoundsAreAttained) {
  const auto sigmoid = loss_info({LossKind::kSigmoid});
  // p(1-p)|2p-1| is largest at p = (1 ± 1/√3)/2, i.e. m = ± ln(2 + √3).
  const double m = std::log(2 + std::sqrt(3.0));
  EXPECT_NEAR(SigmoidLoss<ScalarMath>::second(m), sigmoid.sup_second, 1e-15);
  EXPECT_NEAR(SigmoidLoss<ScalarMath>::second(-m), sigmoid.inf_second, 1e-15);
  EXPECT_EQ(SigmoidLoss<ScalarMath>::first(0), -sigmoid.sup_first);
  EXPECT_EQ(LogisticLoss<ScalarMath>::second(0), loss_info({LossKind::kLogistic}).sup_second);
  EXPECT_EQ(LogisticLoss<ScalarMath>::first(-1e3), -1);
}

TEST(Loss, FarMarginsAreStable) {
  using Logistic = LogisticLoss<ScalarMath>;
  EXPECT_EQ(Logistic::value(-1e3), 1e3);
  EXPECT_EQ(Logistic::value(1e3), 0);
  EXPECT_DOUBLE_EQ(Logistic::value(50), std::exp(-50.0));
  EXPECT_DOUBLE_EQ(Logistic::first(50), -std::exp(-50.0));
  EXPECT_EQ(HuberLoss<ScalarMath>{1}.value(-1e3), 999.5);
  EXPECT_EQ(HuberLoss<ScalarMath>{1}.first(-1e3), -1);
}

TEST(Loss, SigmoidDecreasesInTheMargin) {
  EXPECT_NEAR(SigmoidLoss<ScalarMath>::value(-1e3), 1, 1e-15);
  EXPECT_NEAR(SigmoidLoss<ScalarMath>::value(1e3), 0, 1e-15);
  EXPECT_LT(SigmoidLoss<ScalarMath>::first(0.3), 0);
}

struct LossCase {
  LossKind kind;
  glm_kernels::LossKernels glm_kernels::Kernels::*kernels;
};

template <class Loss>
void expect_kernels_match(glm_kernels::LossKernels glm_kernels::Kernels::*member,
                          const Loss& loss,
                          const LossSpec& spec) {
  const auto info = loss_info(spec);
  auto z = arguments();
  for (int i = 0; i < 20000; ++i) z.push_back(-0.00004 * i * i);  // many arguments of exp
  const std::size_t n = z.size() | 1;                             // not a multiple of the lanes
  z.resize(n, 0.25);
  std::vector<float> y(n);
  for (std::size_t i = 0; i < n; ++i) y[i] = i % 3 == 0 ? -1.0f : 1.0f;
  const std::vector<double> row_norms(n, 3.0);
  std::vector<double> c(n), norms(n);
  for (int v = 0; const auto* kernels = glm_kernels::variant(v); ++v) {
    const glm_kernels::LossArguments in{
        z.data(), y.data(), row_norms.data(), static_cast<std::int64_t>(n), spec.threshold};
    (kernels->*member).first(in, c.data(), norms.data());
    for (std::size_t i = 0; i < n; ++i) {
      const double expected = loss_slope(loss, z[i], static_cast<double>(y[i]));
      EXPECT_NEAR(c[i], expected, 2e-15 * std::fabs(expected) + 1e-250) << z[i] << " " << v;
      EXPECT_LE(std::fabs(c[i]), info.sup_first) << z[i];
      EXPECT_GE(norms[i], 3 * std::fabs(c[i]));
      EXPECT_LE(norms[i], 3 * std::fabs(c[i]) * (1 + 1e-14));
    }
    (kernels->*member).second(in, c.data(), norms.data());
    for (std::size_t i = 0; i < n; ++i) {
      const double expected = loss_curvature(loss, z[i], static_cast<double>(y[i]));
      // (1 - t) of the sigmoid's second derivative cancels near 0: absolute error.
      EXPECT_NEAR(c[i], expected, 2e-15 * std::fabs(expected) + 1e-16) << z[i] << " " << v;
      EXPECT_LE(c[i], info.sup_second) << z[i];
      EXPECT_GE(c[i], info.inf_second) << z[i];
      EXPECT_GE(norms[i], 9 * std::fabs(c[i]));
    }
  }
}

TEST(LossKernels, MatchTheScalarFormulas) {
  using glm_kernels::Kernels;
  expect_kernels_match(&Kernels::logistic, LogisticLoss<ScalarMath>{}, {LossKind::kLogistic});
  expect_kernels_match(&Kernels::sigmoid, SigmoidLoss<ScalarMath>{}, {LossKind::kSigmoid});
  expect_kernels_match(&Kernels::squared, SquaredLoss<ScalarMath>{}, {LossKind::kSquared});
  expect_kernels_match(&Kernels::huber, HuberLoss<ScalarMath>{0.7}, {LossKind::kHuber, 0.7});
}

TEST(Loss, PhaseRetrievalAtLabelsInsideAndOutsideItsRange) {
  const PhaseRetrievalLoss<ScalarMath> loss{2};
  EXPECT_EQ(loss.value(3, 1), 16);
  EXPECT_EQ(loss.first(3, 1), 24);
  EXPECT_EQ(loss.second(3, 1), 26);
  for (const double y : {-1.0, 0.0, 0.7, 2.0, 5.0})
    for (const double z : {-2.0, -0.3, 0.0, 0.4, 1.9}) {
      // The step's errors are step²/6 times the next but one derivative, 6z or 6.
      const double error = kStep * kStep;
      EXPECT_NEAR(loss.first(z, y),
                  difference([&](double t) { return loss.value(t, y); }, z),
                  1.01 * error * std::fabs(z) + 1e-10);
      EXPECT_NEAR(loss.second(z, y),
                  difference([&](double t) { return loss.first(t, y); }, z),
                  1.01 * error + 1e-10);
      EXPECT_GE(loss.second(z, y), loss_info({LossKind::kPhaseRetrieval, 2}).inf_second);
    }
  EXPECT_EQ(loss.value(1, -4), loss.value(1, 0));
  EXPECT_EQ(loss.value(1, 9), loss.value(1, 2));
  // w = 0 is stationary for every label, and a strict saddle where a label is positive.
  EXPECT_EQ(loss.first(0, 1.5), 0);
  EXPECT_EQ(loss.second(0, 1.5), -1.5);
}

TEST(LossKernels, PhaseRetrievalMatchesTheScalarFormulas) {
  const PhaseRetrievalLoss<ScalarMath> loss{1.5};
  std::vector<double> z;
  std::vector<float> y;
  for (int i = 0; i < 4003; ++i) {
    z.push_back(0.002 * (i - 2000));
    y.push_back(0.5f * static_cast<float>(i % 7) - 0.5f);
  }
  const std::vector<double> row_norms(z.size(), 3.0);
  std::vector<double> c(z.size()), norms(z.size());
  for (int v = 0; const auto* kernels = glm_kernels::variant(v); ++v) {
    const glm_kernels::LossArguments in{
        z.data(), y.data(), row_norms.data(), std::ssize(z), loss.threshold};
    kernels->phase_retrieval.first(in, c.data(), norms.data());
    for (std::size_t i = 0; i < z.size(); ++i) {
      EXPECT_NEAR(c[i], loss.first(z[i], static_cast<double>(y[i])), 1e-13);
      EXPECT_GE(norms[i], 3 * std::fabs(c[i]));
    }
    kernels->phase_retrieval.second(in, c.data(), norms.data());
    for (std::size_t i = 0; i < z.size(); ++i) {
      EXPECT_NEAR(c[i], loss.second(z[i], static_cast<double>(y[i])), 1e-13);
      EXPECT_GE(norms[i], 9 * std::fabs(c[i]));
    }
  }
}

TEST(LossKernels, NotANumberStaysSoAndInfinityHasItsLimit) {
  const double z[4] = {NAN, kInfinity, -kInfinity, 1};
  const float y[4] = {1, 1, 1, 1};
  const double row_norms[4] = {1, 1, 1, kInfinity};
  double c[4], norms[4];
  for (int v = 0; const auto* kernels = glm_kernels::variant(v); ++v) {
    kernels->logistic.first({z, y, row_norms, 4, 1}, c, norms);
    EXPECT_TRUE(std::isnan(norms[0]));
    EXPECT_EQ(c[1], 0);
    EXPECT_EQ(c[2], -1);
    EXPECT_FALSE(std::isfinite(norms[3]));
    kernels->sigmoid.first({z, y, row_norms, 4, 1}, c, norms);
    EXPECT_TRUE(std::isnan(norms[0]));
    EXPECT_EQ(c[1], 0);
    EXPECT_EQ(c[2], 0);
    kernels->huber.first({z, y, row_norms, 4, 1}, c, norms);
    EXPECT_TRUE(std::isnan(norms[0]));
    EXPECT_EQ(c[1], 1);
  }
}

}  // namespace
}  // namespace sotto
