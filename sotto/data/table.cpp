#include "sotto/data/table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/check.hpp"
#include "sotto/data/row_scale.hpp"
#include "sotto/data/unit_names.hpp"
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

/// How far a stored norm may be above the bound: less than the 1e-8 that claims allow for.
constexpr double kNormSlack = 0x1p-27;

/// The bytes of a number as a name.
std::string_view name_of(std::span<const std::int64_t> units, std::int64_t row) {
  if (units.empty()) return {};
  return {reinterpret_cast<const char*>(&units[index(row)]), sizeof(std::int64_t)};
}

}  // namespace

std::size_t Table::bytes() const {
  return dense_.size() * sizeof(float) + offsets_.size() * sizeof(std::int64_t) +
         columns_.size() * sizeof(std::int32_t) + values_.size() * sizeof(float) +
         labels_.size() * sizeof(float) + norms_.size() * sizeof(double) +
         unit_offsets_.size() * sizeof(std::int64_t) + null_units_.size();
}

TableBuilder::TableBuilder(
    std::int64_t dim, bool sparse, const Options& options, bool units, PageFile dense_pages)
    : options_(options), features_(dim), has_units_(units), names_(std::make_unique<UnitNames>()) {
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

TableBuilder::~TableBuilder() = default;
TableBuilder::TableBuilder(TableBuilder&&) noexcept = default;
TableBuilder& TableBuilder::operator=(TableBuilder&&) noexcept = default;

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

void TableBuilder::Writer::end_row(float label, std::string_view unit) {
  const Options& options = builder_->options_;
  const Table& table = builder_->table_;
  if (options.bias) add(static_cast<std::int32_t>(builder_->features_), 1.0F);
  std::int64_t entries = table.dim_;
  if (table.sparse_) entries = columns_ - table.columns_.data() - row_entry_;
  // Not `entries` terms: norms are the same in both layouts.
  const double bound = options.row_norm;
  if (const double norm = std::sqrt(sum_squares_);
      bound > 0 &&
      (norm > bound || norm_above(sum_squares_, table.dim_) > bound * (1 + kNormSlack)))
    scale_row(bound / norm * shrinking(table.dim_), entries);
  next_row(label, norm_above(sum_squares_, table.dim_), unit);
}

void TableBuilder::Writer::end_null_row(float label, std::optional<std::string_view> unit) {
  const Table& table = builder_->table_;
  if (table.sparse_) {
    const std::int64_t added = columns_ - table.columns_.data() - row_entry_;
    columns_ -= added;
    values_ -= added;
  } else {
    std::fill_n(row_, table.dim_, 0.0F);
  }
  null_rows_.push_back(label_ - table.labels_.data());
  next_row(label, 0, unit);
}

void TableBuilder::Writer::next_row(float label,
                                    double norm,
                                    std::optional<std::string_view> unit) {
  if (builder_->table_.sparse_) {
    row_entry_ = columns_ - builder_->table_.columns_.data();
    *offset_++ = row_entry_;
  } else if (row_ != nullptr) {
    row_ += builder_->table_.stride_;
  }
  sum_squares_ = 0;
  *norm_++ = norm;
  *label_++ = label;
  if (unit_ == nullptr) return;
  *unit_++ = unit ? std::ssize(*unit) : kNameless;
  if (unit) names_ += *unit;
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
    null_rows_.insert(null_rows_.end(), writer.null_rows_.begin(), writer.null_rows_.end());
    if (has_units_) number_units(writer, row);
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

void TableBuilder::add_null_unit(float label) {
  const Piece one{1, 0};
  auto writers = extend({&one, 1});
  writers[0].end_null_row(label);
  commit(writers);
}

/// In the order of the rows, whoever wrote them: the numbers do not depend on threads.
void TableBuilder::number_units(const Writer& writer, std::int64_t end) {
  std::string_view names = writer.names_;
  for (std::int64_t i = writer.first_row_; i < end; ++i) {
    std::int64_t& unit = units_[index(i)];
    if (unit == kNameless) {
      unit = names_->fresh();
      continue;
    }
    const std::string_view name = names.substr(0, index(unit));
    names.remove_prefix(name.size());
    unit = names_->number(name);
  }
}

Table TableBuilder::finish() && {
  table_.dense_.truncate(table_.dense_.size());
  table_.offsets_.truncate(table_.offsets_.size());
  table_.columns_.truncate(index(entries_));
  table_.values_.truncate(index(entries_));
  table_.labels_.truncate(table_.labels_.size());
  table_.norms_.truncate(table_.norms_.size());
  if (has_units_) group_units();
  if (!has_units_ && !null_rows_.empty()) {
    table_.null_units_.resize(index(table_.rows_));
    for (const std::int64_t row : null_rows_) table_.null_units_[index(row)] = 1;
  }
  return std::move(table_);
}

void TableBuilder::group_units() {
  const UnitOrder order = order_by_unit(units_, names_->count(), table_.unit_offsets_);
  units_ = {};
  std::vector<std::uint8_t> null_rows;
  if (!null_rows_.empty()) {
    null_rows.resize(index(table_.rows_));
    for (const std::int64_t row : null_rows_) null_rows[index(order.target(row))] = 1;
  }
  if (!order.identity()) move_rows(order);
  if (!null_rows.empty() || options_.most_rows > 0) drop_rows(null_rows);
  if (options_.most_rows == 1) table_.unit_offsets_ = {};
}

void TableBuilder::move_rows(const UnitOrder& order) {
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

/// Rows that do not fit leave their person, and so do those beyond the most that one may have; of a
/// person whose rows all don't fit one stays, as a null unit.
void TableBuilder::drop_rows(std::span<const std::uint8_t> null_rows) {
  const auto is_null = [&](std::int64_t i) {
    return !null_rows.empty() && null_rows[index(i)] != 0;
  };
  const std::int64_t most =
      options_.most_rows > 0 ? options_.most_rows : std::numeric_limits<std::int64_t>::max();
  table_.null_units_.resize(index(table_.units()));
  std::int64_t kept = 0;
  entries_ = 0;
  for (std::int64_t u = 0, begin = 0; u < table_.units(); ++u) {
    const std::int64_t end = table_.unit_begin(u + 1);
    const std::int64_t first = kept;
    for (std::int64_t i = begin; i < end && kept - first < most; ++i)
      if (!is_null(i)) keep_row(i, kept++);
    table_.null_units_[index(u)] = kept == first ? 1 : 0;
    if (kept == first) keep_row(begin, kept++);
    begin = end;
    table_.unit_offsets_[index(u + 1)] = kept;
  }
  table_.rows_ = kept;
  table_.labels_.truncate(index(kept));
  table_.norms_.truncate(index(kept));
  if (table_.sparse_) {
    table_.offsets_.truncate(index(kept + 1));
    table_.columns_.truncate(index(entries_));
    table_.values_.truncate(index(entries_));
  } else {
    table_.dense_.truncate(index(kept * table_.stride_));
  }
  if (std::ranges::count(table_.null_units_, 1) == 0) table_.null_units_.clear();
}

/// Row `from` becomes row `to`, not behind it; entries_ counts those of the rows before.
void TableBuilder::keep_row(std::int64_t from, std::int64_t to) {
  table_.labels_[index(to)] = table_.labels_[index(from)];
  table_.norms_[index(to)] = table_.norms_[index(from)];
  if (!table_.sparse_) {
    if (from != to)
      std::copy_n(table_.row(from), table_.stride_, table_.dense_.data() + to * table_.stride_);
    return;
  }
  const std::int64_t begin = table_.offsets_[index(from)];
  const std::int64_t count = table_.offsets_[index(from + 1)] - begin;
  if (begin != entries_) {
    std::copy_n(table_.columns_.data() + begin, count, table_.columns_.data() + entries_);
    std::copy_n(table_.values_.data() + begin, count, table_.values_.data() + entries_);
  }
  entries_ += count;
  table_.offsets_[index(to + 1)] = entries_;
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
    writers[0].end_row(labels[index(i)], name_of(units, i));
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
    writers[0].end_row(labels[index(i)], name_of(units, i));
  }
  builder.commit(writers);
  return std::move(builder).finish();
}

}  // namespace sotto
