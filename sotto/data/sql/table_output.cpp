#include "sotto/data/sql/table_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/core/stop.hpp"
#include "sotto/data/spellings.hpp"
#include "sotto/data/sql/sql_rows.hpp"

namespace sotto {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

Expected<DatabasePath> table_named(const std::string& path) {
  SOTTO_ASSIGN(DatabasePath database, parse_database_path(path));
  if (database.table.empty())
    return fail(ErrorKind::kUsage,
                fmt::format("{}: predictions go into a table, not into a query: name it behind a "
                            "#, for example sqlite:FILE#risks.",
                            database.shown));
  return database;
}

/// The end of the first record, behind its line break; none: it is not complete. A line break in
/// quotes is a field's.
std::optional<std::size_t> end_of_record(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == '\n' && !quoted) return i + 1;
  }
  return std::nullopt;
}

/// Of a record that append_csv_field made, without its line break. An empty field without quotes is
/// NULL.
class RecordFields {
 public:
  std::span<const std::string_view> split(std::string_view record) {
    fields_.clear();
    text_.clear();
    text_.reserve(record.size());  // views into it must not move
    while (take(record)) {
    }
    return fields_;
  }

 private:
  /// False after the last one.
  bool take(std::string_view& rest) {
    if (!rest.starts_with('"')) {
      const std::string_view field = rest.substr(0, rest.find(','));
      rest.remove_prefix(field.size());
      fields_.push_back(field.empty() ? std::string_view() : field);
    } else {
      const std::size_t start = text_.size();
      rest.remove_prefix(1);
      for (;;) {
        const std::size_t quote = rest.find('"');
        text_ += rest.substr(0, quote);
        rest.remove_prefix(quote + 1);
        if (!rest.starts_with('"')) break;
        text_ += '"';
        rest.remove_prefix(1);
      }
      fields_.push_back(std::string_view(text_).substr(start));
    }
    if (rest.empty()) return false;
    rest.remove_prefix(1);
    return true;
  }

  std::vector<std::string_view> fields_;
  std::string text_;
};

}  // namespace

Expected<TableOutput> TableOutput::create(const std::string& path, bool overwrite) {
  SOTTO_ASSIGN(DatabasePath database, table_named(path));
  SOTTO_ASSIGN(ScratchFile lines, ScratchFile::create());
  return TableOutput(std::move(database), overwrite, std::move(lines));
}

Expected<void> TableOutput::begin(std::vector<OutputColumn> columns) {
  columns_ = std::move(columns);
  if (!path_.is_file()) return {};
  std::set<std::string> names;  // SQLite's have no case
  for (const OutputColumn& column : columns_)
    if (!names.insert(small_letters(column.name)).second)
      return fail(ErrorKind::kUsage,
                  fmt::format("{}: there would be two columns '{}': SQLite takes capital and small "
                              "letters of a name for the same. Rename the kept column by a query.",
                              path_.shown,
                              column.name));
  return {};
}

Expected<void> TableOutput::commit() {
  SOTTO_ASSIGN(const auto table,
               path_.is_file() ? create_sqlite_table(path_, columns_, overwrite_)
                               : create_postgres_table(path_, columns_, overwrite_));
  RecordFields record;
  std::string text;
  for (std::int64_t at = 0; at < lines_.size();) {
    const auto piece = std::min(kPieceBytes, static_cast<std::size_t>(lines_.size() - at));
    const std::size_t carried = text.size();
    text.resize(carried + piece);
    SOTTO_TRY(lines_.read(at, std::span(text).subspan(carried)));
    at += static_cast<std::int64_t>(piece);
    std::string_view rest = text;
    while (const auto end = end_of_record(rest)) {
      const auto fields = record.split(rest.substr(0, *end - 1));
      SOTTO_CHECK(fields.size() == columns_.size());
      SOTTO_TRY(table->add(fields));
      rest.remove_prefix(*end);
    }
    text.erase(0, text.size() - rest.size());
    if (stop_requested()) return stopped_early();
  }
  return table->commit();
}

Expected<void> check_table_writable(const std::string& path, bool overwrite) {
  SOTTO_ASSIGN(const DatabasePath database, table_named(path));
  return database.is_file() ? check_sqlite_table(database, overwrite)
                            : check_postgres_table(database, overwrite);
}

}  // namespace sotto
