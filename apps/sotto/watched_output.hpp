#pragma once

#include <optional>
#include <string>

#include "sotto/core/error.hpp"
#include "sotto/core/file_identity.hpp"

namespace sotto::app {

/// A file that is written when a long run has ended. Another run may have been given the same name
/// and have ended before: its file is not overwritten (one that was there from the beginning is).
class WatchedOutput {
 public:
  WatchedOutput() = default;  ///< of an output that nobody asked for
  /// To be called when the run begins.
  static Expected<WatchedOutput> at(const std::string& path);

  /// Nothing else was written there since the beginning.
  Expected<bool> is_free() const;
  /// Where to write: the path; or if something else was written there since the beginning, a new
  /// name beside it, of the same kind.
  Expected<std::string> place();
  /// After all is written: kIo, with both names, if it had to go elsewhere.
  Expected<void> check() const;

 private:
  std::string path_;
  std::optional<FileIdentity> before_;
  std::string elsewhere_;  ///< empty: it is at its path
};

}  // namespace sotto::app
