#include "sotto/data/io/csv_splitter.hpp"

#include <algorithm>

#include "sotto/data/io/numbers.hpp"

namespace sotto {
namespace {

// Fields are short: to look at each byte once is faster than to call what searches long texts.

std::string_view trimmed(const char* begin, const char* end) {
  while (begin != end && is_blank(*begin)) ++begin;
  while (begin != end && is_blank(end[-1])) --end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

bool CsvSplitter::split(std::string_view line) {
  fields_.clear();
  long_field_.reset();
  unquoted_.clear();
  unquoted_.reserve(line.size());  // views into it must not move
  const char* const last = line.data() + line.size();
  for (const char* begin = line.data();;) {
    const char* p = begin;
    while (p != last && *p != separator_ && (*p == ' ' || *p == '\t')) ++p;
    if (p != last && *p == '"') {
      const auto close = add_quoted(line, static_cast<std::size_t>(p - line.data()));
      if (!close) return false;
      p = line.data() + *close;
    } else {
      while (p != last && *p != separator_) ++p;
      fields_.push_back(trimmed(begin, p));
    }
    if (fields_.back().size() > longest_) {
      if (!long_field_) long_field_ = fields_.size() - 1;
      fields_.back() = {};
    }
    if (p == last || fields_.size() == most_) return true;
    begin = p + 1;
  }
}

std::optional<std::size_t> CsvSplitter::add_quoted(std::string_view line, std::size_t quote) {
  const std::size_t start = unquoted_.size();
  std::size_t i = quote + 1;
  for (;; ++i) {
    const std::size_t next = line.find('"', i);
    if (next == line.npos) return std::nullopt;
    unquoted_.append(line.substr(i, next - i));
    i = next + 1;
    if (i == line.size() || line[i] != '"') break;
    unquoted_ += '"';
  }
  fields_.push_back(std::string_view(unquoted_).substr(start));
  const std::size_t end = std::min(line.find_first_not_of(blanks_, i), line.size());
  if (end < line.size() && line[end] != separator_) {
    fields_.pop_back();
    return std::nullopt;
  }
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
