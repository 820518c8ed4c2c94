#include "sotto/core/file_calls.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>

#include "sotto/core/file.hpp"
#include "sotto/core/file_system.hpp"
#include "sotto/core/stop.hpp"

namespace sotto {
namespace {

/// Waits until something can be written to a stream; false: somebody asked for the end before.
bool wait_for_reader(int stream) {
  for (;;) {
    if (stop_requested()) return false;
    pollfd waiting{stream, POLLOUT, 0};
    const int ready = ::poll(&waiting, 1, 100);  // also where the signal came just before
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
  }
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// A link that somebody else planted. The system's own links (root's) are no trap.
bool is_trap(const struct stat& name) {
  return S_ISLNK(name.st_mode) && !is_ours(name) && name.st_uid != 0;
}

}  // namespace

tl::unexpected<Error> io_error(std::string message) {
  return fail(ErrorKind::kIo, std::move(message));
}

tl::unexpected<Error> failure(int error, const std::string& message) {
  if (error == EINTR && stop_requested()) return stopped_early();
  return io_error(fmt::format("{}: {}.", message, std::strerror(error)));
}

tl::unexpected<Error> cannot_write(const std::string& path, int error) {
  if (error == EINTR && stop_requested()) return stopped_early();
  return io_error(
      fmt::format("can't write {}: {}. Choose a path in a folder that exists and is writable, with "
                  "room on its disk.",
                  path,
                  std::strerror(error)));
}

// As many bytes as a pipe takes at once do not block.
int write_all(int file, std::string_view bytes, bool stream) {
  while (!bytes.empty()) {
    if (stream && !wait_for_reader(file)) return EINTR;
    const std::string_view now = stream ? bytes.substr(0, PIPE_BUF) : bytes;
    const ssize_t written =
        retried([&] { return file_system().write(file, now.data(), now.size()); });
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

Expected<std::string> read_all(int file, const std::string& path, std::int64_t most_bytes) {
  std::string text;
  std::array<char, 1 << 14> buffer;  // fits a small stack
  for (;;) {
    const ssize_t got =
        retried([&] { return file_system().read(file, buffer.data(), buffer.size()); });
    if (got < 0) return failure(errno, fmt::format("reading {} failed before its end", path));
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (static_cast<std::int64_t>(text.size()) > most_bytes)
      return fail(ErrorKind::kBadData,
                  fmt::format("{} is longer than {} MB, which no file of this kind is. Check the "
                              "path.",
                              path,
                              most_bytes >> 20));
  }
}

// A file system that can't sync folders keeps their entries by other means.
int sync_folder_of(const std::string& path) {
  const std::string folder = folder_of(path);
  OpenFile file(retried(
      [&] { return file_system().open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0); }));
  if (file.descriptor() < 0) return errno;
  if (retried([&] { return file_system().sync(file.descriptor()); }) != 0 && errno != EINVAL &&
      errno != ENOTSUP)
    return errno;
  return file.close();
}

bool is_ours(const struct stat& facts) { return facts.st_uid == ::geteuid(); }

tl::unexpected<Error> of_another_user(const std::string& path, const char* what) {
  return io_error(fmt::format(
      "can't write {}: {} of another user. Remove it, or name another path.", path, what));
}

Expected<void> check_way(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int kMostLinks = 40;  // as in the kernel
  std::error_code error;
  fs::path here, left = fs::absolute(path, error);
  for (int links = 0; !left.empty() && links <= kMostLinks;) {
    const fs::path name = *left.begin();
    left = left.lexically_relative(name);
    if (left == ".") left.clear();
    if (name == ".") continue;  // or a ".." after it would lead to where we are
    if (name == "..") {
      here = here.parent_path();
      continue;
    }
    struct stat facts {};
    const fs::path next = here / name;
    if (file_system().stat_link(next.c_str(), facts) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) return {};  // nothing is followed
      return cannot_write(path, errno);
    }
    if (!S_ISLNK(facts.st_mode)) {
      here = next;
      continue;
    }
    if (is_trap(facts)) return of_another_user(path, "it leads through a link");
    ++links;
    const fs::path target = fs::read_symlink(next, error);
    if (error) return {};
    left = left.empty() ? target : target / left;
    if (target.is_absolute()) here.clear();
  }
  return {};
}

}  // namespace sotto
