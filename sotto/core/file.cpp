#include "sotto/core/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "sotto/core/file_calls.hpp"
#include "sotto/core/file_kind.hpp"
#include "sotto/core/file_system.hpp"
#include "sotto/core/paths.hpp"
#include "sotto/core/stop.hpp"

namespace sotto {
namespace {

// ---- Temporary files, for a handler to remove -------------------------------------------------

struct TemporaryName {
  std::atomic<bool> taken{false};
  std::atomic<bool> there{false};
  std::array<char, PATH_MAX> path{};
};
constexpr std::size_t kMostTemporaries = 16;

std::array<TemporaryName, kMostTemporaries>& temporaries() {
  static std::array<TemporaryName, kMostTemporaries> names;
  return names;
}

void remember(const std::string& path) {
  if (path.size() >= PATH_MAX) return;
  for (TemporaryName& name : temporaries()) {
    if (name.taken.exchange(true)) continue;
    std::memcpy(name.path.data(), path.c_str(), path.size() + 1);
    name.there.store(true);
    return;
  }
}

void forget(const std::string& path) {
  for (TemporaryName& name : temporaries()) {
    if (!name.there.load() || path != name.path.data()) continue;
    name.there.store(false);
    name.taken.store(false);
    return;
  }
}

// ---- Names --------------------------------------------------------------------------------------

/// A name that nobody can guess and prepare.
Expected<std::string> random_name() {
  std::uint64_t number = 0;
  const ssize_t got = retried([&] { return ::getrandom(&number, sizeof number, 0); });
  if (got != static_cast<ssize_t>(sizeof number))
    return io_error(
        fmt::format("the system gives no random numbers ({}), which names of temporary "
                    "files need.",
                    std::strerror(got < 0 ? errno : EIO)));
  return fmt::format(".sotto-{:016x}.tmp", number);
}

bool is_standard_stream(const struct stat& facts) {
  for (int stream = 0; stream < 3; ++stream)
    if (struct stat open{};
        ::fstat(stream, &open) == 0 && open.st_dev == facts.st_dev && open.st_ino == facts.st_ino)
      return true;
  return false;
}

/// Another descriptor of what is open, with the same place in it.
OpenFile another_descriptor(int descriptor) {
  return OpenFile(::fcntl(descriptor, F_DUPFD_CLOEXEC, 3));
}

tl::unexpected<Error> keeps_nothing(const std::string& path) {
  return io_error(fmt::format(
      "can't write {}: it is a pipe, a device or an open stream, which keeps nothing. Name a file.",
      path));
}

/// In a folder that others can write to, a name that is there may be theirs: a link that leads to a
/// file of ours, a file that they can read, or a pipe that they read from. Devices are the
/// system's, and a pipe that a shell made for us is one of our standard streams.
Expected<void> check_owner(const std::string& path, const struct stat& target) {
  if (S_ISREG(target.st_mode) && !is_ours(target)) return of_another_user(path, "there is a file");
  if (S_ISFIFO(target.st_mode) && !is_ours(target) && target.st_uid != 0 &&
      !is_standard_stream(target))
    return of_another_user(path, "there is a pipe");
  return {};
}

/// What nothing can make again is replaced by its own kind alone: here, at the last moment, since
/// another command may have written it after this one began.
Expected<void> check_replaceable(const std::string& path,
                                 const std::string& target,
                                 const std::string& temporary,
                                 const std::optional<FileIdentity>& before) {
  SOTTO_ASSIGN(const FileKind there, kind_at(target));
  if (there == FileKind::kOther) return {};
  SOTTO_ASSIGN(const auto now, identity_at(target));
  if (!now || !before || !now->same_content(*before))
    return io_error(fmt::format(
        "can't write {}: another program has just written it. Name another path.", path));
  SOTTO_ASSIGN(const FileKind written, kind_at(temporary));
  if (there == written) return {};
  return io_error(fmt::format("can't write {}: it is {}, and {}. Name another path.",
                              path,
                              called(there),
                              worth_of(there)));
}

}  // namespace

void hold_standard_streams() noexcept {
  // For reading only: what is written to one that was closed still fails.
  for (int stream = 0; stream < 3; ++stream)
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) ::open("/dev/null", O_RDONLY);
}

void redirect_standard_stream(int stream, Instead instead) noexcept {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const int other = stream == STDOUT_FILENO ? STDERR_FILENO : STDOUT_FILENO;
  const int target = instead == Instead::kOther ? other : nowhere;
  if (target < 0 || ::dup2(target, stream) < 0) ::close(stream);  // then nothing is said
  if (nowhere >= 0) ::close(nowhere);
}

