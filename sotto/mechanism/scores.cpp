#include "sotto/mechanism/scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/check.hpp"
#include "sotto/mechanism/grid.hpp"
#include "sotto/random/exponential.hpp"

namespace sotto::internal {

std::vector<std::uint64_t> steps_below_best(const Vector& scores,
                                            double sensitivity,
                                            double epsilon,
                                            ScoreMotion motion) {
  SOTTO_CHECK(scores.size() > 0);
  SOTTO_CHECK(epsilon >= 0x1p-20 && std::isfinite(epsilon));
  // sensitivity / unit + 2 kGridRounding <= reach: no exponent moves by more than epsilon / 2, or
  // epsilon if monotone.
  const double reach = std::ldexp(epsilon, kExponentBits - (motion == ScoreMotion::kAny ? 1 : 0));
  const double unit = grid_unit(sensitivity, reach, 2 * kGridRounding);
  std::vector<std::int64_t> steps;
  for (const double score : scores) {
    constexpr double kLowest = -std::numeric_limits<double>::infinity();
    steps.push_back(to_grid(std::isnan(score) ? kLowest : score, unit));
  }
  const std::int64_t best = *std::max_element(steps.begin(), steps.end());
  std::vector<std::uint64_t> below;
  for (const std::int64_t s : steps) {
    below.push_back(static_cast<std::uint64_t>(best) - static_cast<std::uint64_t>(s));
  }
  return below;
}

}  // namespace sotto::internal
