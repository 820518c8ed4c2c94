// Inclusion and pair inclusion of every unit over many batches.

#include "sotto/random/batch_sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/statistics.hpp"

namespace sotto {
namespace {

constexpr std::int64_t kPopulation = 5000;
constexpr int kDraws = 40000;

struct Counts {
  std::vector<std::int64_t> single = std::vector<std::int64_t>(kPopulation);
  std::vector<std::int64_t> pairs = std::vector<std::int64_t>(kPopulation);  // by distance
};

template <class Sampler>
Counts count(Sampler sampler, std::uint64_t seed) {
  Stream stream = Stream::seeded(seed, Purpose::kSampling);
  std::vector<std::int64_t> batch;
  Counts counts;
  for (int i = 0; i < kDraws; ++i) {
    sampler.draw(stream, batch);
    for (std::size_t a = 0; a < batch.size(); ++a) {
      ++counts.single[static_cast<std::size_t>(batch[a])];
      for (std::size_t b = 0; b < a; ++b)
        ++counts.pairs[static_cast<std::size_t>(batch[a] - batch[b])];
    }
  }
  return counts;
}

// Sum of squared standardized counts of all units; each is nearly standard normal.
double spread(const std::vector<std::int64_t>& counts, double p) {
  double sum = 0;
  for (const std::int64_t c : counts) {
    const double excess = static_cast<double>(c) - kDraws * p;
    sum += excess * excess / (kDraws * p * (1 - p));
  }
  return sum;
}

// Pairs share units and, for Poisson batches, the size of the batch, which raises the expectation
// of the pair statistic by about 2.5%, or 1.2 of its standard deviations. The limit is therefore
// that of 1e-9, which is 1.25 standard deviations above the limit of 1e-6.
double pair_critical() { return testing::chi_square_critical(kPopulation - 201, 1e-9); }

// Pairs at distance d appear in a draw with expectation (n - d) x probability of a pair.
std::vector<double> expected_pairs(double pair_probability) {
  std::vector<double> expected;
  for (std::int64_t d = 1; d < kPopulation - 200; ++d) {
    expected.push_back(static_cast<double>(kPopulation - d) * kDraws * pair_probability);
  }
  return expected;
}

double pair_statistic(const Counts& counts, double pair_probability) {
  const std::vector<double> expected = expected_pairs(pair_probability);
  return testing::chi_square(
      {counts.pairs.begin() + 1, counts.pairs.begin() + 1 + std::ssize(expected)}, expected);
}

constexpr double kRate = 0.004;

TEST(BatchSamplers, PoissonIncludesUnitsAndPairsIndependently) {
  const Counts counts = count(PoissonBatchSampler(kPopulation, kRate), 1);
  EXPECT_LT(spread(counts.single, kRate), testing::chi_square_critical(kPopulation));
  EXPECT_LT(pair_statistic(counts, kRate * kRate), pair_critical());
  // Power: 5% away.
  EXPECT_GT(spread(counts.single, kRate * 1.05), testing::chi_square_critical(kPopulation));
  EXPECT_GT(pair_statistic(counts, kRate * kRate * 1.05), pair_critical());
}

/// As the oracle draws: range by range, each from a place of its own. The ranges here are no
/// multiple of the sampler's blocks, so that every one of them loses surplus members.
struct InRanges {
  PoissonBatchSampler sampler;
  std::uint64_t number = 0;
  void draw(Stream& stream, std::vector<std::int64_t>& batch) {
    constexpr std::int64_t kRange = 1300;
    batch.clear();
    ++number;
    for (std::int64_t begin = 0; begin < kPopulation; begin += kRange) {
      stream.go_to(number, static_cast<std::uint64_t>(begin / kRange));
      sampler.draw_range(stream, begin, std::min(begin + kRange, kPopulation), batch);
    }
  }
};

TEST(BatchSamplers, PoissonInRangesIncludesUnitsAndPairsIndependently) {
  const Counts counts = count(InRanges{PoissonBatchSampler(kPopulation, kRate)}, 3);
  EXPECT_LT(spread(counts.single, kRate), testing::chi_square_critical(kPopulation));
  EXPECT_LT(pair_statistic(counts, kRate * kRate), pair_critical());
  // Power: 5% away.
  EXPECT_GT(spread(counts.single, kRate * 1.05), testing::chi_square_critical(kPopulation));
  EXPECT_GT(pair_statistic(counts, kRate * kRate * 1.05), pair_critical());
}

TEST(BatchSamplers, FixedSizeIncludesUnitsAndPairsUniformly) {
  constexpr double kBatch = 20;
  constexpr double kPair = kBatch * (kBatch - 1) / (kPopulation * (kPopulation - 1.0));
  const Counts counts = count(FixedSizeBatchSampler(20, kPopulation), 2);
  EXPECT_LT(spread(counts.single, kBatch / kPopulation), testing::chi_square_critical(kPopulation));
  EXPECT_LT(pair_statistic(counts, kPair), pair_critical());
  // Power: the pair probability of independent inclusion is 5% larger.
  EXPECT_GT(pair_statistic(counts, kBatch * kBatch / kPopulation / kPopulation), pair_critical());
}

}  // namespace
}  // namespace sotto
