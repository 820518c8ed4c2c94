#include "sotto/data/sql/sqlite_connection.hpp"

#include <fmt/format.h>
#include <time.h>

#include <filesystem>
#include <new>
#include <system_error>

#include "sotto/core/paths.hpp"
#include "sotto/core/stop.hpp"

namespace sotto {
namespace {

constexpr int kBusyMilliseconds = 5'000;  ///< for another program's transaction
constexpr int kBusyStep = 20;
constexpr int kStepsBetweenLooks = 20'000;  ///< of SQLite's machine, for a signal

int wait_for_sqlite_lock(void*, int times) {
  if (stop_requested() || times >= kBusyMilliseconds / kBusyStep) return 0;
  const timespec pause{0, kBusyStep * 1'000'000L};
  ::nanosleep(&pause, nullptr);
  return 1;
}

/// A path that SQLite takes for a file's whatever it is called: neither `:memory:` nor a URI.
std::string plain_sqlite_path(const std::string& file) {
  return file.starts_with('/') ? file : "./" + file;
}

/// What is written to a stream of this program is no database's, and would be written over it.
Expected<void> check_plain_file(const DatabasePath& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path.place, error);
  if (!named_descriptor(path.place) &&
      (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)))
    return {};
  return fail(ErrorKind::kUsage,
              fmt::format("{}: {} is no plain file's path, and a SQLite database is a file. Name "
                          "the file itself.",
                          path.shown,
                          path.place));
}

}  // namespace

tl::unexpected<Error> sqlite_failure(int code,
                                     const std::string& shown,
                                     const std::string& told,
                                     const char* what) {
  switch (code) {
    case SQLITE_READONLY_ROLLBACK:
      return fail(ErrorKind::kIo,
                  fmt::format("{}: a program was interrupted while it wrote to the database, which "
                              "must be taken back first. Open it once with a program that may "
                              "write to it: `sqlite3 FILE .tables`.",
                              shown));
    case SQLITE_READONLY_RECOVERY:
    case SQLITE_READONLY_CANTINIT:
    case SQLITE_READONLY_DIRECTORY:
      return fail(ErrorKind::kIo,
                  fmt::format("{}: SQLite must write to the folder to read this database: files "
                              "beside it (-wal, -shm) belong to it. Ask for the permission, or "
                              "for a copy: `sqlite3 FILE 'VACUUM INTO \"COPY\"'`.",
                              shown));
    default:
      break;
  }
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
    case SQLITE_TOOBIG:
      return fail(ErrorKind::kBadData,
                  fmt::format("{}: {}: a value or a row has more bytes than may be held in memory. "
                              "Leave such columns out by a query, or raise ‘max_line’.",
                              shown,
                              what));
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

Expected<SqliteConnection> connect_sqlite(const DatabasePath& path, int flags) {
  SOTTO_TRY(check_plain_file(path));
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
                                         std::string_view* rest) {
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

}  // namespace sotto
