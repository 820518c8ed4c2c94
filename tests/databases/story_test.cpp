// The story of docs/guide/database.md, in whichever database: from a table to scores beside it, and
// to the same scores by a view.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "tests/databases/database.hpp"
#include "tests/support/predictions.hpp"

namespace sotto::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPeople = R"(
  age integer NOT NULL CHECK (age BETWEEN 0 AND 100),
  education_years integer NOT NULL CHECK (education_years BETWEEN 0 AND 16),
  hours_per_week integer NOT NULL CHECK (hours_per_week BETWEEN 0 AND 100),
  savings double precision NOT NULL CHECK (savings >= 0),
  commute_minutes integer NOT NULL CHECK (commute_minutes BETWEEN 0 AND 120),
  sector varchar(20) NOT NULL CHECK (sector IN ('private', 'public', 'self-employed', 'none')),
  occupation varchar(20) REFERENCES occupations (code),
  marital_status varchar(20) NOT NULL
    CHECK (marital_status IN ('single', 'married', 'divorced', 'widowed')),
  region varchar(20) NOT NULL CHECK (region IN ('north', 'east', 'south', 'west', 'capital')),
  sex varchar(20) NOT NULL CHECK (sex IN ('female', 'male')),
  income varchar(20) CHECK (income IN ('low', 'high')))";

class Story : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string why_not;
    database_ = GetParam() == std::string("Sqlite") ? sqlite_database(dir_.file("census.db"))
                                                    : postgres_database(why_not);
    if (!database_) GTEST_SKIP() << why_not;
    ASSERT_EQ(sotto({"demo --out", dir_.file("demo")}).code, 0);
    database_->run("CREATE TABLE occupations (code varchar(20) PRIMARY KEY)");
    database_->run(
        "INSERT INTO occupations VALUES ('manager'), ('professional'), ('technician'), ('clerk'), "
        "('sales'), ('craft'), ('service'), ('labour')");
    fill("people", "demo/train.csv", true);
    fill("surveyed", "demo/test.csv", true);
    fill("newcomers", "demo/test.csv", false);
  }

  /// A table of a CSV file of the demo's first rows.
  void fill(const std::string& table, const std::string& file, bool with_income) {
    database_->run(fmt::format("CREATE TABLE {} (id integer PRIMARY KEY, {})", table, kPeople));
    std::string values;
    int id = 0;
    for (const std::string& line : lines_of(TempDir::read(dir_.file(file)))) {
      if (id > kRows) break;
      if (id++ == 0) continue;
      std::string row = std::to_string(id - 1);
      std::istringstream fields(line);
      int place = 0;
      for (std::string field; std::getline(fields, field, ','); ++place)
        row += place == 10 && !with_income ? ", NULL"
               : field.empty()             ? ", NULL"
               : place < 5                 ? ", " + field
                                           : ", '" + field + "'";
      values += (values.empty() ? "(" : ", (") + row + ")";
    }
    database_->run(fmt::format("INSERT INTO {} VALUES {}", table, values));
  }
  std::string path(const std::string& table) const { return database_->path(table); }
  std::string file(const std::string& name) const { return dir_.file(name); }
  CommandResult done(const Words& command) const {
    auto run = sotto(command);
    EXPECT_EQ(run.code, 0) << run.err;
    return run;
  }

  static constexpr int kRows = 2000;
  TempDir dir_;
  std::unique_ptr<TestDatabase> database_;
};

TEST_P(Story, FromATableToScoresBesideIt) {
  done({"schema new --label income --positive high --public-table occupations --table",
        path("people"),
        file("people.toml")});
  const std::string draft = TempDir::read(file("people.toml"));
  const std::regex question("max = \"TODO:[^\n]*");
  EXPECT_TRUE(std::regex_search(draft, question)) << draft;
  dir_.write("people.toml", std::regex_replace(draft, question, "max = 100"));
  EXPECT_THAT(done({"schema check --table", path("people"), file("people.toml")}).out,
              HasSubstr("no warnings"));
  done({"train -q --epsilon 3 --delta 1e-5 --schema",
        file("people.toml"),
        path("people"),
        file("model.json")});
  EXPECT_THAT(done({"evaluate", path("surveyed"), file("model.json")}).out, HasSubstr("AUC 0."));
  done({"predict --keep id", path("newcomers"), file("model.json"), path("scores")});
  EXPECT_EQ(database_->rows("SELECT count(*) FROM scores"), std::vector{std::to_string(kRows)});
  done({"export --table newcomers --keep id --view risk", file("model.json"), file("model.sql")});
  database_->run(TempDir::read(file("model.sql")));
  EXPECT_EQ(database_->rows("SELECT count(*) FROM risk JOIN scores ON risk.id = CAST(scores.id AS "
                            "integer) WHERE abs(risk.probability - scores.probability) < 1e-6"),
            std::vector{std::to_string(kRows)});
}

INSTANTIATE_TEST_SUITE_P(All, Story, ::testing::Values("Sqlite", "Postgres"), [](const auto& each) {
  return std::string(each.param);
});

}  // namespace
}  // namespace sotto::testing
