#include "sotto/geometry/regularizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <string>

namespace sotto {
namespace {

using ::testing::HasSubstr;
using Kind = RegularizerKind;

constexpr double kLambda = 0.3;

Vector points() {
  Vector w(9);
  w << -1e3, -2, -1, -0.4, 1e-3, 0.6, 1.1, 5, 40;
  return w;
}

double of(Kind kind, double x) { return Regularizer(kind, kLambda).value(Vector::Constant(1, x)); }

TEST(Regularizer, ValuesOnPaper) {
  Vector w(2);
  w << 1, -3;
  EXPECT_DOUBLE_EQ(Regularizer(Kind::kL2, 0.5).value(w), 2.5);
  EXPECT_DOUBLE_EQ(Regularizer(Kind::kL1, 0.5).value(w), 2);
  EXPECT_DOUBLE_EQ(Regularizer(Kind::kNonconvex, 0.5).value(w), 0.5 * (0.5 + 0.9));
  EXPECT_EQ(Regularizer().value(w), 0);
  EXPECT_DOUBLE_EQ(Regularizer(Kind::kNonconvex, 2).value(Vector::Constant(1, 1e200)), 2);
}

TEST(Regularizer, DerivativesMatchCentralDifferences) {
  constexpr double kStep = 1e-4;
  for (const Kind kind : {Kind::kNone, Kind::kL2, Kind::kNonconvex}) {
    const Regularizer r(kind, kind == Kind::kNone ? 0 : kLambda);
    const Vector w = points();
    Vector gradient = Vector::Zero(w.size()), diagonal = Vector::Zero(w.size());
    r.add_gradient(w, gradient);
    r.add_hessian_diagonal(w, diagonal);
    const auto bounds = r.curvature(w.size());
    for (Eigen::Index j = 0; j < w.size(); ++j) {
      const double value_difference =
          kind == Kind::kNone ? 0 : (of(kind, w[j] + kStep) - of(kind, w[j] - kStep)) / (2 * kStep);
      EXPECT_NEAR(gradient[j], value_difference, 1e-7 * (1 + std::fabs(w[j]) * 1e-2));
      Vector low = Vector::Zero(1), high = Vector::Zero(1);
      r.add_gradient(Vector::Constant(1, w[j] - kStep), low);
      r.add_gradient(Vector::Constant(1, w[j] + kStep), high);
      EXPECT_NEAR(diagonal[j], (high[0] - low[0]) / (2 * kStep), 1e-7);
      EXPECT_GE(diagonal[j], bounds.lowest);
      EXPECT_LE(diagonal[j], bounds.highest);
    }
  }
}

TEST(Regularizer, CurvatureBoundsAreAttained) {
  const Regularizer r(Kind::kNonconvex, kLambda);
  Vector w(2), diagonal = Vector::Zero(2);
  w << 0, 1;
  r.add_hessian_diagonal(w, diagonal);
  EXPECT_DOUBLE_EQ(diagonal[0], r.curvature(2).highest);
  EXPECT_DOUBLE_EQ(diagonal[1], r.curvature(2).lowest);
  EXPECT_DOUBLE_EQ(r.curvature(2).lowest, -kLambda / 2);
}

TEST(Regularizer, ProxMinimizesItsProblem) {
  const Regularizer l1(Kind::kL1, kLambda);
  const double step = 2;
  const Vector w = points();
  Vector u = w;
  l1.prox(step, u);
  for (Eigen::Index j = 0; j < w.size(); ++j) {
    const auto cost = [&](double t) {
      return step * kLambda * std::fabs(t) + (t - w[j]) * (t - w[j]) / 2;
    };
    for (const double shift : {-1.0, -1e-3, 1e-3, 1.0})
      EXPECT_GT(cost(u[j] + shift), cost(u[j])) << w[j];
  }
  EXPECT_EQ(u[3], 0);
  EXPECT_FALSE(l1.smooth());

  for (const Kind kind : {Kind::kL2, Kind::kNonconvex}) {
    u = w;
    Regularizer(kind, kLambda).prox(step, u);
    EXPECT_EQ(u, w);
    EXPECT_TRUE(Regularizer(kind, kLambda).smooth());
  }
}

TEST(Regularizer, LeavesTheBiasAlone) {
  const Vector w = Vector::Constant(3, 2);
  for (const Kind kind : {Kind::kL2, Kind::kL1, Kind::kNonconvex}) {
    const auto r = Regularizer(kind, kLambda).on_first(2);
    EXPECT_DOUBLE_EQ(r.value(w), 2 * of(kind, 2));
    Vector gradient = Vector::Zero(3), diagonal = Vector::Zero(3), u = w;
    r.add_gradient(w, gradient);
    r.add_hessian_diagonal(w, diagonal);
    r.prox(1, u);
    EXPECT_EQ(gradient[2], 0);
    EXPECT_EQ(diagonal[2], 0);
    EXPECT_EQ(u[2], 2);
    EXPECT_NE(gradient[1] + u[1], 2);
    EXPECT_LE(r.curvature(3).lowest, 0);
  }
}

TEST(Regularizer, ParsesItsOwnText) {
  for (const char* text : {"none", "l2:0.5", "l1:0", "nonconvex:0.001"}) {
    const auto r = Regularizer::parse(text);
    ASSERT_TRUE(r.has_value()) << text;
    EXPECT_EQ(r->to_string(), text);
  }
  EXPECT_EQ(Regularizer::parse("nonconvex:1e-3")->lambda(), 1e-3);
  EXPECT_EQ(Regularizer::parse("l2:1")->kind(), Kind::kL2);
}

TEST(Regularizer, RefusesBadTextWithTheRemedy) {
  const auto message = [](const char* text) {
    const auto r = Regularizer::parse(text);
    if (r) return std::string("accepted");
    EXPECT_EQ(r.error().kind, ErrorKind::kUsage);
    return r.error().message;
  };
  for (const char* text : {"", "l3:1", "L2:1", "none:1", "ridge"})
    EXPECT_THAT(message(text), HasSubstr("Set ‘regularizer’ to none, l2:LAMBDA")) << text;
  EXPECT_THAT(message("l2"), HasSubstr("needs its weight lambda"));
  for (const char* text : {"l2:", "l2:x", "l2:-1", "l1:inf", "l1:nan", "l1:1 "})
    EXPECT_THAT(message(text), HasSubstr("must be finite and >= 0")) << text;
}

TEST(Regularizer, ElasticNetAndGroups) {
  Vector w(5);
  w << 3, -4, 1, 0, 2;
  const Regularizer elastic = Regularizer::elastic(0.5, 0.1);
  EXPECT_DOUBLE_EQ(elastic.value(w), 0.5 * 10 + 0.05 * 30);
  EXPECT_FALSE(elastic.smooth());
  Vector gradient = Vector::Zero(5);
  elastic.add_gradient(w, gradient);
  EXPECT_LE((gradient - 0.1 * w).norm(), 1e-15);
  EXPECT_DOUBLE_EQ(elastic.curvature(5).highest, 0.1);
  const Regularizer groups = Regularizer::group_l1(0.5, 2);
  EXPECT_DOUBLE_EQ(groups.value(w), 0.5 * (5 + 1 + 2));
  Vector shrunk = w;
  groups.prox(2, shrunk);  // by 1 in norm
  Vector expected(5);
  expected << 2.4, -3.2, 0, 0, 1;
  EXPECT_LE((shrunk - expected).norm(), 1e-15);
  for (const auto* text : {"elastic:0.5,0.1", "group-l1:0.5,2"}) {
    const auto parsed = Regularizer::parse(text);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->to_string(), text);
    EXPECT_EQ(parsed->on_first(3).regularized(), 3);
    EXPECT_EQ(parsed->on_first(3).to_string(), text);
  }
  for (const auto* text : {"elastic:0.5", "elastic:-1,2", "group-l1:1,0", "group-l1:1,1.5"})
    EXPECT_FALSE(Regularizer::parse(text)) << text;
}

}  // namespace
}  // namespace sotto
