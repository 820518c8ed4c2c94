#include "sotto/oracle/clip_rule.hpp"

#include <cmath>
#include <limits>

#include "sotto/core/check.hpp"

namespace sotto {

void clip_weights(std::span<const double> norms, double radius, std::span<double> weights) {
  SOTTO_CHECK(radius > 0 && norms.size() == weights.size());
  // A hair inside the ball, so that rounding in the quotient and in weight * gradient stays inside.
  const double inside = radius * (1 - 4 * std::numeric_limits<double>::epsilon());
  for (std::size_t k = 0; k < norms.size(); ++k) {
    const double norm = norms[k];
    const double scaled = norm > inside ? inside / norm : 1.0;
    weights[k] = norm < std::numeric_limits<double>::infinity() ? scaled : 0.0;  // NaN: 0 as well
  }
}

}  // namespace sotto
