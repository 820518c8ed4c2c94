#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

/// Blanks that do not separate fields.
inline const char* blanks_beside(char separator) {
  return separator == '\t' ? " " : separator == ' ' ? "\t" : " \t";
}

/// What a line of CSV comes from: a file, or the text of a database's row (sql/row_text.hpp), whose
/// empty fields are NULL without quotes, and which has `\\` and `\n` in quotes.
enum class CsvFields { kFile, kRows };

/// The fields of one line of CSV.
class CsvSplitter {
 public:
  /// Fields after the first `most` are not looked at, and those of more than `longest` bytes stand
  /// there empty: no row decides how much memory there must be.
  CsvSplitter(char separator,
              std::size_t most,
              std::size_t longest,
              CsvFields from = CsvFields::kFile)
      : separator_(separator),
        blanks_(blanks_beside(separator)),
        most_(most),
        longest_(longest),
        rows_(from == CsvFields::kRows) {}

  /// False if a quoted field does not end, or goes on after its end; fields() then end before it.
  bool split(std::string_view line);

  /// Views of the line, or of what this object holds of it until the next split().
  std::span<const std::string_view> fields() const { return {room_.data(), count_}; }
  /// The first field that is too long.
  std::optional<std::size_t> long_field() const { return long_field_; }

 private:
  /// False if there is a quote: fields() are then without meaning.
  bool split_plain(std::string_view line);
  bool split_quoted(std::string_view line);
  /// A field without quotes.
  bool add_plain(std::string_view field) {
    return add(rows_ && field.empty() ? std::string_view() : field);
  }
  /// Needs room. False after the last field that is looked at.
  bool add(std::string_view field);
  /// Returns where the separator after the field is.
  std::optional<std::size_t> add_quoted(std::string_view line, std::size_t quote);
  void make_room(std::size_t fields);

  char separator_;
  const char* blanks_;
  std::size_t most_;
  std::size_t longest_;
  bool rows_;
  std::optional<std::size_t> long_field_;
  std::vector<std::string_view> room_;  // the first count_ are fields
  std::size_t count_ = 0;
  std::string unquoted_;
};

/// Adds a field to a line of comma-separated ones, in quotes where it must be.
void append_csv_field(std::string& line, std::string_view field);

}  // namespace sotto
