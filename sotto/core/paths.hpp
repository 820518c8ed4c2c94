#pragma once

#include <string>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {

/// A file of a command, and what it is there for.
struct NamedPath {
  std::string what;  ///< "the model", "--report"
  std::string path;  ///< or several, separated by commas; empty: not asked for
};

/// kUsage if a file to be written is one that is read, or another one to be written: by device and
/// inode where both exist, else by what the paths name. To be called before anything is opened, so
/// that nothing is overwritten, charged or lost.
Expected<void> check_paths_differ(const std::vector<NamedPath>& read,
                                  const std::vector<NamedPath>& written);

}  // namespace sotto
