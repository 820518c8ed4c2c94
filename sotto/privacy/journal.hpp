#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/privacy/event.hpp"

namespace sotto {

/// An append-only file of charges, one JSON object a line. append() returns once the line is on
/// the disk (fdatasync), so a charge outlives a crash of the program or of the machine. An existing
/// file is continued, never truncated: runs on the same data add up. One run at a time writes to
/// it: while it is open, it is locked.
class Journal {
 public:
  static Expected<Journal> open(const std::string& path);
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();

  Expected<void> append(const std::string& line);
  const std::string& path() const { return path_; }

 private:
  Journal(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_ = -1;
};

/// One run as its journal tells it.
struct JournalRun {
  std::string name;  ///< given by its opening line; empty in journals of older versions
  std::string method;
  double delta = 0;
  Relation relation = Relation::kZeroOut;
  bool closed = false;         ///< false: the run was killed, `charged` is what it may have spent
  std::vector<Event> charged;  ///< an upper bound on what was released
  std::int64_t samples = 0;
};

/// Reads a journal back; a last line that was cut short (a crash while it was written) is ignored,
/// because its answer never left. A run that was interrupted and continued is one run: its charges
/// are those that the continuation says it began with, and what followed.
Expected<std::vector<JournalRun>> read_journal(const std::string& path);

/// The run of this name in a journal; a budget error if it is not there.
Expected<JournalRun> find_run(const std::string& path, const std::string& name);

}  // namespace sotto
