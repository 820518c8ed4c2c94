// Noise a second on one core: the default, attack-hardened Gaussian and what it is an alternative
// to.
//
// Only the first cases have a bound. The alternatives are written plainly but without waste, on the
// same random stream; what they lack is said in sotto/random/gaussian.proof.md.

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

#include "sotto/random/batch_sampler.hpp"
#include "sotto/random/gaussian.hpp"

namespace sotto {
namespace {

double processor_seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Million items per second of processor time: the fastest of several runs of `work`, which makes
// `items` of them.
template <class Work>
double rate(double items, const Work& work) {
  double best = 0;
  for (int run = 0; run < 11; ++run) {
    const double begin = processor_seconds();
    work();
    best = std::max(best, items / (processor_seconds() - begin) / 1e6);
  }
  return best;
}

void report(std::string_view name, double value, double bound) {
  fmt::print(
      R"({{"bench": "noise", "case": "{}", "ratio": "million / s / core", "value": {:.2f}, "bound": {}, "holds": {}}})"
      "\n",
      name,
      value,
      bound > 0 ? fmt::format("{}", bound) : "null",
      value >= bound);
}

// Not hardened: 2^-53 steps near 0, floating-point holes, tails end at 8.6 standard deviations.
void box_muller(Stream& stream, std::vector<double>& out) {
  for (std::size_t i = 0; i + 1 < out.size(); i += 2) {
    const double radius = std::sqrt(-2 * std::log(stream.uniform()));
    const double angle = 2 * std::numbers::pi * stream.uniform();
    out[i] = radius * std::cos(angle);
    out[i + 1] = radius * std::sin(angle);
  }
}

// The mitigation of [HB21]: several floats summed, so that their holes are hard to enumerate.
void sum_of_four(Stream& stream, std::vector<double>& out, std::vector<double>& scratch) {
  std::fill(out.begin(), out.end(), 0.0);
  for (int part = 0; part < 4; ++part) {
    box_muller(stream, scratch);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += 0.5 * scratch[i];
  }
}

// A centred binomial of 4096 trials [ASYKM18]: a grid of 1/32 standard deviations, and a total
// variation distance of 1.9e-5 from the rounded Gaussian.
void binomial(Stream& stream, std::vector<std::int64_t>& out) {
  std::vector<std::uint64_t> words(64);
  for (std::int64_t& x : out) {
    stream.fill(std::as_writable_bytes(std::span(words)));
    x = -2048;
    for (const std::uint64_t word : words) x += std::popcount(word);
  }
}

#ifdef __x86_64__
// Convolution of constant-time tables, as in lattice signatures [MW17]: eight samples of a discrete
// Gaussian of 40 steps, each by comparing with all of a table of 372 entries, combined with the
// coefficients that keep the sum smooth to 2^-60. The table has the accuracy of doubles only: this
// measures speed.
class ConvolvedTables {
 public:
  ConvolvedTables() {
    double mass = 0.5;  // of |x| = 0, from both signs
    double total = 0;
    std::vector<double> tail(kEntries + 1);
    for (std::size_t k = kEntries; k > 0; --k) {
      total += std::exp(-0.5 * std::pow(static_cast<double>(k) / kBaseSigma, 2));
      tail[k] = total;
    }
    total += mass;
    for (std::size_t k = 1; k <= kEntries; ++k) {
      thresholds_[k - 1] =
          static_cast<std::int64_t>((0.5 - tail[k] / total) * 0x1.fffffffffffffp63);
    }
    // Micciancio and Walter's z = floor(s / (sqrt(2) eta)), s = sqrt(2 pi) sigma, eta(2^-60) = 3.7.
    double s = std::sqrt(2 * std::numbers::pi) * kBaseSigma;
    for (std::int64_t& z : coefficients_) {
      z = static_cast<std::int64_t>(s / (std::numbers::sqrt2 * 3.7));
      s *= std::sqrt(1 + static_cast<double>(z) * static_cast<double>(z));
    }
  }

  [[gnu::target("avx2")]] void fill(Stream& stream, std::vector<std::int64_t>& out) const {
    using Lanes = std::int64_t __attribute__((vector_size(32)));
    for (std::size_t i = 0; i + kGroup <= out.size(); i += kGroup) {
      Lanes words[9][kGroup / 4];
      stream.fill(std::as_writable_bytes(std::span(words)));
      Lanes sum[kGroup / 4] = {};
      for (std::size_t base = 0; base < 8; ++base) {
        Lanes magnitude[kGroup / 4] = {};
        for (const std::int64_t threshold : thresholds_) {
          for (std::size_t v = 0; v < kGroup / 4; ++v) magnitude[v] -= words[base][v] > threshold;
        }
        std::int64_t coefficient = 1;
        for (std::size_t level = 0; level < 3; ++level) {
          if ((base >> level) & 1) coefficient *= coefficients_[level];
        }
        for (std::size_t v = 0; v < kGroup / 4; ++v) {
          const Lanes negative = -((words[8][v] >> static_cast<int>(base)) & std::int64_t{1});
          sum[v] += ((magnitude[v] ^ negative) - negative) * coefficient;
        }
      }
      __builtin_memcpy(out.data() + i, sum, sizeof sum);
    }
  }

