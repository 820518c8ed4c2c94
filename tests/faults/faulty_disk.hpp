#pragma once

// A file system whose k-th call goes wrong.

#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "sotto/core/file_system.hpp"

namespace sotto::testing {

/// Thrown where the program is killed: nothing that follows reaches the disk.
struct Killed {};

struct Fault {
  enum class Kind {
    kNone,
    kError,  ///< the call fails with `error`
    kShort,  ///< a read or write does half of what it was asked
    kKill,   ///< the program ends before the call
  };
  Kind kind = Kind::kNone;
  std::int64_t at = 0;  ///< from 1 on
  int error = 0;
  bool for_ever = false;  ///< every later call, too

  std::string text() const;
};

class FaultyDisk : public FileSystem {
 public:
  explicit FaultyDisk(Fault fault = {}) : fault_(fault) {}

  std::int64_t calls() const { return calls_; }
  /// The call that went wrong, e.g. "rename(/tmp/a, /tmp/b)"; empty: none did.
  const std::string& hit() const { return hit_; }

  int open(const char* path, int flags, mode_t mode) override;
  ssize_t read(int file, void* data, std::size_t bytes) override;
  ssize_t write(int file, const void* data, std::size_t bytes) override;
  off_t seek(int file, off_t offset, int whence) override;
  int truncate(int file, off_t size) override;
  int sync(int file) override;
  int sync_data(int file) override { return sync(file); }
  int close(int file) override;
  int rename(const char* from, const char* to) override;
  int unlink(const char* path) override;
  int stat(int file, struct stat& facts) override;
  int stat(const char* path, struct stat& facts) override;
  int stat_link(const char* path, struct stat& facts) override;
  int change_mode(int file, mode_t mode) override;
  int lock(int file) override;

 protected:
  bool is_dead() const { return dead_; }

 private:
  enum class Verdict { kGo, kFail, kHalf };
  /// `throws`: the call is not made by destructors.
  Verdict next(const std::string& call, bool throws = true);

  Fault fault_;
  std::int64_t calls_ = 0;
  bool dead_ = false;
  std::string hit_;
};

}  // namespace sotto::testing
