#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sotto/core/error.hpp"
#include "sotto/core/run_words.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/geometry/stationarity.hpp"
#include "sotto/oracle/api/observer.hpp"
#include "sotto/oracle/api/oracle.hpp"
#include "sotto/privacy/event.hpp"

namespace sotto {

/// The worst case of what a run will ask.
struct Plan {
  Event event;
  std::int64_t noise_samples = 0;  ///< numbers drawn by noise samplers, at most
  /// Not empty: what is asked depends on earlier answers, so there is no event to calibrate, and
  /// the filter of this name (privacy/filter.hpp) ends the run when the budget is gone.
  std::string filter = {};
  /// Over the data, beside one of each release: a choice looks at every row for each candidate.
  double further_passes = 0;
};

/// A released bound on how far the model is from stationary: max ⟨w - v, ∇F(w)⟩ over the constraint
/// set, plus noise; the true value lies within ± half_width with the stated confidence.
struct GapCertificate {
  double gap = 0;
  double half_width = 0;
  double confidence = 0.95;
};

struct OptimizerResult {
  Vector w;
  std::int64_t steps = 0;
  StopReason stopped = StopReason::kPlanComplete;
  std::optional<Certificate> certificate = {};  ///< of w, if the method made one
  std::optional<GapCertificate> gap = {};       ///< of w, on request
};

/// A method with its settings fixed. It sees the data only through an Oracle.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// What run() asks for at most, as a function of one free number: the noise multiplier that
  /// calibration will find. More noise must never make the plan less private.
  virtual Plan plan(const PublicProblem& problem, double noise_multiplier) const = 0;

  /// Runs until the plan is complete or the observer stops it. Errors are the oracle's refusals.
  virtual Expected<OptimizerResult> run(Oracle& oracle,
                                        double noise_multiplier,
                                        Observer& observer) const = 0;
};

}  // namespace sotto
