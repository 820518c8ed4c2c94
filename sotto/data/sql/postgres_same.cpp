// Which tables of PostgreSQL are the same, and read of one another. Spellings don't tell: of a
// host, of a name with or without its schema, of a query or a view.

#include "sotto/data/sql/postgres_connection.hpp"
#include "sotto/data/sql/sql_rows.hpp"

namespace sotto {
namespace {

constexpr const char* kAsking = "the server can't be asked";

Expected<PostgresConnection> begin_reading(const DatabasePath& path) {
  SOTTO_ASSIGN(PostgresConnection connection, connect_postgres(path));
  SOTTO_TRY(
      run_postgres(connection.get(), path, "BEGIN TRANSACTION READ ONLY", "the server refuses"));
  return connection;
}

/// Of one row with one value; empty: NULL, or no row.
Expected<std::string> ask_postgres(PGconn* connection,
                                   const DatabasePath& path,
                                   const std::string& sql,
                                   const char* argument = nullptr) {
  SOTTO_ASSIGN(const PostgresResult result,
               run_postgres(connection, path, sql, kAsking, false, argument));
  return PQntuples(result.get()) == 0 ? std::string() : PQgetvalue(result.get(), 0, 0);
}

/// Of a name; empty: there is no such table.
Expected<std::string> table_id(PGconn* connection, const DatabasePath& path) {
  return ask_postgres(connection,
                      path,
                      "SELECT pg_catalog.to_regclass($1)::pg_catalog.oid",
                      path.quoted_table().c_str());
}

/// Whether both lead into one database: a transaction of one is seen by the other. That needs no
/// rights, and no name of the server means anything.
Expected<bool> is_one_database(PGconn* a, const DatabasePath& at, PGconn* b) {
  const std::string transaction =
      "SELECT l.pid || ' ' || l.virtualtransaction || ' ' || d.oid FROM pg_catalog.pg_locks l, "
      "pg_catalog.pg_database d WHERE l.locktype = 'virtualxid' AND d.datname = "
      "pg_catalog.current_database() AND ";
  SOTTO_ASSIGN(const std::string mark,
               ask_postgres(a, at, transaction + "l.pid = pg_catalog.pg_backend_pid()"));
  SOTTO_ASSIGN(const std::string seen,
               ask_postgres(b,
                            at,
                            "SELECT 1 FROM (" + transaction + "true) AS t (mark) WHERE mark = $1",
                            mark.c_str()));
  return !seen.empty();
}

}  // namespace

Expected<bool> reads_postgres_table(const DatabasePath& rows, const DatabasePath& table) {
  SOTTO_ASSIGN(const PostgresConnection there, begin_reading(table));
  SOTTO_ASSIGN(const std::string id, table_id(there.get(), table));
  if (id.empty()) return false;
  SOTTO_ASSIGN(const PostgresConnection here, begin_reading(rows));
  SOTTO_ASSIGN(const bool one, is_one_database(here.get(), rows, there.get()));
  if (!one) return false;
  // Everything that a query names is locked from its planning on.
  SOTTO_TRY(declare_cursor(here.get(), rows));
  SOTTO_ASSIGN(const std::string locked,
               ask_postgres(here.get(),
                            rows,
                            "SELECT 1 FROM pg_catalog.pg_locks WHERE locktype = 'relation' AND pid "
                            "= pg_catalog.pg_backend_pid() AND relation = $1::pg_catalog.oid",
                            id.c_str()));
  return !locked.empty();
}

Expected<bool> same_in_postgres(const DatabasePath& a, const DatabasePath& b) {
  if (a.query != b.query) return false;
  SOTTO_ASSIGN(const PostgresConnection here, begin_reading(a));
  SOTTO_ASSIGN(const PostgresConnection there, begin_reading(b));
  SOTTO_ASSIGN(const bool one, is_one_database(here.get(), a, there.get()));
  if (!one || !a.query.empty()) return one;
  SOTTO_ASSIGN(const std::string first, table_id(here.get(), a));
  SOTTO_ASSIGN(const std::string second, table_id(there.get(), b));
  return !first.empty() && first == second;
}

}  // namespace sotto
