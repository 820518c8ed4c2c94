#pragma once

#include <memory>
#include <optional>

#include "sotto/core/error.hpp"
#include "sotto/objective/engine.hpp"
#include "sotto/privacy/ledger.hpp"
#include "sotto/record/run_record.hpp"
#include "sotto/training/checkpoint_file.hpp"
#include "sotto/training/prepare.hpp"

namespace sotto {

struct TrainResult {
  Vector w;
  RunRecord record;
  /// How long the steps took: it depends on the rows, so it is in no record. For benchmarks and
  /// --unsafe-diagnostics.
  double seconds = 0;
  /// The observer stopped it before its last step: there is no model to keep.
  bool interrupted = false;
  /// Of a private run. Its journal's run is open until the model is kept: close(kFinished) then.
  std::shared_ptr<Ledger> ledger;
  std::shared_ptr<CheckpointFile> checkpoint;  ///< to be removed once the model is kept
};

/// The ledger that a prepared run is charged to, and its journal with it: opened afresh, or where
/// the run that it continues left it. Refuses a plan that the budget does not grant.
Expected<Ledger> open_run(const PreparedRun& run,
                          const PublicProblem& problem,
                          const TrainOptions& options);

/// Runs what was prepared. The engine's rows are read only after the ledger has granted the plan.
Expected<TrainResult> train(const Engine& engine,
                            const PublicProblem& problem,
                            const TrainOptions& options,
                            PreparedRun prepared,
                            Observer& observer);

}  // namespace sotto
