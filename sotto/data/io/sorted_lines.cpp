#include "sotto/data/io/sorted_lines.hpp"

#include <algorithm>
#include <cstring>
#include <queue>
#include <span>

#include "sotto/core/stop.hpp"

namespace sotto {
namespace {

/// A line in the temporary file: this, then its text.
struct Head {
  double key = 0;
  std::int64_t number = 0;
  std::uint64_t length = 0;
};

constexpr std::size_t kLeastBuffer = std::size_t{64} << 10;
constexpr std::size_t kMostBuffer = std::size_t{4} << 20;

void append(std::string& buffer, const Head& head, std::string_view text) {
  buffer.append(reinterpret_cast<const char*>(&head), sizeof head);
  buffer += text;
}

}  // namespace

Expected<void> SortedLines::add(double key, std::int64_t number, std::string_view text) {
  if (key < least_) return {};
  lines_.push_back({key, number, text_.size(), text.size()});
  text_ += text;
  constexpr std::size_t kSome = 1024;
  if (most_ > 0 && lines_.size() >= 2 * most_ + kSome) drop_last();
  if (bytes() <= memory_) return {};
  drop_last();
  return bytes() > memory_ / 2 ? spill() : Expected<void>();
}

/// Those after the first `most_`.
void SortedLines::drop_last() {
  if (most_ == 0 || lines_.size() <= most_) return;
  const auto last = lines_.begin() + static_cast<std::ptrdiff_t>(most_) - 1;
  std::nth_element(lines_.begin(), last, lines_.end(), before);
  least_ = last->key;
  lines_.resize(most_);
  std::string text;
  for (Line& line : lines_) {
    const std::string_view kept = text_of(line);
    line.begin = text.size();
    text += kept;
  }
  text_ = std::move(text);
}

Expected<void> SortedLines::spill() {
  std::sort(lines_.begin(), lines_.end(), before);
  if (!file_) {
    SOTTO_ASSIGN(file_, ScratchFile::create());
  }
  const std::int64_t begin = file_->size();
  std::string buffer;
  for (const Line& line : lines_) {
    append(buffer, {line.key, line.number, line.length}, text_of(line));
    if (buffer.size() < kMostBuffer) continue;
    SOTTO_TRY(file_->append(buffer));
    buffer.clear();
  }
  SOTTO_TRY(file_->append(buffer));
  runs_.push_back({begin, file_->size()});
  lines_.clear();
  text_.clear();
  return {};
}

/// One run, line by line.
class SortedLines::Reader {
 public:
  Reader(ScratchFile& file, Run run, std::size_t buffer)
      : file_(&file), run_(run), buffer_(buffer) {}

  /// False at the end.
  Expected<bool> next() {
    if (run_.begin == run_.end && at_ == filled_) return false;
    SOTTO_TRY(need(sizeof head_));
    std::memcpy(&head_, buffer_.data() + at_, sizeof head_);
    at_ += sizeof head_;
    const auto length = static_cast<std::size_t>(head_.length);
    SOTTO_TRY(need(length));
    text_ = std::string_view(buffer_.data() + at_, length);
    at_ += length;
    return true;
  }
  Line line() const { return {head_.key, head_.number, 0, 0}; }
  std::string_view text() const { return text_; }

 private:
  /// Sees that so many bytes are in the buffer from at_ on.
  Expected<void> need(std::size_t bytes) {
    if (filled_ - at_ >= bytes) return {};
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(at_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(filled_),
              buffer_.begin());
    filled_ -= at_;
    at_ = 0;
    if (buffer_.size() < bytes) buffer_.resize(bytes);
    const auto left = static_cast<std::size_t>(run_.end - run_.begin);
    const std::size_t more = std::min(buffer_.size() - filled_, left);
    SOTTO_TRY(file_->read(run_.begin, std::span(buffer_).subspan(filled_, more)));
    run_.begin += static_cast<std::int64_t>(more);
    filled_ += more;
    return {};
  }

  ScratchFile* file_;
  Run run_;  ///< what is not yet in the buffer
  std::vector<char> buffer_;
  std::size_t at_ = 0, filled_ = 0;
  Head head_;
  std::string_view text_;
};

Expected<void> SortedLines::merge(std::span<const Run> runs, const KeyedBody& body) {
  const std::size_t buffer = std::clamp(memory_ / runs.size(), kLeastBuffer, kMostBuffer);
  std::vector<Reader> readers;
  for (const Run& run : runs) readers.emplace_back(*file_, run, buffer);
  const auto after = [&](std::size_t a, std::size_t b) {
    return before(readers[b].line(), readers[a].line());
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(after)> first(after);
  for (std::size_t k = 0; k < readers.size(); ++k) {
    SOTTO_ASSIGN(const bool any, readers[k].next());
    if (any) first.push(k);
  }
  for (std::size_t count = 0; !first.empty() && (most_ == 0 || count < most_); ++count) {
    if (stop_requested()) return stopped_early();
    const std::size_t k = first.top();
    first.pop();
    const Line line = readers[k].line();
    SOTTO_TRY(body(line.key, line.number, readers[k].text()));
    SOTTO_ASSIGN(const bool more, readers[k].next());
    if (more) first.push(k);
  }
  return {};
}

Expected<void> SortedLines::merge_to_few() {
  const std::size_t few = std::max<std::size_t>(2, memory_ / kLeastBuffer);
  while (runs_.size() > few) {
    const std::vector<Run> some(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(few));
    const std::int64_t begin = file_->size();
    std::string buffer;
    const auto write =
        [&](double key, std::int64_t number, std::string_view text) -> Expected<void> {
      append(buffer, {key, number, text.size()}, text);
      if (buffer.size() < kLeastBuffer) return {};
      SOTTO_TRY(file_->append(buffer));
      buffer.clear();
      return {};
    };
    SOTTO_TRY(merge(some, write));
    SOTTO_TRY(file_->append(buffer));
    runs_.erase(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(few));
    runs_.push_back({begin, file_->size()});
  }
  return {};
}

Expected<void> SortedLines::for_each(const Body& body) && {
  if (!runs_.empty()) {
    if (!lines_.empty()) SOTTO_TRY(spill());
    lines_ = {};
    text_ = {};
    SOTTO_TRY(merge_to_few());
    return merge(runs_, [&](double, std::int64_t number, std::string_view text) {
      return body(number, text);
    });
  }
  drop_last();
  std::sort(lines_.begin(), lines_.end(), before);
  for (const Line& line : lines_) SOTTO_TRY(body(line.number, text_of(line)));
  return {};
}

}  // namespace sotto
