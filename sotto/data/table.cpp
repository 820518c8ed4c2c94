#include "sotto/data/table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/check.hpp"
#include "sotto/data/unit_order.hpp"

namespace sotto {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// sqrt of a sum of `terms` squares, rounded up. The squares of floats are exact in double; adding
/// them errs by at most (terms - 1) u relatively (u = 2^-53), which sqrt halves; sqrt, the factor
/// and the product add u each. Hence (terms + 4) u covers all, for terms < 2^40.
double norm_above(double sum_squares, std::int64_t terms) {
  return std::sqrt(sum_squares) * (1 + static_cast<double>(terms + 4) * 0x1p-53);
}

}  // namespace

std::size_t Table::bytes() const {
  return dense_.size() * sizeof(float) + offsets_.size() * sizeof(std::int64_t) +
         columns_.size() * sizeof(std::int32_t) + values_.size() * sizeof(float) +
         labels_.size() * sizeof(float) + norms_.size() * sizeof(double) +
         unit_offsets_.size() * sizeof(std::int64_t);
}

TableBuilder::TableBuilder(
    std::int64_t dim, bool sparse, const Options& options, bool units, PageFile dense_pages)
    : options_(options), features_(dim), has_units_(units) {
  table_.dense_ = PagedArray<float>(std::move(dense_pages));
  SOTTO_CHECK(dim >= 0 && dim < std::numeric_limits<std::int32_t>::max());
  table_.dim_ = dim + (options.bias ? 1 : 0);
  table_.sparse_ = sparse;
  if (sparse) {
    table_.offsets_.grow(1);
  } else {
    table_.stride_ = (table_.dim_ + 7) / 8 * 8;
  }
}

std::vector<TableBuilder::Writer> TableBuilder::extend(std::span<const Piece> pieces) {
  std::vector<Writer> writers(pieces.size());
  std::int64_t rows = table_.rows_;
  std::int64_t entries = entries_;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    writers[k].first_row_ = rows;
    writers[k].first_entry_ = entries;
    rows += pieces[k].rows;
    entries += pieces[k].entries + (options_.bias ? pieces[k].rows : 0);
  }
  table_.rows_ = rows;
  table_.labels_.grow(index(rows));
  table_.norms_.grow(index(rows));
  if (has_units_) units_.grow(index(rows));
  if (table_.sparse_) {
    table_.offsets_.grow(index(rows + 1));
    table_.columns_.grow(index(entries));
    table_.values_.grow(index(entries));
  } else {
    table_.dense_.grow(index(rows * table_.stride_));
  }
  for (Writer& writer : writers) {
    writer.builder_ = this;
    writer.label_ = table_.labels_.data() + writer.first_row_;
    writer.norm_ = table_.norms_.data() + writer.first_row_;
    if (has_units_) writer.unit_ = units_.data() + writer.first_row_;
    if (table_.sparse_) {
      writer.columns_ = table_.columns_.data() + writer.first_entry_;
      writer.values_ = table_.values_.data() + writer.first_entry_;
      writer.offset_ = table_.offsets_.data() + writer.first_row_ + 1;
      writer.row_entry_ = writer.first_entry_;
    } else {
      writer.row_ = table_.dense_.data() + writer.first_row_ * table_.stride_;
    }
  }
  return writers;
}

void TableBuilder::Writer::end_row(float label, std::int64_t unit) {
  const Options& options = builder_->options_;
  const Table& table = builder_->table_;
  if (options.bias) add(static_cast<std::int32_t>(builder_->features_), 1.0F);
  std::int64_t entries = table.dim_;
  if (table.sparse_) {
    const std::int64_t end = columns_ - table.columns_.data();
    entries = end - row_entry_;
    *offset_++ = end;
    row_entry_ = end;
  }
  if (const double norm = std::sqrt(sum_squares_);
      options.row_norm > 0 && norm > options.row_norm) {
    // The slack keeps rounding to float (2^-24 relative) from lifting the norm above the bound.
    scale_row(options.row_norm / norm * (1 - 0x1p-22), entries);
  }
  *norm_++ = norm_above(sum_squares_, table.dim_);  // not `entries`: the same in both layouts
  sum_squares_ = 0;
  *label_++ = label;
  if (unit_ != nullptr) *unit_++ = unit;
  if (row_ != nullptr) row_ += table.stride_;
}

