// What the catalogue of a database says of a table, without its rows.

#include "sotto/data/sql/catalogue.hpp"

#include "sotto/data/schema_draft.hpp"
#include "sotto/data/sql/sql_words.hpp"
#include "tests/data/support.hpp"

namespace sotto {
namespace {

using Type = ColumnFacts::Type;
using Codes = std::vector<std::string>;

/// What a condition says of the columns x, sex and "Day".
std::vector<ColumnFacts> said_by(const std::string& condition) {
  std::vector<ColumnFacts> columns(3);
  columns[0].name = "x";
  columns[1].name = "sex";
  columns[2].name = "Day";
  const auto words = sql_words(condition);
  read_condition(words, columns);
  return columns;
}

void expect_bounds(const std::string& condition,
                   std::optional<double> min,
                   std::optional<double> max) {
  const auto columns = said_by(condition);
  EXPECT_EQ(columns[0].min, min) << condition;
  EXPECT_EQ(columns[0].max, max) << condition;
}

TEST(SqlConditions, Bounds) {
  expect_bounds("x BETWEEN 0 AND 120", 0, 120);
  expect_bounds("(x BETWEEN -5 AND 1.5e2 AND sex IS NOT NULL)", -5, 150);
  expect_bounds("((x >= 0) AND (x <= 120))", 0, 120);
  expect_bounds("0 < X AND x < 10 AND x <= 20", 0, 10);
  expect_bounds("(x >= (0)::numeric) AND ((x)::double precision <= '9'::double precision)", 0, 9);
  expect_bounds("x IS NULL OR x >= 3", 3, std::nullopt);
  expect_bounds("(((x >= 3) OR (x IS NULL)) AND (-7 <= x))", 3, std::nullopt);
  expect_bounds("\"x\" >= 1 -- and x <= 2\n/* AND x <= 3 */", 1, std::nullopt);
  EXPECT_EQ(said_by("\"Day\" >= '2010-01-01'::date")[2].min, 14610.0);
}

/// Bounds that hold for a part of the rows are none.
TEST(SqlConditions, WhatIsNotCertainSaysNothing) {
  for (const char* condition : {"x >= 0 OR sex = 'F'",
                                "NOT (x >= 0)",
                                "NOT x >= 0",
                                "abs(x) <= 5",
                                "x + 1 <= 5",
                                "x <= sex",
                                "x <> 5",
                                "x = 5",
                                "(x >= 0 AND x <= 5) OR (x >= 10 AND x <= 20)",
                                "CASE WHEN x >= 0 THEN 1 ELSE 0 END = 1",
                                "x >= 'abc'",
                                "\"X\" >= 0",
                                "y >= 0",
                                "x NOT BETWEEN 0 AND 5",
                                "x >=",
                                ">= 0",
                                "x",
                                "(",
                                "",
                                "x BETWEEN 0",
                                "x >= 'unclosed",
                                ") AND x ("})
    expect_bounds(condition, std::nullopt, std::nullopt);
}

TEST(SqlConditions, Lists) {
  for (const char* condition :
       {"sex IN ('F', 'M', 'it''s')",
        "sex IS NULL OR (sex IN ('F','M','F','it''s'))",
        "((sex)::text = ANY ((ARRAY['F'::character varying, 'M'::character varying, "
        "'it''s'::character varying])::text[]))",
        "(sex = ANY (ARRAY['F'::text, 'M'::text, 'it''s'::text]))"})
    EXPECT_EQ(said_by(condition)[1].values, (Codes{"F", "M", "it's"})) << condition;
  EXPECT_EQ(said_by("sex IN (1, -2, 3)")[1].values, (Codes{"1", "-2", "3"}));
  for (const char* condition : {"sex NOT IN ('F')",
                                "sex IN (SELECT code FROM t)",
                                "sex IN ('F', x)",
                                "sex IN ('F') OR x > 3",
                                "lower(sex) IN ('f')",
                                "sex = 'F'"})
    EXPECT_EQ(said_by(condition)[1].values, Codes{}) << condition;
}

/// A database of this catalogue, which notes what it is asked.
struct Asked {
  std::vector<std::string> queries;
  std::vector<std::pair<std::string, CatalogueRows>> answers;  ///< by a part of the query

  AskCatalogue ask() {
    return [this](const std::string& query) -> Expected<CatalogueRows> {
      queries.push_back(query);
      for (const auto& [part, rows] : answers)
        if (query.find(part) != query.npos) return rows;
      return CatalogueRows();
    };
  }
};

constexpr const char* kStays = R"(CREATE TABLE "stays" ( -- comment, with a comma
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  patient_nbr integer NOT NULL REFERENCES patients (nbr) ON DELETE CASCADE,
  age INT NOT NULL CHECK (age BETWEEN 0 AND 120),
  sex TEXT CHECK (sex IN ('F', 'M')) DEFAULT 'F',
  weight DECIMAL(5, 1) CONSTRAINT light CHECK (weight < 500),
  "ward, floor" VARCHAR(20) COLLATE NOCASE,
  admitted DATE, discharged TIMESTAMP,
  is_smoker BOOLEAN NOT NULL,
  diagnosis TEXT,
  photo,
  CONSTRAINT positive CHECK (weight > 0),
  FOREIGN KEY (diagnosis) REFERENCES diagnoses(code),
  UNIQUE (patient_nbr, admitted)
) STRICT)";

