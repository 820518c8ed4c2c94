#pragma once

#include <cstdint>

#include "sotto/random/fraction.hpp"
#include "sotto/random/stream.hpp"

namespace sotto {

/// Exponents are counted in steps of 2^-30.
inline constexpr int kExponentBits = 30;

namespace internal {

/// exp(-steps 2^-30) as a Fraction, within 2^-110 (exp(0) is the largest Fraction). No branch and
/// no memory index depends on `steps`.
Fraction exp_minus(std::uint64_t steps);

}  // namespace internal

/// An integer distributed as floor(2^scale_bits X), where X is Laplace of scale 1 (density
/// exp(-|x|) / 2), up to total variation 2^-90: exponential.proof.md. No branch and no memory index
/// depends on the result, whose absolute value is at most 2^(scale_bits + 6).
/// Precondition: 0 <= scale_bits <= kExponentBits.
std::int64_t sample_floored_laplace(Stream& stream, int scale_bits);

}  // namespace sotto