void TableBuilder::Writer::scale_row(double factor, std::int64_t entries) {
  float* values = row_ != nullptr ? row_ : values_ - entries;
  sum_squares_ = 0;
  for (std::int64_t i = 0; i < entries; ++i) {
    values[i] = static_cast<float>(static_cast<double>(values[i]) * factor);
    sum_squares_ += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
}

void TableBuilder::commit(std::span<const Writer> writers) {
  std::int64_t row = writers.empty() ? table_.rows_ : writers.front().first_row_;
  for (const Writer& writer : writers) {
    SOTTO_CHECK(row == writer.first_row_);
    row = writer.label_ - table_.labels_.data();
    if (!table_.sparse_) continue;
    // Close the gap that earlier pieces left by using fewer entries than they reserved.
    const std::int64_t gap = writer.first_entry_ - entries_;
    const std::int64_t count = writer.row_entry_ - writer.first_entry_;
    if (gap > 0) {
      const auto close = [&](auto* data) {
        std::copy_n(data + writer.first_entry_, count, data + entries_);
      };
      close(table_.columns_.data());
      close(table_.values_.data());
      for (std::int64_t i = writer.first_row_; i < row; ++i) table_.offsets_[index(i + 1)] -= gap;
    }
    entries_ += count;
  }
  SOTTO_CHECK(row == table_.rows_);
}

Table TableBuilder::finish() && {
  table_.dense_.truncate(table_.dense_.size());
  table_.offsets_.truncate(table_.offsets_.size());
  table_.columns_.truncate(index(entries_));
  table_.values_.truncate(index(entries_));
  table_.labels_.truncate(table_.labels_.size());
  table_.norms_.truncate(table_.norms_.size());
  if (has_units_) group_units();
  return std::move(table_);
}

void TableBuilder::group_units() {
  const UnitOrder order = order_by_unit(std::move(units_), table_.unit_offsets_);
  if (order.identity()) return;
  const auto fixed = [](std::int64_t width) {
    return [width](std::int64_t i) { return i * width; };
  };
  order.apply(table_.labels_.data(), fixed(1), fixed(1));
  order.apply(table_.norms_.data(), fixed(1), fixed(1));
  if (!table_.sparse_) {
    order.apply(table_.dense_.data(), fixed(table_.stride_), fixed(table_.stride_));
    return;
  }
  PagedArray<std::int64_t> offsets;
  offsets.grow(index(table_.rows_ + 1));
  const auto& old = table_.offsets_;
  for (std::int64_t i = 0; i < table_.rows_; ++i)
    offsets[index(order.target(i) + 1)] = old[index(i + 1)] - old[index(i)];
  for (std::int64_t i = 0; i < table_.rows_; ++i) offsets[index(i + 1)] += offsets[index(i)];
  const auto from = [&](std::int64_t i) { return old[index(i)]; };
  const auto to = [&](std::int64_t i) { return offsets[index(i)]; };
  order.apply(table_.columns_.data(), from, to);
  order.apply(table_.values_.data(), from, to);
  table_.offsets_ = std::move(offsets);
}

Table TableBuilder::dense(std::int64_t rows,
                          std::int64_t dim,
                          std::span<const float> values,
                          std::vector<float> labels,
                          const Options& options,
                          std::span<const std::int64_t> units) {
  SOTTO_CHECK(rows >= 0 && values.size() == index(rows * dim) && labels.size() == index(rows));
  SOTTO_CHECK(units.empty() || units.size() == index(rows));
  TableBuilder builder(dim, false, options, !units.empty());
  const Piece all{rows, rows * dim};
  auto writers = builder.extend({&all, 1});
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < dim; ++j)
      writers[0].add(static_cast<std::int32_t>(j), values[index(i * dim + j)]);
    writers[0].end_row(labels[index(i)], units.empty() ? 0 : units[index(i)]);
  }
  builder.commit(writers);
  return std::move(builder).finish();
}

Table TableBuilder::sparse(std::int64_t dim,
                           std::vector<std::int64_t> offsets,
                           std::vector<std::int32_t> columns,
                           std::vector<float> values,
                           std::vector<float> labels,
                           const Options& options,
                           std::span<const std::int64_t> units) {
  const auto rows = static_cast<std::int64_t>(labels.size());
  SOTTO_CHECK(offsets.size() == labels.size() + 1 && offsets.front() == 0);
  SOTTO_CHECK(columns.size() == values.size() && offsets.back() == std::ssize(values));
  SOTTO_CHECK(units.empty() || units.size() == labels.size());
  TableBuilder builder(dim, true, options, !units.empty());
  const Piece all{rows, std::ssize(values)};
  auto writers = builder.extend({&all, 1});
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int32_t previous = -1;
    for (std::int64_t k = offsets[index(i)]; k < offsets[index(i + 1)]; ++k) {
      const std::int32_t column = columns[index(k)];
      SOTTO_CHECK(column > previous && column < dim);
      previous = column;
      writers[0].add(column, values[index(k)]);
    }
    writers[0].end_row(labels[index(i)], units.empty() ? 0 : units[index(i)]);
  }
  builder.commit(writers);
  return std::move(builder).finish();
}

}  // namespace sotto
