#include "sotto/random/batch_sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/statistics.hpp"

namespace sotto {
namespace {

using testing::plausible;

bool strictly_increasing(const std::vector<std::int64_t>& batch, std::int64_t population) {
  return std::adjacent_find(batch.begin(), batch.end(), std::greater_equal<>()) == batch.end() &&
         (batch.empty() || (batch.front() >= 0 && batch.back() < population));
}

// Draws of `sampler` in which unit a is present, unit b is, and both are.
struct Frequencies {
  std::int64_t a = 0, b = 0, both = 0;
};
template <class Sampler>
Frequencies frequencies(Sampler& sampler, std::int64_t a, std::int64_t b, int draws, int seed) {
  Stream stream = Stream::seeded(static_cast<std::uint64_t>(seed), Purpose::kSampling);
  std::vector<std::int64_t> batch;
  Frequencies result;
  for (int i = 0; i < draws; ++i) {
    sampler.draw(stream, batch);
    EXPECT_TRUE(strictly_increasing(batch, sampler.population()));
    const bool has_a = std::binary_search(batch.begin(), batch.end(), a);
    const bool has_b = std::binary_search(batch.begin(), batch.end(), b);
    result.a += has_a;
    result.b += has_b;
    result.both += has_a && has_b;
  }
  return result;
}

class PoissonBatch : public ::testing::TestWithParam<double> {};

TEST_P(PoissonBatch, UnitsArePresentIndependentlyAtTheRate) {
  const double rate = GetParam();
  constexpr int kDraws = 200000;
  constexpr std::int64_t kPopulation = 70;  // blocks never divide it: the last one is cut
  PoissonBatchSampler sampler(kPopulation, rate);
  const Frequencies same_block = frequencies(sampler, 0, 1, kDraws, 1);
  const Frequencies far = frequencies(sampler, 0, kPopulation - 1, kDraws, 2);
  EXPECT_TRUE(plausible(same_block.a, kDraws, rate));
  EXPECT_TRUE(plausible(same_block.b, kDraws, rate));
  EXPECT_TRUE(plausible(same_block.both, kDraws, rate * rate));
  EXPECT_TRUE(plausible(far.b, kDraws, rate));
  EXPECT_TRUE(plausible(far.both, kDraws, rate * rate));
  // Power: the same counts are no draws at another rate.
  EXPECT_FALSE(plausible(same_block.a, kDraws, std::min(1.0, rate * 1.5)));
}
INSTANTIATE_TEST_SUITE_P(Rates, PoissonBatch, ::testing::Values(0.02, 0.0625, 0.07, 0.5));

TEST(PoissonBatch, SizesAreBinomial) {
  constexpr std::int64_t kPopulation = 1000;
  constexpr double kRate = 0.012;
  constexpr int kDraws = 100000;
  PoissonBatchSampler sampler(kPopulation, kRate);
  Stream stream = Stream::seeded(3, Purpose::kSampling);
  std::vector<std::int64_t> batch;
  std::vector<std::int64_t> observed(16);  // sizes 5, ..., 19 and the rest
  for (int i = 0; i < kDraws; ++i) {
    sampler.draw(stream, batch);
    const std::size_t size = batch.size();
    ++observed[size >= 5 && size < 20 ? size - 5 : 15];
  }
  std::vector<double> expected;
  double rest = kDraws;
  for (int size = 5; size < 20; ++size) {
    const double log_mass = std::lgamma(kPopulation + 1.0) - std::lgamma(size + 1.0) -
                            std::lgamma(kPopulation - size + 1.0) + size * std::log(kRate) +
                            (kPopulation - size) * std::log1p(-kRate);
    expected.push_back(kDraws * std::exp(log_mass));
    rest -= expected.back();
  }
  expected.push_back(rest);
  EXPECT_LT(testing::chi_square(observed, expected), testing::chi_square_critical(15));
}

TEST(PoissonBatch, EndsOfTheRange) {
  Stream stream = Stream::seeded(4, Purpose::kSampling);
  std::vector<std::int64_t> batch = {7};
  PoissonBatchSampler(100, 0).draw(stream, batch);
  EXPECT_TRUE(batch.empty());
  PoissonBatchSampler(100, 1).draw(stream, batch);
  EXPECT_EQ(batch.size(), 100u);
  EXPECT_TRUE(strictly_increasing(batch, 100));
  PoissonBatchSampler(0, 0.01).draw(stream, batch);
  EXPECT_TRUE(batch.empty());
  PoissonBatchSampler(std::int64_t{1} << 40, 1e-300).draw(stream, batch);
  EXPECT_TRUE(batch.empty());
  PoissonBatchSampler(std::int64_t{1} << 40, 1e-9).draw(stream, batch);
  EXPECT_TRUE(plausible(static_cast<std::int64_t>(batch.size()), std::int64_t{1} << 40, 1e-9));
  EXPECT_THROW(PoissonBatchSampler(10, 1.5), std::logic_error);
  EXPECT_THROW(PoissonBatchSampler(10, std::nan("")), std::logic_error);
}

TEST(PoissonBatch, TheSteadyStateDoesNotAllocate) {
  PoissonBatchSampler sampler(100000, 0.01);
  Stream stream = Stream::seeded(5, Purpose::kSampling);
  std::vector<std::int64_t> batch;
  batch.reserve(2000);
  const auto* memory = batch.data();
  for (int i = 0; i < 100; ++i) sampler.draw(stream, batch);
  EXPECT_EQ(batch.data(), memory);
}

struct FixedSizeCase {
  std::int64_t batch, population;
};
class FixedSizeBatch : public ::testing::TestWithParam<FixedSizeCase> {};

TEST_P(FixedSizeBatch, EveryUnitAndPairIsAsLikely) {
  const auto [size, population] = GetParam();
  constexpr int kDraws = 500000;
  FixedSizeBatchSampler sampler(size, population);
  const double b = static_cast<double>(size);
  const double n = static_cast<double>(population);
  const Frequencies found = frequencies(sampler, 0, population - 1, kDraws, 6);
  EXPECT_TRUE(plausible(found.a, kDraws, b / n));
  EXPECT_TRUE(plausible(found.b, kDraws, b / n));
  EXPECT_TRUE(plausible(found.both, kDraws, b * (b - 1) / (n * (n - 1))));
  EXPECT_FALSE(plausible(found.a, kDraws, std::min(1.0, 1.5 * b / n)));
}
INSTANTIATE_TEST_SUITE_P(Sizes,
                         FixedSizeBatch,
                         ::testing::Values(FixedSizeCase{3, 10},
                                           FixedSizeCase{8, 10},
                                           FixedSizeCase{30, 100},
                                           FixedSizeCase{4, 4100}));

TEST(FixedSizeBatch, SizesAreExact) {
  Stream stream = Stream::seeded(7, Purpose::kSampling);
  std::vector<std::int64_t> batch;
  for (const auto& [size, population] : {FixedSizeCase{0, 0},
                                         {0, 5},
                                         {5, 5},
                                         {1, 1},
                                         {64, 64},
                                         {63, 65},
                                         {2, 5000},
                                         {300, 300000}}) {
    FixedSizeBatchSampler sampler(size, population);
    for (int i = 0; i < 20; ++i) {
      sampler.draw(stream, batch);
      EXPECT_EQ(static_cast<std::int64_t>(batch.size()), size);
      EXPECT_TRUE(strictly_increasing(batch, population));
    }
  }
  EXPECT_THROW(FixedSizeBatchSampler(6, 5), std::logic_error);
}

// All 10 sets of 3 of 5.
TEST(FixedSizeBatch, EverySetIsAsLikely) {
  FixedSizeBatchSampler sampler(3, 5);
  Stream stream = Stream::seeded(8, Purpose::kSampling);
  std::vector<std::int64_t> batch;
  std::vector<std::int64_t> counts(32);
  for (int i = 0; i < 100000; ++i) {
    sampler.draw(stream, batch);
    ++counts[static_cast<std::size_t>((1 << batch[0]) | (1 << batch[1]) | (1 << batch[2]))];
  }
  std::erase(counts, 0);
  ASSERT_EQ(counts.size(), 10u);
  EXPECT_LT(testing::chi_square(counts, std::vector<double>(10, 10000.0)),
            testing::chi_square_critical(9));
}

}  // namespace
}  // namespace sotto
