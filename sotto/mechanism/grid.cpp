#include "sotto/mechanism/grid.hpp"

#include <cmath>

#include "sotto/core/check.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/random/gaussian.hpp"
#include "sotto/random/grid_rounding.hpp"

namespace sotto::internal {

static_assert(kGaussianSteps == static_cast<double>(std::int64_t{1} << kGaussianFractionBits));
static_assert(kGaussianDistance <= kNoiseDistance);

std::int64_t to_grid(double value, double unit) {
  SOTTO_CHECK(unit >= 0x1p-800 && unit <= 0x1p800);
  return nearest_step(value, unit);
}

double grid_unit(double sensitivity, double reach, double rounding) {
  SOTTO_CHECK(sensitivity > 0 && rounding >= 0 && 2 * rounding <= reach);
  // The last factor covers the rounding errors of this line.
  const double unit = sensitivity / (reach - rounding) * (1 + 0x1p-48);
  tell_grid(sensitivity, reach, rounding, unit);
  return unit;
}

double gaussian_unit(double sensitivity, double noise_multiplier, std::int64_t coordinates) {
  SOTTO_CHECK(noise_multiplier > 0 && std::isfinite(noise_multiplier) && coordinates >= 0);
  const double rounding = 2 * kGridRounding * std::sqrt(static_cast<double>(coordinates));
  return grid_unit(sensitivity, kGaussianSteps / noise_multiplier, rounding);
}

}  // namespace sotto::internal
