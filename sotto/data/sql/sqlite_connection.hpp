#pragma once

// What rows and tables of SQLite share.

#include <sqlite3.h>

#include <memory>
#include <string>
#include <string_view>

#include "sotto/core/error.hpp"
#include "sotto/data/sql/sql_rows.hpp"

namespace sotto {

struct CloseSqlite {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using SqliteConnection = std::unique_ptr<sqlite3, CloseSqlite>;
using SqliteStatement = std::unique_ptr<sqlite3_stmt, CloseSqlite>;

/// What a failed call means; `told`: what SQLite says of it, empty where that may quote a row.
tl::unexpected<Error> sqlite_failure(int code,
                                     const std::string& shown,
                                     const std::string& told,
                                     const char* what);

/// With SQLite's defensive settings.
Expected<SqliteConnection> connect_sqlite(const DatabasePath& path, int flags);

Expected<void> run_sqlite(sqlite3* database, const DatabasePath& path, const std::string& sql);

/// `rest`: what stands behind the first statement.
Expected<SqliteStatement> prepare_sqlite(sqlite3* database,
                                         const DatabasePath& path,
                                         const std::string& sql,
                                         std::string_view* rest = nullptr);

}  // namespace sotto
