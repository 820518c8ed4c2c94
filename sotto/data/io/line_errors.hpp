#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {

/// The first bad lines of a file. Texts state rules and never quote a line.
class LineErrors {
 public:
  static constexpr std::size_t kShown = 10;

  /// Lines and columns count from 1; columns are bytes.
  void add(std::int64_t line, std::int64_t column, std::string text) {
    if (errors_.size() <= kShown) errors_.push_back({line, column, std::move(text)});
  }
  void append(LineErrors other) {
    for (Entry& error : other.errors_) add(error.line, error.column, std::move(error.text));
  }
  bool empty() const { return errors_.empty(); }

  /// kBadData; one line an error, each starting with path:line:column.
  Error to_error(const std::string& path) const;

 private:
  struct Entry {
    std::int64_t line;
    std::int64_t column;
    std::string text;
  };
  std::vector<Entry> errors_;  // one more than is shown, to know that there are more
};

}  // namespace sotto
