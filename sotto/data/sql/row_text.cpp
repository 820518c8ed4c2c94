#include "sotto/data/sql/row_text.hpp"

#include <algorithm>

#include "sotto/core/stop.hpp"
#include "sotto/data/io/null_field.hpp"
#include "sotto/data/io/numbers.hpp"

namespace sotto {
namespace {

constexpr std::size_t kSomeText = std::size_t{64} << 10;

/// What any reader of CSV takes for this text: no quotes, blanks or marks that mean something.
bool is_plain(std::string_view field) {
  constexpr char kFirstOfMark = '\xEF';  // a byte order mark's
  if (field.empty() || is_blank(field.front()) || is_blank(field.back()) ||
      field.front() == kFirstOfMark)
    return false;
  return std::all_of(field.begin(), field.end(), [](char c) {
    return static_cast<unsigned char>(c) >= ' ' && c != '"' && c != ',' && c != '\\';
  });
}

}  // namespace

RowText::RowText(std::unique_ptr<SqlRows> rows, const InputLimits& limits)
    : rows_(std::move(rows)), longest_(limits.field_bytes), values_(rows_->columns().size()) {
  for (const SqlRows::Column& column : rows_->columns()) {
    if (!text_.empty()) text_ += ',';
    append(column.name);
  }
  text_ += '\n';
}

void RowText::append(std::string_view field) {
  if (is_null_field(field)) return;
  field = field.substr(0, std::max(longest_, longest_ + 1));
  if (is_plain(field)) {
    text_ += field;
    return;
  }
  text_ += '"';
  for (const char c : field) {
    if (c == '\n') {
      text_ += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') text_ += c;
    text_ += c;
  }
  text_ += '"';
}

Expected<std::size_t> RowText::read(std::span<char> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    if (read_ == text_.size()) {
      text_.clear();
      read_ = 0;
      if (stop_requested()) return stopped_early();
      while (text_.size() < kSomeText) {
        SOTTO_ASSIGN(const bool more, rows_->next(values_));
        if (!more) break;
        for (std::size_t k = 0; k < values_.size(); ++k) {
          if (k > 0) text_ += ',';
          append(values_[k]);
        }
        text_ += '\n';
      }
      if (text_.empty()) break;
    }
    const std::size_t some = std::min(buffer.size() - filled, text_.size() - read_);
    std::copy_n(text_.data() + read_, some, buffer.data() + filled);
    filled += some;
    read_ += some;
  }
  return filled;
}

}  // namespace sotto
