#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/data/dataset.hpp"
#include "sotto/data/io/csv_splitter.hpp"
#include "sotto/data/io/line_batches.hpp"
#include "sotto/data/io/row_reader.hpp"
#include "sotto/data/io/row_source.hpp"
#include "sotto/data/row_encoder.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

/// Where the columns are in a CSV file.
struct CsvColumns {
  std::vector<std::size_t> fields;   ///< by column of the schema; RowEncoder::kNoField: nowhere
  std::vector<std::size_t> kept;     ///< of ReadOptions::keep
  std::size_t count = 0;             ///< fields of a row
  std::vector<std::string> unknown;  ///< columns that the schema does not declare
};

/// kUsage, with a loss that fits, if labels of this kind can't be made of the schema's.
Expected<void> check_label(const Schema& schema, LabelKind labels);

/// A CSV file, or a database's rows as CSV, with its header read, before its first row: what those
/// who read it whole and those who read it in blocks have in common.
class CsvSource {
 public:
  /// What a chunk's rows have beside their numbers.
  struct Extras {
    std::string kept;                ///< each row's kept fields as CSV, a comma after each
    std::vector<std::size_t> ends;   ///< of a row's part of it; none if nothing is kept
    std::int64_t without_label = 0;  ///< rows
  };

  /// A database knows its columns by name, so that nothing under [file] but `missing` is meant for
  /// it. `path`: see row_source.hpp. Fails as read_csv does.
  static Expected<std::unique_ptr<CsvSource>> open(const std::string& path,
                                                   Schema schema,
                                                   const ReadOptions& options);
  CsvSource(const CsvSource&) = delete;
  CsvSource& operator=(const CsvSource&) = delete;

  /// All but the rows.
  Dataset facts() const;
  /// Of a table without rows.
  TableBuilder builder() const;
  LineBatches& lines() { return lines_; }
  const RowFormat& format() const { return format_; }
  const CsvColumns& columns() const { return columns_; }
  const ReadOptions& options() const { return options_; }
  /// From now on chunk k's extras go to extras[k], which outlives the reading.
  void collect(std::vector<Extras>& extras) { extras_ = &extras; }

 private:
  CsvSource(RowSource source, Schema schema, const ReadOptions& options);
  Expected<void> find_columns();
  /// kBadData: a column that is used holds bytes.
  Expected<void> check_binary(const std::vector<std::string>& names) const;
  void make_format();
  std::string hint_of_header(std::span<const std::string_view> fields) const;
  void parse_line(std::string_view line,
                  std::int64_t number,
                  CsvSplitter& splitter,
                  TableBuilder::Writer& writer,
                  Refusals& refusals,
                  Extras* extras) const;
  std::int64_t dim() const { return std::ssize(feature_names_); }
  double row_norm_bound() const;
  /// Whether units are persons, whose rows are brought together.
  bool persons() const;

  Schema schema_;
  ReadOptions options_;
  CsvFields from_;
  std::vector<std::string> binary_;  ///< columns of a database that can't be read
  LineBatches lines_;
  std::vector<std::string> feature_names_;
  CsvColumns columns_;
  std::string wrong_width_;  ///< what a row must have
  bool sparse_ = false;
  std::optional<RowEncoder> encoder_;
  RowFormat format_;
  std::vector<Extras>* extras_ = nullptr;
};

}  // namespace sotto
