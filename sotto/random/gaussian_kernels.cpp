#include "sotto/random/gaussian_kernels.hpp"

#include "sotto/core/lane_integers.hpp"
#include "sotto/random/gaussian_table.hpp"
#include "sotto/random/grid_rounding.hpp"

namespace sotto::internal::SOTTO_KERNEL_ARCH {
namespace {

// Samples side by side. Comparisons give all ones (-1) or 0 a lane: no branch.
#ifdef __AVX2__
constexpr std::size_t kLanes = 4;
#else
constexpr std::size_t kLanes = 2;
#endif
using Signed = std::int64_t __attribute__((vector_size(8 * kLanes)));
using Unsigned = std::uint64_t __attribute__((vector_size(8 * kLanes)));
constexpr std::size_t kVectors = kGaussianGroup / kLanes;

// K = 2^32 J + U_1 + ... + U_24 less their mean, with J from the table. The U_i are uniform, 4 on
// 32 bits, 4 on the highest 16 of these and 16 on the highest 8. So their sum is that of 24 highest
// bytes, 8 second ones and 4 lower halves: five words.
constexpr int kCoarseShift = 32;
constexpr int kHighShift = 24;
constexpr int kMiddleShift = 16;
constexpr std::size_t kHighWords = 3;
constexpr std::size_t kMiddleWord = 3;
constexpr std::size_t kLowWord = 4;
constexpr std::size_t kSelector = 5;
static_assert(kGaussianWords == kSelector + 1);
/// The mean of the sum.
constexpr std::int64_t kCentre = (std::int64_t{24 * 255 / 2} << kHighShift) +
                                 (std::int64_t{8 * 255 / 2} << kMiddleShift) + 4 * 65535 / 2;

// Word w of kLanes samples of a group, from the (kLanes v)-th on.
inline Unsigned load(const std::uint64_t* group, std::size_t w, std::size_t v) {
  Unsigned word;
  __builtin_memcpy(&word, group + w * kGaussianGroup + v * kLanes, sizeof word);
  return word;
}

/// The sum of the four 16-bit parts of each word...
inline Unsigned sum_of_halves(Unsigned word) {
  constexpr std::uint64_t kEven = 0x0000ffff0000ffff;
  const Unsigned pairs = (word & kEven) + ((word >> 16) & kEven);
  return (pairs & std::uint64_t{0xffffffff}) + (pairs >> 32);
}

/// ...and that of its eight bytes.
inline Unsigned sum_of_bytes(Unsigned word) {
#ifdef __AVX2__
  using Bytes = char __attribute__((vector_size(32)));
  return (Unsigned)__builtin_ia32_psadbw256((Bytes)word, Bytes{});
#else
  constexpr std::uint64_t kEven = 0x00ff00ff00ff00ff;
  return sum_of_halves((word & kEven) + ((word >> 8) & kEven));
#endif
}

}  // namespace

void rounded_gaussian(const std::uint64_t* words, std::size_t groups, std::int64_t* samples) {
  for (; groups > 0; --groups, words += kGaussianGroup * kGaussianWords) {
    // The selector's sign is J's, the other 63 bits say |J|: how many thresholds they exceed.
    Signed negative[kVectors], selector[kVectors], magnitude[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      const auto word = (Signed)load(words, kSelector, v);
      negative[v] = word < 0;
      selector[v] = word ^ negative[v];
      magnitude[v] = Signed{};
    }
    for (const std::int64_t threshold : kGaussianThresholds) {
      for (std::size_t v = 0; v < kVectors; ++v) magnitude[v] -= selector[v] > threshold;
    }
    for (std::size_t v = 0; v < kVectors; ++v, samples += kLanes) {
      Unsigned high{};
      for (std::size_t w = 0; w < kHighWords; ++w) high += sum_of_bytes(load(words, w, v));
      const Unsigned sum = (high << kHighShift) +
                           (sum_of_bytes(load(words, kMiddleWord, v)) << kMiddleShift) +
                           sum_of_halves(load(words, kLowWord, v));
      const Signed coarse = (magnitude[v] ^ negative[v]) - negative[v];
      const Signed sample = coarse * (std::int64_t{1} << kCoarseShift) + (Signed)sum - kCentre;
      __builtin_memcpy(samples, &sample, sizeof sample);
    }
  }
}

#ifdef __FMA__

namespace {

using Real = double __attribute__((vector_size(8 * kLanes)));
static_assert(kLanes == 4);

/// Four values at once, as nearest_step does few steps; false, and nothing is done, if one is
/// beyond these or not a number.
inline bool add_four_on_grid(double* values, const std::int64_t* noise, double unit) {
  const double inverse = 1 / unit;
  Real value;
  Signed steps;
  __builtin_memcpy(&value, values, sizeof value);
  __builtin_memcpy(&steps, noise, sizeof steps);
  Real product = value * inverse;
  asm("" : "+x"(product));  // rounded, as nearest_step rounds it: not fused with the sum
  const Signed within = (product < kFewSteps) & (product > -kFewSteps);
  if ((within[0] & within[1] & within[2] & within[3]) == 0) return false;
  const Real shifted = product + kLaneShift;
  const Real whole = shifted - kLaneShift;
  Real rest;
  for (int i = 0; i < 4; ++i) rest[i] = __builtin_fma(-whole[i], unit, value[i]);
  rest *= inverse;
  asm("" : "+x"(rest));
  steps +=
      shifted_integer<Real, Signed>(shifted) + shifted_integer<Real, Signed>(rest + kLaneShift);
  const Real result = to_double<Real, Signed>(steps) * unit;
  __builtin_memcpy(values, &result, sizeof result);
  return true;
}

}  // namespace

#endif

void add_on_grid(double* values, const std::int64_t* noise, std::size_t count, double unit) {
  std::size_t i = 0;
#ifdef __FMA__
  for (; i + kLanes <= count; i += kLanes) {
    if (add_four_on_grid(values + i, noise + i, unit)) continue;
    for (std::size_t k = i; k < i + kLanes; ++k)
      values[k] = static_cast<double>(nearest_step(values[k], unit) + noise[k]) * unit;
  }
#endif
  for (; i < count; ++i) {
    values[i] = static_cast<double>(nearest_step(values[i], unit) + noise[i]) * unit;
  }
}

}  // namespace sotto::internal::SOTTO_KERNEL_ARCH
