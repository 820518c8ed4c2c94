// What only SQLite has: files, locks, and values of any type in any column.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/databases/one_file.hpp"
#include "tests/support/child.hpp"

namespace sotto::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(OneFile, NumbersAreTheSameNumbers) {
  database_->run("CREATE TABLE u AS SELECT * FROM t");
  database_->run("UPDATE u SET x = 0.1 + 0.2 WHERE y = 0");
  database_->run("UPDATE u SET x = 1e-7 WHERE y = 1");
  const auto data = load(database_->path("u"));
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->table.row(0)[0], static_cast<float>((0.1 + 0.2) / 10));
  EXPECT_EQ(data->table.row(1)[0], static_cast<float>(1e-7 / 10));
}

// The type of a column is a wish: what a row holds instead is a row that does not fit, and nothing
// else. Worlds that differ in one value leave the same messages, exit code and files behind.
TEST_F(OneFile, NoValueDecidesWhatIsSaid) {
  const auto said = [&](const std::string& value) {
    database_->run("UPDATE t SET x = " + value + " WHERE rowid = 50");
    database_->run("UPDATE t SET c = " + value + " WHERE rowid = 60");
    const std::string model = "m.json";
    const auto run = sotto(training(model) + Words{"--no-refusals --again"});
    EXPECT_EQ(run.code, 0) << value << run.err;
    return run.out + run.err;
  };
  const std::string plain = said("1");
  for (const char* value : {"'text'",
                            "x'00ff'",
                            "9e999",
                            "-9e999",
                            "NULL",
                            "''",
                            "1e300",
                            "zeroblob(3000000)",
                            "x'3132'",
                            "9223372036854775807",
                            "CAST(x'ff' AS TEXT)"})
    EXPECT_EQ(said(value), plain) << value;
  // Bytes are no number, whatever they spell.
  database_->run("UPDATE t SET x = x'372e3235', c = 'A' WHERE rowid = 50");
  const auto refused = load(database_->path("t"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("#t:50:1: the value of 'x' is not a finite"));
  EXPECT_THAT(refused.error().message, Not(AnyOf(HasSubstr("7.25"), HasSubstr("372e3235"))));
}

TEST_F(OneFile, FilesThatAreNone) {
  EXPECT_EQ(load("sqlite:" + file("none.db") + "#t").error().kind, ErrorKind::kIo);
  EXPECT_EQ(load("sqlite:" + dir_.file("") + "#t").error().kind, ErrorKind::kIo);
  dir_.write("text.db", std::string(5000, 'x'));
  EXPECT_EQ(load("sqlite:" + file("text.db") + "#t").error().kind, ErrorKind::kBadData);
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  EXPECT_EQ(load("sqlite:" + file("pipe") + "#t").error().kind, ErrorKind::kIo) << "does not wait";
  std::string damaged = TempDir::read(file("d.db"));
  for (std::size_t k = 5000; k < damaged.size(); ++k) damaged[k] = static_cast<char>(k * 7);
  const auto broken = load("sqlite:" + dir_.write("damaged.db", damaged) + "#t");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().kind, ErrorKind::kBadData);
  // A file of this name, and not a database in memory or an address.
  for (const char* name : {":memory:", "file:d.db?mode=memory"})
    EXPECT_FALSE(load(std::string("sqlite:") + name + "#t"));
  EXPECT_EQ(sotto(Words{"train --epsilon 1 --delta 1e-5 --max-file 1000 --schema",
                        schema_,
                        database_->path("t"),
                        file("m.json")})
                .code,
            3);
}

TEST_F(OneFile, AScalarFunctionOfASchemaIsNotTrusted) {
  database_->run("CREATE VIEW v AS SELECT x, c, y, load_extension('x') AS z FROM t");
  const auto data = load(database_->path("v"));
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().kind, ErrorKind::kUsage);
  for (const char* query : {"SELECT x, c, y FROM t, pragma_table_info('t')",
                            "SELECT load_extension('x')",
                            "PRAGMA writable_schema = 1",
                            "EXPLAIN SELECT * FROM t",
                            "ATTACH 'other.db' AS o",
                            ""})
    EXPECT_FALSE(load("sqlite:" + file("d.db") + "?" + query)) << query;
}

// SQLite quotes what it could not make sense of.
TEST_F(OneFile, WhatSqliteSaysOfARowIsNotShown) {
  database_->run("UPDATE t SET c = 'secret' WHERE x = 5");
  const auto data = load("sqlite:" + file("d.db") +
                         "?SELECT json_extract('{\"a\": 1}', CASE WHEN x = 5 THEN c ELSE '$.a' "
                         "END) AS x, c, y FROM t");
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().kind, ErrorKind::kBadData);
  EXPECT_THAT(data.error().message,
              AllOf(HasSubstr("failed while rows were read"), Not(HasSubstr("ecret"))));
}

TEST_F(OneFile, ALockedDatabaseIsAnErrorThatEnds) {
  database_->run("BEGIN EXCLUSIVE");
  const auto run = sotto(training("m.json"));
  EXPECT_EQ(run.code, 6);
  EXPECT_THAT(run.err, HasSubstr("is locked by another program"));
  EXPECT_FALSE(std::filesystem::exists(file("m.json.journal")));
  database_->run("COMMIT");
  EXPECT_EQ(sotto(training("m.json")).code, 0);
}

