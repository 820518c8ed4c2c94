#include "sotto/data/synthetic_phase.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

namespace sotto {
namespace {

TEST(PhaseRetrieval, IsWhatItsDescriptionSays) {
  const PhaseRetrievalOptions options{.rows = 40'000, .dim = 8};
  const PhaseRetrievalData data = make_phase_retrieval(options);
  EXPECT_NEAR(data.truth.norm(), std::sqrt(8.0), 1e-12);
  double mean = 0;
  Matrix at_zero = Matrix::Zero(8, 8);  // the mean of -y x x': the Hessian at w = 0
  for (std::int64_t i = 0; i < 40'000; ++i) {
    const auto k = static_cast<std::size_t>(i);
    EXPECT_LE(data.table.norms()[k], 1 + 1e-8);
    const auto y = static_cast<double>(data.table.labels()[k]);
    EXPECT_GE(y, 0);
    EXPECT_LE(y, 6);
    const Vector x = Eigen::Map<const Eigen::VectorXf>(data.table.row(i), 8).cast<double>();
    mean += y / 40'000;
    at_zero -= y / 40'000 * x * x.transpose();
  }
  // Labels have variance below 3: six standard errors, and the clamp takes away a little.
  EXPECT_NEAR(mean, 1, 0.07);
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(at_zero);
  EXPECT_NEAR(solver.eigenvalues()[0], -0.3, 0.03);  // -3 / (8 + 2)
  EXPECT_GT(std::abs(solver.eigenvectors().col(0).dot(data.truth)) / data.truth.norm(), 0.99);
}

TEST(PhaseRetrieval, SeedsAndPartsDecide) {
  const PhaseRetrievalOptions options{.rows = 10, .dim = 3};
  const auto a = make_phase_retrieval(options), same = make_phase_retrieval(options);
  PhaseRetrievalOptions other = options;
  other.part = 1;
  const auto b = make_phase_retrieval(other);
  EXPECT_EQ(a.truth, same.truth);
  EXPECT_EQ(a.truth, b.truth);
  EXPECT_EQ(a.table.row(4)[1], same.table.row(4)[1]);
  EXPECT_NE(a.table.row(4)[1], b.table.row(4)[1]);
  other.seed = 2;
  EXPECT_NE(make_phase_retrieval(other).truth, a.truth);
}

}  // namespace
}  // namespace sotto
