#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "sotto/core/error.hpp"
#include "sotto/core/file.hpp"
#include "sotto/core/file_identity.hpp"
#include "sotto/privacy/journal.hpp"

namespace sotto {

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
  /// A file that read_journal refuses, or `condition`, is not continued, and stays as it is.
  static Expected<Journal> open(const std::string& path,
                                const std::string& key = "",
                                const JournalCondition& condition = {});

  /// `line`: a JSON object without line breaks. Refused if a closing line that tells all of this
  /// run's would no longer fit into what is read.
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
  Expected<void> write(const std::string& line);
  AppendLog log_;
  std::string key_;
  std::int64_t bytes_ = 0;  ///< of the whole file
  std::int64_t ours_ = 0;   ///< of this run's lines
  JournalHead head_;
  std::optional<FileIdentity> seen_;  ///< after our last line; none: not known
  bool spoilt_ = false;
};

}  // namespace sotto
