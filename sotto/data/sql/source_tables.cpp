#include "sotto/data/sql/source_tables.hpp"

#include <filesystem>
#include <system_error>

#include "sotto/data/sql/sql_rows.hpp"

namespace sotto {

Expected<bool> comes_from(const DatabasePath& rows, const DatabasePath& table) {
  if (table.table.empty()) return false;
  if (rows.same_rows(table)) return true;
  if (rows.is_file() != table.is_file()) return false;
  if (!rows.is_file()) return reads_postgres_table(rows, table);
  std::error_code error;
  if (!std::filesystem::equivalent(rows.place, table.place, error)) return false;
  return reads_sqlite_table(rows, table.table.back());
}

Expected<bool> same_rows(const DatabasePath& a, const DatabasePath& b) {
  if (a.same_rows(b)) return true;
  if (a.is_file() || b.is_file()) return false;
  return same_in_postgres(a, b);
}

}  // namespace sotto
