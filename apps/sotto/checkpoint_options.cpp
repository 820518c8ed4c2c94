#include "checkpoint_options.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace sotto::app {
namespace {

/// When each of the files `a` or `a,b` was last written.
std::string times_of(const std::string& paths) {
  std::string times;
  for (std::size_t begin = 0; begin <= paths.size();) {
    const std::size_t end = std::min(paths.find(',', begin), paths.size());
    std::error_code error;
    const auto time = std::filesystem::last_write_time(paths.substr(begin, end - begin), error);
    if (!times.empty()) times += ", ";
    times += error ? "unknown" : fmt::format("{}", time.time_since_epoch().count());
    begin = end + 1;
  }
  return times;
}

}  // namespace

void CheckpointArguments::add_to(CLI::App& verb) {
  verb.add_option("--checkpoint", path, "write the run's state here, for --resume")
      ->group("Checkpoints");
  verb.add_option("--every", every, "steps between checkpoints; default: about once a minute")
      ->group("Checkpoints");
  verb.add_flag("--resume", resume, "go on from the --checkpoint file if it is there")
      ->group("Checkpoints");
}

Expected<CheckpointOptions> CheckpointArguments::options(const std::string& data_path) const {
  if (path.empty() && (every || resume))
    return fail(ErrorKind::kUsage,
                fmt::format("{} goes with --checkpoint FILE.", resume ? "--resume" : "--every"));
  CheckpointOptions options;
  options.path = path;
  options.every = every;
  options.resume = resume;
  options.facts.emplace_back("the time at which the data was written", times_of(data_path));
  return options;
}

void CheckpointArguments::tell_resumed(const PreparedRun& run) const {
  if (!run.resumed) return;
  fmt::print(
      stderr, "going on from {}: step {} of {}\n", path, run.resumed->step, run.resumed->steps);
}

void CheckpointArguments::tell_interrupted(const RunRecord& record,
                                           const std::string& journal_path) const {
  if (path.empty())
    fmt::print(stderr,
               "sotto: interrupted after {} steps; no model was written. {} tells what was spent "
               "(`sotto account --journal` prices it).\n",
               record.steps,
               journal_path);
  else
    fmt::print(stderr,
               "sotto: interrupted after {} steps; no model was written. {} holds the state: to go "
               "on, give the same command{}.\n",
               record.steps,
               path,
               resume ? " again" : " with --resume");
}

void CheckpointArguments::remove() const {
  std::error_code ignored;
  if (!path.empty()) std::filesystem::remove(path, ignored);
}

}  // namespace sotto::app
