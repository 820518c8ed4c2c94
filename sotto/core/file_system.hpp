#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>

#include "sotto/core/stop.hpp"

namespace sotto {

/// The operating system's calls on files. Everything that Sotto reads or writes goes through the
/// one in use, so that a test can make the k-th call fail, stop or lose what was not synced
/// (tests/support/faulty_disk.hpp). Return values and errno are those of the calls.
class FileSystem {
 public:
  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  virtual ~FileSystem() = default;

  virtual int open(const char* path, int flags, mode_t mode);
  virtual ssize_t read(int file, void* data, std::size_t bytes);
  virtual ssize_t write(int file, const void* data, std::size_t bytes);
  virtual off_t seek(int file, off_t offset, int whence);
  virtual int truncate(int file, off_t size);
  virtual int sync(int file);
  /// The bytes and what is needed to find them again; not times and the like.
  virtual int sync_data(int file);
  virtual int close(int file);
  virtual int rename(const char* from, const char* to);
  virtual int unlink(const char* path);
  virtual int stat(int file, struct stat& facts);
  virtual int stat(const char* path, struct stat& facts);
  /// Of the name itself, if it is a link.
  virtual int stat_link(const char* path, struct stat& facts);
  virtual int change_mode(int file, mode_t mode);
  /// An exclusive lock on the file, without waiting.
  virtual int lock(int file);
};

/// The file system in use.
FileSystem& file_system();

/// Makes a call again that a signal interrupted, unless the signal asked for the end.
template <class Call>
auto retried(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR && !stop_requested()) result = call();
  return result;
}

/// Puts another one in its place while it lives. For tests, which have one thread that uses files.
class FileSystemInUse {
 public:
  explicit FileSystemInUse(FileSystem& other);
  FileSystemInUse(const FileSystemInUse&) = delete;
  FileSystemInUse& operator=(const FileSystemInUse&) = delete;
  ~FileSystemInUse();

 private:
  FileSystem* before_;
};

}  // namespace sotto
