// Tables that are written into SQLite.

#include <fmt/format.h>

#include <utility>

#include "sotto/core/file.hpp"
#include "sotto/core/new_file.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/data/io/input_file.hpp"
#include "sotto/data/sql/sqlite_connection.hpp"

namespace sotto {
namespace {

/// What there is of this name.
Expected<std::string> kind_of_sqlite_table(sqlite3* database,
                                           const DatabasePath& path,
                                           const std::string& name) {
  SOTTO_ASSIGN(const SqliteStatement look,
               prepare_sqlite(
                   database, path, "SELECT type FROM pragma_table_list(?1) WHERE schema = 'main'"));
  sqlite3_bind_text(look.get(), 1, name.data(), static_cast<int>(name.size()), SQLITE_TRANSIENT);
  const int code = sqlite3_step(look.get());
  if (code == SQLITE_DONE) return std::string();
  if (code != SQLITE_ROW)
    return sqlite_failure(
        code, path.shown, sqlite3_errmsg(database), "the database can't be looked at");
  return std::string(reinterpret_cast<const char*>(sqlite3_column_text(look.get(), 0)));
}

Expected<void> check_free(sqlite3* database, const DatabasePath& path, bool overwrite) {
  const std::string& name = path.table.back();
  constexpr std::string_view kReserved = "sqlite_";
  if (sqlite3_strnicmp(name.c_str(), kReserved.data(), static_cast<int>(kReserved.size())) == 0)
    return fail(ErrorKind::kUsage,
                fmt::format("{}: names that begin with sqlite_ are SQLite's own. Choose another.",
                            path.shown));
  SOTTO_ASSIGN(const std::string kind, kind_of_sqlite_table(database, path, name));
  if (kind.empty()) return {};
  if (kind != "table")
    return fail(ErrorKind::kUsage,
                fmt::format("{}: this is a {}{}, which is never replaced. Name a new table.",
                            path.shown,
                            kind,
                            kind == "view" ? "" : " table"));
  if (!overwrite)
    return fail(ErrorKind::kUsage,
                fmt::format("{}: the table exists, and is kept. To replace it, give ‘overwrite’; "
                            "or name another one.",
                            path.shown));
  return {};
}

Expected<SqliteConnection> connect_to_write(const DatabasePath& path) {
  SOTTO_ASSIGN(SqliteConnection database, connect_sqlite(path, SQLITE_OPEN_READWRITE));
  if (sqlite3_db_readonly(database.get(), "main") == 1)
    return fail(ErrorKind::kIo,
                fmt::format("{}: the database can't be written. Check the permissions of the file "
                            "and of its folder.",
                            path.shown));
  return database;
}

const char* sqlite_type(OutputColumn::Type type) {
  switch (type) {
    case OutputColumn::Type::kInteger:
      return "INTEGER";
    case OutputColumn::Type::kReal:
      return "REAL";
    default:
      return "TEXT";
  }
}

class SqliteTable final : public SqlTable {
 public:
  static Expected<std::unique_ptr<SqlTable>> create(const DatabasePath& path,
                                                    const std::vector<OutputColumn>& columns,
                                                    bool overwrite) {
    auto table = std::make_unique<SqliteTable>();
    table->path_ = path;
    table->columns_ = columns;
    // An empty file is a database without tables. It stays one if nothing comes of this: another
    // program may be about to fill it.
    SOTTO_TRY(make_file(path.place, FileAccess::kOwner));
    SOTTO_TRY(table->begin(overwrite));
    return table;
  }

  ~SqliteTable() override {
    insert_.reset();
    database_.reset();  // takes back what was not committed
    // SQLite leaves that to the next who may write, where a full disk stopped it.
    if (!has_failed_) return;
    if (const auto again = connect_to_write(path_))
      static_cast<void>(run_sqlite(again->get(), path_, "SELECT count(*) FROM sqlite_schema"));
  }

  Expected<void> add(std::span<const std::string_view> values) override {
    for (std::size_t k = 0; k < values.size(); ++k) bind(static_cast<int>(k) + 1, k, values[k]);
    const int code = sqlite3_step(insert_.get());
    sqlite3_reset(insert_.get());
    if (code == SQLITE_DONE) return {};
    has_failed_ = true;
    return sqlite_failure(code, path_.shown, "", "a row can't be written");
  }

  Expected<void> commit() override {
    insert_.reset();
    has_failed_ = true;
    SOTTO_TRY(run_sqlite(database_.get(), path_, "COMMIT"));
    has_failed_ = false;
    database_.reset();
    return {};
  }

 private:
  Expected<void> begin(bool overwrite) {
    SOTTO_ASSIGN(database_, connect_to_write(path_));
    SOTTO_TRY(run_sqlite(database_.get(), path_, "BEGIN IMMEDIATE"));
    SOTTO_TRY(check_free(database_.get(), path_, overwrite));
    const std::string name = "main." + quoted_identifier(path_.table.back());
    std::string declared, places;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      declared += fmt::format("{}{} {}",
                              k > 0 ? ", " : "",
                              quoted_identifier(columns_[k].name),
                              sqlite_type(columns_[k].type));
      places += k > 0 ? ", ?" : "?";
    }
    SOTTO_TRY(run_sqlite(database_.get(), path_, "DROP TABLE IF EXISTS " + name));
    SOTTO_TRY(
        run_sqlite(database_.get(), path_, fmt::format("CREATE TABLE {} ({})", name, declared)));
    SOTTO_ASSIGN(
        insert_,
        prepare_sqlite(
            database_.get(), path_, fmt::format("INSERT INTO {} VALUES ({})", name, places)));
    return {};
  }

  void bind(int place, std::size_t k, std::string_view value) {
    sqlite3_stmt* insert = insert_.get();
    if (value.data() == nullptr) {
      sqlite3_bind_null(insert, place);
      return;
    }
    if (columns_[k].type == OutputColumn::Type::kInteger) {
      if (const auto number = number_in<std::int64_t>(value)) {
        sqlite3_bind_int64(insert, place, *number);
        return;
      }
    } else if (columns_[k].type == OutputColumn::Type::kReal) {
      if (const auto number = number_in<double>(value)) {
        sqlite3_bind_double(insert, place, *number);
        return;
      }
    }
    sqlite3_bind_text64(insert, place, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }

  DatabasePath path_;
  std::vector<OutputColumn> columns_;
  SqliteConnection database_;
  SqliteStatement insert_;
  bool has_failed_ = false;
};

}  // namespace

Expected<std::unique_ptr<SqlTable>> create_sqlite_table(const DatabasePath& path,
                                                        const std::vector<OutputColumn>& columns,
                                                        bool overwrite) {
  return SqliteTable::create(path, columns, overwrite);
}

Expected<void> check_sqlite_table(const DatabasePath& path, bool overwrite) {
  SOTTO_ASSIGN(const bool there, file_exists(path.place));
  if (!there) return check_writable(path.place);
  SOTTO_TRY(InputFile::open_as_it_is(path.place));
  SOTTO_ASSIGN(const SqliteConnection database, connect_to_write(path));
  return check_free(database.get(), path, overwrite);
}

}  // namespace sotto
