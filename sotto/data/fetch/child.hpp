#pragma once

#include <string>
#include <vector>

namespace sotto {

constexpr int kNoSuchProgram = 127;

/// Runs a program found in PATH, without a shell, and waits for it. Standard input is empty;
/// standard output goes to `output`, a file that is made new, or nowhere if that is empty; standard
/// error is this process's if `talks`, else nowhere. The exit code; kNoSuchProgram if it can't be
/// started, 128 + the signal if it was killed.
int run_program(const std::vector<std::string>& arguments,
                const std::string& output = {},
                bool talks = false);

}  // namespace sotto
