#include "sotto/core/file_kind.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "sotto/core/file.hpp"
#include "sotto/core/file_system.hpp"

namespace sotto {
namespace {

/// Members that tell a kind stand before weights and curves, also where a tool sorted them.
constexpr std::size_t kMostBytes = std::size_t{1} << 20;
/// A journal is looked for in so many bytes, whatever stands before its lines: a mark, a note.
constexpr std::size_t kDamaged = std::size_t{1} << 14;
constexpr const char* kBlanks = " \t\r\n";  // before JSON they change nothing

Expected<std::string> beginning_of(const std::string& path) {
  FileSystem& system = file_system();
  const auto unseen = [&] {
    return fail(
        ErrorKind::kIo,
        fmt::format(
            "can't look at what is in {}: {}. Name another path.", path, std::strerror(errno)));
  };
  struct stat facts {};
  if (system.stat(path.c_str(), facts) != 0)
    return errno == ENOENT || errno == ENOTDIR ? Expected<std::string>("") : unseen();
  if (!S_ISREG(facts.st_mode)) return "";
  OpenFile file(
      retried([&] { return system.open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0); }));
  if (file.descriptor() < 0) return unseen();
  std::string text;
  for (std::size_t most = kDamaged + 1; text.size() < kMostBytes; most = kMostBytes) {
    const std::size_t before = text.size();
    text.resize(most);
    const auto got = retried(
        [&] { return system.read(file.descriptor(), text.data() + before, most - before); });
    if (got < 0) return unseen();
    text.resize(before + static_cast<std::size_t>(got));
    // Most files are known to be none of ours by their first bytes.
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (got == 0) break;
    if (begin != text.npos && text[begin] != '{' && text[begin] != 's' && text.size() > kDamaged)
      break;
  }
  errno = file.close();
  return errno == 0 ? Expected<std::string>(std::move(text)) : unseen();
}

}  // namespace

FileKind kind_of(std::string_view beginning) {
  beginning.remove_prefix(std::min(beginning.find_first_not_of(kBlanks), beginning.size()));
  if (beginning.starts_with("sotto checkpoint")) return FileKind::kCheckpoint;
  const auto has = [](std::string_view text, std::string_view member) {
    return text.find(member) != text.npos;
  };
  const std::string_view damaged = beginning.substr(0, std::max(kDamaged, beginning.find('\n')));
  for (std::size_t begin = 0; begin < damaged.size();) {
    const std::size_t end = std::min(damaged.find('\n', begin), damaged.size());
    const std::string_view line = damaged.substr(begin, end - begin);
    if (has(line, "{\"") && has(line, "\"open\":") && has(line, "\"delta\":"))
      return FileKind::kJournal;
    begin = end + 1;
  }
  if (!beginning.starts_with('{')) return FileKind::kOther;
  if (has(beginning, "\"sotto_model\"")) return FileKind::kModel;
  if (has(beginning, "\"sotto_run\"")) return FileKind::kRecord;
  return FileKind::kOther;
}

Expected<FileKind> kind_at(const std::string& path) {
  SOTTO_ASSIGN(const std::string beginning, beginning_of(path));
  return kind_of(beginning);
}

const char* called(FileKind kind) {
  switch (kind) {
    case FileKind::kJournal:
      return "a journal";
    case FileKind::kCheckpoint:
      return "a run's checkpoint";
    case FileKind::kModel:
      return "a model";
    case FileKind::kRecord:
      return "a run record";
    default:
      return "a file";
  }
}

const char* worth_of(FileKind kind) {
  switch (kind) {
    case FileKind::kJournal:
      return "what was spent is told nowhere else";
    case FileKind::kCheckpoint:
      return "what was paid for could not be resumed";
    case FileKind::kModel:
      return "it may be all that is left of what was paid for";
    default:
      return "it would have to be paid for again";
  }
}

}  // namespace sotto
