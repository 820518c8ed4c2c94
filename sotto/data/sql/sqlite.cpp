// Rows of SQLite. A database may come from anybody: its schema is not trusted, and a query can do
// nothing but read.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <set>
#include <utility>

#include "sotto/data/io/input_file.hpp"
#include "sotto/data/spellings.hpp"
#include "sotto/data/sql/sqlite_connection.hpp"

namespace sotto {
namespace {

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

/// Adds each table and view that is read to a set, in small letters.
int noting_tables(void* tables,
                  int action,
                  const char* first,
                  const char* second,
                  const char*,
                  const char* view) {
  auto& noted = *static_cast<std::set<std::string>*>(tables);
  if (action == SQLITE_READ) {
    noted.insert(small_letters(first));
    if (view != nullptr) noted.insert(small_letters(view));
  }
  return only_reading(nullptr, action, first, second, nullptr, view);
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
    // No file decides how much memory a row takes. A value of that size ends the run.
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, most_bytes_of_row(limits));
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
  /// At least the default: a lower ‘max_line’ asks for rows that do not fit, not for a failure.
  static int most_bytes_of_row(const InputLimits& limits) {
    const std::size_t bytes = std::max(limits.line_bytes, InputLimits::kLineBytes);
    return static_cast<int>(std::min<std::size_t>(bytes, std::numeric_limits<int>::max()));
  }

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
    if (sqlite3_bind_parameter_count(statement_.get()) > 0)
      return fail(ErrorKind::kUsage,
                  fmt::format("{}: the query has a parameter ({}), and nothing gives it a value. "
                              "Write the value itself.",
                              shown_,
                              shown_parameter()));
    return {};
  }

  const char* shown_parameter() const {
    const char* name = sqlite3_bind_parameter_name(statement_.get(), 1);
    return name == nullptr ? "?" : name;
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

}  // namespace

Expected<std::unique_ptr<SqlRows>> open_sqlite(const DatabasePath& path,
                                               const InputLimits& limits) {
  // Before SQLite has it open: closing a file lets go of the locks that this program has on it.
  SOTTO_TRY(InputFile::open(path.place, /*any_content=*/true, limits));
  SOTTO_ASSIGN(auto rows, SqliteRows::open(path, limits));
  return rows;
}

Expected<bool> reads_sqlite_table(const DatabasePath& rows, const std::string& table) {
  SOTTO_ASSIGN(const SqliteConnection database, connect_sqlite(rows, SQLITE_OPEN_READONLY));
  std::set<std::string> tables;
  sqlite3_set_authorizer(database.get(), noting_tables, &tables);
  SOTTO_TRY(prepare_sqlite(database.get(), rows, rows.select()));
  return tables.contains(small_letters(table));
}

}  // namespace sotto
