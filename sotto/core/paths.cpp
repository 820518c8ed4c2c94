#include "sotto/core/paths.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <optional>

#include "sotto/core/file.hpp"
#include "sotto/core/file_kind.hpp"
#include "sotto/core/file_system.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

/// Where a path leads: paths to the same place are the same file.
struct Place {
  dev_t device = 0;
  ino_t inode = 0;   ///< of the file, or of its folder if it is not there yet
  std::string name;  ///< in that folder; empty: the file is there

  bool operator==(const Place&) const = default;
};

struct PlacedPath {
  const NamedPath* named = nullptr;
  Place place;
};

/// Whether something of this name is there; kIo if the system does not tell.
Expected<bool> look_at(const fs::path& path, struct stat& facts) {
  if (file_system().stat(path.c_str(), facts) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return fail(
      ErrorKind::kIo,
      fmt::format("can't look at {}: {}. Check the path.", path.string(), std::strerror(errno)));
}

/// What links that lead nowhere yet lead to: writing through one would make that file.
fs::path without_dangling_links(fs::path path) {
  constexpr int kMostLinks = 40;  // as in the kernel
  std::error_code error;
  for (int k = 0; k < kMostLinks; ++k) {
    const fs::path target = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;  // an absolute target replaces the folder
  }
  return path;
}

/// None: a terminal, a pipe, another device that keeps nothing.
Expected<std::optional<Place>> place_of(const std::string& given) {
  struct stat facts {};
  SOTTO_ASSIGN(const bool is_there, look_at(given, facts));
  if (is_there) {
    const bool keeps = S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode) || S_ISBLK(facts.st_mode);
    if (!keeps) return std::nullopt;
    return Place{facts.st_dev, facts.st_ino, ""};
  }
  std::error_code ignored;
  const fs::path path = fs::absolute(without_dangling_links(given), ignored);
  // Where a folder is missing too, nothing can be written; what the path says is then taken for
  // where it leads, as if the folder were there.
  for (const fs::path& each : {path, fs::weakly_canonical(path, ignored)}) {
    SOTTO_ASSIGN(const bool has_folder, look_at(each.parent_path(), facts));
    if (has_folder) return Place{facts.st_dev, facts.st_ino, each.filename().string()};
  }
  return Place{0, 0, fs::weakly_canonical(path, ignored).string()};
}

Expected<std::vector<PlacedPath>> placed(const std::vector<NamedPath>& paths) {
  std::vector<PlacedPath> result;
  for (const NamedPath& each : paths) {
    if (each.path.empty()) continue;
    SOTTO_ASSIGN(const std::optional<Place> place, place_of(each.path));
    if (place) result.push_back({&each, *place});
  }
  return result;
}

/// The regular file that a standard stream leads to; none: a terminal, a pipe, a device, or closed.
std::optional<Place> place_of_stream(int stream) {
  struct stat facts {};
  if (file_system().stat(stream, facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  return Place{facts.st_dev, facts.st_ino, ""};
}

/// A journal that a standard stream was appended to would have lines that are none of its own.
Expected<void> check_streams_are_no_journals() {
  const auto is_journal = [](int stream) {
    if (!place_of_stream(stream)) return false;
    const auto kind = kind_at(fmt::format("/dev/fd/{}", stream));
    return kind && *kind == FileKind::kJournal;  // what can't be read is not known
  };
  const bool output = is_journal(STDOUT_FILENO);
  const bool error = is_journal(STDERR_FILENO);
  const Instead instead = output && error ? Instead::kNowhere : Instead::kOther;
  if (output) redirect_standard_stream(STDOUT_FILENO, instead);
  if (error) redirect_standard_stream(STDERR_FILENO, instead);
  if (!output && !error) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("standard {} was redirected to a journal: messages would be written into "
                          "it. Nothing was read or released. Choose another file for it.",
                          output ? "output" : "error"));
}

}  // namespace

std::optional<int> named_descriptor(const std::string& path) {
  if (path == "/dev/stdin") return STDIN_FILENO;
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string& folder : {std::string("/dev/fd/"),
                                    std::string("/proc/self/fd/"),
                                    fmt::format("/proc/{}/fd/", ::getpid())})
    if (path.starts_with(folder)) return number_in<int>(path.substr(folder.size()));
  return std::nullopt;
}

Expected<void> check_streams_elsewhere(const std::vector<NamedPath>& read,
                                       const std::vector<NamedPath>& written) {
  std::array<const NamedPath*, 2> hit{};
  constexpr std::array<int, 2> kStreams = {STDOUT_FILENO, STDERR_FILENO};
  std::array<std::optional<Place>, 2> streams;
  for (std::size_t k = 0; k < 2; ++k) streams[k] = place_of_stream(kStreams[k]);
  if (!streams[0] && !streams[1]) return {};
  SOTTO_TRY(check_streams_are_no_journals());
  std::vector<NamedPath> meant = read;
  for (const NamedPath& each : written)
    if (!named_descriptor(each.path)) meant.push_back(each);
  SOTTO_ASSIGN(const std::vector<PlacedPath> files, placed(meant));
  for (const PlacedPath& file : files)
    for (std::size_t k = 0; k < 2; ++k)
      if (streams[k] == file.place && !hit[k]) hit[k] = file.named;
  const bool both = hit[0] && hit[1];
  for (std::size_t k = 0; k < 2; ++k)
    if (hit[k]) redirect_standard_stream(kStreams[k], both ? Instead::kNowhere : Instead::kOther);
  const NamedPath* file = hit[0] ? hit[0] : hit[1];
  if (!file) return {};
  return fail(
      ErrorKind::kUsage,
      fmt::format("standard {} was redirected to {}, which is {}: messages would be written "
                  "into it. Nothing was read or released. Choose another file for it.",
                  hit[0] ? "output" : "error",
                  file->path,
                  file->what));
}

Expected<void> check_paths_differ(const std::vector<NamedPath>& read,
                                  const std::vector<NamedPath>& written) {
  SOTTO_ASSIGN(const std::vector<PlacedPath> outputs, placed(written));
  if (outputs.empty()) return {};
  SOTTO_ASSIGN(const std::vector<PlacedPath> inputs, placed(read));
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const NamedPath& output = *outputs[k].named;
    for (const PlacedPath& input : inputs)
      if (input.place == outputs[k].place)
        return fail(ErrorKind::kUsage,
                    fmt::format("{} would be written over {}: both are {}. Choose another path.",
                                output.what,
                                input.named->what,
                                output.path));
    for (std::size_t other = 0; other < k; ++other)
      if (outputs[other].place == outputs[k].place)
        return fail(ErrorKind::kUsage,
                    fmt::format("{} and {} would be the same file, {}. Choose different paths.",
                                outputs[other].named->what,
                                output.what,
                                output.path));
  }
  return {};
}

}  // namespace sotto
