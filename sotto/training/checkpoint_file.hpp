#pragma once

#include <optional>
#include <string>

#include "sotto/core/error.hpp"
#include "sotto/core/file_identity.hpp"
#include "sotto/training/checkpoint.hpp"

namespace sotto {

/// The file of one run's states. Two runs may be given one name: what this run neither wrote nor
/// was continued from is another's, and is neither overwritten nor removed.
class CheckpointFile {
 public:
  CheckpointFile() = default;  ///< of a run that writes none
  explicit CheckpointFile(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }

  /// The state to continue; from now on the file is this run's.
  Expected<Checkpoint> read();
  Expected<void> write(const Checkpoint& checkpoint);
  /// If it is this run's.
  Expected<void> remove() const;

 private:
  bool is_ours(const FileIdentity& found) const;

  std::string path_;
  std::optional<FileIdentity> ours_;
  /// Of a write that failed, perhaps after the file had got its name.
  std::optional<FileIdentity> tried_;
};

}  // namespace sotto
