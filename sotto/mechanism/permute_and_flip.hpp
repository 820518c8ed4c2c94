#pragma once

#include <cstdint>

#include "sotto/core/vector.hpp"
#include "sotto/mechanism/scores.hpp"
#include "sotto/privacy/receipt.hpp"
#include "sotto/random/stream.hpp"
#include "sotto/release/released.hpp"
#include "sotto/release/sensitive.hpp"

namespace sotto {

/// Visits the candidates in random order and takes each with probability
/// exp(epsilon (score - best) / (2 sensitivity)), or exp(epsilon (score - best) / sensitivity) if
/// the scores are monotone, until one is taken [MS20]: permute_and_flip.proof.md.
///
/// The expected score is never below the exponential mechanism's at the same epsilon, but the
/// mechanism is epsilon-DP only, not epsilon-bounded-range. The event is therefore
/// sparse_vector(epsilon), which accountants price as an arbitrary epsilon-DP release, under the
/// claim's relation and sampling, with one sample. For many selections that are composed, the
/// exponential mechanism is the cheaper one. The best score is the largest.
class PermuteAndFlip {
 public:
  /// 1 <= candidates <= 2^20, epsilon >= 2^-20.
  static Released<std::int64_t> release(Sensitive<Vector> scores,
                                        Receipt receipt,
                                        double epsilon,
                                        ScoreMotion motion,
                                        Stream& selection);
};

}  // namespace sotto
