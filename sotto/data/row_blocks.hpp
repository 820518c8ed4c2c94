#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/data/load.hpp"

namespace sotto {

/// Some rows that follow each other in a file.
struct RowBlock {
  Table table;
  std::int64_t without_label = 0;  ///< rows
  /// Row i's fields of LoadOptions::keep as CSV, a comma after each.
  std::string_view kept(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : kept_ends[i - 1];
    return std::string_view(kept_text).substr(begin, kept_ends[i] - begin);
  }

  std::string kept_text = {};
  std::vector<std::size_t> kept_ends = {};  ///< by row; empty if nothing is kept
};

/// *Public* rows that are to be scored, in the file's order. A CSV file is read block after block,
/// so that its length does not decide how much memory there must be; a file of another format is
/// one block.
class RowBlocks {
 public:
  RowBlocks() = default;
  RowBlocks(const RowBlocks&) = delete;
  RowBlocks& operator=(const RowBlocks&) = delete;
  virtual ~RowBlocks() = default;

  /// False after the last. Where a row does not fit, the rest is read for others that don't, and
  /// all are refused (kBadData): no block has such a row.
  virtual Expected<bool> next(RowBlock& block) = 0;
  /// What is to be told of the file, one sentence each.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Features of every row, with the intercept.
  std::int64_t dim() const { return dim_; }
  /// The columns that are handed on.
  const std::vector<std::string>& kept() const { return kept_; }

 protected:
  std::vector<std::string> notes_;
  std::int64_t dim_ = 0;
  std::vector<std::string> kept_;
};

/// Of a CSV file that is `-`, standard input is read. Fails as load_table does; kUsage if `keep` is
/// asked of another format.
Expected<std::unique_ptr<RowBlocks>> open_rows(LoadOptions options);

}  // namespace sotto
