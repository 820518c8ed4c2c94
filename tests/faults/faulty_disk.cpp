#include "tests/faults/faulty_disk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace sotto::testing {

std::string Fault::text() const {
  switch (kind) {
    case Kind::kNone:
      return "no fault";
    case Kind::kError:
      return fmt::format(
          "call {}{} fails: {}", at, for_ever ? " and all later ones" : "", std::strerror(error));
    case Kind::kShort:
      return fmt::format("call {} is cut short", at);
    case Kind::kKill:
      return fmt::format("killed before call {}", at);
  }
  return "";
}

FaultyDisk::Verdict FaultyDisk::next(const std::string& call, bool throws) {
  if (dead_) {
    errno = EIO;
    return Verdict::kFail;
  }
  ++calls_;
  const bool now = calls_ == fault_.at || (fault_.for_ever && calls_ > fault_.at);
  if (fault_.kind == Fault::Kind::kNone || !now) return Verdict::kGo;
  if (hit_.empty()) hit_ = call;
  if (fault_.kind == Fault::Kind::kShort) return Verdict::kHalf;
  errno = fault_.error;
  if (fault_.kind == Fault::Kind::kKill) {
    dead_ = true;
    errno = EIO;
    if (throws) throw Killed{};
  }
  return Verdict::kFail;
}

int FaultyDisk::open(const char* path, int flags, mode_t mode) {
  if (next(fmt::format("open({})", path)) == Verdict::kFail) return -1;
  return FileSystem::open(path, flags, mode);
}

ssize_t FaultyDisk::read(int file, void* data, std::size_t bytes) {
  const Verdict verdict = next(fmt::format("read({})", file));
  if (verdict == Verdict::kFail) return -1;
  return FileSystem::read(
      file, data, verdict == Verdict::kHalf ? std::max<std::size_t>(1, bytes / 2) : bytes);
}

ssize_t FaultyDisk::write(int file, const void* data, std::size_t bytes) {
  const Verdict verdict = next(fmt::format("write({}, {} bytes)", file, bytes));
  if (verdict == Verdict::kFail) return -1;
  return FileSystem::write(
      file, data, verdict == Verdict::kHalf ? std::max<std::size_t>(1, bytes / 2) : bytes);
}

off_t FaultyDisk::seek(int file, off_t offset, int whence) {
  if (next("seek") == Verdict::kFail) return -1;
  return FileSystem::seek(file, offset, whence);
}

int FaultyDisk::truncate(int file, off_t size) {
  if (next("truncate") == Verdict::kFail) return -1;
  return FileSystem::truncate(file, size);
}

int FaultyDisk::sync(int file) {
  if (next(fmt::format("sync({})", file)) == Verdict::kFail) return -1;
  return 0;  // the real disk need not wait
}

int FaultyDisk::close(int file) {
  const Verdict verdict = next("close", /*throws=*/false);
  const int error = errno;
  const int result = FileSystem::close(file);  // it is closed in any case
  if (verdict != Verdict::kFail) return result;
  errno = error;
  return -1;
}

int FaultyDisk::rename(const char* from, const char* to) {
  if (next(fmt::format("rename({}, {})", from, to)) == Verdict::kFail) return -1;
  return FileSystem::rename(from, to);
}

int FaultyDisk::unlink(const char* path) {
  if (next(fmt::format("unlink({})", path), /*throws=*/false) == Verdict::kFail) return -1;
  return FileSystem::unlink(path);
}

int FaultyDisk::stat(int file, struct stat& facts) {
  if (next("stat") == Verdict::kFail) return -1;
  return FileSystem::stat(file, facts);
}

int FaultyDisk::stat(const char* path, struct stat& facts) {
  if (next(fmt::format("stat({})", path)) == Verdict::kFail) return -1;
  return FileSystem::stat(path, facts);
}

int FaultyDisk::stat_link(const char* path, struct stat& facts) {
  if (next(fmt::format("lstat({})", path)) == Verdict::kFail) return -1;
  return FileSystem::stat_link(path, facts);
}

int FaultyDisk::change_mode(int file, mode_t mode) {
  if (next("chmod") == Verdict::kFail) return -1;
  return FileSystem::change_mode(file, mode);
}

int FaultyDisk::lock(int file) {
  if (next("lock") == Verdict::kFail) return -1;
  return FileSystem::lock(file);
}

}  // namespace sotto::testing
