#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/data/encoding.hpp"
#include "sotto/model/deploy/sql_text.hpp"

namespace sotto::deploy {

/// The features of a row in SQL. Not one column for each feature: of a column with many values, the
/// place of the one feature that is 1 (p), and of numbers what they become (v) and whether they are
/// missing (m); j is the schema's column.
class SqlEncoding {
 public:
  /// Keeps columns that are no part of it through a step.
  using Kept = std::function<void(SqlSteps&)>;

  /// Longer rows are scaled down to `row_norm` as tables do it; 0: none are. `bias`: they have an
  /// intercept. kUsage names a column that SQL can't encode alike everywhere.
  static Expected<SqlEncoding> of(const Encoding& encoding, double row_norm, bool bias);

  /// Steps from the table (alias t) to features. The first has columns of the caller already.
  void add_features(SqlSteps& steps, const Kept& kept) const;
  /// The sum of features times weights, and the intercept; NULL for a row that does not fit.
  std::string sum(const double* weights, double bias) const;

 private:
  using Column = Encoding::Column;
  SqlEncoding(Encoding encoding, double row_norm, bool bias)
      : encoding_(std::move(encoding)), row_norm_(row_norm), bias_(bias) {}

  void add_fields(SqlSteps& steps) const;
  void add_readings(SqlSteps& steps) const;
  void add_places(SqlSteps& steps) const;
  bool add_numbers_in_texts(SqlSteps& steps) const;
  void add_columns(SqlSteps& steps, const std::function<std::string(std::size_t)>& number) const;
  void add_scaling(SqlSteps& steps, const Kept& kept) const;
  std::string scaled(const Column& column, std::size_t j) const;
  std::string bin(const Column& column, std::size_t j) const;
  std::string place(const Column& column, std::size_t j) const;

  Encoding encoding_;
  double row_norm_;
  bool bias_;
};

}  // namespace sotto::deploy
