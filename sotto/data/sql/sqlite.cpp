// The one file that sees SQLite. A database may come from anybody: its schema is not trusted, and a
// query can do nothing but read.

#include <fmt/format.h>
#include <sqlite3.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <new>
#include <utility>

#include "sotto/core/file.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/stop.hpp"
#include "sotto/data/io/input_file.hpp"
#include "sotto/data/sql/sql_rows.hpp"

namespace sotto {
namespace {

constexpr int kBusyMilliseconds = 5'000;  ///< for another program's transaction
constexpr int kBusyStep = 20;
constexpr int kStepsBetweenLooks = 20'000;  ///< of SQLite's machine, for a signal

struct CloseSqlite {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using SqliteConnection = std::unique_ptr<sqlite3, CloseSqlite>;
using SqliteStatement = std::unique_ptr<sqlite3_stmt, CloseSqlite>;

int wait_for_sqlite_lock(void*, int times) {
  if (stop_requested() || times >= kBusyMilliseconds / kBusyStep) return 0;
  const timespec pause{0, kBusyStep * 1'000'000L};
  ::nanosleep(&pause, nullptr);
  return 1;
}

/// What a failed call means; `told`: what SQLite says of it, empty where that may quote a row.
tl::unexpected<Error> sqlite_failure(int code,
                                     const std::string& shown,
                                     const std::string& told,
                                     const char* what) {
  switch (code & 0xff) {
    case SQLITE_NOMEM:
      throw std::bad_alloc();
    case SQLITE_INTERRUPT:
      return stopped_early();
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      if (stop_requested()) return stopped_early();
      return fail(ErrorKind::kIo,
                  fmt::format("{}: the database is locked by another program, which did not let it "
                              "go for {} seconds. Try again when it has ended.",
                              shown,
                              kBusyMilliseconds / 1000));
    case SQLITE_NOTADB:
      return fail(ErrorKind::kBadData,
                  fmt::format("{}: the file is no SQLite database, or an encrypted one.", shown));
    case SQLITE_CORRUPT:
      return fail(ErrorKind::kBadData,
                  fmt::format("{}: the database is damaged. `sqlite3 FILE 'PRAGMA "
                              "integrity_check'` tells more.",
                              shown));
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return fail(ErrorKind::kIo,
                  fmt::format("{}: {}: {} (SQLite's error {}). Check the permissions of the file "
                              "and of its folder, and the room on the disk.",
                              shown,
                              what,
                              sqlite3_errstr(code),
                              code));
    case SQLITE_AUTH:
      return fail(ErrorKind::kUsage,
                  fmt::format("{}: the query does more than read. Give one SELECT.", shown));
    default:
      break;
  }
  if (!told.empty())
    return fail(ErrorKind::kUsage,
                fmt::format("{}: {}: {}. Check the names and the query.", shown, what, told));
  return fail(
      ErrorKind::kBadData,
      fmt::format("{}: {} (SQLite's error {}). What it says may hold a row's content and is "
                  "not shown: run the query in a shell of the database.",
                  shown,
                  what,
                  code));
}

/// A path that SQLite takes for a file's whatever it is called: neither `:memory:` nor a URI.
std::string plain_sqlite_path(const std::string& file) {
  return file.starts_with('/') ? file : "./" + file;
}

Expected<SqliteConnection> connect_sqlite(const DatabasePath& path, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(plain_sqlite_path(path.place).c_str(),
                                   &raw,
                                   flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                                   nullptr);
  SqliteConnection database(raw);
  if (code != SQLITE_OK)
    return sqlite_failure(code, path.shown, "", "the database can't be opened");
  sqlite3_busy_handler(raw, wait_for_sqlite_lock, nullptr);
  sqlite3_progress_handler(
      raw, kStepsBetweenLooks, [](void*) { return stop_requested() ? 1 : 0; }, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_limit(raw, SQLITE_LIMIT_ATTACHED, 0);
  return database;
}

Expected<void> run_sqlite(sqlite3* database, const DatabasePath& path, const std::string& sql) {
  const int code = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  return sqlite_failure(code, path.shown, sqlite3_errmsg(database), "the database refuses");
}

Expected<SqliteStatement> prepare_sqlite(sqlite3* database,
                                         const DatabasePath& path,
                                         const std::string& sql,
                                         std::string_view* rest = nullptr) {
  sqlite3_stmt* raw = nullptr;
  const char* tail = nullptr;
  const int code =
      sqlite3_prepare_v3(database, sql.c_str(), static_cast<int>(sql.size()) + 1, 0, &raw, &tail);
  SqliteStatement statement(raw);
  if (code != SQLITE_OK)
    return sqlite_failure(
        code, path.shown, sqlite3_errmsg(database), "SQLite does not take the query");
  if (rest != nullptr) *rest = tail;
  return statement;
}

int only_reading(
    void*, int action, const char*, const char* second, const char*, const char* /*trigger*/) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

class SqliteRows final : public SqlRows {
 public:
  static Expected<std::unique_ptr<SqliteRows>> open(const DatabasePath& path,
                                                    const InputLimits& limits) {
    auto rows = std::make_unique<SqliteRows>();
    rows->shown_ = path.shown;
    rows->longest_ = limits.field_bytes;
    SOTTO_ASSIGN(rows->database_, connect_sqlite(path, SQLITE_OPEN_READONLY));
    sqlite3* database = rows->database_.get();
    for (const char* each : {"PRAGMA query_only = 1", "PRAGMA cell_size_check = 1", "BEGIN"})
      SOTTO_TRY(run_sqlite(database, path, each));
    // The moment of which all rows are: from this first look on, nothing changes.
    SOTTO_TRY(run_sqlite(database, path, "SELECT count(*) FROM sqlite_schema"));
    sqlite3_set_authorizer(database, only_reading, nullptr);
    const std::string query = path.select();
    std::string_view rest;
    SOTTO_ASSIGN(rows->statement_, prepare_sqlite(database, path, query, &rest));
    SOTTO_TRY(rows->check_alone(path, rest));
    rows->describe();
    return rows;
  }

  Expected<bool> next(std::span<std::string_view> values) override {
    if (!statement_) return false;
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_DONE) {
      statement_.reset();
      database_.reset();
      return false;
    }
    if (code != SQLITE_ROW)
      return sqlite_failure(code, shown_, "", "the query failed while rows were read");
    for (std::size_t k = 0; k < columns_.size(); ++k) values[k] = value(k);
    return true;
  }

 private:
  Expected<void> check_alone(const DatabasePath& path, std::string_view rest) {
    if (statement_) {
      const auto another = prepare_sqlite(database_.get(), path, std::string(rest));
      if (!another || *another)
        return fail(ErrorKind::kUsage,
                    fmt::format("{}: the query has several statements. Give one.", path.shown));
    }
    if (!statement_ || sqlite3_stmt_readonly(statement_.get()) == 0 ||
        sqlite3_stmt_isexplain(statement_.get()) != 0 ||
        sqlite3_column_count(statement_.get()) == 0)
      return fail(ErrorKind::kUsage,
                  fmt::format("{}: the query is none that gives rows. Give one SELECT.", shown_));
    return {};
  }

  void describe() {
    const int count = sqlite3_column_count(statement_.get());
    for (int k = 0; k < count; ++k) {
      Column column;
      column.name = sqlite3_column_name(statement_.get(), k);
      const char* type = sqlite3_column_decltype(statement_.get(), k);
      // As SQLite itself finds out what a declared type means.
      std::string declared = type == nullptr ? "" : type;
      for (char& c : declared)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
      column.binary = declared.find("BLOB") != declared.npos;
      columns_.push_back(std::move(column));
    }
    texts_.resize(columns_.size());
  }

  std::string_view value(std::size_t k) {
    sqlite3_stmt* statement = statement_.get();
    const int column = static_cast<int>(k);
    std::string& text = texts_[k];
    if (columns_[k].binary) return {};
    switch (sqlite3_column_type(statement, column)) {
      case SQLITE_NULL:
        return {};
      case SQLITE_INTEGER:
        text.clear();
        fmt::format_to(std::back_inserter(text), "{}", sqlite3_column_int64(statement, column));
        return text;
      case SQLITE_FLOAT:
        // The shortest text that is this number again.
        text.clear();
        fmt::format_to(std::back_inserter(text), "{}", sqlite3_column_double(statement, column));
        return text;
      case SQLITE_BLOB:
        return bytes(column, text);
      default:
        break;
    }
    const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
    if (data == nullptr) throw std::bad_alloc();
    return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))};
  }

