#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/private_count.hpp"
#include "sotto/data/paged_array.hpp"

namespace sotto {

/// Rows, labels and norms in memory: the private data. Nothing outside objective/, oracle/ and
/// apps/ may include this header (tests/include_graph_test).
///
/// Dense: row-major float32, every row starts 32-byte aligned and is padded with zeros to `stride`
/// floats (a multiple of 8). Sparse: CSR with 32-bit column indices, strictly increasing in a row.
/// A *unit* is what the guarantee protects: a row, or all rows of one person. Rows of one unit are
/// contiguous. All values and labels are finite.
///
/// A *null unit* is one whose record did not fit the declaration (docs/guide/data.md). It keeps its
/// place among the units, owns one row of zeros, and contributes nothing: whoever sums over units
/// gives it weight 0 in gradients, losses, Hessians and counts alike.
class Table {
 public:
  PrivateCount rows() const { return rows_; }
  std::int64_t dim() const { return dim_; }
  bool sparse() const { return sparse_; }

  // Dense only.
  std::int64_t stride() const { return stride_; }
  const float* row(std::int64_t i) const { return dense_.data() + i * stride_; }

  // Sparse only: entries of row i are [offsets[i], offsets[i + 1]).
  std::span<const std::int64_t> offsets() const { return offsets_.span(); }
  std::span<const std::int32_t> columns() const { return columns_.span(); }
  std::span<const float> values() const { return values_.span(); }

  /// Labels: -1 / +1 for two classes, 0 … k-1 for more, any number for regression.
  std::span<const float> labels() const { return labels_.span(); }
  /// L2 norms of the rows in float64, never below the true norm (rounded up).
  std::span<const double> norms() const { return norms_.span(); }

  /// Number of units; unit u owns rows [unit_begin(u), unit_begin(u + 1)).
  PrivateCount units() const {
    return unit_offsets_.empty() ? rows_ : static_cast<std::int64_t>(unit_offsets_.size()) - 1;
  }
  bool has_units() const { return !unit_offsets_.empty(); }
  std::int64_t unit_begin(std::int64_t u) const {
    return unit_offsets_.empty() ? u : unit_offsets_[static_cast<std::size_t>(u)];
  }

  /// One byte a unit, 1 for null units; empty if there are none.
  std::span<const std::uint8_t> null_units() const { return null_units_; }
  bool is_null_unit(std::int64_t u) const {
    return !null_units_.empty() && null_units_[static_cast<std::size_t>(u)] != 0;
  }

  /// Bytes held, for the memory figures.
  std::size_t bytes() const;

 private:
  friend class TableBuilder;
  std::int64_t rows_ = 0;
  std::int64_t dim_ = 0;
  std::int64_t stride_ = 0;
  bool sparse_ = false;
  PagedArray<float> dense_;
  PagedArray<std::int64_t> offsets_;
  PagedArray<std::int32_t> columns_;
  PagedArray<float> values_;
  PagedArray<float> labels_;
  PagedArray<double> norms_;
  PagedArray<std::int64_t> unit_offsets_;
  std::vector<std::uint8_t> null_units_;
};

class UnitNames;
class UnitOrder;

/// Makes tables, with per-row public rules applied while the rows are written. Row order is kept,
/// except that rows of one unit are brought together (stable; units in order of first appearance).
/// Values must be finite: whoever reads a file refuses others, or ends the row as a null one.
///
/// At once: `dense` or `sparse`. As a stream, without ever holding a second copy of the rows: for
/// each batch call `extend`, fill the writers (one thread each), `commit`; at the end `finish`.
class TableBuilder {
 public:
  struct Options {
    /// Rescale longer rows to this L2 norm (bias included), so that no stored norm exceeds it by
    /// more than 2^-27 of it, whatever the rows; 0: leave rows as they are.
    double row_norm = 0;
    bool bias = false;  ///< append a constant-one feature as the last column
    /// Of a unit's rows that fit so many are kept, the first ones in their order; 0: all. How many
    /// were left out is private (unit_order.proof.md). With 1 units are rows: has_units() is false.
    std::int64_t most_rows = 0;
  };

