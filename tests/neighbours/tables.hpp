#pragma once

// The tables of the neighbour table: small files of every format, that differ in one unit.

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sotto/privacy/neighbours.hpp"
#include "tests/neighbours/replay.hpp"

namespace sotto::testing {

/// What the last unit of a table is. All others are the same in every world.
enum class Unit {
  kAbsent,
  kNull,  ///< there, and contributes nothing: what a row that does not fit becomes
  kOrdinary,
  kZero,        ///< a row of zeros, which fits, and is not null: it has a label and a loss
  kOther,       ///< ordinary, with another label and other values
  kLong,        ///< far beyond the declared bound on a row
  kAllColumns,  ///< no value is 0
  kMissing,     ///< every value that may be missing is
  kUnknownCategory,
  kPlusHuge,  ///< 3e38
  kMinusHuge,
  kManyRows,  ///< a person with 150 rows
  // What does not fit the declaration:
  kNewLabel,
  kUnreadable,  ///< text where a number should be
  kTooWide,     ///< a column that is not declared
};
inline constexpr int kUnits = 15;
const char* to_string(Unit unit);
bool fits_declaration(Unit unit);

struct TableKind {
  std::string name;
  std::string format;  ///< as in --format
  std::string data;    ///< the DATA argument
  bool network = false;
  Words arguments;  ///< how it is read, each with a value
  Words training;   ///< further ones of `train`
  /// The files of the world whose last unit is this; nothing where it makes no sense.
  std::function<std::optional<Files>(Unit)> files;

  bool has_loss() const {
    return std::find(training.begin(), training.end(), "--loss") != training.end();
  }
};

const std::vector<TableKind>& table_kinds();

/// Units of every table, the last one included; the declared number under add-remove.
inline constexpr int kTableUnits = 24;

/// World A's last unit: the other side of the relation.
Unit partner(Relation relation);

}  // namespace sotto::testing
