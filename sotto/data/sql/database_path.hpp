#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {

/// PostgreSQL cuts what is longer, and would find another table.
inline constexpr std::size_t kLongestPostgresName = 63;

/// Rows in a database, as a path names them:
///
///     sqlite:FILE#TABLE      sqlite:FILE#SELECT …       sqlite:FILE?SELECT …
///     postgresql://…#TABLE   postgresql://…#SELECT …
///
/// What is before the first '#' of a postgresql path is libpq's own URI, parameters and all. A
/// table is NAME or SCHEMA.NAME, each exactly as the database has it; in double quotes it may hold
/// dots (`#"a.b"`, with "" for a quote).
struct DatabasePath {
  enum class Kind { kSqlite, kPostgres };

  Kind kind = Kind::kSqlite;
  std::string place;               ///< the file, or the URI
  std::vector<std::string> table;  ///< its schema, if one is named, and its name; empty: a query
  std::string query;               ///< one statement that reads; empty: a table
  std::string shown;               ///< the path, for messages

  bool is_file() const { return kind == Kind::kSqlite; }
  /// The query itself, or one for all of the table.
  std::string select() const;
  /// The table as SQL names it: nothing in a name is anything but a name.
  std::string quoted_table() const;
  /// Whether both are certainly the same rows.
  bool same_rows(const DatabasePath& other) const;
};

/// By its scheme alone.
bool is_database(const std::string& path);

/// kUsage: neither a table nor a query, a name that is not one, or a URI with a password, which
/// others would see in the list of processes. The message never shows that.
Expected<DatabasePath> parse_database_path(const std::string& path);

/// Whether a URI's parameter holds a password, however its name is written.
bool is_secret_parameter(std::string_view name);

/// In double quotes.
std::string quoted_identifier(const std::string& name);

}  // namespace sotto
