#include "sotto/privacy/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

namespace sotto {

Expected<Journal> Journal::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0)
    return fail(
        ErrorKind::kIo,
        fmt::format("can't open the journal {} for writing: {}. Every charge is written there "
                    "before its answer exists; choose a model path in a writable folder.",
                    path,
                    std::strerror(errno)));
  Journal journal(path, descriptor);
  // Two runs at once would not see each other's charges.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return fail(ErrorKind::kIo,
                fmt::format("another run is writing to the journal {}. Wait until it has ended, or "
                            "choose another model path.",
                            path));
  // A crash can leave half a line; what follows must start on its own.
  const off_t size = ::lseek(descriptor, 0, SEEK_END);
  if (size > 0) {
    std::ifstream file(path, std::ios::binary);
    file.seekg(-1, std::ios::end);
    if (file.get() != '\n' && ::write(descriptor, "\n", 1) != 1)
      return fail(ErrorKind::kIo, fmt::format("can't write to the journal {}.", path));
  }
  return journal;
}

Journal::Journal(Journal&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

Journal& Journal::operator=(Journal&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Expected<void> Journal::append(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(descriptor_, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      return fail(
          ErrorKind::kIo,
          fmt::format("can't write to the journal {}: {}. Nothing was released for the charge "
                      "that it refused; free some space and run again.",
                      path_,
                      std::strerror(errno)));
    done += static_cast<std::size_t>(written);
  }
  if (::fdatasync(descriptor_) != 0 && errno != EINVAL && errno != EROFS)
    return fail(ErrorKind::kIo,
                fmt::format("can't sync the journal {}: {}.", path_, std::strerror(errno)));
  return {};
}

namespace {

Expected<void> read_line(const nlohmann::json& line,
                         std::vector<JournalRun>& runs,
                         std::size_t& current) {
  if (line.contains("open")) {
    JournalRun run;
    run.name = line.value("run", "");
    run.method = line.at("method").get<std::string>();
    run.delta = line.at("delta").get<double>();
    SOTTO_ASSIGN(run.relation, parse_relation(line.at("neighbours").get<std::string>()));
    runs.push_back(std::move(run));
    current = runs.size() - 1;
    return {};
  }
  if (runs.empty()) return fail(ErrorKind::kBadData, "it does not begin with an opening line");
  const bool resuming = line.contains("resume");
  if (resuming) {
    const auto found = std::find_if(runs.begin(), runs.end(), [&](const JournalRun& each) {
      return each.name == line.at("resume").get<std::string>();
    });
    if (found == runs.end())
      return fail(ErrorKind::kBadData, "it continues a run that is not here");
    current = static_cast<std::size_t>(found - runs.begin());
  }
  JournalRun& run = runs[current];
  const bool closing = line.contains("close");
  if (closing || resuming) {
    // These lines state exactly what was charged; between them only reservations are known.
    run.closed = closing;
    run.charged.clear();
    run.samples = line.at("samples").get<std::int64_t>();
  } else {
    run.samples += line.at("count").get<std::int64_t>() * line.at("samples").get<std::int64_t>();
  }
  SOTTO_ASSIGN(const Event event,
               parse_event(line.at(resuming  ? "spent"
                                   : closing ? "close"
                                             : "charge")
                               .get<std::string>(),
                           run.relation));
  run.charged.push_back(
      closing || resuming ? event : Event::repeat(line.at("count").get<std::int64_t>(), event));
  return {};
}

}  // namespace

Expected<std::vector<JournalRun>> read_journal(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail(ErrorKind::kIo, fmt::format("can't read the journal {}.", path));
  std::vector<JournalRun> runs;
  std::size_t current = 0;
  std::string text;
  for (std::int64_t number = 1; std::getline(file, text); ++number) {
    const bool last_and_cut = file.eof();
    if (text.empty()) continue;
    const auto line = nlohmann::json::parse(text, nullptr, false);
    if (line.is_discarded()) {
      // Cut short by a crash: the write did not finish, so nothing was released for it. A later run
      // has ended the half line.
      continue;
    }
    try {
      if (auto read = read_line(line, runs, current); !read)
        return fail(ErrorKind::kBadData,
                    fmt::format("{}:{}: {}", path, number, read.error().message));
    } catch (const nlohmann::json::exception&) {
      if (last_and_cut) break;
      return fail(ErrorKind::kBadData,
                  fmt::format("{}:{}: not a line of a Sotto journal.", path, number));
    }
  }
  return runs;
}

Expected<JournalRun> find_run(const std::string& path, const std::string& name) {
  SOTTO_ASSIGN(const std::vector<JournalRun> runs, read_journal(path));
  for (const JournalRun& run : runs)
    if (!name.empty() && run.name == name) return run;
  return fail(
      ErrorKind::kBudget,
      fmt::format("the journal {} does not hold the run that wrote this checkpoint, so nobody can "
                  "tell what was spent since. Nothing was released. Put the run's own journal "
                  "there, or start afresh without the checkpoint.",
                  path));
}

}  // namespace sotto