void remove_temporary_files() noexcept {
  for (TemporaryName& name : temporaries())
    if (name.there.load()) ::unlink(name.path.data());
}

OpenFile::~OpenFile() { close(); }

int OpenFile::close() {
  if (descriptor_ < 0) return 0;
  // Closed even if it says EINTR; again would close somebody else's.
  return file_system().close(std::exchange(descriptor_, -1)) == 0 || errno == EINTR ? 0 : errno;
}

OpenFile another_standard_stream(int stream) { return another_descriptor(stream); }

// ---- Atomic files -------------------------------------------------------------------------------

TemporaryFile::TemporaryFile(std::string path) : path_(std::move(path)) { remember(path_); }

TemporaryFile::~TemporaryFile() {
  if (path_.empty()) return;
  file_system().unlink(path_.c_str());
  forget(path_);
}

void TemporaryFile::let_go() {
  forget(path_);
  path_.clear();
}

Expected<AtomicFile> AtomicFile::create(const std::string& path,
                                        FileAccess access,
                                        StreamTargets streams) {
  FileSystem& system = file_system();
  AtomicFile result;
  result.path_ = path;
  result.target_ = path;
  mode_t mode = access == FileAccess::kOwner ? 0600 : 0666;
  bool replaces = false;
  struct stat facts {};
  if (const auto descriptor = named_descriptor(path)) {
    if (streams == StreamTargets::kRefused) return keeps_nothing(path);
    result.file_ = another_descriptor(*descriptor);
    if (result.file_.descriptor() < 0) return cannot_write(path, errno);
    return result;
  }
  SOTTO_TRY(check_way(path));
  if (system.stat(path.c_str(), facts) == 0) {
    if (S_ISDIR(facts.st_mode))
      return io_error(fmt::format("can't write {}: it is a folder. Name a file.", path));
    if (!S_ISREG(facts.st_mode)) {
      if (streams == StreamTargets::kRefused) return keeps_nothing(path);
      SOTTO_TRY(check_owner(path, facts));
      result.file_ =
          OpenFile(retried([&] { return system.open(path.c_str(), O_WRONLY | O_CLOEXEC, 0); }));
      if (result.file_.descriptor() < 0) return cannot_write(path, errno);
      // What was opened may have been put there since.
      struct stat opened {};
      if (system.stat(result.file_.descriptor(), opened) != 0) return cannot_write(path, errno);
      if (opened.st_dev != facts.st_dev || opened.st_ino != facts.st_ino)
        return io_error(fmt::format("can't write {}: it was replaced just now.", path));
      return result;
    }
    SOTTO_TRY(check_owner(path, facts));
    mode = facts.st_mode & 07777;
    replaces = true;
    result.before_ = FileIdentity::of(facts);
    if (char* real = ::realpath(path.c_str(), nullptr)) {
      result.target_ = real;
      std::free(real);
    }
    // What the name leads to may have been replaced since.
    struct stat now {};
    if (system.stat_link(result.target_.c_str(), now) != 0) return cannot_write(path, errno);
    if (now.st_dev != facts.st_dev || now.st_ino != facts.st_ino)
      return io_error(fmt::format("can't write {}: it was replaced just now.", path));
  } else if (errno != ENOENT) {
    return cannot_write(path, errno);
  } else if (system.stat_link(path.c_str(), facts) == 0) {
    return io_error(
        fmt::format("can't write {}: it is a link to something that is not there. Name the file "
                    "itself.",
                    path));
  }
  const std::size_t slash = result.target_.rfind('/');
  SOTTO_ASSIGN(const std::string name, random_name());
  result.temporary_ =
      TemporaryFile((slash == std::string::npos ? "" : result.target_.substr(0, slash + 1)) + name);
  result.file_ = OpenFile(retried([&] {
    return system.open(result.temporary_.path().c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       mode & 0666);
  }));
  if (result.file_.descriptor() < 0) {
    const int error = errno;
    result.temporary_.let_go();
    return cannot_write(path, error);
  }
  if (replaces && system.change_mode(result.file_.descriptor(), mode) != 0)
    return cannot_write(path, errno);
  return result;
}

Expected<AtomicFile> AtomicFile::standard_output() {
  AtomicFile result;
  result.path_ = result.target_ = "standard output";
  result.file_ = another_standard_stream(STDOUT_FILENO);
  if (result.file_.descriptor() < 0) return cannot_write(result.path_, errno);
  return result;
}

