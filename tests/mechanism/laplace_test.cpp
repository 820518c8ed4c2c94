#include "sotto/mechanism/laplace.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sotto/audit/made_up_claim.hpp"
#include "tests/support/distinguish.hpp"
#include "tests/support/receipts.hpp"

namespace sotto {
namespace {

constexpr double kLaplaceNoise = 2;
constexpr double kLaplaceSensitivity = 3;
constexpr int kLaplaceDraws = 50000;

Event laplace_event() { return Event::laplace(kLaplaceNoise, Relation::kZeroOut); }

std::vector<double> draw(double value, std::uint64_t seed) {
  testing::ReceiptBook receipts(laplace_event(), 1, kLaplaceDraws);
  Stream noise = Stream::seeded(seed, Purpose::kNoise);
  std::vector<double> sample;
  for (int i = 0; i < kLaplaceDraws; ++i) {
    sample.push_back(
        LaplaceMechanism::release({value, MadeUpClaim::of(kLaplaceSensitivity, Relation::kZeroOut)},
                                  receipts.next(),
                                  kLaplaceNoise,
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
  const double scale = kLaplaceNoise * kLaplaceSensitivity;
  const double critical = testing::kolmogorov_critical(sample.size());
  EXPECT_LT(distance(scale), critical);
  EXPECT_GT(distance(scale * 1.5), critical);
  EXPECT_GT(distance(scale / 1.5), critical);
}

TEST(LaplaceMechanism, NeighboursAreNotToldApartBeyondEpsilon) {
  const auto counts = [](const std::vector<double>& sample) {
    testing::EventCounts result{{0, 0, 0}, kLaplaceDraws};
    for (const double x : sample) {
      result.hits[0] += x < 0;
      result.hits[1] += x > kLaplaceSensitivity;
      result.hits[2] += x > 2 * kLaplaceSensitivity;
    }
    return result;
  };
  const auto here = counts(draw(0, 2));
  EXPECT_LE(testing::epsilon_lower_bound(here, counts(draw(kLaplaceSensitivity, 3))),
            1 / kLaplaceNoise);
  // Power: inputs that are 1.5 sensitivities apart are told apart.
  EXPECT_GT(testing::epsilon_lower_bound(here, counts(draw(1.5 * kLaplaceSensitivity, 4))),
            1 / kLaplaceNoise);
}

TEST(LaplaceMechanism, RefusesAReceiptForAnythingElseAndNoNoise) {
  Stream noise = Stream::seeded(1, Purpose::kNoise);
  const auto release = [&](Receipt receipt, double z) {
    return LaplaceMechanism::release(
               {std::nan(""), MadeUpClaim::of(1, Relation::kZeroOut)}, std::move(receipt), z, noise)
        .value();
  };
  EXPECT_TRUE(std::isfinite(release(testing::test_receipt(laplace_event(), 1), kLaplaceNoise)));
  EXPECT_THROW(release(testing::test_receipt(laplace_event(), 1), 1), std::logic_error);
  EXPECT_THROW(release(testing::test_receipt(laplace_event(), 0), kLaplaceNoise), std::logic_error);
  EXPECT_THROW(release(testing::test_receipt(laplace_event(), 1), 0), std::logic_error);
}

}  // namespace
}  // namespace sotto
