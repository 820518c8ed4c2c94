#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "sotto/core/file.hpp"
#include "sotto/core/file_calls.hpp"
#include "sotto/core/file_system.hpp"
#include "sotto/core/stop.hpp"

namespace sotto {

Expected<AppendLog> AppendLog::open(const std::string& path) {
  FileSystem& system = file_system();
  const auto refuse = [&](const std::string& why) {
    return io_error(fmt::format("can't write to {}: {}", path, why));
  };
  SOTTO_TRY(check_way(path));
  // Never through a link, which somebody else may have put there, and never waiting for a pipe.
  constexpr int kFlags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  OpenFile file(retried([&] { return system.open(path.c_str(), kFlags, 0); }));
  if (file.descriptor() < 0 && errno == ENOENT)
    file = OpenFile(
        retried([&] { return system.open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0600); }));
  // Another run made it since: which of the two goes on is for the lock to say.
  if (file.descriptor() < 0 && errno == EEXIST)
    file = OpenFile(retried([&] { return system.open(path.c_str(), kFlags, 0); }));
  if (file.descriptor() < 0) {
    if (errno == EINTR && stop_requested()) return stopped_early();
    if (errno == ELOOP)
      return refuse("it is a link, and must be a file. Remove the link, or name another path.");
    return refuse(fmt::format("{}. Choose a path in a writable folder.", std::strerror(errno)));
  }
  struct stat facts {};
  if (system.stat(file.descriptor(), facts) != 0)
    return refuse(fmt::format("{}.", std::strerror(errno)));
  if (!S_ISREG(facts.st_mode))
    return refuse("it is not a file, and would keep nothing. Name another path.");
  if (!is_ours(facts))
    return refuse("it belongs to another user, who could change it. Name another path.");
  if (retried([&] { return system.lock(file.descriptor()); }) != 0) {
    if (errno == EINTR && stop_requested()) return stopped_early();
    if (errno == EWOULDBLOCK)
      return refuse("another run is writing to it. Wait until it has ended, or name another path.");
    return refuse(fmt::format("it can't be locked ({}). Choose a folder on a local disk.",
                              std::strerror(errno)));
  }
  // Before the first line is: a file whose name a loss of power takes away has no lines. Also if it
  // was there, for whoever made it may have been killed before.
  if (const int error = sync_folder_of(path))
    return refuse(fmt::format("its folder can't be synced ({}).", std::strerror(error)));
  AppendLog log(path, std::move(file));
  // Its size only now: until it was locked somebody else may have been writing.
  if (system.stat(log.file_.descriptor(), facts) != 0)
    return refuse(fmt::format("{}.", std::strerror(errno)));
  log.size_ = facts.st_size;
  SOTTO_TRY(log.check_is_ours());
  return log;
}

Expected<void> AppendLog::check_name() const {
  struct stat by_name {};
  struct stat open {};
  if (file_system().stat(file_.descriptor(), open) != 0)
    return failure(errno, fmt::format("can't look at {}", path_));
  if (file_system().stat_link(path_.c_str(), by_name) != 0 || by_name.st_dev != open.st_dev ||
      by_name.st_ino != open.st_ino)
    return io_error(
        fmt::format("{} was removed or replaced while it was in use. Put it back; nothing more was "
                    "written to it.",
                    path_));
  return {};
}

Expected<void> AppendLog::check_is_ours() const {
  SOTTO_TRY(check_name());
  struct stat open {};
  if (file_system().stat(file_.descriptor(), open) != 0)
    return failure(errno, fmt::format("can't look at {}", path_));
  if (open.st_size != size_)
    return io_error(fmt::format(
        "{} was changed by another program while it was in use. Nothing more was written to it.",
        path_));
  return {};
}

Expected<std::string> AppendLog::read(std::int64_t most_bytes) {
  if (retried([&] { return file_system().seek(file_.descriptor(), 0, SEEK_SET) < 0 ? -1 : 0; }) < 0)
    return failure(errno, fmt::format("can't read {}", path_));
  return read_all(file_.descriptor(), path_, most_bytes);
}

tl::unexpected<Error> AppendLog::broken(const std::string& what) {
  const int error = errno;
  is_broken_ = true;
  return failure(error, fmt::format("can't {} {}", what, path_));
}

Expected<void> AppendLog::cut(std::int64_t size) {
  if (retried([&] { return file_system().truncate(file_.descriptor(), size); }) != 0)
    return broken("shorten");
  size_ = size;
  if (retried([&] { return file_system().sync(file_.descriptor()); }) != 0) return broken("sync");
  return {};
}

Expected<void> AppendLog::append(std::string_view bytes) {
  // After half a line the next one would be lost, too.
  if (is_broken_)
    return io_error(
        fmt::format("{} could not be written to before, and nothing more is added to it. Free some "
                    "space and run again.",
                    path_));
  if (auto ours = check_is_ours(); !ours) {
    is_broken_ = true;
    return ours;
  }
  if (const int error = write_all(file_.descriptor(), bytes)) {
    errno = error;
    return broken("write to");
  }
  size_ += static_cast<std::int64_t>(bytes.size());
  // Before the sync, which may take long: what happens meanwhile is not ours.
  struct stat facts {};
  if (file_system().stat(file_.descriptor(), facts) != 0) return broken("look at");
  written_ = FileIdentity::of(facts);
  if (retried([&] { return file_system().sync_data(file_.descriptor()); }) != 0)
    return broken("sync");
  return {};
}

}  // namespace sotto
