#include "sotto/mechanism/joint_gaussian.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sotto/audit/made_up_claim.hpp"
#include "tests/support/receipts.hpp"
#include "tests/support/statistics.hpp"

namespace sotto {
namespace {

using testing::ReceiptBook;

constexpr double kJointNoise = 1.1;
constexpr double kJointSensitivity = 0.5;
constexpr double kGradientScale = 4;
constexpr double kHessianScale = 0.25;
constexpr std::int64_t kSamples = 3 + 6;

Event joint_event() { return Event::gaussian(kJointNoise, Relation::kReplaceOne); }

Released<GradientHessian> release(Receipt receipt, Stream& noise) {
  return JointGaussianMechanism::release(
      {{Vector::Constant(3, 5), Matrix::Constant(3, 3, -2), kGradientScale, kHessianScale},
       MadeUpClaim::of(kJointSensitivity, Relation::kReplaceOne)},
      std::move(receipt),
      kJointNoise,
      noise);
}

TEST(JointGaussian, EachPartGetsNoiseInItsScale) {
  constexpr int kDraws = 5000;
  ReceiptBook receipts(joint_event(), kSamples, kDraws);
  Stream noise = Stream::seeded(1, Purpose::kNoise);
  std::vector<double> gradient;
  std::vector<double> diagonal;
  std::vector<double> lower;
  for (int i = 0; i < kDraws; ++i) {
    const GradientHessian result = release(receipts.next(), noise).value();
    for (int r = 0; r < 3; ++r) {
      gradient.push_back(result.gradient[r] - 5);
      diagonal.push_back(result.hessian(r, r) + 2);
      for (int c = 0; c < r; ++c) lower.push_back(result.hessian(r, c) + 2);
    }
    ASSERT_EQ(result.hessian, result.hessian.transpose());
  }
  const auto passes = [](const std::vector<double>& sample, double sigma) {
    return testing::kolmogorov_distance(sample, [sigma](double x) {
             return testing::normal_cdf(x / sigma);
           }) < testing::kolmogorov_critical(sample.size());
  };
  const double s = kJointNoise * kJointSensitivity;
  for (const auto& [sample, sigma] : {std::pair{&gradient, s * kGradientScale},
                                      {&diagonal, s * kHessianScale},
                                      {&lower, s * kHessianScale / std::sqrt(2.0)}}) {
    EXPECT_TRUE(passes(*sample, sigma));
    EXPECT_FALSE(passes(*sample, sigma * 1.5));
    EXPECT_FALSE(passes(*sample, sigma / 1.5));
  }
}

TEST(JointGaussian, IsOneGaussianEventWithASampleACoordinate) {
  Stream noise = Stream::seeded(2, Purpose::kNoise);
  const auto released = release(testing::test_receipt(joint_event(), kSamples), noise);
  EXPECT_EQ(to_string(released.event()), to_string(joint_event()));
  EXPECT_THROW(release(testing::test_receipt(joint_event(), kSamples - 1), noise),
               std::logic_error);
}

}  // namespace
}  // namespace sotto
