#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sotto {

constexpr int kNoSuchProgram = 127;
/// It was ended because this program was asked to (core/stop).
constexpr int kStopped = 130;

struct ProgramOptions {
  std::string output;           ///< standard output, a file that is made new; empty: nowhere
  bool talks = false;           ///< standard error is this process's, else nowhere
  std::int64_t most_bytes = 0;  ///< no file that it writes grows beyond; 0: no limit
};

/// Runs a program found in PATH, without a shell, and waits for it, or ends it if this program is
/// asked to end. Standard input is empty. The exit code; kNoSuchProgram if it can't be started,
/// 128 + the signal if it was killed.
int run_program(const std::vector<std::string>& arguments, const ProgramOptions& options = {});

}  // namespace sotto
