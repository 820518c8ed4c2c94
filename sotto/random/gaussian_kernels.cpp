#include "sotto/random/gaussian_kernels.hpp"

#include "sotto/core/lane_integers.hpp"
#include "sotto/random/gaussian_table.hpp"
#include "sotto/random/grid_rounding.hpp"

namespace sotto::internal::SOTTO_KERNEL_ARCH {
namespace {

// Four samples side by side. Comparisons give all ones (-1) or 0 a lane: no branch.
using Signed = std::int64_t __attribute__((vector_size(32)));
using Unsigned = std::uint64_t __attribute__((vector_size(32)));
constexpr std::size_t kLanes = 4;
constexpr std::size_t kVectors = kGaussianGroup / kLanes;

// K = 2^31 J + U_1 + ... + U_16 - 8 (2^31 - 1), with J from the table and U_i uniform on 31 bits.
constexpr int kUniformBits = 31;
constexpr std::size_t kUniformWords = 8;  // two U_i a word: its lowest and its highest 31 bits
constexpr std::uint64_t kLowMask = (std::uint64_t{1} << kUniformBits) - 1;
constexpr std::int64_t kCentre = 8 * static_cast<std::int64_t>(kLowMask);
static_assert(kGaussianWords == kUniformWords + 1);

// Word w of samples 4v, ..., 4v + 3 of a group.
inline void load(const std::uint64_t* group, std::size_t w, std::size_t v, Unsigned& word) {
  __builtin_memcpy(&word, group + w * kGaussianGroup + v * kLanes, sizeof word);
}

}  // namespace

void rounded_gaussian(const std::uint64_t* words, std::size_t groups, std::int64_t* samples) {
  for (; groups > 0; --groups, words += kGaussianGroup * kGaussianWords) {
    Signed selector[kVectors];
    __builtin_memcpy(selector, words + kUniformWords * kGaussianGroup, sizeof selector);
    Signed magnitude[kVectors] = {};  // |J|: how many thresholds the last word exceeds
    for (const std::int64_t threshold : kGaussianThresholds) {
      for (std::size_t v = 0; v < kVectors; ++v) magnitude[v] -= selector[v] > threshold;
    }
    for (std::size_t v = 0; v < kVectors; ++v, samples += kLanes) {
      Unsigned word;
      load(words, 0, v, word);
      // Bit 31 of the first word is in neither of its U_i: the sign of J.
      const Signed negative = -(Signed)((word >> kUniformBits) & std::uint64_t{1});
      Unsigned sum = (word & kLowMask) + (word >> (64 - kUniformBits));
      for (std::size_t w = 1; w < kUniformWords; ++w) {
        load(words, w, v, word);
        sum += (word & kLowMask) + (word >> (64 - kUniformBits));
      }
      const Signed coarse = (magnitude[v] ^ negative) - negative;
      const Signed sample = coarse * (std::int64_t{1} << kUniformBits) + (Signed)sum - kCentre;
      __builtin_memcpy(samples, &sample, sizeof sample);
    }
  }
}

#ifdef __FMA__

namespace {

using Real = double __attribute__((vector_size(32)));

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
