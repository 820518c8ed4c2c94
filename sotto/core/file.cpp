#include "sotto/core/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

namespace sotto {
namespace {

std::string temporary_beside(const std::string& path) {
  return fmt::format("{}.tmp{}", path, ::getpid());
}

tl::unexpected<Error> cannot_write(const std::string& path, int error) {
  return fail(
      ErrorKind::kIo,
      fmt::format("can't write {}: {}. Choose a path in a folder that exists and is writable.",
                  path,
                  std::strerror(error)));
}

}  // namespace

Expected<void> write_file_atomically(const std::string& path, std::string_view content) {
  const std::string temporary = temporary_beside(path);
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return cannot_write(path, errno);
  int error = 0;
  for (std::size_t done = 0; done < content.size() && error == 0;) {
    const ssize_t written = ::write(file, content.data() + done, content.size() - done);
    if (written >= 0)
      done += static_cast<std::size_t>(written);
    else if (errno != EINTR)
      error = errno;
  }
  if (error == 0 && ::fsync(file) != 0 && errno != EINVAL) error = errno;
  ::close(file);
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(temporary.c_str());
  return cannot_write(path, error);
}

Expected<void> check_writable(const std::string& path) {
  if (std::filesystem::is_directory(path))
    return fail(ErrorKind::kIo, fmt::format("can't write {}: it is a folder. Name a file.", path));
  const std::string temporary = temporary_beside(path);
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return cannot_write(path, errno);
  ::close(file);
  ::unlink(temporary.c_str());
  return {};
}

Expected<std::string> read_text_file(const std::string& path) {
  if (std::filesystem::is_directory(path))
    return fail(ErrorKind::kIo, fmt::format("can't read {}: it is a folder. Name a file.", path));
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return fail(ErrorKind::kIo,
                fmt::format("can't read {}: {}. Check the path.", path, std::strerror(errno)));
  // Not a stream, which takes an error for the end of the file.
  std::string text;
  std::array<char, 1 << 16> buffer;
  ssize_t got = 0;
  while ((got = ::read(file, buffer.data(), buffer.size())) > 0 || (got < 0 && errno == EINTR))
    if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  const int error = got < 0 ? errno : 0;
  ::close(file);
  if (error != 0)
    return fail(ErrorKind::kIo,
                fmt::format("reading {} failed half-way: {}.", path, std::strerror(error)));
  return text;
}

}  // namespace sotto
