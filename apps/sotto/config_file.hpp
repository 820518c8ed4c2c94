#pragma once

#include <string>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto::app {

/// A command line without its `--config`.
struct WithConfig {
  std::vector<std::string> arguments;
  std::string path;                ///< of the file that it named; empty: none
  std::vector<std::string> flags;  ///< options that are true or false in the file
};

/// Replaces `--config FILE` by the options that the TOML file holds (`epsilon = 1` is `--epsilon
/// 1`, a flag is `quiet = true`). What the command line gives as well wins.
Expected<WithConfig> with_config_file(const std::vector<std::string>& arguments);

}  // namespace sotto::app
