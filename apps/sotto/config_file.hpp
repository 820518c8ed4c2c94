#pragma once

#include <string>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto::app {

/// Replaces `--config FILE` by the options that the TOML file holds (`epsilon = 1` is `--epsilon
/// 1`, a flag is `quiet = true`). What the command line gives as well wins.
Expected<std::vector<std::string>> with_config_file(const std::vector<std::string>& arguments);

}  // namespace sotto::app
