#include "sotto/mechanism/grid.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sotto/core/check.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/random/gaussian.hpp"

namespace sotto::internal {

static_assert(kGaussianSteps == static_cast<double>(std::int64_t{1} << kGaussianFractionBits));
static_assert(kGaussianDistance <= kNoiseDistance);

std::int64_t to_grid(double value, double unit) {
  SOTTO_CHECK(unit >= 0x1p-800 && unit <= 0x1p800);
  constexpr std::int64_t kLargest = std::int64_t{1} << 62;
  if (std::isnan(value)) return 0;
  const double quotient = value / unit;
  if (quotient > 0x1p62) return kLargest;
  if (quotient < -0x1p62) return -kLargest;
  // Above 2^53 steps the quotient is off by more than a step; what is left over is exact.
  const double whole = std::nearbyint(quotient);
  const double rest = std::fma(-whole, unit, value);
  const std::int64_t steps =
      static_cast<std::int64_t>(whole) + static_cast<std::int64_t>(std::nearbyint(rest / unit));
  return std::clamp(steps, -kLargest, kLargest);
}

double grid_unit(double sensitivity, double reach, double rounding) {
  SOTTO_CHECK(sensitivity > 0 && rounding >= 0 && 2 * rounding <= reach);
  // The last factor covers the rounding errors of this line.
  return sensitivity / (reach - rounding) * (1 + 0x1p-48);
}

double gaussian_unit(double sensitivity, double noise_multiplier, std::int64_t coordinates) {
  SOTTO_CHECK(noise_multiplier > 0 && std::isfinite(noise_multiplier) && coordinates >= 0);
  const double rounding = 2 * kGridRounding * std::sqrt(static_cast<double>(coordinates));
  return grid_unit(sensitivity, kGaussianSteps / noise_multiplier, rounding);
}

void add_gaussian_noise(std::span<double> values, double unit, Stream& noise) {
  std::array<std::int64_t, 512> drawn;
  const std::size_t most = std::min(drawn.size(), values.size());
  while (!values.empty()) {
    const std::span chunk = std::span(drawn).first(std::min(most, values.size()));
    sample_rounded_gaussian(noise, chunk);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      values[i] = static_cast<double>(to_grid(values[i], unit) + chunk[i]) * unit;
    }
    values = values.subspan(chunk.size());
  }
  OPENSSL_cleanse(drawn.data(), most * sizeof drawn[0]);
}

}  // namespace sotto::internal
