#include "sotto/data/io/csv_splitter.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "sotto/data/io/numbers.hpp"

namespace sotto {
namespace {

/// Lines are looked at in blocks of as many bytes as a mask has bits.
constexpr std::size_t kBlock = 64;

struct Marks {
  std::uint64_t separators = 0;
  std::uint64_t quotes = 0;
};

#ifdef __SSE2__
Marks marks_in(const char* block, char separator) {
  const __m128i separators = _mm_set1_epi8(separator);
  const __m128i quotes = _mm_set1_epi8('"');
  Marks marks;
  for (std::size_t i = 0; i < kBlock; i += sizeof(__m128i)) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + i));
    const auto bits_of = [&](const __m128i& wanted) {
      const int bits = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted));
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(bits)) << i;
    };
    marks.separators |= bits_of(separators);
    marks.quotes |= bits_of(quotes);
  }
  return marks;
}
#else
Marks marks_in(const char* block, char separator) {
  Marks marks;
  for (std::size_t i = 0; i < kBlock; ++i) {
    marks.separators |= static_cast<std::uint64_t>(block[i] == separator) << i;
    marks.quotes |= static_cast<std::uint64_t>(block[i] == '"') << i;
  }
  return marks;
}
#endif

/// Of a block of `line` that begins `at` this byte; no byte after the line is looked at.
Marks marks_at(std::string_view line, std::size_t at, char separator) {
  const std::size_t bytes = line.size() - at;
  if (bytes >= kBlock) return marks_in(line.data() + at, separator);
  if (line.size() >= kBlock) {  // the line's last block overlaps the one before
    Marks marks = marks_in(line.data() + line.size() - kBlock, separator);
    marks.separators >>= kBlock - bytes;
    marks.quotes >>= kBlock - bytes;
    return marks;
  }
  std::array<char, kBlock> copy{};
  std::memcpy(copy.data(), line.data() + at, bytes);
  Marks marks = marks_in(copy.data(), separator);
  marks.separators &= (std::uint64_t{1} << bytes) - 1;  // zeros may separate fields
  return marks;
}

std::string_view trimmed(const char* begin, const char* end) {
  while (begin != end && is_blank(*begin)) ++begin;
  while (begin != end && is_blank(end[-1])) --end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

/// The same for fields without blanks, which most are.
std::string_view trimmed_if_needed(const char* begin, const char* end) {
  const auto size = static_cast<std::size_t>(end - begin);
  const auto may_be_blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  if (size > 0 && (may_be_blank(*begin) || may_be_blank(end[-1]))) return trimmed(begin, end);
  return {begin, size};
}

/// From `start` on: of `\\` the second one stays, of `\n` a line break.
void take_escapes_out(std::string& text, std::size_t start) {
  std::size_t end = start;
  for (std::size_t i = start; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      c = text[++i];
      if (c == 'n') c = '\n';
    }
    text[end++] = c;
  }
  text.resize(end);
}

}  // namespace

bool CsvSplitter::split(std::string_view line) { return split_plain(line) || split_quoted(line); }

void CsvSplitter::make_room(std::size_t fields) {
  if (room_.size() < fields) room_.resize(std::max(fields, 2 * room_.size()));
}

inline bool CsvSplitter::add(std::string_view field) {
  if (field.size() > longest_) {
    if (!long_field_) long_field_ = count_;
    field = {};
  }
  room_[count_++] = field;
  return count_ < most_;
}

bool CsvSplitter::split_plain(std::string_view line) {
  count_ = 0;
  long_field_.reset();
  const char* begin = line.data();
  for (std::size_t at = 0; at < line.size(); at += kBlock) {
    Marks marks = marks_at(line, at, separator_);
    if (marks.quotes != 0) return false;
    make_room(count_ + kBlock + 1);
    for (; marks.separators != 0; marks.separators &= marks.separators - 1) {
      const char* end = line.data() + at + std::countr_zero(marks.separators);
      if (!add_plain(trimmed_if_needed(begin, end))) return true;
      begin = end + 1;
    }
  }
  make_room(count_ + 1);
  add_plain(trimmed_if_needed(begin, line.data() + line.size()));
  return true;
}

bool CsvSplitter::split_quoted(std::string_view line) {
  count_ = 0;
  long_field_.reset();
  unquoted_.clear();
  unquoted_.reserve(line.size());  // views into it must not move
  const char* const last = line.data() + line.size();
  for (const char* begin = line.data();;) {
    make_room(count_ + 1);
    const char* p = begin;
    while (p != last && *p != separator_ && (*p == ' ' || *p == '\t')) ++p;
    bool more = true;
    if (p != last && *p == '"') {
      const auto close = add_quoted(line, static_cast<std::size_t>(p - line.data()));
      if (!close) return false;
      p = line.data() + *close;
      more = count_ < most_;
    } else {
      while (p != last && *p != separator_) ++p;
      more = add_plain(trimmed(begin, p));
    }
    if (p == last || !more) return true;
    begin = p + 1;
  }
}

std::optional<std::size_t> CsvSplitter::add_quoted(std::string_view line, std::size_t quote) {
  const auto is_doubled = [&](std::size_t at) {
    return at + 1 < line.size() && line[at + 1] == '"';
  };
  const std::size_t start = unquoted_.size();
  std::size_t i = quote + 1;
  std::size_t close = line.find('"', i);
  for (; close != line.npos && is_doubled(close); close = line.find('"', i)) {
    unquoted_ += line.substr(i, close + 1 - i);  // with one of the two
    i = close + 2;
  }
  if (close == line.npos) return std::nullopt;
  std::string_view field = line.substr(i, close - i);
  const bool has_escapes = rows_ && line.substr(quote, close - quote).find('\\') != line.npos;
  if (i > quote + 1 || has_escapes) {
    unquoted_ += field;
    if (has_escapes) take_escapes_out(unquoted_, start);
    field = std::string_view(unquoted_).substr(start);
  }
  const std::size_t end = std::min(line.find_first_not_of(blanks_, close + 1), line.size());
  if (end < line.size() && line[end] != separator_) return std::nullopt;
  add(field);
  return end;
}

void append_csv_field(std::string& line, std::string_view field) {
  const bool plain = field.empty() || (field.find_first_of(",\"\r\n") == field.npos &&
                                       !is_blank(field.front()) && !is_blank(field.back()));
  if (plain) {
    line += field;
    return;
  }
  line += '"';
  for (const char c : field) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

}  // namespace sotto
