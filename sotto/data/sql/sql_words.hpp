#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/data/column_facts.hpp"

namespace sotto {

/// A word of SQL.
struct SqlWord {
  enum class Kind { kName, kQuotedName, kText, kNumber, kSign };
  Kind kind = Kind::kSign;
  std::string text;

  /// Whether it is this keyword, given in capitals; no quoted name is one.
  bool is(std::string_view keyword) const;
  bool is_name() const { return kind == Kind::kName || kind == Kind::kQuotedName; }
};

/// Without comments and blanks. A quote that does not end ends with the text.
std::vector<SqlWord> sql_words(std::string_view sql);

/// The place behind the bracket that closes the one at `open`; the words' number if none does.
std::size_t behind_bracket(std::span<const SqlWord> words, std::size_t open);

/// Whether a name in SQL means this column: unquoted ones without regard to case.
bool names_column(const SqlWord& word, std::string_view column);

/// What a CHECK's condition says of columns by itself: values that are listed, bounds. What it
/// can't read says nothing.
void read_condition(std::span<const SqlWord> condition, std::vector<ColumnFacts>& columns);

}  // namespace sotto