TEST(SqliteCatalogue, IsReadOfCreateTable) {
  Asked database{{}, {{"sqlite_schema", {{"table", kStays}}}}};
  const auto columns = sqlite_catalogue(database.ask(), {"", "stays", {}});
  ASSERT_TRUE(columns) << columns.error().message;
  ASSERT_EQ(columns->size(), 11U);
  const auto& c = *columns;
  EXPECT_TRUE(c[0].key);
  EXPECT_EQ(c[1].refers_to, "patients(nbr)");
  EXPECT_FALSE(c[1].nullable);
  EXPECT_EQ(c[2].type, Type::kInteger);
  EXPECT_EQ(c[2].min, 0.0);
  EXPECT_EQ(c[2].max, 120.0);
  EXPECT_EQ(c[3].values, (Codes{"F", "M"}));
  EXPECT_TRUE(c[3].nullable);
  EXPECT_EQ(c[4].type, Type::kReal);
  EXPECT_EQ(c[4].min, 0.0);
  EXPECT_EQ(c[4].max, 500.0);
  EXPECT_EQ(c[5].name, "ward, floor");
  EXPECT_EQ(c[5].type, Type::kText);
  EXPECT_EQ(c[6].type, Type::kDate);
  EXPECT_EQ(c[7].type, Type::kTime);
  EXPECT_EQ(c[8].type, Type::kBoolean);
  EXPECT_EQ(c[9].refers_to, "diagnoses(code)");
  EXPECT_EQ(c[10].name, "photo");
  EXPECT_EQ(c[10].type, Type::kUnknown);
  EXPECT_EQ(database.queries.size(), 1U) << "and no row of any table";
}

TEST(SqliteCatalogue, CodesOfPublicTablesAlone) {
  Asked database{{},
                 {{"sqlite_schema", {{"table", kStays}}},
                  {"FROM \"diagnoses\"", {{"250"}, {std::nullopt}, {"V27"}}}}};
  const auto columns = sqlite_catalogue(database.ask(), {"", "stays", {"diagnoses"}});
  ASSERT_TRUE(columns) << columns.error().message;
  EXPECT_EQ((*columns)[9].values, (Codes{"250", "V27"}));
  ASSERT_EQ(database.queries.size(), 2U);
  EXPECT_EQ(database.queries[1].find("SELECT DISTINCT \"code\" FROM \"diagnoses\""), 0U);
  EXPECT_FAILS(sqlite_catalogue(database.ask(), {"", "stays", {"diagnosis"}}),
               ErrorKind::kUsage,
               "which no foreign key of 'stays' leads to. Did you mean 'diagnoses'?");
  Asked large = database;
  large.answers[1].second = CatalogueRows(10'001, {"x"});
  EXPECT_FAILS(sqlite_catalogue(large.ask(), {"", "stays", {"diagnoses"}}),
               ErrorKind::kUsage,
               "has more than 10000 codes");
}

TEST(SqliteCatalogue, Refusals) {
  Asked none;
  EXPECT_FAILS(sqlite_catalogue(none.ask(), {"", "o'clock", {}}), ErrorKind::kUsage, "no table");
  EXPECT_NE(none.queries[0].find("'o''clock'"), std::string::npos);
  Asked view{{}, {{"sqlite_schema", {{"view", "CREATE VIEW v AS SELECT 1"}}}}};
  EXPECT_FAILS(sqlite_catalogue(view.ask(), {"", "v", {}}), ErrorKind::kUsage, "is a view");
  for (const char* sql : {"CREATE TABLE t", "CREATE TABLE t (", "CREATE TABLE t (,", ""}) {
    Asked odd{{}, {{"sqlite_schema", {{"table", sql}}}}};
    EXPECT_FAILS(sqlite_catalogue(odd.ask(), {"", "t", {}}), ErrorKind::kBadData, "no columns");
  }
}

TEST(PostgresCatalogue, OfItsSystemTables) {
  Asked database{{},
                 {{"format_type",
                   {{"id", "bigint", "true", std::nullopt},
                    {"age", "integer", "true", "Age, in years"},
                    {"sex", "sex_type", "false", std::nullopt},
                    {"weight", "numeric(5,1)", "false", std::nullopt},
                    {"diagnosis", "character varying(10)", "false", std::nullopt}}},
                  {"pg_enum", {{"sex", "F"}, {"sex", "M"}}},
                  {"pg_get_constraintdef",
                   {{"p", "PRIMARY KEY (id)", "id", {}, {}, {}, {}},
                    {"c", "CHECK (((age >= 0) AND (age <= 120)))", "age", {}, {}, {}, {}},
                    {"c", "CHECK ((weight > (0)::numeric)) NO INHERIT", "weight", {}, {}, {}, {}},
                    {"f", "FOREIGN KEY …", "diagnosis", "codes", "diagnoses", "code", "false"}}},
                  {"FROM \"codes\".\"diagnoses\"", {{"250"}, {"V27"}}}}};
  const auto columns = postgres_catalogue(database.ask(), {"ward", "stays", {"codes.diagnoses"}});
  ASSERT_TRUE(columns) << columns.error().message;
  const auto& c = *columns;
  ASSERT_EQ(c.size(), 5U);
  EXPECT_TRUE(c[0].key);
  EXPECT_EQ(c[1].max, 120.0);
  EXPECT_EQ(c[1].comment, "Age, in years");
  EXPECT_FALSE(c[1].nullable);
  EXPECT_EQ(c[2].values, (Codes{"F", "M"}));
  EXPECT_EQ(c[3].min, 0.0);
  EXPECT_EQ(c[4].refers_to, "codes.diagnoses(code)");
  EXPECT_EQ(c[4].values, (Codes{"250", "V27"}));
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NE(database.queries[k].find("to_regclass('\"ward\".\"stays\"')"), std::string::npos);
    EXPECT_EQ(database.queries[k].find("FROM \"ward\""), std::string::npos) << "no rows";
  }
  Asked none;
  EXPECT_FAILS(
      postgres_catalogue(none.ask(), {"", "stays", {}}), ErrorKind::kUsage, "has no table 'stays'");
}

}  // namespace
}  // namespace sotto
