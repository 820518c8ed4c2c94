#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {

/// The open descriptor of this program that a path like /dev/stdout or /dev/fd/3 names; none: it is
/// a path as any other. What is written there goes to whatever is open, wherever that stands, and
/// must not take the place of a file that it leads to.
std::optional<int> named_descriptor(const std::string& path);

/// A file of a command, and what it is there for.
struct NamedPath {
  std::string what;  ///< "the model", "--report"
  std::string path;  ///< of one file, commas and all; empty: not asked for
};

/// kUsage if a file to be written is one that is read, or another one to be written. A file that is
/// there is known by device and inode, whatever leads to it (links, hard links, mounts); one that
/// is not there yet by its folder's, and its name. Terminals and pipes are nobody's: they keep
/// nothing. To be called before anything is opened, so that nothing is overwritten, charged or
/// lost; kIo if the system does not tell.
Expected<void> check_paths_differ(const std::vector<NamedPath>& read,
                                  const std::vector<NamedPath>& written);

/// kUsage if standard output or error was redirected to one of these files: what the program says
/// would be added to it, to a journal for example. That stream is then redirected to the other one
/// (or to nowhere), so that not even this refusal is written there. Whoever writes to /dev/stdout
/// or another name of a stream means it.
Expected<void> check_streams_elsewhere(const std::vector<NamedPath>& read,
                                       const std::vector<NamedPath>& written);

}  // namespace sotto
