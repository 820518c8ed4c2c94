// Tables of PostgreSQL that are written.

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "sotto/core/stop.hpp"
#include "sotto/data/sql/postgres_connection.hpp"
#include "sotto/data/sql/sql_rows.hpp"

namespace sotto {
namespace {

constexpr std::size_t kSentBytes = std::size_t{1} << 18;

const char* postgres_type(OutputColumn::Type type) {
  switch (type) {
    case OutputColumn::Type::kInteger:
      return "bigint";
    case OutputColumn::Type::kReal:
      return "double precision";
    default:
      return "text";
  }
}

/// The path with the schema of the table that is there, or else of a new one: an unqualified name
/// may mean one table to be dropped and another to be made. kUsage where it can't be made.
Expected<DatabasePath> free_name(PGconn* connection, DatabasePath path, bool overwrite) {
  SOTTO_ASSIGN(
      const PostgresResult found,
      run_postgres(connection,
                   path,
                   "SELECT n.nspname, c.relkind, EXISTS (SELECT FROM pg_catalog.pg_inherits i "
                   "WHERE i.inhrelid = c.oid) FROM pg_catalog.pg_class c JOIN "
                   "pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = "
                   "pg_catalog.to_regclass($1)",
                   "the server can't be asked",
                   false,
                   path.quoted_table().c_str()));
  if (PQntuples(found.get()) == 0) {
    if (path.table.size() > 1) return path;
    SOTTO_ASSIGN(
        const PostgresResult schema,
        run_postgres(
            connection, path, "SELECT pg_catalog.current_schema()", "the server can't be asked"));
    if (PQgetisnull(schema.get(), 0, 0) == 0)
      path.table.insert(path.table.begin(), PQgetvalue(schema.get(), 0, 0));
    return path;
  }
  if (std::string_view(PQgetvalue(found.get(), 0, 1)) != "r")
    return fail(ErrorKind::kUsage,
                fmt::format("{}: something of this name exists that is no plain table. Name a new "
                            "table.",
                            path.shown));
  if (std::string_view(PQgetvalue(found.get(), 0, 2)) == "t")
    return fail(ErrorKind::kUsage,
                fmt::format("{}: the table is a part of another one, and is kept. Name a new "
                            "table.",
                            path.shown));
  if (!overwrite)
    return fail(ErrorKind::kUsage,
                fmt::format("{}: the table exists, and is kept. To replace it, give ‘overwrite’; "
                            "or name another one.",
                            path.shown));
  if (path.table.size() == 1) path.table.insert(path.table.begin(), PQgetvalue(found.get(), 0, 0));
  return path;
}

/// kUsage where the server would cut a name, so that two may become one.
Expected<void> check_lengths(const DatabasePath& path, const std::vector<OutputColumn>& columns) {
  for (const OutputColumn& column : columns)
    if (column.name.size() > kLongestPostgresName)
      return fail(ErrorKind::kUsage,
                  fmt::format("{}: the name of the column '{}' is longer than {} bytes, which is "
                              "all that PostgreSQL keeps of one.",
                              path.shown,
                              column.name,
                              kLongestPostgresName));
  return {};
}

std::string create_statement(const DatabasePath& path, const std::vector<OutputColumn>& columns) {
  std::string declared;
  for (const OutputColumn& column : columns)
    declared += fmt::format("{}{} {}",
                            declared.empty() ? "" : ", ",
                            quoted_identifier(column.name),
                            postgres_type(column.type));
  return fmt::format("CREATE TABLE {} ({})", path.quoted_table(), declared);
}

class PostgresTable final : public SqlTable {
 public:
  explicit PostgresTable(DatabasePath path) : path_(std::move(path)) {}

  Expected<void> begin(const std::vector<OutputColumn>& columns, bool overwrite) {
    SOTTO_ASSIGN(connection_, connect_postgres(path_));
    PGconn* connection = connection_.get();
    SOTTO_TRY(check_lengths(path_, columns));
    SOTTO_TRY(run_postgres(connection, path_, "BEGIN", "the server refuses"));
    SOTTO_ASSIGN(path_, free_name(connection, path_, overwrite));
    if (overwrite)
      SOTTO_TRY(run_postgres(connection,
                             path_,
                             "DROP TABLE IF EXISTS " + path_.quoted_table(),
                             "the table can't be replaced"));
    SOTTO_TRY(run_postgres(
        connection, path_, create_statement(path_, columns), "the table can't be made"));
    SOTTO_TRY(run_postgres(connection,
                           path_,
                           fmt::format("COPY {} FROM STDIN", path_.quoted_table()),
                           "the table can't be written"));
    return {};
  }

