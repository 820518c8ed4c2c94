#pragma once

// Scores on a grid, for the selections (exponential, permute-and-flip).

#include <cstdint>
#include <vector>

#include "sotto/core/vector.hpp"

namespace sotto {

/// How the scores of neighbouring data sets may differ, each by at most the claimed sensitivity.
enum class ScoreMotion {
  kAny,       ///< some up, some down
  kMonotone,  ///< all up or all down, e.g. sums of non-negative terms under zero-out or add-remove
};

namespace internal {

/// For each candidate, how many steps of 2^-30 its exponent lies below the best one's, where the
/// exponent is epsilon x score / (2 sensitivity), or epsilon x score / sensitivity if monotone. The
/// scores are first rounded to a grid so coarse (by 2^-29 / epsilon parts of the sensitivity) that
/// their rounding is inside epsilon. A NaN counts as the lowest score of all.
/// Preconditions: at least one score; sensitivity > 0; epsilon >= 2^-20.
std::vector<std::uint64_t> steps_below_best(const Vector& scores,
                                            double sensitivity,
                                            double epsilon,
                                            ScoreMotion motion);

}  // namespace internal
}  // namespace sotto
