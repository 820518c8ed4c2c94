#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/privacy/event.hpp"
#include "sotto/privacy/promise.hpp"

namespace sotto {

/// An append-only file of charges, one JSON object a line. append() returns once the line is on
/// the disk (fdatasync), so a charge outlives a crash of the program or of the machine. An existing
/// file is continued: runs on the same data add up. Only half a line that a crash left at its end
/// is taken away, since nothing was released for it. One run at a time writes to it: while it is
/// open, it is locked.
class Journal {
 public:
  /// A file that read_journal refuses is not continued.
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
  std::string where;  ///< file and number of its opening line
  std::string name;   ///< given by its opening line; empty in journals of older versions
  std::string method;
  Relation relation = Relation::kZeroOut;
  Promise promise;  ///< by the opening line: what the run is priced by
  /// Written by version 0.1, whose opening lines state no rule (it follows from the plan) and no
  /// number of noise samples (at most the largest of a release, for every planned one).
  bool states_no_rule = false;
  bool closed = false;         ///< false: the run was killed, `charged` is what it may have spent
  std::vector<Event> charged;  ///< an upper bound on what was released
  std::int64_t samples = 0;
};

/// Reads a journal back. The last line may be cut short (a crash while it was written): its answer
/// never left. Any other line that can't be read, or that can't stand where it does (a charge
/// without a run, outside of its plan or after its end), is a bad-data error with its number: a
/// journal that lost something would under-count. A run that was interrupted and continued is one
/// run: its charges are those that the continuation says it began with, and what followed.
Expected<std::vector<JournalRun>> read_journal(const std::string& path);

/// The run of this name in a journal; a budget error if it is not there.
Expected<JournalRun> find_run(const std::string& path, const std::string& name);

/// What a run of a journal costs at `delta`, by its promise. A bad-data error with the number of
/// its opening line if that states a budget which can't have granted its plan, or what was charged.
Expected<double> price(const JournalRun& run, double delta);

}  // namespace sotto
