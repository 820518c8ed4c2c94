#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sotto/data/io/output_file.hpp"
#include "sotto/data/io/sorted_lines.hpp"
#include "sotto/data/row_blocks.hpp"
#include "sotto/task/family.hpp"

namespace sotto {

/// What is written of rows that a model scores.
struct ScoreOptions {
  bool probabilities = false;  ///< ‘proba’: of every class
  std::string of_class = {};   ///< ‘class’: it orders and flags; empty: the second of two
  /// Flag the rows whose probability (score, predicted number) is at least this; or the share of
  /// the rows with the highest ones, rounded up, of equal ones the first in the file.
  std::optional<double> threshold = std::nullopt;
  std::optional<double> flag_share = std::nullopt;
  bool sort = false;     ///< the highest first, equal ones in the file's order
  std::int64_t top = 0;  ///< only so many, sorted; 0: all
  /// ‘one_per’: of the rows with the same value in this kept column only the highest is listed,
  /// with `top`. Rows without a value are all different.
  std::string one_per = {};
  std::size_t sort_memory = SortedLines::kMemory;
};

struct Scored {
  std::int64_t rows = 0;
  std::optional<std::int64_t> flagged;  ///< if flags were asked for
  std::vector<std::string> class_names;
  std::optional<Metrics> metrics;  ///< if all rows have labels
  std::string no_metrics;          ///< why there are none
};

/// Writes a line of CSV for every row, after a header, and leaves committing the output to the
/// caller. Rows are read, scored and written in blocks; only sorting and ‘flag_share’ keep lines,
/// no more than `sort_memory` of them in memory. `family`: of this model; `rows`: of its
/// read_blocks(). kBadData: rows that don't fit, or an output that is not finite.
Expected<Scored> score_rows(const Model& model,
                            const Family& family,
                            RowBlocks& rows,
                            const ScoreOptions& options,
                            OutputFile& output);

}  // namespace sotto
