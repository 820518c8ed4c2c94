#include "checkpoint_options.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "printer.hpp"
#include "sotto/core/directed_text.hpp"
#include "sotto/core/file.hpp"
#include "sotto/data/sql/database_path.hpp"

namespace sotto::app {
namespace {

/// The files `a` or `a,b` without their folders, which may change from one machine to the next.
std::string names_of(const std::string& paths) {
  if (is_database(paths)) return paths;
  std::string names;
  for (std::size_t begin = 0; begin <= paths.size();) {
    const std::size_t end = std::min(paths.find(',', begin), paths.size());
    if (begin > 0) names += ", ";
    names += std::filesystem::path(paths.substr(begin, end - begin)).filename().string();
    begin = end + 1;
  }
  return names;
}

}  // namespace

void CheckpointArguments::add_to(Verb& verb) {
  verb.add_output("--checkpoint", path, "write the run's state here, for --resume")
      .group("Checkpoints");
  verb.add_option(
          "--every", every, "steps between checkpoints; default: a hundredth of the planned ones")
      .group("Checkpoints");
  verb.add_flag("--resume", resume, "resume from the --checkpoint file if it exists")
      .group("Checkpoints");
}

Expected<CheckpointOptions> CheckpointArguments::options(const std::string& data_path) const {
  if (path.empty() && (every || resume))
    return fail(ErrorKind::kUsage,
                fmt::format("{} goes with --checkpoint FILE.", resume ? "--resume" : "--every"));
  CheckpointOptions options;
  options.path = path;
  options.every = every;
  options.resume = resume;
  options.warn = [](const std::string& trouble) {
    say("warning: no checkpoint could be written; the run goes on. {}\n", trouble);
  };
  options.facts.emplace_back("the name of the data", names_of(data_path));
  return options;
}

Expected<bool> CheckpointArguments::exists() const {
  return path.empty() ? false : file_exists(path);
}

void CheckpointArguments::tell_resumed(const PreparedRun& run) const {
  if (!run.resumed) return;
  say("resuming {}: step {} of {}\n", path, run.resumed->step, run.resumed->steps);
}

void CheckpointArguments::tell_interrupted(const RunRecord& record,
                                           const std::string& journal_path) const {
  const std::string costs =
      record.privacy.is_private
          ? fmt::format("It costs its whole {}, epsilon {}{}, however early it stopped. ",
                        record.privacy.rule == "filter" ? "budget" : "plan",
                        text_up(record.privacy.epsilon, 4),
                        seed_mark(record.privacy))
          : "";
  if (path.empty())
    say("sotto: interrupted after {} steps; no model was written. {}{} has the charges "
        "(`sotto account --journal` prices them).\n",
        record.steps,
        costs,
        journal_path);
  else
    say("sotto: interrupted after {} steps; no model was written. {}{} holds the state: to go "
        "on at no further cost, give the same command{}.\n",
        record.steps,
        costs,
        path,
        resume ? " again" : " with --resume");
}

}  // namespace sotto::app
