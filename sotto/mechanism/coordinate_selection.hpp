#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/privacy/receipt.hpp"
#include "sotto/random/stream.hpp"
#include "sotto/release/released.hpp"
#include "sotto/release/sensitive.hpp"

namespace sotto {

/// +e_j or -e_j.
struct SignedCoordinate {
  std::int64_t coordinate = 0;
  bool negative = false;
};

/// Integer sums, each given as parts that are still to be added: |sum| < 2^63.
struct CoordinateScores {
  std::vector<std::span<const std::int64_t>> parts;
};

/// The exponential mechanism over the 2d signed coordinates (or the d positive ones): +e_j has the
/// score -sum_j, -e_j the score sum_j, and s e_j is chosen with probability proportional to
/// exp(epsilon score / (2 sensitivity)): coordinate_selection.proof.md.
///
/// The event is exponential(epsilon) under the claim's relation, one sample. One pass over the sums
/// and 2d Gumbel numbers from the stream, vectorized (random/gumbel.hpp); nothing of size d is
/// allocated.
class CoordinateSelection {
 public:
  static constexpr double kMostEpsilon = 64;
  static constexpr std::int64_t kMostCoordinates = std::int64_t{1} << 25;

  /// 1 <= d <= kMostCoordinates; 2^-20 <= epsilon <= kMostEpsilon; the sensitivity a whole number.
  static Released<SignedCoordinate> release(Sensitive<CoordinateScores> scores,
                                            Receipt receipt,
                                            double epsilon,
                                            bool both_signs,
                                            Stream& selection);
};

}  // namespace sotto
