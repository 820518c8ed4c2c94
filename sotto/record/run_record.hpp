#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/run_words.hpp"
#include "sotto/model/metrics.hpp"
#include "sotto/model/model.hpp"
#include "sotto/privacy/event.hpp"

namespace sotto {

/// One point of a run's trace: public numbers and released values.
struct TracePoint {
  std::int64_t step = 0;
  double step_size = 0;
  double gradient_norm = 0;  ///< of the released gradient
  double passes = 0;         ///< expected passes over the data so far
};

/// How often batches of one kind were drawn, e.g. 400 of `poisson(0.01)`.
struct DrawnBatches {
  std::string sampling;
  std::int64_t count = 0;
};

/// What had been released after some step, and what that would cost if the run had been planned to
/// end there. It is not what a run costs that was stopped there (privacy/promise.proof.md).
struct SpentPoint {
  std::int64_t step = 0;
  double passes = 0;
  CanonicalEvent events;  ///< charged so far; the file has their number only
  std::int64_t noise_samples = 0;
  /// Upper bound on the epsilon of these events alone, once they are priced (price_record). Not
  /// with a filter: it certifies the whole budget only.
  std::optional<double> epsilon = {};
  std::optional<double> filter_share = {};  ///< the part of a filter's budget that is used up
};

/// How good an iterate is on public rows: they were released, so looking at them is free.
struct TestPoint {
  std::int64_t step = 0;
  double passes = 0;
  double objective = 0;
  std::optional<double> accuracy = {};
};

/// True values on the training data, by --unsafe-diagnostics only: they are not private.
struct Diagnostics {
  double objective = 0;
  double gradient_norm = 0;
  /// ‖(w - w⁺) / γ‖ of a proximal step w⁺ with the true gradient and γ = 1/(2L): where there is a
  /// constraint or a regularizer that is not smooth.
  std::optional<double> projected_gradient_norm = {};
  std::optional<double> frank_wolfe_gap = {};  ///< on a bounded constraint set
};

/// The gradient norm of the population, estimated on a public held-out set.
struct PopulationGradient {
  double norm = 0;            ///< of the mean gradient on the held-out rows, regularizer included
  double standard_error = 0;  ///< of that mean gradient, in the Euclidean norm
  std::int64_t rows = 0;
};

/// A released Frank–Wolfe gap: the true one lies within ± half_width with the stated confidence.
struct RecordedGap {
  double gap = 0;
  double half_width = 0;
  double confidence = 0;
};

/// Everything that may be told about a run; `sotto verify` and `sotto report` read it. No clock:
/// how long anything took depends on the rows.
struct RunRecord {
  std::string version;
  std::string method;
  PrivacyStatement privacy;
  std::string plan;  ///< what the run was allowed to ask; with a filter what it was granted
  std::int64_t planned_samples = 0;  ///< noise samples of the plan, at most
  std::string lost;                  ///< paid for before an interruption and lost; or empty
  double epsilon_budget = 0;         ///< infinite if the noise was given by hand
  double epsilon_planned = 0;
  double noise_multiplier = 0;
  std::vector<DrawnBatches> drawn;  ///< by the sampler that really ran
  std::vector<Setting> settings;
  std::string loss;
  std::string regularizer;
  std::string network;  ///< the model file's text; empty for linear models
  std::int64_t dimension = 0;
  std::int64_t steps = 0;
  double passes = 0;                ///< expected passes over the data
  double gradient_evaluations = 0;  ///< expected per-example gradients
  StopReason stopped = StopReason::kPlanComplete;
  std::vector<std::string> warnings;
  std::vector<TracePoint> trace;
  std::vector<SpentPoint> spending;      ///< a few dozen points of a private run
  std::optional<double> epsilon_lower;   ///< the accountant's lower bound (price_record)
  std::vector<TestPoint> test_curve;     ///< of iterates, with a public test set
  std::vector<Setting> options;          ///< of the run as a whole: privacy, data, model
  std::vector<std::string> class_names;  ///< of labels -1 and +1
  std::vector<std::string> command;      ///< that made the run, word by word; empty: a program
  std::vector<std::pair<std::string, std::string>> versions;  ///< of Sotto and what it is built on
  std::optional<Metrics> test;
  std::optional<Diagnostics> diagnostics;
  std::optional<Certificate> certificate;  ///< of the returned point, if the method made one
  std::string constraint = "none";
  std::optional<RecordedGap> gap;
  std::optional<PopulationGradient> population;
};

/// The text of a record's file (docs/reference/run_record.md): what `sotto verify` and `sotto
/// report` read.
std::string to_text(const RunRecord& record);

/// Sotto's version, and those of the compiler and the libraries that numbers depend on.
std::vector<std::pair<std::string, std::string>> build_versions();

/// `dp-gd: 80 steps, epsilon 0.998 of a budget of 1 (delta 1e-06, zero-out, gaussian), stopped:
/// plan complete`
std::string brief(const RunRecord& record);

}  // namespace sotto
