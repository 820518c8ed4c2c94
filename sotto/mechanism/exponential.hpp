#pragma once

#include <cstdint>

#include "sotto/core/vector.hpp"
#include "sotto/mechanism/scores.hpp"
#include "sotto/privacy/receipt.hpp"
#include "sotto/random/stream.hpp"
#include "sotto/release/released.hpp"
#include "sotto/release/sensitive.hpp"

namespace sotto {

/// Selects a candidate i with probability proportional to exp(epsilon score_i / (2 sensitivity)),
/// or exp(epsilon score_i / sensitivity) if the scores are monotone: exponential.proof.md.
///
/// The best score is the largest; for losses, pass them negated. The claim's sensitivity bounds the
/// change of every single score. The event is exponential(epsilon) under the claim's relation and
/// sampling, with one sample. The candidate is found by inverting the distribution function in
/// 128-bit integers, reading all weights whatever the outcome: no floating-point Gumbel noise.
class ExponentialMechanism {
 public:
  /// 1 <= candidates <= 2^20, epsilon >= 2^-20.
  static Released<std::int64_t> release(Sensitive<Vector> scores,
                                        Receipt receipt,
                                        double epsilon,
                                        ScoreMotion motion,
                                        Stream& selection);
};

}  // namespace sotto
