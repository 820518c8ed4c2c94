#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/data/limits.hpp"

namespace sotto {

enum class ReadFor;

/// The rows that do not fit: the one place where what a row is decides what anybody is told. The
/// message is for the eyes of the data's holder and no part of what a private run releases
/// (docs/guide/data.md). Texts state rules and never a value.
class Refusals {
 public:
  explicit Refusals(std::string path, std::int64_t shown = kShownRefusals)
      : path_(std::move(path)), shown_(shown) {}

  /// Rows (lines of a text file) and columns (fields, never bytes: those would tell how long the
  /// fields before are) count from 1.
  void add(std::int64_t row, std::int64_t column, std::string_view rule);
  /// Those of another part of the file, or of another file.
  void append(Refusals other);
  /// An empty list of the same file.
  Refusals next() const { return Refusals(path_, shown_); }

  bool empty() const { return total_ == 0; }

  /// Fails with kBadData if a row does not fit and `misfits` is kRefuse; one line per row, each
  /// starting with path:row:column. `purpose`: nobody pays for rows that are not trained on, and
  /// none of them may be empty.
  Expected<void> settle(Misfits misfits, ReadFor purpose) const;

 private:
  std::string path_;
  std::int64_t shown_;
  std::int64_t total_ = 0;
  std::vector<std::string> texts_;
};

}  // namespace sotto
