#pragma once

#include <string>
#include <vector>

namespace sotto::app {

/// Runs one command line, e.g. {"train", "--epsilon", "1", …}, and returns its exit code.
int run_command_line(const std::vector<std::string>& arguments);

/// The words of the command line that is running, with --config replaced by its content.
const std::vector<std::string>& command_words();

}  // namespace sotto::app
