#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "sotto/core/error.hpp"

namespace sotto {

/// Which file it is, whatever its name: by it a file that another program put in its place is
/// known. And when it was last changed, which somebody may do within one tick of the clock unseen.
struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  std::int64_t size = 0;
  std::int64_t written_seconds = 0;  ///< when its content was last written
  std::int64_t written_nanoseconds = 0;

  static FileIdentity of(const struct stat& facts) {
    return {facts.st_dev,
            facts.st_ino,
            facts.st_ctim.tv_sec,
            facts.st_ctim.tv_nsec,
            facts.st_size,
            facts.st_mtim.tv_sec,
            facts.st_mtim.tv_nsec};
  }
  bool same_file(const FileIdentity& other) const {
    return device == other.device && number == other.number;
  }
  /// Also where a link to it was made, or its mode changed, as backups do.
  bool same_content(const FileIdentity& other) const {
    return same_file(other) && size == other.size && written_seconds == other.written_seconds &&
           written_nanoseconds == other.written_nanoseconds;
  }
  bool operator==(const FileIdentity&) const = default;
};

/// Of an open file; `path` is for the message.
Expected<FileIdentity> identity_of(int descriptor, const std::string& path);
/// Of the file that a name leads to, through links; none if it leads nowhere.
Expected<std::optional<FileIdentity>> identity_at(const std::string& path);

}  // namespace sotto
