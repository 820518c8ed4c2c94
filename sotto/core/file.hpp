#pragma once

// Files, whole: what is written appears complete or not at all and outlives a loss of power; what
// is read is read to its end or refused. Every call goes through core/file_system.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sotto/core/error.hpp"
#include "sotto/core/file_identity.hpp"

namespace sotto {

/// Who may read a new file. One that exists keeps its mode.
enum class FileAccess {
  kPublic,  ///< public by nature (models, records, reports): the umask decides
  kOwner,   ///< rows, predictions, checkpoints, journals: its owner alone
};

/// Where bytes may go other than to a regular file.
enum class StreamTargets {
  kRefused,
  kAllowed,  ///< a pipe or a device is written through (predictions, reports)
};

/// An open file, closed once.
class OpenFile {
 public:
  OpenFile() = default;
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~OpenFile();

  int descriptor() const { return descriptor_; }
  /// 0, or the error of a close that reports what earlier writes did not.
  int close();

 private:
  int descriptor_ = -1;
};

/// A temporary file's name: what it names is removed unless it was let go.
class TemporaryFile {
 public:
  TemporaryFile() = default;
  explicit TemporaryFile(std::string path);
  TemporaryFile(TemporaryFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFile& operator=(TemporaryFile&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~TemporaryFile();

  const std::string& path() const { return path_; }
  /// It has another name now, or was never made.
  void let_go();

 private:
  std::string path_;
};

/// Standard input, output or error once more, to be closed by itself; what it is opened for is not
/// changed. Not open (errno says why): it has none.
OpenFile another_standard_stream(int stream);

/// A file written as a stream, to a temporary one beside its target that commit() syncs and
/// renames, and whose folder it syncs: the name holds what it held before or all of it, also after
/// a loss of power. A link is followed first, so that what it points to is replaced; what belongs
/// to another user, a link or a file, is refused. Without a commit nothing is left behind.
class AtomicFile {
 public:
  static Expected<AtomicFile> create(const std::string& path,
                                     FileAccess access,
                                     StreamTargets streams = StreamTargets::kRefused);
  /// Written through, as a pipe is.
  static Expected<AtomicFile> standard_output();

  Expected<void> write(std::string_view bytes);
  Expected<void> commit();
  int descriptor() const { return file_.descriptor(); }

 private:
  AtomicFile() = default;
  std::string path_;                    ///< as it was given, for messages
  std::string target_;                  ///< with links followed
  std::optional<FileIdentity> before_;  ///< of what it had when this was created; none: nothing
  TemporaryFile temporary_;             ///< none: a stream, written through
  OpenFile file_;                       ///< closed before that is removed
};

/// An AtomicFile of this content.
Expected<void> write_file_atomically(const std::string& path,
                                     std::string_view content,
                                     FileAccess access = FileAccess::kPublic,
                                     StreamTargets streams = StreamTargets::kRefused);

/// Succeeds if write_file_atomically(path, …) can be expected to: called before a run starts, so
/// that a wrong path costs no budget.
Expected<void> check_writable(const std::string& path,
                              StreamTargets streams = StreamTargets::kRefused);

/// Longer files are refused, so that no file can take all memory.
inline constexpr std::int64_t kMostTextBytes = std::int64_t{1} << 28;
inline constexpr std::int64_t kMostModelBytes = std::int64_t{1} << 34;

/// What may be read under a name.
enum class Source {
  kAny,      ///< also a pipe or a device
  kRegular,  ///< a file, which no open waits for (journals)
  kOwn,      ///< a file of this user, not through a link (checkpoints)
};

Expected<std::string> read_text_file(const std::string& path,
                                     std::int64_t most_bytes = kMostTextBytes,
                                     Source source = Source::kAny);

/// Whether there is something of this name. An error of the system (a closed folder, a name that is
/// too long) is kIo.
Expected<bool> file_exists(const std::string& path);

/// Gone, also after a loss of power. A file that is not there is gone.
Expected<void> remove_file(const std::string& path);

/// A file that lines are added to, each on the disk when append() returns. It must be a regular
/// file of this user, not a link. One program at a time has it open, and only for as long as its
/// name leads to it: where it was removed, replaced or changed by somebody else, or once a line
/// could not be written, nothing more is appended.
class AppendLog {
 public:
  /// Made if it is not there, readable by its owner alone.
  static Expected<AppendLog> open(const std::string& path);
  AppendLog(AppendLog&&) noexcept = default;
  AppendLog& operator=(AppendLog&&) noexcept = default;

  /// All that it holds, which is refused if it is more than `most_bytes`.
  Expected<std::string> read(std::int64_t most_bytes);
  /// That its name still leads to it.
  Expected<void> check_name() const;
  /// Keeps the first `size` bytes.
  Expected<void> cut(std::int64_t size);
  Expected<void> append(std::string_view bytes);
  const std::string& path() const { return path_; }
  int descriptor() const { return file_.descriptor(); }
  /// A line could not be written, and half of it may be there.
  bool is_broken() const { return is_broken_; }
  /// What the file was when our last bytes had been written, before they were synced; none: the
  /// system did not tell, or nothing was written.
  const std::optional<FileIdentity>& written() const { return written_; }

 private:
  AppendLog(std::string path, OpenFile file) : path_(std::move(path)), file_(std::move(file)) {}
  Expected<void> check_is_ours() const;
  tl::unexpected<Error> broken(const std::string& what);

  std::string path_;
  OpenFile file_;
  std::int64_t size_ = 0;
  std::optional<FileIdentity> written_;
  bool is_broken_ = false;
};

/// Puts something in the place of a closed standard input, output or error: else the next file that
/// is opened, a journal say, would take its number, and messages would go there.
void hold_standard_streams() noexcept;

/// From now on what is said on standard output or error (1 or 2) goes to the other one, or nowhere:
/// for one that leads to a file in which nothing may be said.
enum class Instead { kOther, kNowhere };
void redirect_standard_stream(int stream, Instead instead) noexcept;

/// Unlinks the temporary files that are open at this moment. Safe in a signal's handler, for a
/// program that is about to end.
void remove_temporary_files() noexcept;

}  // namespace sotto
