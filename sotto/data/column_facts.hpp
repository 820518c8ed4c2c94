#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sotto {

/// What a header, a database's catalogue or a dictionary says about a column: what a schema is
/// drafted from. Never anything from rows.
struct ColumnFacts {
  enum class Type { kUnknown, kInteger, kReal, kText, kBoolean, kDate, kTime };

  std::string name;
  Type type = Type::kUnknown;
  std::vector<std::string> values;  ///< of an enum, a CHECK (… IN …), or a public code table
  std::optional<double> min;        ///< of a CHECK or a dictionary
  std::optional<double> max;
  bool nullable = true;
  bool key = false;       ///< of its table: names rows, and is no feature
  std::string comment;    ///< in words
  std::string refers_to;  ///< the code table of a foreign key: `diagnoses(code)`
};

/// Why a schema's text can't have a name or a value as it is, as the end of a sentence ("has …");
/// empty: it can.
std::string why_not_in_a_draft(const std::string& text);

/// How what is said of a column contradicts itself, so that no schema could say it: bounds, or a
/// value that is there twice. Empty: it does not.
std::string contradiction_in(const ColumnFacts& facts);

}  // namespace sotto
