#pragma once

#include <string>

#include "checkpoint_options.hpp"
#include "run_outputs.hpp"
#include "sotto/model/model.hpp"
#include "sotto/training/train.hpp"

namespace sotto::app {

/// The end of a run whose budget is spent, in the order in which nothing can be lost: the model is
/// kept (under its name; if that fails in the folder for temporary files; if that fails on standard
/// output) and the journal closed. Until then the checkpoint stays.
Expected<void> keep_model(const Model& model, const std::string& path, TrainResult& result);

/// Then record, report and plot; the checkpoint goes last. All of them are tried, and the first
/// failure is returned: the model is there in any case.
Expected<void> finish_run(const RunOutputs& outputs,
                          RunRecord& record,
                          const CheckpointArguments& checkpoint,
                          const std::string& model_path);

/// Whether the checkpoint's run has finished: the model has its name. Such a run is not continued,
/// which would pay again and put a shorter run's model in its place.
bool has_finished(const PreparedRun& prepared, const std::string& model_path);
/// Says so, and takes the checkpoint away.
Expected<int> tell_finished(const CheckpointArguments& checkpoint, const std::string& model_path);

}  // namespace sotto::app
