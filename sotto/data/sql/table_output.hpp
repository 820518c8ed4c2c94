#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/scratch_file.hpp"
#include "sotto/data/io/output_column.hpp"
#include "sotto/data/sql/database_path.hpp"

namespace sotto {

/// Lines of CSV on their way into a table of a database. They are kept in a file without a name
/// until all are there: then one transaction makes the table and fills it. So nobody waits for a
/// lock while rows are scored, and rows can come from the same database.
class TableOutput {
 public:
  static Expected<TableOutput> create(const std::string& path, bool overwrite);

  /// kUsage if the database can't have all of these in one table.
  Expected<void> begin(std::vector<OutputColumn> columns);
  Expected<void> write(std::string_view lines) { return lines_.append(lines); }
  Expected<void> commit();

 private:
  TableOutput(DatabasePath path, bool overwrite, ScratchFile lines)
      : path_(std::move(path)), overwrite_(overwrite), lines_(std::move(lines)) {}

  DatabasePath path_;
  bool overwrite_;
  ScratchFile lines_;
  std::vector<OutputColumn> columns_;
};

/// Whether the table can be expected to be written: before anything is computed, and before rows of
/// the same database are opened. kUsage: it is there, or the path is a query's.
Expected<void> check_table_writable(const std::string& path, bool overwrite);

}  // namespace sotto
