#pragma once

#include <functional>
#include <string>
#include <vector>

#include "run_outputs.hpp"
#include "sotto/core/reserve.hpp"
#include "sotto/model/model.hpp"
#include "sotto/training/train.hpp"
#include "watched_output.hpp"

namespace sotto::app {

/// The model, with what the run gave. It may be asked for twice, and asks for little memory.
using CompletedModel = std::function<const Model&()>;

/// The end of a run whose budget is spent, in the order in which nothing can be lost: the model is
/// kept (under its name, unless another program has written there since the run began; otherwise in
/// the folder for temporary files; if that fails on standard output) and the journal closed. Until
/// then the checkpoint stays. `reserve`: memory that was put aside for it before the run began
/// (memory_to_write).
Expected<void> keep_model(const CompletedModel& complete,
                          const std::string& path,
                          const WatchedOutput& watched,
                          TrainResult& result,
                          Reserve& reserve);

/// Then record, report and plot; the checkpoint goes last. All of them are tried, and the first
/// failure is returned: the model is there in any case.
Expected<void> finish_run(RunOutputs& outputs, TrainResult& result, const std::string& model_path);

/// Whether the checkpoint's run has finished: the model has its name and is further on in the same
/// journal. Such a run is not continued, which would pay again and put a shorter run's model in its
/// place.
Expected<bool> has_finished(const PreparedRun& prepared,
                            const TrainOptions& train,
                            const std::string& model_path);
/// Says so, and takes the checkpoint away.
Expected<int> tell_finished(const PreparedRun& prepared, const std::string& model_path);

/// What the files that a run will replace know of its journal.
Expected<std::vector<KnownLine>> known_lines(const std::string& model_path,
                                             const std::string& record_path);

}  // namespace sotto::app
