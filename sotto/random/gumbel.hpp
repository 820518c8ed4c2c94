#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/random/stream.hpp"

namespace sotto {

namespace internal {

/// values[k] = a Gumbel variable -ln(-ln(1 - V)), where V is uniform and words[k] its first 32
/// binary digits, in single precision: within kGumbelError of the exact value for every V with
/// these digits, as long as the computed value lies in [kGumbelLow, kGumbelHigh]. Vectorized.
void approximate_gumbels(std::span<const std::uint32_t> words, std::span<float> values);

inline constexpr double kGumbelError = 0x1p-8;
inline constexpr float kGumbelLow = -2.75F;
inline constexpr float kGumbelHigh = 16.5F;

}  // namespace internal

/// Finds argmax_i (a_i + G_i) for independent Gumbel variables G_i: the index i is chosen with
/// probability proportional to exp(a_i). Numbers come in batches; what is not near the maximum is
/// forgotten at once, and the few candidates whose order the first 32 digits leave open get 96 more
/// and are compared in 100-digit arithmetic. The law is exact up to total variation 2^-60 for at
/// most 2^26 candidates: gumbel.proof.md.
class GumbelRace {
 public:
  /// a_i = factor · scores[i]; factor finite.
  GumbelRace(Stream& stream, double factor);

  /// Enters the candidates first, first + 1, … with these scores, |scores| <= 2^62.
  void enter(std::int64_t first, std::span<const std::int64_t> scores);

  /// At least one candidate must have been entered. Ends the race.
  std::int64_t winner();

 private:
  struct Runner {
    std::int64_t index;
    std::int64_t score;
    std::uint32_t word;
    double value;  ///< approximate
    bool open;     ///< the digits so far bound nothing
  };
  void prune();

  Stream& stream_;
  double factor_;
  double best_;
  std::vector<Runner> runners_;
  std::vector<std::uint32_t> words_;
  std::vector<float> gumbels_;
  std::vector<double> values_;
};

}  // namespace sotto
