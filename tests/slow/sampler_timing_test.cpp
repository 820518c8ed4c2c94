// Does the time that the noise sampler takes tell anything about the noise? A statistical look at
// what random/gaussian.hpp claims by construction.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "sotto/random/gaussian.hpp"
#include "tests/support/statistics.hpp"

namespace sotto {
namespace {

constexpr std::size_t kGroup = 16;  // samples that the sampler makes at once
constexpr int kCalls = 200000;

struct Timed {
  double size;  // sum of |noise| of the call
  double time;
};

/// One timed call a time. `leak`: the twin that works a little longer for large noise.
std::vector<Timed> measure(bool leak) {
  Stream stream = Stream::seeded(leak ? 2 : 1, Purpose::kNoise);
  std::vector<std::int64_t> noise(kGroup);
  std::vector<Timed> calls;
  volatile double sink = 0;
  for (int i = 0; i < kCalls; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    sample_rounded_gaussian(stream, noise);
    double size = 0;
    for (const std::int64_t x : noise) size += std::abs(static_cast<double>(x)) * 0x1p-34;
    if (leak)
      for (int k = 0; k < static_cast<int>(20 * size); ++k) sink = sink + 1;
    const auto end = std::chrono::steady_clock::now();
    calls.push_back({size, std::chrono::duration<double, std::nano>(end - begin).count()});
  }
  return calls;
}

std::vector<double> ranks(std::vector<double> values) {
  std::vector<std::size_t> order(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t k = begin; k < end; ++k)
      result[order[k]] = (static_cast<double>(begin) + static_cast<double>(end - 1)) / 2;
    begin = end;
  }
  return result;
}

/// Spearman's rank correlation of size and time times sqrt(n - 1): standard normal without a leak,
/// whatever the law of the times, because the noise's sizes are exchangeable.
double rank_correlation(const std::vector<Timed>& calls) {
  std::vector<double> sizes, times;
  for (const auto& [size, time] : calls) {
    sizes.push_back(size);
    times.push_back(time);
  }
  const auto a = ranks(sizes);
  const auto b = ranks(times);
  const double mean = (static_cast<double>(a.size()) - 1) / 2;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  return ab / std::sqrt(aa * bb) * std::sqrt(static_cast<double>(a.size()) - 1);
}

// False alarm 1e-6; the twin's few nanoseconds a unit of noise must show.
TEST(SamplerTiming, TheTimeDoesNotFollowTheNoise) {
  const double limit = testing::two_sided_z(testing::kFalseAlarm);
  EXPECT_LT(std::abs(rank_correlation(measure(false))), limit);
  EXPECT_GT(std::abs(rank_correlation(measure(true))), limit);
}

}  // namespace
}  // namespace sotto
