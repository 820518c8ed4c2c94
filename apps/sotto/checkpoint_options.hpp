#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sotto/training/train.hpp"
#include "verb.hpp"

namespace sotto::app {

/// `--checkpoint`, `--every` and `--resume` of a training verb.
struct CheckpointArguments {
  std::string path;
  std::optional<std::int64_t> every;
  bool resume = false;

  void add_to(Verb& verb);
  /// With the data's file name, so that a wrong file is noticed without looking at it
  /// (sotto/training/checkpoint.proof.md). Fails if --every or --resume stand alone.
  Expected<CheckpointOptions> options(const std::string& data_path) const;

  /// Whether a run's state is there already.
  Expected<bool> exists() const;

  /// On standard error: that an earlier run goes on.
  void tell_resumed(const PreparedRun& run) const;
  /// On standard error: what an interrupted run leaves behind, and how to go on.
  void tell_interrupted(const RunRecord& record, const std::string& journal_path) const;
};

}  // namespace sotto::app
