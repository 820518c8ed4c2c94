#include "existing_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "printer.hpp"
#include "run_end.hpp"
#include "sotto/core/directed_text.hpp"
#include "sotto/core/file.hpp"
#include "sotto/privacy/seed_mark.hpp"
#include "sotto/privacy/together.hpp"
#include "together_text.hpp"

namespace sotto::app {
namespace {

Expected<JournalContent> journal_at(const std::string& path, const std::string& key) {
  SOTTO_ASSIGN(const bool there, file_exists(path));
  if (!there) return JournalContent();
  return read_whole_journal(path, key);
}

/// `2 runs, epsilon 1.4 at delta 1e-6 in all if planned together, and <= 2 …`.
std::string spent_text(const JournalContent& journal, const Expected<TogetherPrice>& together) {
  const auto runs = together ? together->paid : std::ssize(journal.runs);
  std::string text = runs == 1 ? "a run" : fmt::format("{} runs", runs);
  if (!together) return text;
  text += fmt::format(", epsilon {}{} at delta {}",
                      text_up(together->epsilon, 4),
                      seed_mark(together->seeded),
                      text_up(together->delta));
  if (runs > 1)
    text += fmt::format(" in all if planned together; if chosen after looking, {}",
                        sum_text(*together));
  return text;
}

Expected<void> check_unpaid(const JournalContent& journal, const std::string& path) {
  const auto together = price_together(journal.runs);
  if (together ? together->paid == 0 : journal.runs.empty()) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("{} already holds {}. To pay again, and replace the model if there is "
                          "one, give --again (--overwrite is not enough); or name another model.",
                          path,
                          spent_text(journal, together)));
}

}  // namespace

void ExistingFiles::add_to(Verb& verb) {
  verb.add_flag("--overwrite", overwrite, "replace MODEL if it exists").group("Output");
  verb.add_flag("--again", again, "pay again although MODEL.journal holds a run, and replace MODEL")
      .group("Output");
}

Expected<void> ExistingFiles::check(const std::string& model_path,
                                    const std::string& journal_key,
                                    bool is_private) const {
  if (again) return {};
  if (is_private) {
    const std::string path = model_path + ".journal";
    SOTTO_ASSIGN(const JournalContent journal, journal_at(path, journal_key));
    SOTTO_ASSIGN(const auto known, known_lines(model_path, ""));
    // A journal that lost what the model knows of it is refused as such, whatever is given.
    if (!std::all_of(known.begin(), known.end(), [&](const KnownLine& line) {
          return journal.holds(line.head);
        }))
      return {};
    SOTTO_TRY(check_unpaid(journal, path));
  }
  return check_model(model_path);
}

JournalCondition ExistingFiles::journal_condition(const std::string& model_path) const {
  if (again) return {};
  return [path = model_path + ".journal"](const JournalContent& journal) {
    return check_unpaid(journal, path);
  };
}

void tell_spent(const std::string& model_path, const std::string& journal_key) {
  const std::string path = model_path + ".journal";
  const auto journal = journal_at(path, journal_key);
  if (!journal || journal->runs.size() < 2) return;
  const auto together = price_together(journal->runs);
  if (together && together->paid < 2) return;
  say("{} now holds {}\n", path, spent_text(*journal, together));
}

Expected<void> ExistingFiles::check_model(const std::string& model_path) const {
  SOTTO_ASSIGN(const bool there, file_exists(model_path));
  if (there && !overwrite && !again)
    return fail(ErrorKind::kUsage,
                fmt::format("{} exists, and is kept. To replace it, give --overwrite; or name "
                            "another model.",
                            model_path));
  return {};
}

}  // namespace sotto::app
