#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/file_identity.hpp"
#include "sotto/privacy/event.hpp"
#include "sotto/privacy/promise.hpp"

namespace sotto {

/// A place in a journal: a line's number, and its checksum, which follows from all lines up to it.
struct JournalHead {
  std::int64_t line = 0;  ///< 0: an empty journal
  std::string chain;
};

struct JournalContent;

/// A file of charges, one JSON object per line. append() returns once the line is on the disk, so a
/// charge outlives a crash of the program or of the machine. An existing file is continued: runs on
/// the same data add up. Only half a line that a crash left at its end is taken away, since nothing
/// was released for it. One run at a time writes to it.
///
/// Lines are numbered, and each ends with a checksum of itself and of the one before it: what is
/// changed, lost or put in is seen, up to whoever computes all later checksums again. With a key
/// (at least 16 secret bytes) nobody without it can. Lines of version 0.1 have neither; the first
/// line after them covers them all.
class Journal {
 public:
  /// What must hold of the lines that are there, as they were read when the file was ours alone.
  using Condition = std::function<Expected<void>(const JournalContent&)>;

  /// A file that read_journal refuses, or `condition`, is not continued, and stays as it is.
  static Expected<Journal> open(const std::string& path,
                                const std::string& key = "",
                                const Condition& condition = {});

  /// `line`: a JSON object without line breaks.
  Expected<void> append(const std::string& line);
  /// The same for a run's closing line, for which all lines are read once more: an edit that the
  /// file's times did not show is found now, not when somebody wants to know what was spent.
  Expected<void> append_last(const std::string& line);
  /// That its name still leads to it and that it holds our lines: what is to leave next is counted
  /// there. With kEveryLine all of them are read, else only if the file's times show a change.
  enum class Look { kChanges, kEveryLine };
  Expected<void> confirm(Look look);
  const std::string& path() const { return log_.path(); }
  const JournalHead& head() const { return head_; }

 private:
  Journal(AppendLog log, std::string key) : log_(std::move(log)), key_(std::move(key)) {}
  /// That the lines are as they were after our last one, where something changed the file since.
  Expected<void> check_untouched(bool what_they_say);
  /// Half a line of ours at the end, which could not be written, is no change.
  Expected<bool> holds_our_lines(bool what_they_say);
  AppendLog log_;
  std::string key_;
  JournalHead head_;
  std::optional<FileIdentity> seen_;  ///< after our last line; none: not known
  bool spoilt_ = false;
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

  /// Whether it holds this place: if not, it was cut back, replaced or written anew since.
  bool holds(const JournalHead& head) const;
};

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

/// What a run of a journal costs at `delta`, by its promise. A bad-data error with the number of
/// its opening line if that states a budget which can't have granted its plan, or what was charged.
Expected<double> price(const JournalRun& run, double delta);

}  // namespace sotto
