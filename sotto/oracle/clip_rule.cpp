#include "sotto/oracle/clip_rule.hpp"

#include <limits>

#include "sotto/core/check.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

void clip_weights(std::span<const double> norms, double radius, std::span<double> weights) {
  SOTTO_CHECK(radius > 0 && norms.size() == weights.size());
  // A hair inside the ball, so that rounding in the quotient and in weight * gradient stays inside.
  const double inside = radius * (1 - 4 * std::numeric_limits<double>::epsilon());
  // Far from where a quotient loses bits: what is so much longer than the ball is left out.
  constexpr double kLeast = 0x1p-960;
  // Without branches, so that the compiler makes it a few vector instructions. A NaN norm fails the
  // comparison and gets 0.
  for (std::size_t k = 0; k < norms.size(); ++k) {
    const double scaled = inside / norms[k];
    const double weight = scaled < 1.0 ? scaled : 1.0;
    weights[k] = norms[k] < kInfinity && weight >= kLeast ? weight : 0.0;
  }
}

}  // namespace sotto
