#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sotto/audit/claim.hpp"
#include "sotto/audit/confidence.hpp"

namespace sotto {

/// Runs one world (0 or 1) once and returns the attacker's score: larger means "more like world 1".
/// Called from several threads at once; `run` decides all randomness.
using Trial = std::function<double(int world, std::int64_t run)>;

/// Scores of independent runs, the same number in each world.
struct Scores {
  std::vector<double> world[2];
  std::int64_t runs() const { return static_cast<std::int64_t>(world[0].size()); }
};

/// Adds runs until there are `runs` a world, on all cores. The results depend on the run numbers
/// alone.
void collect(const Trial& trial, std::int64_t runs, Scores& scores);

/// How a bound is found: on the first `choose_share` of the runs of each world a threshold and the
/// kind of test are chosen, on the others they are judged; alpha = 1 - confidence is spent only
/// there, so that choosing costs nothing.
struct JudgeOptions {
  double confidence = 0.95;
  double choose_share = 0.1;
};

struct Judgement {
  double lower_bound = 0;  ///< the largest epsilon' whose claimed curve is refuted
  double plain_bound = 0;  ///< by one point (epsilon', delta) alone
  double threshold = 0;    ///< scores above it say "world 1"
  bool by_total_error = false;
  ErrorCounts counts;  ///< on the judged runs
};

/// NaN scores count as minus infinity. At least 20 runs per world.
Expected<Judgement> judge(const Scores& scores, const Claim& claim, const JudgeOptions& options);

/// Runs a world (choosing included) after which the best attack on a mechanism whose true epsilon
/// is `factor` times the claim refutes it with probability `power`, by the Gaussian curve.
std::int64_t runs_needed(const Claim& claim,
                         const JudgeOptions& options,
                         double factor,
                         double power);

/// A point of the ROC, for plots.
struct RocPoint {
  double false_alarm = 0;
  double detected = 0;  ///< 1 - type II error
  double claimed = 0;   ///< at most this much may be detected by the claim
};
std::vector<RocPoint> roc(const Scores& scores, const Claim& claim, int points = 101);

}  // namespace sotto
