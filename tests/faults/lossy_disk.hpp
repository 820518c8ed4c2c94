#pragma once

// A disk whose power fails: what was not synced is lost, or comes apart.

#include <map>
#include <string>

#include "tests/faults/faulty_disk.hpp"

namespace sotto::testing {

class LossyDisk final : public FaultyDisk {
 public:
  /// What of the unsynced survives.
  enum class Kept {
    kNothing,  ///< neither names nor bytes
    kNames,    ///< new and changed names, but not the bytes: a new file is empty
    kHalf,     ///< names, and half of what was appended
  };

  /// Which syncs do nothing: a program that forgets them would be no better off.
  enum class Forgotten { kNone, kFolders, kFiles };

  /// Files of this folder that are there now are on the disk.
  LossyDisk(std::string folder, Fault fault, Forgotten forgotten = Forgotten::kNone);

  /// After the program was killed: puts the folder into the state in which it is found.
  void lose_power(Kept kept);

  int open(const char* path, int flags, mode_t mode) override;
  int sync(int file) override;

 private:
  std::map<std::string, ino_t> names_now() const;

  std::string folder_;
  Forgotten forgotten_;
  std::map<std::string, ino_t> names_;     ///< on the disk
  std::map<ino_t, std::string> contents_;  ///< on the disk
};

}  // namespace sotto::testing
