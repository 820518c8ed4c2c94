#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/training/train.hpp"

namespace sotto {

/// The probability that an attacker on an (epsilon, delta)-DP algorithm gets at least `correct` of
/// `guesses` right, at most, where each of `canaries` independent records was inserted by a fair
/// coin and the attacker may abstain [SNJ23, appendix D].
double one_run_p_value(std::int64_t canaries,
                       std::int64_t guesses,
                       std::int64_t correct,
                       double epsilon,
                       double delta);

/// The largest epsilon whose p-value is below alpha; 0 if there is none.
double one_run_epsilon_bound(
    std::int64_t canaries, std::int64_t guesses, std::int64_t correct, double delta, double alpha);

/// How an attacker did: guesses on the highest and lowest scores, none on those between.
struct OneRunGuess {
  std::int64_t guesses = 0;
  std::int64_t correct = 0;
  double lower_bound = 0;
};

/// Guesses "inserted" for the highest scores and "not" for the lowest, as many of each, for an
/// eighth, a quarter, a half and all of the canaries, and takes the best of the four bounds (each
/// at a quarter of alpha).
OneRunGuess guess_canaries(std::span<const double> scores,
                           const std::vector<bool>& inserted,
                           double delta,
                           double alpha);

struct OneRunOptions {
  std::int64_t canaries = 100;
  double confidence = 0.95;
};

struct OneRunReport {
  bool interrupted = false;  ///< before the last step; then there is nothing else to tell
  Vector w;                  ///< the model, canaries included
  double epsilon = 0;        ///< what the run spent, the claim
  OneRunGuess guess;
  /// What the canaries do to the model: by how much they move the mean gradient of every step, in
  /// clip radii (an ordinary unit moves it by at most 1 / n), and their share of the units.
  double canary_pull = 0;
  double canary_share = 0;
};

/// Trains once with canaries among the engine's units and guesses which of them were inserted, as
/// somebody who sees every released gradient and knows all other units. The canaries are made up,
/// so the others' guarantee is what it would be without them and no budget is spent on the audit;
/// `problem.n` and the noise count them as units. At most `problem.dimension` canaries don't get in
/// each other's way. Zero-out only: a canary is there or is without effect. Any engine; one more
/// pass over the units a step than training. The outcome is the data owner's: it depends on the
/// run's secret coins and the rows, no charge covers it, and whoever shows it must mark it so.
Expected<OneRunReport> audit_in_one_run(const Engine& engine,
                                        PublicProblem problem,
                                        const TrainOptions& train,
                                        const OneRunOptions& options,
                                        Observer& observer);

}  // namespace sotto