  /// Bytes in a column that is not declared to have any: no number, and nobody's category, but
  /// different ones stay different. What a single row holds refuses nothing by itself.
  std::string_view bytes(int column, std::string& text) const {
    const auto* data =
        static_cast<const unsigned char*>(sqlite3_column_blob(statement_.get(), column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
    text = "x'";
    for (std::size_t i = 0; i < std::min(size, longest_); ++i)
      fmt::format_to(std::back_inserter(text), "{:02x}", data[i]);
    text += '\'';
    return text;
  }

  std::string shown_;
  std::size_t longest_ = 0;
  SqliteConnection database_;
  SqliteStatement statement_;       // gone before the connection is
  std::vector<std::string> texts_;  // by column, of numbers and bytes
};

/// What there is of this name.
Expected<std::string> kind_of_sqlite_table(sqlite3* database,
                                           const DatabasePath& path,
                                           const std::string& name) {
  SOTTO_ASSIGN(const SqliteStatement look,
               prepare_sqlite(database,
                              path,
                              "SELECT type FROM main.sqlite_schema WHERE name = ?1 COLLATE NOCASE "
                              "AND type IN ('table', 'view')"));
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
                fmt::format("{}: this is a {} and no table. Name a new table.", path.shown, kind));
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
    SOTTO_TRY(table->make_file());
    SOTTO_TRY(table->begin(overwrite));
    return table;
  }

