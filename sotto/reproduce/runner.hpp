#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sotto/reproduce/results.hpp"
#include "sotto/reproduce/spec.hpp"

namespace sotto::reproduce {

struct RunOptions {
  bool quick = false;  ///< fewer cells, runs and rows, as the spec says
  int runs = 0;        ///< instead of the spec's; 0: the spec's
  std::string data_folder;
  std::string specs_folder;
  /// Finished cells are kept here, one JSON line each; those that are there already are not run
  /// again. Empty: nowhere.
  std::string finished;
  std::string command;  ///< how it was started, for the record
  /// Called before every run with what is going on; false: stop (kNoModel).
  std::function<bool(const std::string&)> progress = [](const std::string&) { return true; };
};

/// Runs all cells of a reproduction. True values on training rows go into the results: never use it
/// on private data.
Expected<Results> run(const ReproductionSpec& spec, const RunOptions& options);

/// The class of this machine: processor family and number of cores.
std::string machine_class();

}  // namespace sotto::reproduce
