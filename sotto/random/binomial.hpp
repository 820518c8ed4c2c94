#pragma once

#include <vector>

#include "sotto/random/fraction.hpp"

namespace sotto::internal {

/// floor-like 2^128 P(X <= k) for k = 0, 1, ..., where X is the number of successes in 2^bits
/// trials of probability `rate`. The list ends where the next probability is below 2^-118; whatever
/// is above the last entry stands for one success more.
///
/// For 2^bits rate <= 8 and rate <= 1/16 the tabulated law is within total variation
/// 2^-109 + 2^(bits - 126) of the binomial one (batch_sampler.proof.md).
/// Preconditions: 4 <= bits <= 40, 0 < rate <= 1/16, 2^bits rate <= 8.
std::vector<Fraction> binomial_cdf(int bits, double rate);

}  // namespace sotto::internal