  ~SqliteTable() override {
    insert_.reset();
    database_.reset();  // takes back what was not committed
    if (made_file_) static_cast<void>(remove_file(path_.place));
  }

  Expected<void> add(std::span<const std::string_view> values) override {
    for (std::size_t k = 0; k < values.size(); ++k) bind(static_cast<int>(k) + 1, k, values[k]);
    const int code = sqlite3_step(insert_.get());
    sqlite3_reset(insert_.get());
    if (code == SQLITE_DONE) return {};
    return sqlite_failure(code, path_.shown, "", "a row can't be written");
  }

  Expected<void> commit() override {
    insert_.reset();
    SOTTO_TRY(run_sqlite(database_.get(), path_, "COMMIT"));
    made_file_ = false;
    database_.reset();
    return {};
  }

 private:
  /// An empty file is a database without tables. Only its owner may read what will be in it.
  Expected<void> make_file() {
    SOTTO_ASSIGN(const bool there, file_exists(path_.place));
    if (there) return {};
    SOTTO_TRY(write_file_atomically(path_.place, "", FileAccess::kOwner));
    made_file_ = true;
    return {};
  }

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
  bool made_file_ = false;
};

}  // namespace

Expected<std::unique_ptr<SqlRows>> open_sqlite(const DatabasePath& path,
                                               const InputLimits& limits) {
  // Before SQLite has it open: closing a file lets go of the locks that this program has on it.
  SOTTO_TRY(InputFile::open(path.place, /*any_content=*/true, limits));
  SOTTO_ASSIGN(auto rows, SqliteRows::open(path, limits));
  return rows;
}

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
