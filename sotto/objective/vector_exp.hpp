#pragma once

// For kernels that are compiled once a processor level: everything here has internal linkage.

namespace sotto::internal {

/// e^x for x <= 0, relative error below 4e-16 and at most 1; about e^-708 for what lies below.
/// x = k ln 2 + r, |r| <= ln 2 / 2, and e^r by its Taylor polynomial of degree 13, whose remainder
/// is below 5e-18. Real: a compiler vector of doubles; Integer: one of as many 64-bit integers.
template <class Real, class Integer>
static inline Real exp_of_nonpositive(Real x) {
  x = x < -708.0 ? Real{} - 708.0 : x;
  // Adding 1.5 · 2^52 rounds to an integer and leaves it in the low bits.
  const Real shifted = x * 1.4426950408889634 + 6755399441055744.0;
  const Real k = shifted - 6755399441055744.0;
  // ln 2 in two parts; the first has so many trailing zero bits that k · it is exact.
  const Real r = (x - k * 0x1.62e42feep-1) - k * 0x1.a39ef35793c76p-33;
  const Real r2 = r * r;
  const Real r4 = r2 * r2;
  const Real p0 = (1.0 + r) + r2 * (1.0 / 2 + r * (1.0 / 6));
  const Real p4 = (1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720 + r * (1.0 / 5040));
  const Real p8 = (1.0 / 40320 + r * (1.0 / 362880)) + r2 * (1.0 / 3628800 + r * (1.0 / 39916800));
  const Real p12 = 1.0 / 479001600 + r * (1.0 / 6227020800);
  const Real p = p0 + r4 * (p4 + r4 * (p8 + r4 * p12));
  const Real power = (Real)(((Integer)shifted + 1023) << 52);
  const Real result = p * power;
  return result > 1.0 ? Real{} + 1.0 : result;  // a NaN stays one
}

}  // namespace sotto::internal
