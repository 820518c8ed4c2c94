#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sotto/study/results.hpp"
#include "sotto/study/run_watch.hpp"
#include "sotto/study/spec.hpp"

namespace sotto::study {

struct RunOptions {
  bool quick = false;  ///< fewer cells, runs and rows, as the spec says
  int runs = 0;        ///< instead of the spec's; 0: the spec's
  /// Only cells whose key has this text in it are run; others are as they were left, or missing.
  std::string only;
  std::vector<std::string> data_folders;
  std::string specs_folder;
  /// Finished cells are kept here, one JSON line each; those that are there already are not run
  /// again. Empty: nowhere.
  std::string finished;
  std::string keep;     ///< folder for networks trained on public data; empty: nowhere
  std::string command;  ///< how it was started, for the record
  /// Called before every run and now and then during it; false: stop (kNoModel).
  ShowProgress progress = [](const std::string&) { return true; };
};

/// Runs all cells of a reproduction; those whose images are missing are left out with the reason.
/// True values on training rows go into the results: never use it on private data.
Expected<Results> run(const StudySpec& spec, const RunOptions& options);

/// The class of this machine: processor family and number of cores.
std::string machine_class();

}  // namespace sotto::study
