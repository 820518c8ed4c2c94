#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/data/column_facts.hpp"

namespace sotto {

/// The rows of a query as text; NULL is none.
using CatalogueRows = std::vector<std::vector<std::optional<std::string>>>;
using AskCatalogue = std::function<Expected<CatalogueRows>(const std::string& query)>;

/// A table, and the tables whose rows are public: those that lists of codes may be read of.
struct CatalogueTable {
  std::string schema;  ///< PostgreSQL; empty: by the search path
  std::string name;
  std::vector<std::string> public_tables;
};

/// What the catalogue of a database says of a table's columns: types, enums, CHECK constraints,
/// keys, comments. No row of the table is read, nor of any other but the public ones. kUsage: there
/// is no such table, or a public one is none that a foreign key leads to.
Expected<std::vector<ColumnFacts>> sqlite_catalogue(const AskCatalogue& ask,
                                                    const CatalogueTable& table);
Expected<std::vector<ColumnFacts>> postgres_catalogue(const AskCatalogue& ask,
                                                      const CatalogueTable& table);

/// For both: `name`, in double quotes, and 'text'.
std::string sql_identifier(std::string_view name);
std::string sql_text(std::string_view text);

/// A type by its name in any database: `character varying(20)`, `int unsigned`.
ColumnFacts::Type type_of_sql(std::string_view name);

/// The values of columns that refer to public tables.
Expected<void> read_public_codes(const AskCatalogue& ask,
                                 const CatalogueTable& table,
                                 std::vector<ColumnFacts>& columns);

}  // namespace sotto
