#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sotto/data/io/input_file.hpp"

namespace sotto {

/// The text of a file in batches of whole lines, each cut into chunks of whole lines for threads.
/// Cuts depend on the bytes alone, never on the number of threads. Holds two batches: the next one
/// can be read while the current one is parsed. A file that fits one batch is read once, however
/// often it is rewound.
class LineBatches {
 public:
  static constexpr std::size_t kBatchBytes = std::size_t{4} << 20;
  static constexpr std::size_t kChunkBytes = std::size_t{128} << 10;
  /// A line longer than the limit is not kept, so that no row decides how much memory there must
  /// be: kTooLong stands in its place, which is a row that fits no format.
  static constexpr std::string_view kTooLong = "\x01";

  /// `batch_bytes` is a parameter for tests only.
  explicit LineBatches(InputFile file,
                       std::size_t longest_line = InputLimits::kLineBytes,
                       std::size_t batch_bytes = kBatchBytes);

  /// Goes to the next batch; false at the end of the file.
  Expected<bool> advance();
  /// Reads ahead so that the next advance is free; safe beside readers of the current chunks. An
  /// error is kept for advance().
  void prefetch();
  /// Starts again before the first batch.
  Expected<void> rewind();
  /// The next advance() gives the current batch once more: also of what can't be read twice.
  void hold() { held_ = true; }

  /// The current batch. Lines end in '\n', except perhaps the file's last.
  const std::vector<std::string_view>& chunks() const { return chunks_; }
  const std::string& path() const { return file_.path(); }
  std::size_t longest_line() const { return longest_line_; }
  bool compressed() const { return file_.compressed(); }

 private:
  struct Batch {
    std::vector<char> buffer;
    std::size_t bytes = 0;   // whole lines at the buffer's begin
    std::size_t filled = 0;  // bytes in the buffer; what follows the lines begins the next batch
  };
  Expected<void> fill(Batch& batch, const Batch& previous);
  Expected<void> skip_long_line(Batch& batch);
  void cut();

  InputFile file_;
  std::size_t batch_bytes_;
  std::size_t longest_line_;
  Batch current_;
  Batch next_;
  bool ready_ = false;  // next_ holds the next batch
  bool at_start_ = true;
  bool held_ = false;
  bool file_ended_ = false;
  bool whole_file_ = false;  // current_ is the whole file
  Expected<void> prefetched_;
  std::vector<std::string_view> chunks_;
};

}  // namespace sotto
