#include "sotto/core/file_system.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

namespace sotto {
namespace {

std::atomic<FileSystem*>& in_use() {
  static FileSystem real;
  static std::atomic<FileSystem*> current{&real};
  return current;
}

}  // namespace

int FileSystem::open(const char* path, int flags, mode_t mode) {
  const int file = ::open(path, flags, mode);
  if (file < 0 || file > STDERR_FILENO) return file;
  // The number of a standard stream that was closed: what is printed must not end up in this file.
  const int other = ::fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  ::close(file);
  errno = error;
  return other;
}

ssize_t FileSystem::read(int file, void* data, std::size_t bytes) {
  return ::read(file, data, bytes);
}

ssize_t FileSystem::write(int file, const void* data, std::size_t bytes) {
  return ::write(file, data, bytes);
}

off_t FileSystem::seek(int file, off_t offset, int whence) { return ::lseek(file, offset, whence); }

int FileSystem::truncate(int file, off_t size) { return ::ftruncate(file, size); }

int FileSystem::sync(int file) { return ::fsync(file); }

int FileSystem::sync_data(int file) { return ::fdatasync(file); }

int FileSystem::close(int file) { return ::close(file); }

int FileSystem::rename(const char* from, const char* to) { return std::rename(from, to); }

int FileSystem::unlink(const char* path) { return ::unlink(path); }

int FileSystem::stat(int file, struct stat& facts) { return ::fstat(file, &facts); }

int FileSystem::stat(const char* path, struct stat& facts) { return ::stat(path, &facts); }

int FileSystem::stat_link(const char* path, struct stat& facts) { return ::lstat(path, &facts); }

int FileSystem::change_mode(int file, mode_t mode) { return ::fchmod(file, mode); }

int FileSystem::lock(int file) { return ::flock(file, LOCK_EX | LOCK_NB); }

FileSystem& file_system() { return *in_use().load(); }

FileSystemInUse::FileSystemInUse(FileSystem& other) : before_(in_use().exchange(&other)) {}

FileSystemInUse::~FileSystemInUse() { in_use().store(before_); }

}  // namespace sotto
