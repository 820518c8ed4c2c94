#include "sotto/random/exponential.hpp"

#include <array>

#include "sotto/core/check.hpp"

namespace sotto {
namespace internal {
namespace {

// Exponents of 2^7 and more give less than 2^-184.
constexpr std::size_t kPowers = kExponentBits + 7;
constexpr int kSeriesExponent = -8;  // up to here a few terms of the power series are enough
constexpr Fraction kOne = ~Fraction{0};

// exp(-2^exponent) = 1 - x (1 - x/2 (1 - x/3 (...))) with x = 2^exponent <= 2^kSeriesExponent.
Fraction series(int exponent) {
  Fraction value = kOne;
  for (Fraction i = 20; i >= 1; --i) value = kOne - (value >> -exponent) / i;
  return value;
}

// Entry j is exp(-2^j 2^-30).
const std::array<Fraction, kPowers>& powers() {
  static const auto table = [] {
    std::array<Fraction, kPowers> result;
    for (std::size_t j = 0; j < kPowers; ++j) {
      const int exponent = static_cast<int>(j) - kExponentBits;
      result[j] =
          exponent <= kSeriesExponent ? series(exponent) : product(result[j - 1], result[j - 1]);
    }
    return result;
  }();
  return table;
}

Fraction all_ones_if(bool condition) { return Fraction{0} - Fraction{condition}; }

}  // namespace

Fraction exp_minus(std::uint64_t steps) {
  Fraction result = kOne;
  const auto& table = powers();
  for (std::size_t j = 0; j < kPowers; ++j) {
    result = product(result, table[j] | all_ones_if(((steps >> j) & 1) == 0));
  }
  return result & all_ones_if((steps >> kPowers) == 0);
}

}  // namespace internal

std::int64_t sample_floored_laplace(Stream& stream, int scale_bits) {
  using internal::Fraction;
  SOTTO_CHECK(scale_bits >= 0 && scale_bits <= kExponentBits);
  // If X is exponential, floor(2^s X) is geometric and its binary digits are independent: digit j
  // is 1 with probability E / (1 + E), E = exp(-2^(j - s)).
  constexpr int kTopDigits = 6;
  static const auto digit_probability = [] {
    std::array<Fraction, kExponentBits + kTopDigits> table;  // entry i: E = exp(-2^i 2^-30)
    for (std::size_t i = 0; i < table.size(); ++i) {
      const Fraction half = internal::exp_minus(std::uint64_t{1} << i) >> 1;
      table[i] = internal::quotient(half, (Fraction{1} << 127) + half);
    }
    return table;
  }();
  std::uint64_t magnitude = 0;
  for (int digit = 0; digit < scale_bits + kTopDigits; ++digit) {
    const auto entry = static_cast<std::size_t>(digit - scale_bits + kExponentBits);
    const bool one = internal::uniform_fraction(stream) < digit_probability[entry];
    magnitude |= std::uint64_t{one} << digit;
  }
  // floor(-x) = -1 - floor(x) for every x that is not an integer.
  const std::uint64_t negative = 0 - (stream.next() >> 63);
  return static_cast<std::int64_t>(magnitude ^ negative);
}

}  // namespace sotto
