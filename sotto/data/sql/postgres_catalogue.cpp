#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "sotto/data/sql/catalogue.hpp"
#include "sotto/data/sql/sql_words.hpp"

namespace sotto {
namespace {

std::string regclass_of(const CatalogueTable& table) {
  std::string name = sql_identifier(table.name);
  if (!table.schema.empty()) name = sql_identifier(table.schema) + "." + name;
  return "to_regclass(" + sql_text(name) + ")";
}

ColumnFacts* column_called(std::vector<ColumnFacts>& columns,
                           const std::optional<std::string>& name) {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& facts) {
    return name && facts.name == *name;
  });
  return found == columns.end() ? nullptr : &*found;
}

tl::unexpected<Error> unexpected_answer(const CatalogueTable& table) {
  return fail(ErrorKind::kBadData,
              fmt::format("the catalogue's answer about '{}' has another form than PostgreSQL's.",
                          table.name));
}

/// Names, types, NOT NULL and comments.
Expected<std::vector<ColumnFacts>> columns_in(const AskCatalogue& ask,
                                              const CatalogueTable& table) {
  SOTTO_ASSIGN(
      const CatalogueRows rows,
      ask("SELECT a.attname::text, format_type(a.atttypid, a.atttypmod), "
          "a.attnotnull::text, col_description(a.attrelid, a.attnum) "
          "FROM pg_catalog.pg_attribute a WHERE a.attrelid = " +
          regclass_of(table) + " AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"));
  if (rows.empty())
    return fail(ErrorKind::kUsage,
                fmt::format("the database has no table '{}'. `psql` lists them with \\dt, by the "
                            "names that must be given here.",
                            table.name));
  std::vector<ColumnFacts> columns;
  for (const auto& row : rows) {
    if (row.size() != 4 || !row[0] || !row[1]) return unexpected_answer(table);
    ColumnFacts facts;
    facts.name = *row[0];
    facts.type = type_of_sql(*row[1]);
    facts.nullable = row[2] != "true";
    facts.comment = row[3].value_or("");
    columns.push_back(std::move(facts));
  }
  return columns;
}

Expected<void> read_enums(const AskCatalogue& ask,
                          const CatalogueTable& table,
                          std::vector<ColumnFacts>& columns) {
  SOTTO_ASSIGN(const CatalogueRows rows,
               ask("SELECT a.attname::text, e.enumlabel::text FROM pg_catalog.pg_attribute a "
                   "JOIN pg_catalog.pg_enum e ON e.enumtypid = a.atttypid WHERE a.attrelid = " +
                   regclass_of(table) +
                   " AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum, e.enumsortorder"));
  for (const auto& row : rows) {
    if (row.size() != 2 || !row[1]) return unexpected_answer(table);
    if (ColumnFacts* facts = column_called(columns, row[0])) facts->values.push_back(*row[1]);
  }
  return {};
}

/// CHECKs, and keys of one column.
Expected<void> read_constraints(const AskCatalogue& ask,
                                const CatalogueTable& table,
                                std::vector<ColumnFacts>& columns) {
  SOTTO_ASSIGN(
      const CatalogueRows rows,
      ask("SELECT c.contype::text, pg_get_constraintdef(c.oid), a.attname::text, n.nspname::text, "
          "r.relname::text, f.attname::text, pg_table_is_visible(r.oid)::text "
          "FROM pg_catalog.pg_constraint c "
          "LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND "
          "cardinality(c.conkey) = 1 AND a.attnum = c.conkey[1] "
          "LEFT JOIN pg_catalog.pg_class r ON r.oid = c.confrelid "
          "LEFT JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace "
          "LEFT JOIN pg_catalog.pg_attribute f ON f.attrelid = c.confrelid AND "
          "cardinality(c.confkey) = 1 AND f.attnum = c.confkey[1] "
          "WHERE c.conrelid = " +
          regclass_of(table) + " AND c.contype IN ('c', 'p', 'f') ORDER BY c.oid"));
  for (const auto& row : rows) {
    if (row.size() != 7 || !row[0] || !row[1]) return unexpected_answer(table);
    ColumnFacts* facts = column_called(columns, row[2]);
    if (*row[0] == "c") {
      const auto words = sql_words(*row[1]);
      if (words.size() > 1 && words.front().is("CHECK"))
        read_condition(std::span(words).subspan(1, behind_bracket(words, 1) - 1), columns);
    } else if (*row[0] == "p" && facts != nullptr) {
      facts->key = true;
    } else if (facts != nullptr && row[4] && row[5]) {
      const std::string schema = row[6] == "true" ? "" : row[3].value_or("") + ".";
      facts->refers_to = fmt::format("{}{}({})", schema, *row[4], *row[5]);
    }
  }
  return {};
}

}  // namespace

Expected<std::vector<ColumnFacts>> postgres_catalogue(const AskCatalogue& ask,
                                                      const CatalogueTable& table) {
  SOTTO_ASSIGN(std::vector<ColumnFacts> columns, columns_in(ask, table));
  SOTTO_TRY(read_enums(ask, table, columns));
  SOTTO_TRY(read_constraints(ask, table, columns));
  SOTTO_TRY(read_public_codes(ask, table, columns));
  return columns;
}

}  // namespace sotto
