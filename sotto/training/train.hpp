#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/objective/engine.hpp"
#include "sotto/optimizer/registry.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/record/run_record.hpp"
#include "sotto/training/checkpointer.hpp"

namespace sotto {

/// How to train: which method, how much privacy, whose randomness.
struct TrainOptions {
  std::string method = "dp-gd";
  /// Instead of `method`: one that is not in the registry, e.g. a published recipe. Outlives the
  /// run.
  const MethodInfo* unlisted = nullptr;
  GivenOptions options;  ///< the method's own options, by name
  double delta = 0;
  std::optional<double> epsilon;  ///< exactly one of these two for a private method
  std::optional<double> noise_multiplier;
  std::string accountant;  ///< empty: the tightest that applies
  std::string unit = "row";
  std::optional<std::uint64_t> seed;  ///< tests and reproductions only: marks the run insecure
  std::string journal_path;           ///< empty: no journal
  std::string journal_key;            ///< empty: its checksums have none
  /// Files that earlier runs left, and the lines of the journal that they know.
  std::vector<KnownLine> known_lines;
  bool unsafe_diagnostics = false;
  /// Where the state is written for a run that is interrupted. A run that its observer stops is
  /// then paused: its state is in the file, and no selection is paid for its model.
  CheckpointOptions checkpoint;
};

/// A run that has been planned and calibrated but has not touched a row.
struct PreparedRun {
  const MethodInfo* method = nullptr;
  ConfiguredMethod configured;
  Plan plan{Event::compose({}), 0};
  const Accountant* accountant = nullptr;
  double noise_multiplier = 0;
  double epsilon_planned = 0;
  std::vector<std::string> warnings;
  double coin = 0;  ///< that random settings were drawn with
  Facts facts;      ///< what a continued run must have in common with this one
  std::shared_ptr<const Checkpoint> resumed;  ///< null: a fresh run
  CheckpointFile checkpoint;                  ///< that its states go to
};

struct TrainResult {
  Vector w;
  RunRecord record;
  /// How long the steps took: it depends on the rows, so it is in no record. For benchmarks and
  /// --unsafe-diagnostics.
  double seconds = 0;
  /// The observer stopped it before its last step: there is no model to keep.
  bool interrupted = false;
  /// Of a private run. Its journal's run is open until the model is kept: close(kFinished) then.
  std::optional<Ledger> ledger;
  CheckpointFile checkpoint;  ///< to be removed once the model is kept
};

/// Plan and calibrate, from public facts alone; all that `--dry-run` shows. Fails on settings that
/// make no sense (usage), on a budget that no noise can meet (budget), and on a checkpoint that
/// does not fit.
Expected<PreparedRun> prepare(const PublicProblem& problem, const TrainOptions& options);

/// What a ledger must know of a prepared run.
LedgerOptions ledger_options(const PreparedRun& run,
                             const PublicProblem& problem,
                             const TrainOptions& options);

/// Runs what was prepared. The engine's rows are read only after the ledger has granted the plan.
Expected<TrainResult> train(const Engine& engine,
                            const PublicProblem& problem,
                            const TrainOptions& options,
                            PreparedRun prepared,
                            Observer& observer);

}  // namespace sotto
