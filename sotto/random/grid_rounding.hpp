#pragma once

// Rounding to a grid, also for kernels that are compiled once a processor level: everything here
// has internal linkage, and nothing is included that has not.

#include <cstdint>

namespace sotto::internal {

/// Below so many steps a product with the inverse is near enough to a quotient.
static constexpr double kFewSteps = 0x1p43;

/// The integer nearest to value / unit, off by at most 1/2 + 2^-44; values beyond +-2^62 units
/// become
/// +-2^62, and NaN becomes 0. The same on every processor. unit in [2^-800, 2^800].
static inline std::int64_t nearest_step(double value, double unit) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  const double inverse = 1 / unit;
  const double product = value * inverse;
  if (product < kFewSteps && product > -kFewSteps) {
    const double whole = __builtin_nearbyint(product);
    const double rest = __builtin_fma(-whole, unit, value);
    return static_cast<std::int64_t>(whole) +
           static_cast<std::int64_t>(__builtin_nearbyint(rest * inverse));
  }
  const double quotient = value / unit;
  if (quotient > 0x1p62) return kMost;
  if (quotient < -0x1p62) return -kMost;
  if (quotient != quotient) return 0;
  // Above 2^53 steps the quotient is off by more than a step, but what is left over is exact.
  const double whole = __builtin_nearbyint(quotient);
  const double rest = __builtin_fma(-whole, unit, value);
  const std::int64_t steps = static_cast<std::int64_t>(whole) +
                             static_cast<std::int64_t>(__builtin_nearbyint(rest / unit));
  return steps > kMost ? kMost : steps < -kMost ? -kMost : steps;
}

}  // namespace sotto::internal
