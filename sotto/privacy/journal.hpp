#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/privacy/event.hpp"
#include "sotto/privacy/promise.hpp"

namespace sotto {

/// A place in a journal: a line's number, and its checksum, which follows from all lines up to it.
struct JournalHead {
  std::int64_t line = 0;  ///< 0: an empty journal
  std::string chain;
};

/// A line of the journal that a file of an earlier run knows.
struct KnownLine {
  std::string file;
  JournalHead head;
};

/// One run as its journal tells it.
struct JournalRun {
  std::string where;  ///< file and number of its opening line
  std::string name;   ///< given by its opening line; empty in journals of older versions
  std::string method;
  std::int64_t units = 0;  ///< as many as are public; 0: it does not say
  bool seeded = false;     ///< by a known seed
  std::string unit;        ///< what is protected: `row`, or the person column; empty: not said
  /// True training values were printed beside the model; none: it does not say. A continued run's
  /// are those of its last part, which alone has a model.
  std::optional<bool> unsafe_diagnostics;
  Relation relation = Relation::kZeroOut;
  Promise promise;  ///< by the opening line: what the run is priced by
  /// Written by version 0.1, whose opening lines state no rule (it follows from the plan) and no
  /// number of noise samples (at most the largest of a release, for every planned one).
  bool states_no_rule = false;
  bool closed = false;         ///< false: the run was killed, `charged` is what it may have spent
  std::string end;             ///< how it ended, by its closing line; empty: it does not say
  std::vector<Event> charged;  ///< an upper bound on what was released
  std::vector<Event> granted;  ///< with a filter: its charges, one by one
  std::int64_t samples = 0;
};

/// How a run ended. A finished one has its model and is not continued.
inline constexpr const char* kFinished = "finished";
inline constexpr const char* kEndedEarly = "interrupted";

struct JournalContent {
  std::vector<JournalRun> runs;
  std::vector<std::string> chains;  ///< of every line; empty for lines of version 0.1
  std::int64_t bytes = 0;

  /// Whether it holds this place: if not, it was cut back, replaced or written anew since.
  bool holds(const JournalHead& head) const;
};

/// What must hold of the lines that are there, as they were read when the file was ours alone.
using JournalCondition = std::function<Expected<void>(const JournalContent&)>;

/// Reads a journal back. The last line may be cut short (a crash while it was written): its answer
/// never left. Any other line that can't be read, whose checksum does not fit, or that can't stand
/// where it does (a charge without a run, outside of its plan or after its end), is a bad-data
/// error with its number: a journal that lost something would under-count. A run that was
/// interrupted and continued is one run: its charges are those that the continuation says it began
/// with, and what followed.
Expected<JournalContent> read_whole_journal(const std::string& path, const std::string& key = "");
/// Its runs.
Expected<std::vector<JournalRun>> read_journal(const std::string& path,
                                               const std::string& key = "");

/// The run of this name in a journal; a budget error if it is not there.
Expected<JournalRun> find_run(const JournalContent& journal,
                              const std::string& path,
                              const std::string& name);

/// The bytes of a key file; none without a path; kUsage if there are too few to be a secret.
Expected<std::string> read_journal_key(const std::string& path);

/// Whether a run costs nothing: it was closed, and charged nothing until then. Of one that was not
/// closed nobody can tell whether its last lines were lost.
Expected<bool> released_nothing(const JournalRun& run);

/// That a further run has room in it: one that grew beyond what is read could be read by nobody.
/// kUsage with the remedy.
Expected<void> check_journal_room(const JournalContent& journal, const std::string& path);

/// What a run of a journal costs at `delta`, by its promise. A bad-data error with the number of
/// its opening line if that states a budget which can't have granted its plan, or what was charged.
Expected<double> price(const JournalRun& run, double delta);

}  // namespace sotto
