#pragma once

// 64-bit integers in vectors of doubles, for processors whose vectors don't convert them. For
// kernels that are compiled once a processor level: everything here has internal linkage, and
// nothing is included that has not. Real: a compiler vector of doubles; Integer: one of as many
// 64-bit integers.

namespace sotto::internal {

/// Adding it to a number below 2^51 in size rounds that to the nearest integer and leaves the
/// integer in the low bits.
static constexpr double kLaneShift = 0x1.8p52;

/// The integer that x + kLaneShift holds.
template <class Real, class Integer>
static inline Integer shifted_integer(Real shifted) {
  return (Integer)shifted - (Integer)(Real{} + kLaneShift);
}

/// The nearest integers, ties to even, of numbers below 2^62 in size.
template <class Real, class Integer>
static inline Integer nearest_integer(Real x) {
  // A multiple of 2^32 and what is left over, which is exact.
  const Real shifted = x * 0x1p-32 + kLaneShift;
  const Real rest = x - (shifted - kLaneShift) * 0x1p32;
  return (shifted_integer<Real, Integer>(shifted) << 32) +
         shifted_integer<Real, Integer>(rest + kLaneShift);
}

/// As a conversion of each integer, rounded once.
template <class Real, class Integer>
static inline Real to_double(Integer x) {
  const Real high = (Real)((x >> 32) + (Integer)(Real{} + kLaneShift)) - kLaneShift;
  const Real low = (Real)((x & 0xffffffff) | (Integer)(Real{} + 0x1p52)) - 0x1p52;
  return high * 0x1p32 + low;
}

}  // namespace sotto::internal
