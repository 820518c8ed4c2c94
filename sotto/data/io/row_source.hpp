#pragma once

#include <string>
#include <vector>

#include "sotto/data/dataset.hpp"
#include "sotto/data/io/input_file.hpp"

namespace sotto {

/// Where the text of rows comes from: a file, standard input (`-`), or a database
/// (sql/database_path.hpp), whose rows are made text while they are read.
struct RowSource {
  InputFile file;
  bool database = false;
  /// Columns of a database that hold bytes and can't be read.
  std::vector<std::string> binary = {};
};

/// Fails as InputFile::open and parse_database_path do, or as the database says.
Expected<RowSource> open_row_source(const std::string& path, const ReadOptions& options);

/// kUsage for a file that another program has to convert first (Parquet, Arrow).
Expected<void> check_is_readable_here(const std::string& path);

}  // namespace sotto
