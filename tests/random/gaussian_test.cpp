#include "sotto/random/gaussian.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "sotto/core/numbers.hpp"
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
    EXPECT_EQ(samples[0], -21422566394);
    EXPECT_EQ(samples[1], 17335303408);
    EXPECT_EQ(samples[2], 27743419057);
    EXPECT_EQ(samples[3], -6180848549);
    std::int64_t checksum = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      checksum += static_cast<std::int64_t>(i + 1) * samples[i];
    }
    EXPECT_EQ(checksum, 389670548679468);
  }
}

TEST(RoundedGaussian, ExtremeWordsGiveTheExtremeSamples) {
  // 2^32 for every step of J; the uniforms' sum goes from 0 to twice its mean.
  constexpr std::int64_t kStep = std::int64_t{1} << 32;
  constexpr std::int64_t kMean = 8 * (255LL << 24) + 2 * (65535LL << 16) + 2 * (kStep - 1);
  constexpr std::int64_t kMost = std::size(kGaussianThresholds);
  const auto all_words = [](std::uint64_t uniforms, std::uint64_t selector) {
    std::vector<std::uint64_t> words(kGaussianGroup * kGaussianWords, uniforms);
    std::fill(words.end() - kGaussianGroup, words.end(), selector);
    return words;
  };
  for (const GaussianKernel kernel : kernels()) {
    const auto sample = [&](std::uint64_t uniforms, std::uint64_t selector) {
      const auto samples = run(kernel, all_words(uniforms, selector));
      EXPECT_EQ(samples, std::vector<std::int64_t>(kGaussianGroup, samples[0]));
      return samples[0];
    };
    const std::uint64_t ones = ~std::uint64_t{0};
    const std::uint64_t sign = std::uint64_t{1} << 63;
    EXPECT_EQ(sample(0, 0), -kMean);     // J = 0...
    EXPECT_EQ(sample(0, ones), -kMean);  // ...with either sign
    EXPECT_EQ(sample(ones, 0), kMean);
    EXPECT_EQ(sample(0, ~sign), kMost * kStep - kMean);
    EXPECT_EQ(sample(0, sign), -kMost * kStep - kMean);
    EXPECT_EQ(sample(ones, ~sign), kMost * kStep + kMean);
    EXPECT_LT(kMost * kStep + kMean, kGaussianLargest);
  }
}

// Even moments of the sampler's law, exactly from the table, against those of the standard normal:
// 1, 3, 15. The cumulants of a sum add; those of a uniform on N points are h^2 (1 - N^-2) / 12,
// -h^4 (1 - N^-4) / 120 and h^6 (1 - N^-6) / 252.
TEST(RoundedGaussian, MomentsOfTheTableAreThoseOfTheNormalLaw) {
  constexpr long double kStep = 0.25L;
  long double moment[3] = {};
  for (std::size_t j = 1; j <= std::size(kGaussianThresholds); ++j) {
    const auto distance = [](std::size_t i) {  // 2^63 P(|J| >= i + 1)
      return std::ldexp(1.0L, 63) - 1 - static_cast<long double>(kGaussianThresholds[i]);
    };
    const long double tail = j < std::size(kGaussianThresholds) ? distance(j) : 0;
    const long double probability = std::ldexp(distance(j - 1) - tail, -63);
    const long double square = static_cast<long double>(j * j) * kStep * kStep;
    moment[0] += probability * square;
    moment[1] += probability * square * square;
    moment[2] += probability * square * square * square;
  }
  const auto uniforms = [&](long double power) {
    const auto each = [&](int bits) {
      return 1 - std::ldexp(1.0L, -bits * static_cast<int>(power));
    };
    return std::pow(kStep, power) * (16 * each(8) + 4 * each(16) + 4 * each(32));
  };
  const long double k2 = moment[0] + uniforms(2) / 12;
  const long double k4 = moment[1] - 3 * moment[0] * moment[0] - uniforms(4) / 120;
  const long double k6 =
      moment[2] - 15 * moment[1] * moment[0] + 30 * std::pow(moment[0], 3.0L) + uniforms(6) / 252;
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
