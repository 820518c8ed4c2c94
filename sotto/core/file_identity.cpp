#include "sotto/core/file_identity.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "sotto/core/file_system.hpp"

namespace sotto {
namespace {

tl::unexpected<Error> cannot_look(const std::string& path) {
  return fail(ErrorKind::kIo, fmt::format("can't look at {}: {}.", path, std::strerror(errno)));
}

}  // namespace

Expected<FileIdentity> identity_of(int descriptor, const std::string& path) {
  struct stat facts {};
  if (file_system().stat(descriptor, facts) != 0) return cannot_look(path);
  return FileIdentity::of(facts);
}

Expected<std::optional<FileIdentity>> identity_at(const std::string& path) {
  struct stat facts {};
  if (file_system().stat(path.c_str(), facts) == 0) return FileIdentity::of(facts);
  if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
  return cannot_look(path);
}

}  // namespace sotto