Expected<void> AtomicFile::write(std::string_view bytes) {
  const bool stream = temporary_.path().empty();
  const int error = write_all(file_.descriptor(), bytes, stream);
  if (error == 0) return {};
  if (stream && error == EINTR && stop_requested())
    return fail(ErrorKind::kInterrupted,
                fmt::format("interrupted; what was written to {} before is not all.", path_));
  return cannot_write(path_, error);
}

Expected<void> AtomicFile::commit() {
  FileSystem& system = file_system();
  if (temporary_.path().empty()) {  // a stream has nothing to sync
    if (const int error = file_.close()) return cannot_write(path_, error);
    return {};
  }
  if (retried([&] { return system.sync(file_.descriptor()); }) != 0)
    return cannot_write(path_, errno);
  if (const int error = file_.close()) return cannot_write(path_, error);
  SOTTO_TRY(check_replaceable(path_, target_, temporary_.path(), before_));
  if (system.rename(temporary_.path().c_str(), target_.c_str()) != 0)
    return cannot_write(path_, errno);
  temporary_.let_go();
  if (const int error = sync_folder_of(target_))
    return failure(error, fmt::format("{} is written, but its folder can't be synced", path_));
  return {};
}

Expected<void> write_file_atomically(const std::string& path,
                                     std::string_view content,
                                     FileAccess access,
                                     StreamTargets streams) {
  SOTTO_ASSIGN(AtomicFile file, AtomicFile::create(path, access, streams));
  SOTTO_TRY(file.write(content));
  return file.commit();
}

Expected<void> check_writable(const std::string& path, StreamTargets streams) {
  struct stat facts {};
  if (const auto descriptor = named_descriptor(path)) {
    if (streams == StreamTargets::kRefused) return keeps_nothing(path);
    if (::fcntl(*descriptor, F_GETFD) < 0) return cannot_write(path, errno);
    return {};
  }
  // Opening a pipe would wait for its reader, who would see the end.
  if (streams == StreamTargets::kAllowed && file_system().stat(path.c_str(), facts) == 0 &&
      !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) {
    SOTTO_TRY(check_way(path));
    return check_owner(path, facts);
  }
  SOTTO_TRY(AtomicFile::create(path, FileAccess::kOwner, streams));
  return {};
}

// ---- Reading ------------------------------------------------------------------------------------

Expected<std::string> read_text_file(const std::string& path,
                                     std::int64_t most_bytes,
                                     Source source) {
  FileSystem& system = file_system();
  // A pipe is waited for only where it may be read.
  const int flags = O_RDONLY | O_CLOEXEC | (source == Source::kAny ? 0 : O_NONBLOCK) |
                    (source == Source::kOwn ? O_NOFOLLOW : 0);
  OpenFile file(retried([&] { return system.open(path.c_str(), flags, 0); }));
  if (file.descriptor() < 0) {
    if (errno == EINTR && stop_requested()) return stopped_early();
    if (errno == ELOOP && source == Source::kOwn)
      return io_error(fmt::format("can't read {}: it is a link, and must be a file.", path));
    return io_error(fmt::format("can't read {}: {}. Check the path.", path, std::strerror(errno)));
  }
  struct stat facts {};
  if (system.stat(file.descriptor(), facts) != 0)
    return failure(errno, fmt::format("can't read {}", path));
  if (S_ISDIR(facts.st_mode))
    return io_error(fmt::format("can't read {}: it is a folder. Name a file.", path));
  if (source != Source::kAny && !S_ISREG(facts.st_mode))
    return io_error(
        fmt::format("can't read {}: it is a pipe or a device, and must be a file.", path));
  if (source == Source::kOwn && !is_ours(facts))
    return io_error(
        fmt::format("can't read {}: it belongs to another user, who could have changed it.", path));
  // What has no size may have no end: of a device or a pipe not more than the least limit is read.
  const bool has_size = S_ISREG(facts.st_mode);
  return read_all(
      file.descriptor(), path, has_size ? most_bytes : std::min(most_bytes, kMostTextBytes));
}

Expected<bool> file_exists(const std::string& path) {
  struct stat facts {};
  if (file_system().stat_link(path.c_str(), facts) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return failure(errno, fmt::format("can't look at {}", path));
}

Expected<void> remove_file(const std::string& path) {
  if (file_system().unlink(path.c_str()) != 0) {
    if (errno == ENOENT) return {};
    return failure(errno, fmt::format("can't remove {}", path));
  }
  if (const int error = sync_folder_of(path))
    return failure(error, fmt::format("can't sync the folder of {}", path));
  return {};
}

}  // namespace sotto
