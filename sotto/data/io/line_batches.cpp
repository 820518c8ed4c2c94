#include "sotto/data/io/line_batches.hpp"

#include <algorithm>
#include <utility>

namespace sotto {

LineBatches::LineBatches(InputFile file, std::size_t longest_line, std::size_t batch_bytes)
    : file_(std::move(file)), batch_bytes_(batch_bytes), longest_line_(longest_line) {
  // One byte more than the text can have, so that reading it shows its end; gzip shrinks by 1032 at
  // most.
  batch_bytes_ = std::min(batch_bytes_, file_.file_size() * (file_.compressed() ? 1040 : 1) + 1);
}

Expected<void> LineBatches::fill(Batch& batch, const Batch& previous) {
  const std::size_t carried = previous.filled - previous.bytes;
  if (batch.buffer.size() < std::max(batch_bytes_, carried))
    batch.buffer.resize(std::max(batch_bytes_, carried));
  std::copy_n(previous.buffer.data() + previous.bytes, carried, batch.buffer.data());
  batch.filled = carried;
  for (;;) {
    if (!file_ended_) {
      const std::span<char> room = std::span(batch.buffer).subspan(batch.filled);
      SOTTO_ASSIGN(const std::size_t got, file_.read(room));
      file_ended_ = got < room.size();
      batch.filled += got;
    }
    const std::string_view text(batch.buffer.data(), batch.filled);
    batch.bytes = file_ended_ ? batch.filled : text.rfind('\n') + 1;
    if (batch.bytes > 0 || file_ended_) return {};
    if (batch.filled > longest_line_ + 1) {  // one more, for a '\r'
      SOTTO_TRY(skip_long_line(batch));
    } else {
      batch.buffer.resize(batch.buffer.size() * 2);  // a line longer than the buffer
    }
  }
}

/// The batch holds the beginning of a line that is too long, and nothing else.
Expected<void> LineBatches::skip_long_line(Batch& batch) {
  const std::span<char> room = std::span(batch.buffer).subspan(kTooLong.size());
  std::string_view rest;  // from the line's end on
  while (rest.empty() && !file_ended_) {
    SOTTO_ASSIGN(const std::size_t got, file_.read(room));
    file_ended_ = got < room.size();
    const std::string_view text(room.data(), got);
    if (const std::size_t end = text.find('\n'); end != text.npos) rest = text.substr(end);
  }
  std::copy_n(kTooLong.data(), kTooLong.size(), batch.buffer.data());
  std::copy(rest.begin(), rest.end(), room.data());
  batch.filled = kTooLong.size() + rest.size();
  return {};
}

void LineBatches::prefetch() {
  if (ready_ || file_ended_) return;
  prefetched_ = fill(next_, current_);
  ready_ = true;
}

Expected<bool> LineBatches::advance() {
  if (std::exchange(held_, false)) return !chunks_.empty();
  if (whole_file_ && at_start_) {
    at_start_ = false;
    cut();
    return !chunks_.empty();
  }
  chunks_.clear();
  if (!ready_ && file_ended_) return false;
  prefetch();
  ready_ = false;
  SOTTO_TRY(std::exchange(prefetched_, {}));
  std::swap(current_, next_);
  whole_file_ = std::exchange(at_start_, false) && file_ended_;
  cut();
  return !chunks_.empty();
}

Expected<void> LineBatches::rewind() {
  chunks_.clear();
  held_ = false;
  at_start_ = true;
  if (whole_file_) return {};
  ready_ = false;
  file_ended_ = false;
  prefetched_ = {};
  current_.bytes = current_.filled = 0;
  return file_.rewind();
}

void LineBatches::cut() {
  chunks_.clear();
  std::string_view rest(current_.buffer.data(), current_.bytes);
  while (!rest.empty()) {
    std::size_t end = rest.size();
    if (end > kChunkBytes) end = std::min(end, rest.find('\n', kChunkBytes - 1) + 1);
    if (end == 0) end = rest.size();
    chunks_.push_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
}

}  // namespace sotto