 private:
  static constexpr double kBaseSigma = 40;
  static constexpr std::size_t kEntries = 372;  // 9.3 standard deviations
  static constexpr std::size_t kGroup = 16;
  std::array<std::int64_t, kEntries> thresholds_;
  std::array<std::int64_t, 3> coefficients_;
};
#endif

// The discrete Gaussian by rejection from a discrete Laplace law, in exact rationals [CKS20, Alg.
// 1-3]. sigma is 2^12 here, a coarse grid that keeps its numbers in 64 bits.
class DiscreteGaussian {
 public:
  explicit DiscreteGaussian(Stream& stream) : stream_(stream) {}

  std::int64_t operator()() {
    for (;;) {
      const std::int64_t y = laplace();
      const std::int64_t a = std::abs(y) * kT - kSigma * kSigma;
      const Wide distance = static_cast<Wide>(std::abs(a));
      const Wide numerator = distance * distance;
      if (bernoulli_exp(numerator, Wide(2 * kSigma * kSigma) * Wide(kT * kT))) return y;
    }
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::int64_t kSigma = 1 << 12;
  static constexpr std::int64_t kT = kSigma + 1;

  bool bernoulli(Wide numerator, Wide denominator) {  // both below 2^64 here
    return stream_.below(static_cast<std::uint64_t>(denominator)) <
           static_cast<std::uint64_t>(numerator);
  }
  bool bernoulli_exp_small(Wide numerator, Wide denominator) {  // exp(-n / d), n <= d
    Wide k = 1;
    while (bernoulli(numerator, denominator * k)) ++k;
    return k % 2 == 1;
  }
  bool bernoulli_exp(Wide numerator, Wide denominator) {
    for (; numerator > denominator; numerator -= denominator) {
      if (!bernoulli_exp_small(1, 1)) return false;
    }
    return bernoulli_exp_small(numerator, denominator);
  }
  std::int64_t laplace() {
    for (;;) {
      const auto u = static_cast<std::int64_t>(stream_.below(kT));
      if (!bernoulli_exp_small(static_cast<Wide>(u), kT)) continue;
      std::int64_t v = 0;
      while (bernoulli_exp_small(1, 1)) ++v;
      const std::int64_t x = u + kT * v;
      const bool negative = (stream_.next() & 1) != 0;
      if (negative && x == 0) continue;
      return negative ? -x : x;
    }
  }

  Stream& stream_;
};

int run() {
  constexpr std::size_t kSamples = 1 << 18;
  Stream stream = Stream::secure(Purpose::kNoise);
  std::vector<std::int64_t> integers(kSamples);
  std::vector<double> reals(kSamples);
  std::vector<double> scratch(kSamples);
  const double items = static_cast<double>(kSamples);

  const double hardened = rate(items, [&] { sample_rounded_gaussian(stream, integers); });
  report("rounded gaussian, hardened (default)", hardened, 10);
  const double release = rate(items, [&] { add_rounded_gaussian(stream, reals, 0x1p-34); });
  report("rounding to the grid + hardened gaussian", release, 10);

  report("alternative: box-muller in doubles, not hardened",
         rate(items, [&] { box_muller(stream, reals); }),
         0);
  report("alternative: sum of four box-muller doubles",
         rate(items, [&] { sum_of_four(stream, reals, scratch); }),
         0);
  report(
      "alternative: binomial of 4096 trials", rate(items, [&] { binomial(stream, integers); }), 0);
  report("alternative: discrete gaussian by rejection, variable time",
         rate(items / 16,
              [&] {
                DiscreteGaussian sampler(stream);
                for (std::size_t i = 0; i < kSamples / 16; ++i) integers[i] = sampler();
              }),
         0);

#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) {
    const ConvolvedTables tables;
    report("alternative: convolution of constant-time tables",
           rate(items, [&] { tables.fill(stream, integers); }),
           0);
  }
#endif

  // Members of batches of about 5,000 of 500,000.
  std::vector<std::int64_t> batch;
  const PoissonBatchSampler poisson(500000, 0.01);
  FixedSizeBatchSampler fixed_size(5000, 500000);
  report("poisson batches, members",
         rate(50 * 5000,
              [&] {
                for (int i = 0; i < 50; ++i) poisson.draw(stream, batch);
              }),
         0);
  report("fixed-size batches, members",
         rate(50 * 5000,
              [&] {
                for (int i = 0; i < 50; ++i) fixed_size.draw(stream, batch);
              }),
         0);
  return hardened >= 10 && release >= 10 ? 0 : 1;
}

}  // namespace
}  // namespace sotto

int main() { return sotto::run(); }
