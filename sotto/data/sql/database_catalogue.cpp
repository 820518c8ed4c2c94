#include "sotto/data/sql/database_catalogue.hpp"

#include <fmt/format.h>

#include "sotto/data/sql/catalogue.hpp"
#include "sotto/data/sql/database_path.hpp"
#include "sotto/data/sql/sql_rows.hpp"

namespace sotto {
namespace {

Expected<CatalogueRows> rows_of(const DatabasePath& database) {
  SOTTO_ASSIGN(const auto rows,
               database.is_file() ? open_sqlite(database, {}) : open_postgres(database));
  CatalogueRows result;
  std::vector<std::string_view> values(rows->columns().size());
  for (;;) {
    SOTTO_ASSIGN(const bool more, rows->next(values));
    if (!more) return result;
    auto& row = result.emplace_back();
    for (const std::string_view value : values)
      row.push_back(value.data() == nullptr ? std::nullopt : std::optional(std::string(value)));
  }
}

}  // namespace

Expected<std::vector<ColumnFacts>> read_catalogue(const std::string& path,
                                                  const std::vector<std::string>& public_tables) {
  if (!is_database(path))
    return fail(
        ErrorKind::kUsage,
        fmt::format("{} names no database: sqlite:FILE#TABLE or postgresql://…#TABLE.", path));
  SOTTO_ASSIGN(const DatabasePath database, parse_database_path(path));
  if (database.table.empty())
    return fail(ErrorKind::kUsage,
                fmt::format("{}: a query has no catalogue. Name the table that its columns come "
                            "from.",
                            database.shown));
  const AskCatalogue ask = [&](const std::string& query) {
    DatabasePath asked = database;
    asked.table.clear();
    asked.query = query;
    return rows_of(asked);
  };
  CatalogueTable table;
  table.name = database.table.back();
  table.public_tables = public_tables;
  if (database.is_file()) return sqlite_catalogue(ask, table);
  if (database.table.size() > 1) table.schema = database.table.front();
  return postgres_catalogue(ask, table);
}

}  // namespace sotto
