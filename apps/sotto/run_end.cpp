#include "run_end.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>
#include <vector>

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
  } catch (const std::exception& error) {  // nothing may pass by the rescue
    return fail(ErrorKind::kIo, fmt::format("an unexpected error: {}.", error.what()));
  }
}

/// A name in this folder that nobody can guess and prepare: others may write there, too.
std::string rescue_path(const std::string& folder) {
  Stream stream = Stream::secure(Purpose::kSelection);
  const std::uint64_t first = stream.next();
  return fmt::format("{}/sotto-model-{:016x}{:016x}.json", folder, first, stream.next());
}

/// Where something may be written if the model's own folder fails.
std::vector<std::string> rescue_folders() {
  std::vector<std::string> folders;
  const auto add = [&](const char* folder) {
    if (folder != nullptr && *folder != '\0') folders.emplace_back(folder);
  };
  add(std::getenv("TMPDIR"));
  add("/tmp");
  add(".");
  add(std::getenv("HOME"));
  return folders;
}

/// Whether what is printed is kept, or seen: not by /dev/null.
bool standard_output_keeps() {
  struct stat facts {};
  return ::fstat(STDOUT_FILENO, &facts) == 0 &&
         (!S_ISCHR(facts.st_mode) || ::isatty(STDOUT_FILENO) == 1);
}

/// Somewhere, so that what was paid for is not lost; says where.
std::string rescue(const Model& model) {
  std::string path;
  std::size_t tried = 0;
  const auto saved = attempted([&]() -> Expected<void> {
    for (const std::string& folder : rescue_folders()) {
      path = rescue_path(folder);
      ++tried;
      if (save_model(model, path)) return {};
    }
    return fail(ErrorKind::kIo, "none of the folders can be written to.");
  });
  if (saved) return fmt::format("It is kept: it was written to {} instead.", path);
  const auto printed = attempted([&]() -> Expected<void> {
    if (!standard_output_keeps()) return fail(ErrorKind::kIo, "standard output keeps nothing.");
    // A pipe that does not wait for its reader would take its first bytes only.
    if (const int flags = ::fcntl(STDOUT_FILENO, F_GETFL); flags >= 0 && (flags & O_NONBLOCK) != 0)
      ::fcntl(STDOUT_FILENO, F_SETFL, flags & ~O_NONBLOCK);
    SOTTO_TRY(write_text(model, [](std::string_view piece) {
      print_json_text(piece);
      return Expected<void>();
    }));
    if (!flush_printed()) return fail(ErrorKind::kIo, "standard output is full or closed.");
    return {};
  });
  if (printed) return "It is kept: it was printed to standard output instead.";
  return fmt::format(
      "It is LOST: it could be written neither there, nor in {} other folders, nor on standard "
      "output. Free some room or memory, and run again, which is paid for again.",
      tried);
}

}  // namespace

Expected<void> keep_model(const CompletedModel& complete,
                          const std::string& path,
                          const WatchedOutput& watched,
                          TrainResult& result,
                          Reserve& reserve) {
  const Model* model = nullptr;
  reserve.release();  // also for what can't be tried twice
  // A model that its journal does not count must not take the place of one that it does.
  const auto counted = attempted([&]() -> Expected<void> {
    return result.ledger ? result.ledger->confirm_journal(Journal::Look::kEveryLine)
                         : Expected<void>();
  });
  if (!counted)
    return fail(ErrorKind::kIo,
                fmt::format("{} Nobody can tell whether it counts this run, so {} was left as it "
                            "is; put the run's own journal back. The run is paid for, and its "
                            "model is finished. {}",
                            counted.error().message,
                            path,
                            rescue(complete())));
  const auto saved = attempted([&]() -> Expected<void> {
    model = &complete();
    SOTTO_ASSIGN(const bool free, watched.is_free());
    if (!free)
      return fail(ErrorKind::kIo,
                  fmt::format("{} was written by another program since this run began, and was "
                              "left as it is.",
                              path));
    return save_model(*model, path);
  });
  if (!saved) {
    if (!model) model = &complete();
    return fail(ErrorKind::kIo,
                fmt::format("{} The run is paid for, and its model is finished. {}",
                            saved.error().message,
                            rescue(*model)));
  }
  if (result.ledger)
    if (auto closed = result.ledger->close(kFinished); !closed)
      return fail(
          closed.error().kind,
          fmt::format("the model is written to {}, but its journal can't be closed, and {}: {}",
                      path,
                      result.ledger->confirm_journal(Journal::Look::kEveryLine)
                          ? "will count the run at its full price all the same"
                          : "does not count the run until its own journal is put back",
                      closed.error().message));
  return {};
}

Expected<void> finish_run(RunOutputs& outputs, TrainResult& result, const std::string& model_path) {
  const auto written = outputs.write(result.record);
  const auto removed = result.checkpoint->remove();
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
  SOTTO_TRY(prepared.checkpoint->remove());
  say("note: the run of this checkpoint has finished, and {} is its model. Nothing was released; "
      "the checkpoint was removed.\n",
      model_path);
  return kSuccess;
}

namespace {

/// Whether a record is that of the model which will stand at this path. Its command may have named
/// it in another way, or from another folder: whatever has the same name counts, unless a journal
/// beside it, which is not this model's, holds the record's run.
bool is_of_model(const KnownPlace& record, const std::string& model_path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path name = fs::path(model_path).filename();
  const fs::path here = fs::weakly_canonical(model_path, ignored);
  return std::any_of(record.command.begin(), record.command.end(), [&](const std::string& word) {
    if (fs::path(word).filename() != name) return false;
    if (fs::weakly_canonical(word, ignored) == here) return true;
    const auto other = read_whole_journal(word + ".journal");
    return !other || !other->holds(record.place.head);
  });
}

}  // namespace

Expected<std::vector<KnownLine>> known_lines(const std::string& model_path,
                                             const std::string& record_path) {
  std::vector<KnownLine> lines;
  SOTTO_ASSIGN(const auto model, journal_place_in(model_path));
  if (model) lines.push_back({model_path, model->place.head});
  if (record_path.empty()) return lines;
  SOTTO_ASSIGN(const auto record, journal_place_in(record_path));
  if (record && is_of_model(*record, model_path))
    lines.push_back({record_path, record->place.head});
  return lines;
}

}  // namespace sotto::app
