#include "run_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <system_error>

#include "exit_codes.hpp"
#include "printer.hpp"
#include "sotto/random/stream.hpp"

namespace sotto::app {
namespace {

/// Where memory runs out, or the system refuses something else, an error like any other.
template <class Work>
Expected<void> attempted(const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::kIo, "not enough memory.");
  } catch (const std::system_error& error) {
    return fail(ErrorKind::kIo, fmt::format("the system refuses: {}.", error.what()));
  }
}

/// A name in the folder for temporary files that nobody can guess and prepare: others may write
/// there, too.
std::string rescue_path() {
  const char* chosen = std::getenv("TMPDIR");
  Stream stream = Stream::secure(Purpose::kSelection);
  const std::uint64_t first = stream.next();
  return fmt::format("{}/sotto-model-{:016x}{:016x}.json",
                     chosen != nullptr && *chosen != '\0' ? chosen : "/tmp",
                     first,
                     stream.next());
}

/// Somewhere, so that what was paid for is not lost; says where.
std::string rescue(const Model& model) {
  std::string path;
  const auto saved = attempted([&] {
    path = rescue_path();
    return save_model(model, path);
  });
  if (saved) return fmt::format("It was written to {} instead.", path);
  const auto printed = attempted([&] {
    return write_text(model, [](std::string_view piece) {
      print_json_text(piece);
      return Expected<void>();
    });
  });
  if (printed) return "It was printed to standard output instead.";
  return "It could not be, neither in the folder for temporary files nor on standard output: free "
         "some memory, and run again.";
}

}  // namespace

Expected<void> keep_model(const CompletedModel& complete,
                          const std::string& path,
                          TrainResult& result,
                          Reserve& reserve) {
  const Model* model = nullptr;
  reserve.release();  // also for what can't be tried twice
  const auto saved = attempted([&] {
    model = &complete();
    return save_model(*model, path);
  });
  if (!saved) {
    if (!model) model = &complete();
    return fail(ErrorKind::kIo,
                fmt::format("{} The run is paid for, so its model is kept. {}",
                            saved.error().message,
                            rescue(*model)));
  }
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
                          TrainResult& result,
                          const std::string& model_path) {
  const auto written = outputs.write(result.record);
  const auto removed = result.checkpoint.remove();
  for (const Expected<void>* each : {&written, &removed})
    if (!*each)
      return fail(
          each->error().kind,
          fmt::format("the model is written to {}, but: {}", model_path, each->error().message));
  return {};
}

Expected<bool> has_finished(const PreparedRun& prepared,
                            const TrainOptions& train,
                            const std::string& model_path) {
  if (!prepared.resumed || prepared.resumed->run.empty()) return false;
  SOTTO_ASSIGN(const auto known, journal_place_in(model_path));
  if (!known || known->place.run != prepared.resumed->run) return false;
  // A name alone does not say it: of seeded runs with the same facts it is the same.
  SOTTO_ASSIGN(const JournalContent journal,
               read_whole_journal(train.journal_path, train.journal_key));
  return journal.holds(known->place.head) && journal.holds(prepared.resumed->head) &&
         known->place.head.line >= prepared.resumed->head.line;
}

Expected<int> tell_finished(const PreparedRun& prepared, const std::string& model_path) {
  SOTTO_TRY(prepared.checkpoint.remove());
  say("note: the run of this checkpoint has finished, and {} is its model. Nothing was released; "
      "the checkpoint was removed.\n",
      model_path);
  return kSuccess;
}

Expected<std::vector<KnownLine>> known_lines(const std::string& model_path,
                                             const std::string& record_path) {
  std::vector<KnownLine> lines;
  SOTTO_ASSIGN(const auto model, journal_place_in(model_path));
  if (model) lines.push_back({model_path, model->place.head});
  if (record_path.empty()) return lines;
  SOTTO_ASSIGN(const auto record, journal_place_in(record_path));
  // The record may be that of another model, which has a journal of its own.
  if (record && std::count(record->command.begin(), record->command.end(), model_path) > 0)
    lines.push_back({record_path, record->place.head});
  return lines;
}

}  // namespace sotto::app
