#include "sotto/mechanism/laplace.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sotto/audit/made_up_claim.hpp"
#include "tests/support/distinguish.hpp"
#include "tests/support/receipts.hpp"

namespace sotto {
namespace {

constexpr double kNoise = 2;
constexpr double kSensitivity = 3;
constexpr int kDraws = 50000;

Event event() { return Event::laplace(kNoise, Relation::kZeroOut); }

std::vector<double> draw(double value, std::uint64_t seed) {
  testing::ReceiptBook receipts(event(), 1, kDraws);
  Stream noise = Stream::seeded(seed, Purpose::kNoise);
  std::vector<double> sample;
  for (int i = 0; i < kDraws; ++i) {
    sample.push_back(
        LaplaceMechanism::release({value, MadeUpClaim::of(kSensitivity, Relation::kZeroOut)},
                                  receipts.next(),
                                  kNoise,
                                  noise)
            .value());
  }
  return sample;
}

TEST(LaplaceMechanism, AddsLaplaceNoiseOfTheStatedScale) {
  const std::vector<double> sample = draw(-4, 1);
  const auto distance = [&](double scale) {
    return testing::kolmogorov_distance(sample, [scale](double x) {
      const double t = (x + 4) / scale;
      return t < 0 ? std::exp(t) / 2 : 1 - std::exp(-t) / 2;
    });
  };
  const double scale = kNoise * kSensitivity;
  const double critical = testing::kolmogorov_critical(sample.size());
  EXPECT_LT(distance(scale), critical);
  EXPECT_GT(distance(scale * 1.5), critical);
  EXPECT_GT(distance(scale / 1.5), critical);
}

TEST(LaplaceMechanism, NeighboursAreNotToldApartBeyondEpsilon) {
  const auto counts = [](const std::vector<double>& sample) {
    testing::EventCounts result{{0, 0, 0}, kDraws};
    for (const double x : sample) {
      result.hits[0] += x < 0;
      result.hits[1] += x > kSensitivity;
      result.hits[2] += x > 2 * kSensitivity;
    }
    return result;
  };
  const auto here = counts(draw(0, 2));
  EXPECT_LE(testing::epsilon_lower_bound(here, counts(draw(kSensitivity, 3))), 1 / kNoise);
  // Power: inputs that are 1.5 sensitivities apart are told apart.
  EXPECT_GT(testing::epsilon_lower_bound(here, counts(draw(1.5 * kSensitivity, 4))), 1 / kNoise);
}

TEST(LaplaceMechanism, RefusesAReceiptForAnythingElseAndNoNoise) {
  Stream noise = Stream::seeded(1, Purpose::kNoise);
  const auto release = [&](Receipt receipt, double z) {
    return LaplaceMechanism::release(
               {std::nan(""), MadeUpClaim::of(1, Relation::kZeroOut)}, std::move(receipt), z, noise)
        .value();
  };
  EXPECT_TRUE(std::isfinite(release(testing::test_receipt(event(), 1), kNoise)));
  EXPECT_THROW(release(testing::test_receipt(event(), 1), 1), std::logic_error);
  EXPECT_THROW(release(testing::test_receipt(event(), 0), kNoise), std::logic_error);
  EXPECT_THROW(release(testing::test_receipt(event(), 1), 0), std::logic_error);
}

}  // namespace
}  // namespace sotto
