#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/data/refusals.hpp"
#include "sotto/data/schema.hpp"
#include "sotto/data/spellings.hpp"
#include "sotto/data/table.hpp"

namespace sotto {

/// Turns the fields of one CSV row into a table row, by the schema's rules alone:
/// numeric: (value - min) / (max - min) in [0, 1], values outside the bounds clamped; categorical:
/// one-hot; a value outside its list is its "other" feature or all zeros; missing values: see
/// docs/reference/schema.md. The label becomes -1 / +1, a class number, or the clamped number.
class RowEncoder {
 public:
  /// The place of a column that rows don't have.
  static constexpr std::size_t kNoField = static_cast<std::size_t>(-1);
  /// Whether every row must have a label and, in a schema with persons, name one.
  struct Demands {
    bool label;
    bool person;
  };

  /// `fields[c]` is the place of the schema's column c among the fields of a row; kNoField, where
  /// that is not demanded, for those that it does not have. Rows are encoded as for `multiclass`
  /// (0, 1, …) or not (-1, +1) if the label has two classes. With kNull a numeric field that holds
  /// no number counts as missing.
  RowEncoder(const Schema& schema,
             const std::vector<std::size_t>& fields,
             bool multiclass,
             Misfits misfits,
             Demands demands = {true, true});

  struct Fault {
    std::size_t field = 0;
    std::string text;  ///< empty: none
  };

  /// Writes one row; on a fault a null one, of the person that the row names. `sparse`: leave zeros
  /// out.
  Fault encode(std::span<const std::string_view> fields,
               bool sparse,
               TableBuilder::Writer& writer) const;
  /// Whom a row names, by the field at the unit's place; nobody if there is none, or no such field.
  std::optional<std::string_view> person_in(std::span<const std::string_view> fields) const;
  bool has_label(std::span<const std::string_view> fields) const {
    return label_column_ && !lacks_label(columns_[*label_column_], fields);
  }
  float null_label() const { return signed_label_ ? -1.0F : 0.0F; }

 private:
  /// What a row needs of Schema::Column, so that all columns are in cache together.
  struct Column {
    Schema::Kind kind = Schema::Kind::kIgnore;
    std::int32_t feature = 0;     // the first one
    std::int32_t other = -1;      // the feature for unlisted values
    std::int32_t indicator = -1;  // the feature for missing values
    int group = -1;
    std::size_t field = 0;
    double min = 0;
    double max = 0;
    std::optional<double> filler;
    Spellings lookup;
    std::string name;
  };
  class Row;

  bool is_missing(std::string_view field) const;
  static std::int32_t find(const Column& column, std::string_view field);
  bool lacks_label(const Column& column, std::span<const std::string_view> fields) const;
  const char* encode_numeric(const Column& column, std::string_view field, Row& row) const;
  void encode_categorical(const Column& column, std::string_view field, Row& row) const;
  const char* encode_one_hot(const Column& column, std::string_view field, Row& row) const;
  const char* encode_label(const Column& column, std::string_view field, float& label) const;

  std::vector<Column> columns_;
  Spellings missing_;
  std::uint64_t missing_sizes_ = 0;  // a bit for each size of a text in missing_; the last: larger
  Schema::Label label_;
  bool signed_label_;
  Misfits misfits_;
  Demands demands_;
  std::optional<std::size_t> unit_field_;
  std::optional<std::size_t> label_column_;  // among columns_
};

}  // namespace sotto
