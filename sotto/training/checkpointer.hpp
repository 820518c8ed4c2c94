#pragma once

#include <cstdint>
#include <string>

#include "sotto/core/error.hpp"
#include "sotto/oracle/api/observer.hpp"
#include "sotto/privacy/ledger.hpp"
#include "sotto/training/checkpoint_file.hpp"
#include "sotto/training/prepare.hpp"

namespace sotto {

/// Stands between an optimizer and its observer: writes the state down now and then and when the
/// observer stops the run, and puts an earlier state in place before the first step.
class Checkpointer final : public Observer {
 public:
  /// `file`: where to; it outlives this. `frame`: run, coin and facts of what will be written.
  /// `around`: what the run carries outside of the optimizer. `ledger`: null if the run is not
  /// private. `resumed`: null for a fresh run.
  Checkpointer(Observer& next,
               const CheckpointOptions& options,
               CheckpointFile& file,
               Checkpoint frame,
               Archived around,
               Ledger* ledger,
               const Checkpoint* resumed,
               Eigen::Index dimension);

  Expected<void> begin(Archived state) override;
  bool keep_going(const StepReport& report) override;

  /// Whether the state at which the observer stopped the run is in the file.
  Expected<void> stopped() const { return stopped_; }
  /// Why a state on the way could not be written; the run went on, the file holds an older one.
  const std::string& trouble() const { return trouble_; }

 private:
  Expected<void> write(const StepReport& report);

  Observer& next_;
  const CheckpointOptions& options_;
  CheckpointFile& file_;
  Checkpoint frame_;
  Archived around_;
  Archived state_;
  Ledger* ledger_;
  const Checkpoint* resumed_;
  Eigen::Index dimension_;
  Expected<void> stopped_;
  std::string trouble_;
  bool failing_ = false;  ///< the last state on the way
};

}  // namespace sotto