TEST_F(OneFile, ANewFileIsItsOwnersAlone) {
  ASSERT_EQ(sotto(training("m.json")).code, 0);
  const std::string made = "sqlite:" + file("new.db") + "#risks";
  const auto run = sotto({"predict", database_->path("t"), file("m.json"), made});
  ASSERT_EQ(run.code, 0) << run.err;
  struct stat facts {};
  ASSERT_EQ(::stat(file("new.db").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
  EXPECT_EQ(sqlite_database(file("new.db"))->rows("SELECT count(*) FROM risks"),
            std::vector<std::string>{"100"});
  // None is left where nothing is written.
  database_->run("INSERT INTO t VALUES (1, 'A', 2)");
  const auto misfit = sotto(
      {"predict", database_->path("t"), file("m.json"), "sqlite:" + file("other.db") + "#risks"});
  EXPECT_EQ(misfit.code, 3);
  EXPECT_FALSE(std::filesystem::exists(file("other.db")));
  EXPECT_EQ(sotto({"predict",
                   database_->path("SELECT x FROM t"),
                   file("m.json"),
                   "sqlite:" + file("d.db") + "#sqlite_risks"})
                .code,
            2);
}

TEST_F(OneFile, FilesAreNotWrittenOver) {
  ASSERT_EQ(sotto(training("m.json")).code, 0);
  const std::string model = TempDir::read(file("m.json"));
  EXPECT_EQ(
      sotto({"predict", database_->path("t"), file("m.json"), "sqlite:" + file("m.json") + "#r"})
          .code,
      2);
  EXPECT_EQ(TempDir::read(file("m.json")), model);
  const std::string rows = TempDir::read(file("d.db"));
  Words over = training("m.json");
  over.pop_back();
  over.push_back(file("d.db"));
  EXPECT_EQ(sotto(over + Words{"--overwrite"}).code, 2) << "a model over the rows";
  EXPECT_EQ(sotto({"predict --overwrite", database_->path("t"), file("m.json"), file("d.db")}).code,
            2);
  // The same file by another name, and the same table.
  std::filesystem::create_symlink(file("d.db"), file("link.db"));
  EXPECT_EQ(sotto({"predict --overwrite",
                   database_->path("t"),
                   file("m.json"),
                   "sqlite:" + file("link.db") + "#main.T"})
                .code,
            2);
  EXPECT_EQ(TempDir::read(file("d.db")), rows);
}

// The first signal ends it, and the database is as it was.
TEST_F(OneFile, AnInterruptedRunWritesNothing) {
  ASSERT_EQ(sotto(training("m.json")).code, 0);
  const std::string endless = "sqlite:" + file("d.db") +
                              "?WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                              "SELECT i % 10 AS x, 'A' AS c FROM n";
  const std::string before = TempDir::read(file("d.db"));
  const pid_t child = started(
      Words{
          std::string(SOTTO_BINARY), "predict", endless, file("m.json"), database_->path("risks")},
      "/dev/null");
  ASSERT_TRUE(wait_for_handler(child, SIGINT));
  ::usleep(300'000);
  ::kill(child, SIGINT);
  EXPECT_EQ(ended(child), 130);
  EXPECT_EQ(TempDir::read(file("d.db")), before);
  EXPECT_FALSE(std::filesystem::exists(file("d.db-journal")));
}

// A query that takes long before its first row.
TEST_F(OneFile, AQueryThatGivesNoRowEnds) {
  const std::string endless = "sqlite:" + file("d.db") +
                              "?WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                              "SELECT i AS x, 'A' AS c, 1 AS y FROM n WHERE i < 0";
  const pid_t child = started(Words{std::string(SOTTO_BINARY),
                                    "train",
                                    "--epsilon",
                                    "1",
                                    "--delta",
                                    "1e-5",
                                    "--schema",
                                    schema_,
                                    endless,
                                    file("m.json")},
                              "/dev/null");
  ASSERT_TRUE(wait_for_handler(child, SIGINT));
  ::usleep(300'000);
  ::kill(child, SIGINT);
  EXPECT_EQ(ended(child), 130);
  EXPECT_FALSE(std::filesystem::exists(file("m.json.journal")));
}

TEST_F(OneFile, PasswordsAreNotSaid) {
  const std::string path = "postgresql://u:sesame@127.0.0.1:1/d#t";
  for (const Words& words :
       {Words{"train --epsilon 1 --delta 1e-5 --schema", schema_, path, file("p.json")},
        Words{"train a b", path},
        Words{"data info --schema", schema_, path},
        Words{"predict", path, file("p.json"), "-"},
        Words{"predict", database_->path("t"), file("p.json"), path},
        Words{"audit --one-run --epsilon 1 --delta 1e-5 --journal j", path}}) {
    const auto run = sotto(words);
    EXPECT_NE(run.code, 0);
    EXPECT_THAT(run.out + run.err, Not(HasSubstr("sesame"))) << words.front();
  }
}

}  // namespace
}  // namespace sotto::testing
