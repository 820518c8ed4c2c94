#include "sotto/random/gaussian.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "sotto/core/parallel.hpp"
#include "sotto/random/gaussian_kernels.hpp"
#include "sotto/random/gaussian_table.hpp"
#include "sotto/random/grid_rounding.hpp"

namespace sotto {
namespace {

using internal::GaussianKernel;
using internal::kGaussianGroup;
using internal::kGaussianThresholds;
using internal::kGaussianWords;

constexpr std::size_t kGroups = 64;

// splitmix64, as in golden/gaussian_kernel.py
std::vector<std::uint64_t> fixed_words() {
  std::vector<std::uint64_t> words(kGroups * kGaussianGroup * kGaussianWords);
  std::uint64_t state = 1;
  for (auto& word : words) {
    std::uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    word = z ^ (z >> 31);
  }
  return words;
}

std::vector<std::int64_t> run(GaussianKernel kernel, const std::vector<std::uint64_t>& words) {
  std::vector<std::int64_t> samples(words.size() / kGaussianWords);
  kernel(words.data(), samples.size() / kGaussianGroup, samples.data());
  return samples;
}

std::vector<GaussianKernel> kernels() {
  std::vector<GaussianKernel> result = {internal::baseline::rounded_gaussian};
#ifdef __x86_64__
  if (__builtin_cpu_supports("x86-64-v3")) result.push_back(internal::x86_64_v3::rounded_gaussian);
#endif
  return result;
}

TEST(RoundedGaussian, EveryKernelFollowsTheDefinition) {
  const auto words = fixed_words();
  for (const GaussianKernel kernel : kernels()) {
    const auto samples = run(kernel, words);
    EXPECT_EQ(samples[0], -18554377456);
    EXPECT_EQ(samples[1], 26834538426);
    EXPECT_EQ(samples[2], -21347732058);
    EXPECT_EQ(samples[3], 288693717);
    std::int64_t checksum = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      checksum += static_cast<std::int64_t>(i + 1) * samples[i];
    }
    EXPECT_EQ(checksum, -68935156030667);
  }
}

TEST(RoundedGaussian, ExtremeWordsGiveTheExtremeSamples) {
  // The selector's largest value and all uniforms at their ends.
  const auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  for (const GaussianKernel kernel : kernels()) {
    std::vector<std::uint64_t> words(kGaussianGroup * kGaussianWords, 0);
    EXPECT_EQ(run(kernel, words)[0], 5 * (std::int64_t{1} << 31) - 8 * 0x7fffffffLL);
    for (std::size_t lane = 0; lane < kGaussianGroup; ++lane)
      words[8 * kGaussianGroup + lane] = largest;
    EXPECT_EQ(run(kernel, words)[0], 73 * (std::int64_t{1} << 31) - 8 * 0x7fffffffLL);
    for (std::size_t i = 0; i < 8 * kGaussianGroup; ++i) words[i] = ~std::uint64_t{0};
    const std::int64_t lowest = -73 * (std::int64_t{1} << 31) + 8 * 0x7fffffffLL;
    EXPECT_EQ(run(kernel, words)[0], lowest);
    for (std::size_t i = 0; i < 8 * kGaussianGroup; ++i) words[i] &= ~(std::uint64_t{1} << 31);
    EXPECT_LT(run(kernel, words)[0], kGaussianLargest);
  }
}

// Even moments of the sampler's law, exactly from the table, against those of the standard normal:
// 1, 3, 15. The cumulants of a sum add; those of a uniform on N = 2^31 points are h^2 (1 - N^-2) /
// 12, -h^4 (1 - N^-4) / 120 and h^6 (1 - N^-6) / 252.
TEST(RoundedGaussian, MomentsOfTheTableAreThoseOfTheNormalLaw) {
  constexpr long double kStep = 0.125L;
  long double moment[3] = {};
  for (std::size_t j = 1; j <= std::size(kGaussianThresholds); ++j) {
    const auto distance = [](std::size_t i) {  // 2^64 P(|J| >= i + 1)
      return std::ldexp(1.0L, 63) - 1 - static_cast<long double>(kGaussianThresholds[i]);
    };
    const long double tail = j < std::size(kGaussianThresholds) ? distance(j) : 0;
    const long double probability = std::ldexp(distance(j - 1) - tail, -64);
    const long double square = static_cast<long double>(j * j) * kStep * kStep;
    moment[0] += probability * square;
    moment[1] += probability * square * square;
    moment[2] += probability * square * square * square;
  }
  const long double k2 = moment[0] + 16 * std::pow(kStep, 2.0L) / 12;
  const long double k4 = moment[1] - 3 * moment[0] * moment[0] - 16 * std::pow(kStep, 4.0L) / 120;
  const long double k6 = moment[2] - 15 * moment[1] * moment[0] + 30 * std::pow(moment[0], 3.0L) +
                         16 * std::pow(kStep, 6.0L) / 252;
  EXPECT_NEAR(static_cast<double>(k2 - 1), 0, 1e-15);
  EXPECT_NEAR(static_cast<double>(k4), 0, 1e-14);
  EXPECT_NEAR(static_cast<double>(k6), 0, 1e-12);
}

TEST(RoundedGaussian, LongRequestsStartLikeShortOnes) {
  std::vector<std::int64_t> whole(2000);
  Stream stream = Stream::seeded(1, Purpose::kNoise);
  sample_rounded_gaussian(stream, whole);
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{16}, std::size_t{17}, std::size_t{700}}) {
    Stream again = Stream::seeded(1, Purpose::kNoise);
    std::vector<std::int64_t> part(size);
    sample_rounded_gaussian(again, part);
    EXPECT_EQ(part, std::vector(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
  }
  sample_rounded_gaussian(stream, {});
}

std::vector<internal::GridKernel> grid_kernels() {
  std::vector<internal::GridKernel> result = {internal::baseline::add_on_grid};
#ifdef __x86_64__
  if (__builtin_cpu_supports("x86-64-v3")) result.push_back(internal::x86_64_v3::add_on_grid);
#endif
  return result;
}

TEST(RoundedGaussian, EveryKernelAddsTheSameStepsOfTheGrid) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Stream random = Stream::seeded(5, Purpose::kData);
  for (const double unit : {0x1p-40, 1.0, 3e-9, 0.7}) {
    std::vector<double> values = {0.0,
                                  -0.0,
                                  0.5,
                                  1.5,
                                  -2.5,
                                  1e300,
                                  -1e300,
                                  kInfinity,
                                  -kInfinity,
                                  std::numeric_limits<double>::quiet_NaN(),
                                  0x1p43,
                                  -0x1p43};
    for (double& value : values) value *= unit;
    for (int k = 0; k < 4000; ++k)
      values.push_back(std::ldexp(random.uniform() - 0.5, static_cast<int>(random.below(70))) *
                       unit);
    std::vector<std::int64_t> noise(values.size());
    for (auto& each : noise)
      each = static_cast<std::int64_t>(random.next()) >> static_cast<int>(20 + random.below(40));
    for (const auto kernel : grid_kernels()) {
      for (const std::size_t count : {values.size(), values.size() - 3, std::size_t{2}}) {
        std::vector<double> found = values;
        kernel(found.data(), noise.data(), count, unit);
        for (std::size_t i = 0; i < count; ++i) {
          const std::int64_t steps = internal::nearest_step(values[i], unit) + noise[i];
          ASSERT_EQ(found[i], static_cast<double>(steps) * unit) << values[i] << " " << noise[i];
        }
      }
    }
  }
}

TEST(RoundedGaussian, DoesNotDependOnTheNumberOfThreads) {
  std::vector<std::vector<double>> results;
  for (const int threads : {1, 2, 5}) {
    set_thread_count(threads);
    Stream stream = Stream::seeded(1, Purpose::kNoise);
    stream.next();  // from a place inside a block of the cipher
    std::vector<double> values(5000, 0.25);
    add_rounded_gaussian(stream, values, 0x1p-34);
    values.push_back(static_cast<double>(stream.next() >> 12));
    results.push_back(values);
  }
  set_thread_count(0);
  EXPECT_EQ(results[1], results[0]);
  EXPECT_EQ(results[2], results[0]);
}

}  // namespace
}  // namespace sotto
