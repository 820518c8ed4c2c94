#pragma once

// What the mechanisms share: values become integers on a public grid before noise is added as an
// integer, so that no floating-point rounding happens after the noise (grid.proof.md).

#include <cstdint>

namespace sotto::internal {

/// The integer nearest to value / unit, off by at most kGridRounding; values beyond +-2^62 units
/// become +-2^62, and NaN becomes 0. unit in [2^-800, 2^800].
std::int64_t to_grid(double value, double unit);
/// |to_grid(x, u) - x / u| for |x / u| <= 2^62. (1/2, and the error of one division.)
inline constexpr double kGridRounding = 0.5 + 0x1p-44;

/// The smallest step of the grid (slightly rounded up) such that a value which moves by at most
/// `sensitivity` moves by at most `reach` steps after rounding, where rounding adds `rounding`
/// steps: sensitivity / unit + rounding <= reach. Preconditions: 0 < sensitivity, 2 rounding <=
/// reach.
double grid_unit(double sensitivity, double reach, double rounding);

/// Does nothing, unless a test listens (release_tap.hpp).
void tell_grid(double sensitivity, double reach, double rounding, double unit);

/// Standard deviation, in grid steps, of the noise of add_rounded_gaussian (random/gaussian.hpp).
inline constexpr double kGaussianSteps = 0x1p34;

/// The grid on which `coordinates` values of joint L2 sensitivity `sensitivity` get noise of
/// `noise_multiplier` x their sensitivity, the grid's rounding included.
/// Precondition: noise_multiplier x sqrt(coordinates) <= 2^33.
double gaussian_unit(double sensitivity, double noise_multiplier, std::int64_t coordinates);

}  // namespace sotto::internal