  /// `values` holds rows x dim floats, row-major, without padding. `units[i]` names row i's person.
  static Table dense(std::int64_t rows,
                     std::int64_t dim,
                     std::span<const float> values,
                     std::vector<float> labels,
                     const Options& options,
                     std::span<const std::int64_t> units = {});

  static Table sparse(std::int64_t dim,
                      std::vector<std::int64_t> offsets,
                      std::vector<std::int32_t> columns,
                      std::vector<float> values,
                      std::vector<float> labels,
                      const Options& options,
                      std::span<const std::int64_t> units = {});

  /// `dim` counts the features without the bias; `units`: every row names its unit.
  /// `dense_pages`: where the values of a dense table are kept instead of memory.
  TableBuilder(std::int64_t dim,
               bool sparse,
               const Options& options,
               bool units = false,
               PageFile dense_pages = {});
  ~TableBuilder();
  TableBuilder(TableBuilder&&) noexcept;
  TableBuilder& operator=(TableBuilder&&) noexcept;

  /// A run of rows that one thread will write: exactly `rows`, with at most `entries` values in all
  /// (bias not counted; ignored when dense).
  struct Piece {
    std::int64_t rows = 0;
    std::int64_t entries = 0;
  };

  /// Writes one piece, row by row. Invalid after the builder's next extend or finish.
  class Writer {
   public:
    /// Sets a feature of the current row; columns strictly increase within a row.
    void add(std::int32_t column, float value) {
      sum_squares_ += static_cast<double>(value) * static_cast<double>(value);
      if (row_ != nullptr) {
        row_[column] = value;
      } else {
        *columns_++ = column;
        *values_++ = value;
      }
    }
    /// `unit`: the person's name, by content; for tables with units.
    void end_row(float label, std::string_view unit = {});
    /// Ends a row that does not fit: what was added is forgotten. Without units, or without a name,
    /// it is a null unit (`label`: any that the table's other rows may have); with one it is left
    /// out of that person's rows, and a person without any others is a null unit.
    void end_null_row(float label, std::optional<std::string_view> unit = {});

   private:
    friend class TableBuilder;
    void scale_row(double factor, std::int64_t entries);
    void next_row(float label, double norm, std::optional<std::string_view> unit);

    const TableBuilder* builder_ = nullptr;
    double sum_squares_ = 0;
    float* row_ = nullptr;             // dense: the current row
    std::int32_t* columns_ = nullptr;  // sparse: the next entry
    float* values_ = nullptr;
    std::int64_t* offset_ = nullptr;  // sparse: the current row's end
    float* label_ = nullptr;
    double* norm_ = nullptr;
    std::int64_t* unit_ = nullptr;  // lengths of names until commit; kNameless: none
    std::string names_;
    std::vector<std::int64_t> null_rows_;
    std::int64_t first_row_ = 0;  // the piece's place in the table
    std::int64_t first_entry_ = 0;
    std::int64_t row_entry_ = 0;  // sparse: where the current row's entries begin
  };

  std::vector<Writer> extend(std::span<const Piece> pieces);
  /// Ends the batch: `writers` are those of the last extend, each with its piece complete.
  void commit(std::span<const Writer> writers);

  /// Stands for a file without rows: there is nothing to see in it.
  void add_null_unit(float label);

  /// The labels so far, to be mapped to the table's convention.
  std::span<float> labels() { return table_.labels_.span(); }

  /// At most 2^31 rows if there are units.
  Table finish() &&;

 private:
  static constexpr std::int64_t kNameless = -1;

  void number_units(const Writer& writer, std::int64_t end);
  void group_units();
  void move_rows(const UnitOrder& order);
  void drop_rows(std::span<const std::uint8_t> null_rows);
  void keep_row(std::int64_t from, std::int64_t to);

  Options options_;
  std::int64_t features_;
  bool has_units_;
  Table table_;
  std::int64_t entries_ = 0;
  PagedArray<std::int64_t> units_;
  std::unique_ptr<UnitNames> names_;
  std::vector<std::int64_t> null_rows_;
};

}  // namespace sotto