  Expected<void> add(std::span<const std::string_view> values) override {
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (k > 0) buffer_ += '\t';
      append(values[k]);
    }
    buffer_ += '\n';
    ++rows_;
    return buffer_.size() < kSentBytes ? Expected<void>() : send();
  }

  Expected<void> commit() override {
    PGconn* connection = connection_.get();
    SOTTO_TRY(send());
    if (PQputCopyEnd(connection, nullptr) != 1)
      return postgres_failure(connection, nullptr, path_, true, kFailed);
    SOTTO_ASSIGN(const PostgresResult result, next_result(connection));
    if (!succeeded(result.get()))
      return postgres_failure(connection, result.get(), path_, true, kFailed);
    if (PQcmdTuples(result.get()) != std::to_string(rows_))
      return fail(
          ErrorKind::kIo,
          fmt::format("{}: the server did not take all rows. Nothing was kept.", path_.shown));
    SOTTO_ASSIGN(const PostgresResult none, next_result(connection));
    SOTTO_TRY(end());
    connection_.reset();
    return {};
  }

 private:
  static constexpr const char* kFailed = "the rows can't be written";

  /// From when COMMIT is sent until it is answered, nobody here knows whether the table is there.
  Expected<void> end() {
    PGconn* connection = connection_.get();
    if (PQsendQueryParams(connection, "COMMIT", 0, nullptr, nullptr, nullptr, nullptr, 0) == 0)
      return postgres_failure(connection, nullptr, path_, true, kFailed);
    const auto result = next_result(connection);
    if (!result) return unknown(result.error().kind, "interrupted");
    if (succeeded(result->get())) return {};
    if (is_connection_lost(connection, result->get()))
      return unknown(ErrorKind::kIo, "the connection to the server was lost");
    return postgres_failure(connection, result->get(), path_, true, kFailed);
  }

  tl::unexpected<Error> unknown(ErrorKind kind, const char* what) const {
    const std::string table = path_.quoted_table();
    return fail(
        kind,
        fmt::format("{}: {} while the server was asked to keep the table. Whether it did is "
                    "unknown: look whether {} has {} rows, as in `SELECT count(*) FROM "
                    "{}`.",
                    path_.shown,
                    what,
                    table,
                    rows_,
                    table));
  }

  /// A value as COPY takes it: nothing in it ends a field, a row or the data.
  void append(std::string_view value) {
    if (value.data() == nullptr) {
      buffer_ += "\\N";
      return;
    }
    for (const char c : value) {
      switch (c) {
        case '\\':
          buffer_ += "\\\\";
          break;
        case '\t':
          buffer_ += "\\t";
          break;
        case '\n':
          buffer_ += "\\n";
          break;
        case '\r':
          buffer_ += "\\r";
          break;
        default:
          buffer_ += c;
      }
    }
  }

  Expected<void> send() {
    if (stop_requested()) return stopped_early();
    const int sent =
        PQputCopyData(connection_.get(), buffer_.data(), static_cast<int>(buffer_.size()));
    buffer_.clear();
    if (sent != 1) return postgres_failure(connection_.get(), nullptr, path_, true, kFailed);
    return {};
  }

  DatabasePath path_;
  PostgresConnection connection_;
  std::string buffer_;
  std::int64_t rows_ = 0;
};

}  // namespace

Expected<std::unique_ptr<SqlTable>> create_postgres_table(const DatabasePath& path,
                                                          const std::vector<OutputColumn>& columns,
                                                          bool overwrite) {
  auto table = std::make_unique<PostgresTable>(path);
  SOTTO_TRY(table->begin(columns, overwrite));
  return table;
}

Expected<void> check_postgres_table(const DatabasePath& path, bool overwrite) {
  SOTTO_ASSIGN(const PostgresConnection connection, connect_postgres(path));
  PGconn* raw = connection.get();
  SOTTO_TRY(run_postgres(raw, path, "BEGIN", "the server refuses"));
  SOTTO_ASSIGN(const DatabasePath named, free_name(raw, path, overwrite));
  if (overwrite) return {};  // dropping it now would wait for whoever reads it
  SOTTO_TRY(run_postgres(raw,
                         path,
                         create_statement(named, {{"row", OutputColumn::Type::kInteger}}),
                         "the table can't be made"));
  return {};  // the end of the connection takes it back
}

}  // namespace sotto
