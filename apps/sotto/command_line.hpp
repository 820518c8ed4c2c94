#pragma once

#include <string>
#include <vector>

namespace sotto::app {

/// Runs one command line, e.g. {"train", "--epsilon", "1", …}, and returns its exit code.
int run_command_line(const std::vector<std::string>& arguments);

}  // namespace sotto::app
