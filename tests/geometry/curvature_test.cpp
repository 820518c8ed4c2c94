#include "sotto/geometry/curvature.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sotto/core/dense_limit.hpp"

namespace sotto {
namespace {

const LossInfo kLogistic = loss_info({LossKind::kLogistic});
const LossInfo kSigmoid = loss_info({LossKind::kSigmoid});

TEST(Curvature, FloorsOfTheBenchmarks) {
  // algorithms.md 2.7.
  const Regularizer nonconvex(RegularizerKind::kNonconvex, 1e-3);
  EXPECT_DOUBLE_EQ(curvature_floor(kLogistic, 1, nonconvex, 54), -5e-4);
  const Regularizer l2(RegularizerKind::kL2, 1e-3);
  EXPECT_NEAR(curvature_floor(kSigmoid, 1, l2, 54), -0.0952, 5e-5);
  EXPECT_NEAR(curvature_floor(kSigmoid, 3, {}, 54), -9 * 0.0962250, 1e-6);
  // A zero row has no curvature, so a positive second derivative is no floor.
  EXPECT_EQ(curvature_floor(loss_info({LossKind::kSquared}), 1, {}, 3), 0);
  EXPECT_EQ(curvature_floor(loss_info({LossKind::kPhaseRetrieval, 2}), 3, {}, 3), -18);
}

TEST(Curvature, ConstantsOfTheBenchmarks) {
  const Regularizer nonconvex(RegularizerKind::kNonconvex, 1e-3);
  EXPECT_DOUBLE_EQ(gradient_lipschitz(kLogistic, 1, nonconvex, 54), 0.252);
  EXPECT_NEAR(hessian_lipschitz(kLogistic, 1, nonconvex), 0.0962250 + 4.6686e-3, 1e-6);
  EXPECT_NEAR(hessian_lipschitz(kSigmoid, 2, {}), 1, 1e-12);
  EXPECT_EQ(hessian_lipschitz(loss_info({LossKind::kHuber}), 1, {}),
            std::numeric_limits<double>::infinity());
}

TEST(Curvature, TheRegularizersThirdDerivativeStaysBelowItsBound) {
  const Regularizer r(RegularizerKind::kNonconvex, 1);
  const double bound = hessian_lipschitz(loss_info({LossKind::kSquared}), 1, r);
  double most = 0;
  for (double w = 0; w < 5; w += 1e-3) {
    Vector low = Vector::Zero(1), high = Vector::Zero(1);
    r.add_hessian_diagonal(Vector::Constant(1, w - 1e-5), low);
    r.add_hessian_diagonal(Vector::Constant(1, w + 1e-5), high);
    most = std::max(most, std::abs(high[0] - low[0]) / 2e-5);
  }
  EXPECT_LE(most, bound * (1 + 1e-6));
  EXPECT_GE(most, bound * (1 - 1e-4));
}

TEST(DenseLimit, RefusesWhatCanNotFitAndSaysWhatToUse) {
  EXPECT_TRUE(check_dense_hessian(54));
  const auto refused = check_dense_hessian(2'000'000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_NE(refused.error().message.find("lanczos"), std::string::npos);
  EXPECT_GT(dense_hessian_bytes(1000, 4), dense_hessian_bytes(1000, 1));
}

}  // namespace
}  // namespace sotto
