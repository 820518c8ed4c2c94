#include "sotto/random/gumbel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "tests/support/statistics.hpp"

namespace sotto {
namespace {

/// -ln(-ln(1 - V)) at both ends of the word's cell, in long double.
std::pair<double, double> range_of(std::uint32_t word) {
  const auto value = [](long double v) { return static_cast<double>(-std::log(-std::log1p(-v))); };
  const long double v = static_cast<long double>(word) * 0x1p-32L;
  return {value(v), value(v + 0x1p-32L)};
}

double worst_error(std::span<const std::uint32_t> words) {
  std::vector<float> values(words.size());
  internal::approximate_gumbels(words, values);
  double worst = 0;
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (values[k] < internal::kGumbelLow || values[k] > internal::kGumbelHigh) continue;
    const auto [a, b] = range_of(words[k]);
    const auto value = static_cast<double>(values[k]);
    worst = std::max({worst, std::fabs(value - a), std::fabs(value - b)});
  }
  return worst;
}

TEST(Gumbel, TheKernelIsWithinItsBound) {
  std::vector<std::uint32_t> words;
  for (std::uint64_t w = 0; w < std::uint64_t{1} << 32; w += 4099)
    words.push_back(static_cast<std::uint32_t>(w));
  for (std::uint32_t k = 0; k < 1u << 16; ++k) {
    words.push_back(k);
    words.push_back(~k);
    words.push_back(0x7fffffffu + (k & 1 ? k : 0u - k));
  }
  EXPECT_LT(worst_error(words), internal::kGumbelError);
}

/// Which words are left open: only those at the ends.
TEST(Gumbel, FewWordsAreOpen) {
  std::vector<std::uint32_t> words(1u << 12);
  std::iota(words.begin(), words.end(), 300u);
  EXPECT_GT(words.size(), 0u);
  std::vector<float> values(words.size());
  internal::approximate_gumbels(words, values);
  for (const float v : values) EXPECT_LT(v, internal::kGumbelHigh);
  words.assign(1, 0);
  values.assign(1, 0);
  internal::approximate_gumbels(words, values);
  EXPECT_GT(values[0], internal::kGumbelHigh);
  words[0] = ~0u;
  internal::approximate_gumbels(words, values);
  EXPECT_LT(values[0], internal::kGumbelLow);
}

std::vector<double> frequencies(const std::vector<std::int64_t>& scores,
                                double factor,
                                std::int64_t runs) {
  Stream stream = Stream::seeded(5, Purpose::kNoise);
  std::vector<double> counts(scores.size(), 0.0);
  for (std::int64_t r = 0; r < runs; ++r) {
    GumbelRace race(stream, factor);
    // In two batches, as a caller with chunks does.
    const std::size_t half = scores.size() / 2;
    race.enter(0, std::span(scores).first(half));
    race.enter(static_cast<std::int64_t>(half), std::span(scores).subspan(half));
    ++counts[static_cast<std::size_t>(race.winner())];
  }
  return counts;
}

/// Every frequency within six standard deviations of its probability: a false alarm has a
/// probability below 1e-6 in all.
TEST(Gumbel, TheRaceHasTheSoftmaxLaw) {
  constexpr std::int64_t kRuns = 200000;
  const std::vector<std::int64_t> scores = {0, 3, 3, -5, 8, 1, 7, 7, 2, 0, -100};
  constexpr double kFactor = 0.4;
  const std::vector<double> counts = frequencies(scores, kFactor, kRuns);
  double total = 0;
  for (const auto s : scores) total += std::exp(kFactor * static_cast<double>(s));
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double p = std::exp(kFactor * static_cast<double>(scores[i])) / total;
    const double deviation = std::sqrt(kRuns * p * (1 - p)) + 1;
    EXPECT_NEAR(counts[i], kRuns * p, 6 * deviation) << i;
  }
  // The power twin: a factor 3 % off is seen.
  double distance = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    double wrong = 0;
    for (const auto s : scores) wrong += std::exp(1.05 * kFactor * static_cast<double>(s));
    const double p = std::exp(1.05 * kFactor * static_cast<double>(scores[i])) / wrong;
    distance =
        std::max(distance, std::fabs(counts[i] - kRuns * p) / (std::sqrt(kRuns * p * (1 - p)) + 1));
  }
  EXPECT_GT(distance, 6);
}

/// Thousands of equal candidates tie all the time at 32 bits; the law stays uniform.
TEST(Gumbel, ManyEqualCandidatesStayUniform) {
  constexpr std::int64_t kRuns = 4000;
  const std::vector<std::int64_t> scores(5000, 7);
  Stream stream = Stream::seeded(6, Purpose::kNoise);
  double sum = 0;
  for (std::int64_t r = 0; r < kRuns; ++r) {
    GumbelRace race(stream, 1);
    race.enter(0, scores);
    sum += static_cast<double>(race.winner());
  }
  const double mean = sum / static_cast<double>(kRuns);
  const double deviation = 5000 / std::sqrt(12.0 * static_cast<double>(kRuns));
  EXPECT_NEAR(mean, 2499.5, 6 * deviation);
}

TEST(Gumbel, HugeScoresAndSingleCandidates) {
  Stream stream = Stream::seeded(7, Purpose::kNoise);
  const std::int64_t big = std::int64_t{1} << 62;
  const std::vector<std::int64_t> scores = {-big, big, big - (std::int64_t{1} << 50)};
  for (int k = 0; k < 100; ++k) {
    GumbelRace race(stream, 0x1p-32);
    race.enter(0, scores);
    EXPECT_EQ(race.winner(), 1);
    GumbelRace alone(stream, 0x1p-32);
    alone.enter(17, std::span(scores).first(1));
    EXPECT_EQ(alone.winner(), 17);
  }
}

}  // namespace
}  // namespace sotto
