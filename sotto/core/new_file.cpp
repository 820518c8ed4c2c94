#include "sotto/core/new_file.hpp"

#include <fcntl.h>

#include <cerrno>

#include "sotto/core/file_calls.hpp"
#include "sotto/core/file_system.hpp"

namespace sotto {

Expected<void> make_file(const std::string& path, FileAccess access) {
  SOTTO_TRY(check_way(path));
  constexpr int kOnlyNew = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const mode_t mode = access == FileAccess::kOwner ? 0600 : 0666;
  OpenFile file(retried([&] { return file_system().open(path.c_str(), kOnlyNew, mode); }));
  if (file.descriptor() < 0) return errno == EEXIST ? Expected<void>() : cannot_write(path, errno);
  if (const int error = file.close()) return cannot_write(path, error);
  if (const int error = sync_folder_of(path)) return cannot_write(path, error);
  return {};
}

}  // namespace sotto
