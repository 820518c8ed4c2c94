// Drafts of schemas from the declarations of tables, whichever database holds them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/databases/database.hpp"
#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Drafts : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string why_not;
    database_ = GetParam() == std::string("Sqlite") ? sqlite_database(dir_.file("d.db"))
                                                    : postgres_database(why_not);
    if (!database_) GTEST_SKIP() << why_not;
    for (const char* sql :
         {"CREATE TABLE wards (code varchar(9) PRIMARY KEY, name text)",
          "INSERT INTO wards VALUES ('W1', 'Ward'), ('W2', 'Ward')",
          "CREATE TABLE patients (nbr integer PRIMARY KEY, name text)",
          "INSERT INTO patients VALUES (777, 'SECRET')",
          "CREATE TABLE stays (id integer PRIMARY KEY, "
          "patient integer NOT NULL REFERENCES patients(nbr), "
          "age integer NOT NULL CHECK (age BETWEEN 0 AND 120), "
          "weight numeric(5,1) CHECK (weight > 0 AND weight <= 500), "
          "sex varchar(9) CHECK (sex IN ('F', 'M') OR sex IS NULL), "
          "admitted date NOT NULL CHECK (admitted >= '2010-01-01' AND admitted <= '2030-12-31'), "
          "ward varchar(9) REFERENCES wards(code), smoker boolean NOT NULL, "
          "back varchar(9) NOT NULL CHECK (back IN ('yes', 'no')))",
          "INSERT INTO stays VALUES (1, 777, 55, 70.5, 'F', '2020-02-02', 'W1', true, 'yes')"})
      database_->run(sql);
  }
  Words draft(const Words& more) const {
    return Words{"schema new - --label back --positive yes --person patient --table",
                 database_->path("stays")} +
           more;
  }

  TempDir dir_;
  std::unique_ptr<TestDatabase> database_;
};

TEST_P(Drafts, AreSchemasOfDeclarationsWithoutARow) {
  const auto run = sotto(draft("--public-table wards"));
  ASSERT_EQ(run.code, 0) << run.err;
  for (const char* part : {"name = \"id\"\nkind = \"ignore\"\n",
                           "name = \"patient\"\nkind = \"unit\"\n",
                           "name = \"age\"\nkind = \"numeric\"\nmin = 0\nmax = 120\n",
                           "name = \"weight\"\nkind = \"numeric\"\nmin = 0\nmax = 500\n",
                           "name = \"sex\"\nkind = \"categorical\"\nvalues = [\"F\", \"M\"]\n",
                           "min = \"2010-01-01\"\nmax = \"2030-12-31\"\n",
                           "values = [\"W1\", \"W2\"]\n",
                           "positive = [\"yes\"]\nnegative = [\"no\"]\n"})
    EXPECT_THAT(run.out, HasSubstr(part));
  EXPECT_THAT(run.out,
              AllOf(Not(HasSubstr("TODO:")),
                    Not(HasSubstr("SECRET")),
                    Not(HasSubstr("777")),
                    Not(HasSubstr("70.5"))));
  const auto checked = sotto({"schema check", dir_.write("s.toml", run.out)});
  EXPECT_EQ(checked.code, 0) << checked.err;
  // What is drafted reads the table that it was drafted from.
  const auto fits = sotto({"data check --schema", dir_.file("s.toml"), database_->path("stays")});
  EXPECT_EQ(fits.code, 0) << fits.err;
}

TEST_P(Drafts, CodesOfATableThatNobodyCalledPublicAreAsked) {
  const auto run = sotto(draft({}));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("values = \"TODO: the codes of wards(code), in a list?"),
                    Not(HasSubstr("W1"))));
  EXPECT_EQ(sotto(draft("--public-table patient")).code, 2);
  EXPECT_EQ(sotto({"schema new - --table", database_->path("nothing")}).code, 2);
  EXPECT_EQ(sotto({"schema new - --table", database_->path("SELECT 1")}).code, 2);
  EXPECT_EQ(
      sotto({"schema new - --public-table wards --header", dir_.write("a.csv", "x,y\n")}).code, 2);
}

INSTANTIATE_TEST_SUITE_P(All,
                         Drafts,
                         ::testing::Values("Sqlite", "Postgres"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace sotto::testing
