#include "sotto/core/file_kind.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "sotto/core/file.hpp"
#include "sotto/core/file_system.hpp"

namespace sotto {
namespace {

/// Members that tell a kind stand before weights and curves, also where a tool sorted them.
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

std::string beginning_of(const std::string& path) {
  FileSystem& system = file_system();
  const OpenFile file(system.open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0));
  struct stat facts {};
  if (file.descriptor() < 0 || system.stat(file.descriptor(), facts) != 0 ||
      !S_ISREG(facts.st_mode))
    return "";
  std::string text;
  for (std::size_t most = 64; text.size() < kMostBytes; most = kMostBytes) {
    const std::size_t before = text.size();
    text.resize(most);
    const auto got = system.read(file.descriptor(), text.data() + before, most - before);
    text.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
    // Most files are known to be none of ours by their first bytes.
    if (got <= 0 || (!text.starts_with('{') && !text.starts_with("sotto checkpoint"))) break;
  }
  return text;
}

}  // namespace

FileKind kind_of(std::string_view beginning) {
  if (beginning.starts_with("sotto checkpoint")) return FileKind::kCheckpoint;
  if (!beginning.starts_with('{')) return FileKind::kOther;
  const auto has = [](std::string_view text, std::string_view member) {
    return text.find(member) != text.npos;
  };
  const std::string_view line = beginning.substr(0, beginning.find('\n'));
  if (has(line, "\"open\":") && has(line, "\"delta\":")) return FileKind::kJournal;
  if (has(beginning, "\"sotto_model\"")) return FileKind::kModel;
  if (has(beginning, "\"sotto_run\"")) return FileKind::kRecord;
  return FileKind::kOther;
}

FileKind kind_at(const std::string& path) { return kind_of(beginning_of(path)); }

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
    default:
      return "it would have to be paid for again";
  }
}

}  // namespace sotto
