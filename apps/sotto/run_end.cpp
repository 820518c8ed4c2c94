#include "run_end.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "exit_codes.hpp"
#include "printer.hpp"
#include "sotto/core/file.hpp"

namespace sotto::app {
namespace {

/// Somewhere, so that what was paid for is not lost; says where.
std::string rescue(const Model& model, const std::string& run) {
  const char* chosen = std::getenv("TMPDIR");
  const std::string folder = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  const std::string path = fmt::format("{}/sotto-model-{}.json", folder, run);
  if (save_model(model, path)) return fmt::format("It was written to {} instead.", path);
  print_json_text(to_text(model));
  return "It was printed to standard output instead.";
}

}  // namespace

Expected<void> keep_model(const Model& model, const std::string& path, TrainResult& result) {
  if (auto saved = save_model(model, path); !saved)
    return fail(
        ErrorKind::kIo,
        fmt::format("{} The run is paid for, so its model is kept. {}",
                    saved.error().message,
                    rescue(model,
                           result.ledger && model.privacy.journal ? model.privacy.journal->run
                                                                  : "rescued")));
  if (result.ledger)
    if (auto closed = result.ledger->close(kFinished); !closed)
      return fail(closed.error().kind,
                  fmt::format("the model is written to {}, but its journal can't be closed, and "
                              "will count the run at its full price all the same: {}",
                              path,
                              closed.error().message));
  return {};
}

Expected<void> finish_run(const RunOutputs& outputs,
                          RunRecord& record,
                          const CheckpointArguments& checkpoint,
                          const std::string& model_path) {
  const auto written = outputs.write(record);
  const auto removed = checkpoint.remove();
  for (const Expected<void>* each : {&written, &removed})
    if (!*each)
      return fail(
          each->error().kind,
          fmt::format("the model is written to {}, but: {}", model_path, each->error().message));
  return {};
}

bool has_finished(const PreparedRun& prepared, const std::string& model_path) {
  if (!prepared.resumed || prepared.resumed->run.empty()) return false;
  const auto model = load_model(model_path);
  return model && model->privacy.journal && model->privacy.journal->run == prepared.resumed->run;
}

Expected<int> tell_finished(const CheckpointArguments& checkpoint, const std::string& model_path) {
  SOTTO_TRY(checkpoint.remove());
  say("note: the run of this checkpoint has finished, and {} is its model. Nothing was released; "
      "the checkpoint was removed.\n",
      model_path);
  return kSuccess;
}

}  // namespace sotto::app
