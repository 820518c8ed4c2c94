// Sums of clipped Hessians: against a plain reference, for any number of threads, within their
// rounding bound.

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/core/numbers.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/oracle/per_example_sum.hpp"
#include "tests/oracle/hessian_rows.hpp"

namespace sotto {
namespace {

using testing::random_rows;
using testing::Rows;
using testing::wave;

/// Clipped pair sums of the logistic loss, written plainly; h infinite: Hessians alone, by their
/// own norm.
void plain_sums(const Rows& rows, const Vector& w, double radius, double h, Vector& g, Matrix& H) {
  const Eigen::Index d = w.size();
  g = Vector::Zero(d);
  H = Matrix::Zero(d, d);
  for (std::size_t i = 0; i < rows.x.size(); ++i) {
    const Vector x = Eigen::Map<const Vector>(rows.x[i].data(), d).cast<float>().cast<double>();
    const double p = 1 / (1 + std::exp(-rows.y[i] * x.dot(w)));
    const Vector gradient = -rows.y[i] * (1 - p) * x;
    const Matrix hessian = p * (1 - p) * x * x.transpose();
    const double norm = std::isfinite(h)
                            ? std::sqrt(gradient.squaredNorm() + hessian.squaredNorm() / (h * h))
                            : hessian.norm();
    const double weight = std::min(1.0, radius / norm);
    g += weight * gradient;
    H += weight * hessian;
  }
}

TEST(HessianSums, EqualAPlainlyWrittenReference) {
  for (const bool sparse : {false, true})
    for (const std::int64_t dim : {1, 7, 30}) {
      const Rows rows = random_rows(2500, dim, 3);
      const Table table = rows.table(sparse);
      const GlmEngine engine(table, {});
      PerExampleSum sums(engine);
      const Vector w = wave(dim, 0.4);
      Vector g, expected_g;
      Matrix H, expected_H;
      for (const double radius : {0.05, 50.0}) {  // clips most rows; none
        sums.clipped_hessians({}, w, radius, H);
        plain_sums(rows, w, radius, kInfinity, expected_g, expected_H);
        EXPECT_LE((H - expected_H).norm(), 1e-11 * (1 + expected_H.norm()));
        EXPECT_EQ(H, Matrix(H.transpose()));
        const Vector v = wave(dim, 1).normalized();
        Vector product;
        sums.clipped_hessian_products({}, w, radius, v, product);
        EXPECT_LE((product - expected_H * v).norm(), 1e-11 * (1 + expected_H.norm()));
      }
      sums.clipped_pairs({}, w, 0.3, 0.4, g, H);
      plain_sums(rows, w, 0.3, 0.4, expected_g, expected_H);
      EXPECT_LE((g - expected_g).norm(), 1e-11 * (1 + expected_g.norm()));
      EXPECT_LE((H - expected_H).norm(), 1e-11 * (1 + expected_H.norm()));
    }
}

TEST(HessianSums, AreTheSameBitsForAnyNumberOfThreads) {
  const Rows rows = random_rows(20'000, 12, 5);
  const Table table = rows.table();
  const GlmEngine engine(table, {});
  const Vector w = wave(12, 0.4);
  Matrix one, many, pair_one, pair_many;
  Vector g_one, g_many;
  const int before = thread_count();
  set_thread_count(1);
  PerExampleSum(engine).clipped_hessians({}, w, 0.1, one);
  PerExampleSum(engine).clipped_pairs({}, w, 0.1, 0.3, g_one, pair_one);
  set_thread_count(5);
  PerExampleSum(engine).clipped_hessians({}, w, 0.1, many);
  PerExampleSum(engine).clipped_pairs({}, w, 0.1, 0.3, g_many, pair_many);
  set_thread_count(before);
  EXPECT_EQ(one, many);
  EXPECT_EQ(pair_one, pair_many);
  EXPECT_EQ(g_one, g_many);
}

TEST(HessianSums, StayWithinTheirRoundingBoundOfAnExactSum) {
  const Rows rows = random_rows(30'000, 5, 6, 3);
  const Table table = rows.table();
  const GlmEngine engine(table, {LossKind::kSquared});
  PerExampleSum sums(engine);
  Matrix H;
  const double radius = 100;
  sums.clipped_hessians({}, Vector::Zero(5), radius, H);
  Eigen::Matrix<long double, 5, 5> exact = Eigen::Matrix<long double, 5, 5>::Zero();
  for (std::int64_t i = 0; i < 30'000; ++i) {
    Eigen::Matrix<long double, 5, 1> x;
    for (Eigen::Index j = 0; j < 5; ++j) x[j] = static_cast<long double>(table.row(i)[j]);
    exact += x * x.transpose() * std::min(1.0L, radius / x.squaredNorm());
  }
  const double error = static_cast<double>((H.cast<long double>() - exact).norm());
  const std::int64_t d = engine.parameters();
  const double rounding =
      sum_geometry({d, false}, SumKind::kMatrix, 1).rounding_error(30'000, radius, d * d);
  EXPECT_LE(error, rounding);
  EXPECT_GT(rounding, 0);
  EXPECT_LT(rounding, 1e-6 * radius);
}

}  // namespace
}  // namespace sotto
