#include "sotto/mechanism/coordinate_selection.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sotto/audit/made_up_claim.hpp"
#include "tests/support/distinguish.hpp"
#include "tests/support/receipts.hpp"

namespace sotto {
namespace {

using testing::ReceiptBook;

constexpr double kEpsilon = 1;
constexpr double kSensitivity = 1024;

std::vector<double> frequencies(const std::vector<std::int64_t>& first,
                                const std::vector<std::int64_t>& second,
                                bool both_signs,
                                int draws,
                                std::uint64_t seed = 3) {
  ReceiptBook receipts(Event::exponential(kEpsilon, Relation::kZeroOut), 1, draws);
  Stream stream = Stream::seeded(seed, Purpose::kNoise);
  std::vector<double> counts(2 * first.size(), 0.0);
  for (int k = 0; k < draws; ++k) {
    const auto chosen = CoordinateSelection::release(
        Sensitive<CoordinateScores>({{first, second}},
                                    MadeUpClaim::of(kSensitivity, Relation::kZeroOut)),
        receipts.next(),
        kEpsilon,
        both_signs,
        stream);
    ++counts[2 * static_cast<std::size_t>(chosen.value().coordinate) +
             (chosen.value().negative ? 1 : 0)];
  }
  return counts;
}

/// Six standard deviations for each of ten outcomes: a false alarm has a probability below 1e-6.
TEST(CoordinateSelection, HasTheExponentialMechanismsLaw) {
  constexpr int kDraws = 60000;
  const std::vector<std::int64_t> first = {500, -2000, 0, 3000, -100};
  const std::vector<std::int64_t> second = {500, -1000, 0, -1500, 50};  // parts are added
  const std::vector<double> counts = frequencies(first, second, true, kDraws);
  std::vector<double> weights;
  double total = 0;
  for (std::size_t j = 0; j < first.size(); ++j)
    for (const double sign : {1.0, -1.0}) {
      weights.push_back(std::exp(-sign * kEpsilon * static_cast<double>(first[j] + second[j]) /
                                 (2 * kSensitivity)));
      total += weights.back();
    }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double p = weights[i] / total;
    EXPECT_NEAR(counts[i], kDraws * p, 6 * std::sqrt(kDraws * p * (1 - p)) + 1) << i;
  }
}

TEST(CoordinateSelection, OneSignOnlyForASimplex) {
  const std::vector<std::int64_t> sums = {0, 0, -4000};
  const std::vector<std::int64_t> none = {0, 0, 0};
  const std::vector<double> counts = frequencies(sums, none, false, 5000);
  EXPECT_EQ(counts[1] + counts[3] + counts[5], 0);
  EXPECT_GT(counts[4], counts[0]);  // the smallest sum is best
}

/// Sums that a neighbour moved by the sensitivity, in the worst direction: the log-odds of two
/// outcomes move by epsilon, never more; with twice the motion (the power twin) they do.
TEST(CoordinateSelection, NeighboursAreWithinEpsilon) {
  constexpr int kDraws = 200000;
  const std::vector<std::int64_t> none = {0, 0};
  const auto log_odds = [&](std::int64_t moved, std::uint64_t seed) {
    const std::vector<double> counts = frequencies({moved, 0}, none, true, kDraws, seed);
    return std::log(counts[1] / counts[0]);  // -e_1 against +e_1
  };
  const auto moved = static_cast<std::int64_t>(kSensitivity);
  // The standard deviation of each log-odds is below 0.007; six of them.
  EXPECT_NEAR(log_odds(moved, 8) - log_odds(0, 9), kEpsilon, 0.06);
  EXPECT_GT(log_odds(2 * moved, 10) - log_odds(0, 11), kEpsilon + 0.5);
}

TEST(CoordinateSelection, ChecksItsReceiptAndArguments) {
  const std::vector<std::int64_t> sums = {1, 2};
  Stream stream = Stream::seeded(3, Purpose::kNoise);
  const auto release = [&](const Event& event, double sensitivity) {
    return CoordinateSelection::release(
        Sensitive<CoordinateScores>({{sums}}, MadeUpClaim::of(sensitivity, Relation::kZeroOut)),
        testing::test_receipt(event, 1),
        kEpsilon,
        true,
        stream);
  };
  EXPECT_THROW(release(Event::exponential(0.5, Relation::kZeroOut), 1024), std::logic_error);
  EXPECT_THROW(release(Event::exponential(kEpsilon, Relation::kReplaceOne), 1024),
               std::logic_error);
  EXPECT_THROW(release(Event::exponential(kEpsilon, Relation::kZeroOut), 0.5), std::logic_error);
}

}  // namespace
}  // namespace sotto
