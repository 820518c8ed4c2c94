#include "sotto/core/scratch_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "sotto/core/file_system.hpp"

namespace sotto {
namespace {

constexpr mode_t kOwnerOnly = 0600;

tl::unexpected<Error> refuse(const std::string& folder, int error) {
  if (error == EINTR && stop_requested()) return stopped_early();
  return fail(ErrorKind::kIo,
              fmt::format("can't use a temporary file in {}: {}. Set TMPDIR to a folder with more "
                          "room.",
                          folder,
                          std::strerror(error)));
}

/// Where the file system knows no files without a name: one that loses it at once.
OpenFile open_and_unlink(const std::string& folder) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) return {};
  const std::string name = fmt::format("{}/.sotto-{:016x}.tmp", folder, number);
  constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  OpenFile file(retried([&] { return file_system().open(name.c_str(), kFlags, kOwnerOnly); }));
  if (file.descriptor() >= 0 && file_system().unlink(name.c_str()) != 0) return {};
  return file;
}

}  // namespace

Expected<ScratchFile> ScratchFile::create() {
  const char* chosen = std::getenv("TMPDIR");
  const std::string folder = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  constexpr int kFlags = O_RDWR | O_TMPFILE | O_CLOEXEC;
  OpenFile file(retried([&] { return file_system().open(folder.c_str(), kFlags, kOwnerOnly); }));
  if (file.descriptor() < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
    file = open_and_unlink(folder);
  if (file.descriptor() < 0) return refuse(folder, errno);
  return ScratchFile(folder, std::move(file));
}

Expected<void> ScratchFile::append(std::string_view bytes) {
  FileSystem& system = file_system();
  if (!at_end_ && system.seek(file_.descriptor(), size_, SEEK_SET) != size_)
    return refuse(folder_, errno);
  at_end_ = true;
  while (!bytes.empty()) {
    const ssize_t written =
        retried([&] { return system.write(file_.descriptor(), bytes.data(), bytes.size()); });
    if (written <= 0) return refuse(folder_, written < 0 ? errno : ENOSPC);
    size_ += written;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Expected<void> ScratchFile::read(std::int64_t begin, std::span<char> buffer) {
  FileSystem& system = file_system();
  at_end_ = false;
  if (system.seek(file_.descriptor(), begin, SEEK_SET) != begin) return refuse(folder_, errno);
  while (!buffer.empty()) {
    const ssize_t got =
        retried([&] { return system.read(file_.descriptor(), buffer.data(), buffer.size()); });
    if (got <= 0) return refuse(folder_, got < 0 ? errno : EIO);
    buffer = buffer.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

}  // namespace sotto
