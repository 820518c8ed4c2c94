#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/optimizer/registry.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/journal.hpp"

namespace sotto {

struct Checkpoint;
class CheckpointFile;

/// Public facts by name: what a run must have in common with the one that it continues.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// Where and how often a run's state is written, and whether an earlier one is continued.
struct CheckpointOptions {
  std::string path;                   ///< empty: never
  std::optional<std::int64_t> every;  ///< steps; none: a hundredth of those planned
  bool resume = false;                ///< continue from the file if it is there
  Facts facts;                        ///< what the caller knows of model and data: public
  /// Hears at once, and not only with the result, that a state on the way could not be written:
  /// whoever is told can free some space before the run is interrupted.
  std::function<void(const std::string& trouble)> warn;
};

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
  std::int64_t most_rows = 0;         ///< of a person that are trained on, the first ones; 0: all
  std::optional<std::uint64_t> seed;  ///< tests and reproductions only: marks the run insecure
  std::string journal_path;           ///< empty: no journal
  std::string journal_key;            ///< empty: its checksums have none
  /// Files that earlier runs left, and the lines of the journal that they know.
  std::vector<KnownLine> known_lines;
  /// Of a new run: what must hold of its journal, asked once it is locked.
  JournalCondition journal_condition;
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
  std::shared_ptr<const Checkpoint> resumed;   ///< null: a fresh run
  std::shared_ptr<CheckpointFile> checkpoint;  ///< that its states go to
};

/// Plan and calibrate, from public facts alone; all that `--dry-run` shows. Fails on settings that
/// make no sense (usage), on a budget that no noise can meet (budget), and on a checkpoint that
/// does not fit.
Expected<PreparedRun> prepare(const PublicProblem& problem, const TrainOptions& options);

}  // namespace sotto
