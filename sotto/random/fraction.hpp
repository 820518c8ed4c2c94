#pragma once

#include <cstdint>

#include "sotto/random/stream.hpp"

namespace sotto::internal {

/// A number p in [0, 1) as floor(2^128 p): probabilities with more digits than any sampler can
/// show.
__extension__ using Fraction = unsigned __int128;

/// a b, rounded down.
inline Fraction product(Fraction a, Fraction b) {
  const auto high = [](Fraction x) { return static_cast<std::uint64_t>(x >> 64); };
  const auto low = [](Fraction x) { return static_cast<std::uint64_t>(x); };
  const Fraction carry = Fraction{high(a)} * low(b) + high(Fraction{low(a)} * low(b));
  const Fraction middle = Fraction{low(a)} * high(b) + low(carry);
  return Fraction{high(a)} * high(b) + high(carry) + high(middle);
}

/// numerator / denominator, rounded down; numerator < denominator. By long division: for tables.
inline Fraction quotient(Fraction numerator, Fraction denominator) {
  Fraction result = 0;
  for (int bit = 0; bit < 128; ++bit) {
    const bool carry = (numerator >> 127) != 0;
    numerator <<= 1;
    result <<= 1;
    if (carry || numerator >= denominator) {
      numerator -= denominator;
      result |= 1;
    }
  }
  return result;
}

inline Fraction uniform_fraction(Stream& stream) {
  const std::uint64_t high = stream.next();
  return (Fraction{high} << 64) | stream.next();
}

}  // namespace sotto::internal
