#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/data/io/output_column.hpp"
#include "sotto/data/limits.hpp"
#include "sotto/data/sql/database_path.hpp"

namespace sotto {

/// The rows of one query, each read once and all as they are at one moment. A failure after the
/// first row never tells the database's own words: those may hold a row's.
class SqlRows {
 public:
  struct Column {
    std::string name;
    bool binary = false;  ///< declared to hold bytes: no row's are read
  };

  SqlRows() = default;
  SqlRows(const SqlRows&) = delete;
  SqlRows& operator=(const SqlRows&) = delete;
  virtual ~SqlRows() = default;

  const std::vector<Column>& columns() const { return columns_; }
  /// The next row's values as text, which stay until the next call; NULL is a view without data.
  /// False after the last: then nothing is locked any more.
  virtual Expected<bool> next(std::span<std::string_view> values) = 0;

 protected:
  std::vector<Column> columns_;
};

/// kIo: it can't be opened, or is locked; kUsage: the query is none, has several statements or does
/// more than read.
Expected<std::unique_ptr<SqlRows>> open_sqlite(const DatabasePath& path, const InputLimits& limits);
/// `any_content`: no row's content may end the reading of a table. kUsage where the database's
/// encoding does not allow to promise that.
Expected<std::unique_ptr<SqlRows>> open_postgres(const DatabasePath& path,
                                                 bool any_content = false);

/// Whether the rows come from this table or view of their file, as SQLite itself says: also through
/// a query and views. Nothing is read.
Expected<bool> reads_sqlite_table(const DatabasePath& rows, const std::string& table);

/// A new table, which is there only after commit().
class SqlTable {
 public:
  SqlTable() = default;
  SqlTable(const SqlTable&) = delete;
  SqlTable& operator=(const SqlTable&) = delete;
  virtual ~SqlTable() = default;

  /// NULL is a view without data. Numbers are texts of numbers.
  virtual Expected<void> add(std::span<const std::string_view> values) = 0;
  virtual Expected<void> commit() = 0;
};

/// Begins the transaction in which the table is made. kUsage if it exists, unless it is to be
/// replaced: that happens in the same transaction.
Expected<std::unique_ptr<SqlTable>> create_sqlite_table(const DatabasePath& path,
                                                        const std::vector<OutputColumn>& columns,
                                                        bool overwrite);
Expected<std::unique_ptr<SqlTable>> create_postgres_table(const DatabasePath& path,
                                                          const std::vector<OutputColumn>& columns,
                                                          bool overwrite);
/// Fails where creating it would, as far as can be told before.
Expected<void> check_sqlite_table(const DatabasePath& path, bool overwrite);
Expected<void> check_postgres_table(const DatabasePath& path, bool overwrite);

/// Whether the rows come from the table, however the two are spelled, views and queries seen
/// through. What functions and foreign tables read is not seen.
Expected<bool> reads_postgres_table(const DatabasePath& rows, const DatabasePath& table);
/// Whether both are the same table, or the same query in the same database, however its server is
/// spelled.
Expected<bool> same_in_postgres(const DatabasePath& a, const DatabasePath& b);

}  // namespace sotto
