#include "sotto/mechanism/gaussian.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "sotto/audit/made_up_claim.hpp"
#include "tests/support/receipts.hpp"
#include "tests/support/statistics.hpp"

namespace sotto {
namespace {

using testing::test_receipt;

constexpr double kNoise = 1.3;
constexpr Eigen::Index kDimension = 50000;

SensitivityClaim claim(double sensitivity = 2) {
  return MadeUpClaim::of(sensitivity, Relation::kZeroOut);
}

Released<Vector> release(Vector value, Receipt receipt, double z, std::uint64_t seed = 1) {
  Stream noise = Stream::seeded(seed, Purpose::kNoise);
  return GaussianMechanism::release({std::move(value), claim()}, std::move(receipt), z, noise);
}

Event event(double z = kNoise) { return Event::gaussian(z, Relation::kZeroOut); }

double distance_from_normal(const Vector& centred, double sigma) {
  return testing::kolmogorov_distance({centred.begin(), centred.end()},
                                      [sigma](double x) { return testing::normal_cdf(x / sigma); });
}

TEST(GaussianMechanism, AddsGaussianNoiseOfTheStatedScale) {
  const Vector value = Vector::Constant(kDimension, 17.5);
  const auto released = release(value, test_receipt(event(), kDimension), kNoise);
  const double sigma = released_sigma(claim(), kNoise, kDimension);
  EXPECT_GE(sigma, kNoise * 2);
  EXPECT_NEAR(sigma, kNoise * 2, 1e-6);
  const Vector noise = released.value() - value;
  const double critical = testing::kolmogorov_critical(kDimension);
  EXPECT_LT(distance_from_normal(noise, sigma), critical);
  EXPECT_GT(distance_from_normal(noise, sigma * 1.5), critical);
  EXPECT_GT(distance_from_normal(noise, sigma / 1.5), critical);
  EXPECT_EQ(to_string(released.event()), to_string(event()));
}

TEST(GaussianMechanism, EventFollowsTheClaimsSamplingAndRelation) {
  const Sampling sampling = Sampling::poisson(0.25);
  const Event expected = Event::poisson(0.25, Event::gaussian(kNoise, Relation::kAddRemove));
  Stream noise = Stream::seeded(1, Purpose::kNoise);
  const auto released = GaussianMechanism::release(
      {Vector::Zero(3), MadeUpClaim::of(1, Relation::kAddRemove, sampling)},
      test_receipt(expected, 3),
      kNoise,
      noise);
  EXPECT_EQ(to_string(released.event()), to_string(expected));
}

TEST(GaussianMechanism, RefusesAReceiptForAnythingElse) {
  const Vector value = Vector::Zero(3);
  EXPECT_NO_THROW(release(value, test_receipt(event(), 3), kNoise));
  EXPECT_NO_THROW(release(value, test_receipt(Event::repeat(1, event()), 3), kNoise));
  EXPECT_THROW(release(value, test_receipt(event(1.4), 3), kNoise), std::logic_error);
  EXPECT_THROW(release(value, test_receipt(Event::repeat(2, event()), 3), kNoise),
               std::logic_error);
  EXPECT_THROW(release(value, test_receipt(event(), 2), kNoise), std::logic_error);
  EXPECT_THROW(release(value, test_receipt(Event::poisson(0.1, event()), 3), kNoise),
               std::logic_error);
  EXPECT_THROW(release(value, test_receipt(Event::laplace(kNoise, Relation::kZeroOut), 3), kNoise),
               std::logic_error);
  EXPECT_THROW(
      release(value, test_receipt(Event::gaussian(kNoise, Relation::kReplaceOne), 3), kNoise),
      std::logic_error);
}

TEST(GaussianMechanism, NoNoiseIsNotAMechanism) {
  Stream noise = Stream::seeded(1, Purpose::kNoise);
  EXPECT_THROW(GaussianMechanism::release({Vector::Zero(1), claim()},
                                          test_receipt(Event::non_private(Relation::kZeroOut), 1),
                                          0,
                                          noise),
               std::logic_error);
}

TEST(GaussianMechanism, NonFiniteCoordinatesGetNoiseLikeAllOthers) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Vector value = (Vector(4) << std::nan(""), infinity, -infinity, 0).finished();
  const Vector result = release(value, test_receipt(event(), 4), kNoise).value();
  const Vector clean = release(Vector::Zero(4), test_receipt(event(), 4), kNoise).value();
  EXPECT_TRUE(result.allFinite());
  EXPECT_EQ(result[0], clean[0]);  // NaN counts as 0
  EXPECT_EQ(result[3], clean[3]);
  const double most = released_sigma(claim(), kNoise, 4) * 0x1p28;
  EXPECT_NEAR(result[1], most, most * 1e-7);
  EXPECT_NEAR(result[2], -most, most * 1e-7);
}

TEST(GaussianMechanism, TheSeedDecidesTheNoise) {
  const Vector value = Vector::Ones(5);
  const auto run = [&](std::uint64_t seed) {
    return release(value, test_receipt(event(), 5), kNoise, seed).value();
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

}  // namespace
}  // namespace sotto
