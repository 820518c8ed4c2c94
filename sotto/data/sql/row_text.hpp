#pragma once

#include <memory>

#include "sotto/data/io/input_file.hpp"
#include "sotto/data/sql/sql_rows.hpp"

namespace sotto {

/// Rows of a database as CSV, for the reader of CSV files: a header, and a line per row. Beside
/// what CSV has, an empty field without quotes is NULL, and a text in quotes has `\n` for a line
/// break and `\\` for a backslash, so that a row is one line whatever it holds (CsvFields::kRows).
/// A field beyond the limit is cut behind it: it is refused all the same.
class RowText final : public ByteSource {
 public:
  RowText(std::unique_ptr<SqlRows> rows, const InputLimits& limits);

  Expected<std::size_t> read(std::span<char> buffer) override;

 private:
  void append(std::string_view field);

  std::unique_ptr<SqlRows> rows_;
  std::size_t longest_;
  std::vector<std::string_view> values_;
  std::string text_;      // not yet read
  std::size_t read_ = 0;  // of it
};

}  // namespace sotto
