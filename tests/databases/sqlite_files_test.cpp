// Whose file a SQLite database is: what other programs, and Sotto's own outputs, leave of it.

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "sotto/core/file_system.hpp"
#include "sotto/data/sql/sql_rows.hpp"
#include "tests/databases/one_file.hpp"
#include "tests/support/child.hpp"

namespace sotto::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A query and a view read a table, too, whatever it is called there.
TEST_F(OneFile, TheRowsTableIsKeptHoweverItIsSpelled) {
  ASSERT_EQ(sotto(training("m.json")).code, 0);
  database_->run("CREATE VIEW v AS SELECT * FROM T; CREATE VIEW w AS SELECT * FROM v");
  database_->run("CREATE TABLE other AS SELECT * FROM t");
  const std::string place = "sqlite:" + file("d.db");
  for (const std::string rows : {"?SELECT * FROM t",
                                 "#SELECT x, c FROM main.\"T\" WHERE x > 1",
                                 "?WITH r AS (SELECT * FROM t) SELECT * FROM r",
                                 "?SELECT o.x, o.c FROM other o WHERE 0 < (SELECT count(*) FROM t)",
                                 "#v",
                                 "#w",
                                 "?SELECT * FROM v"}) {
    const auto run =
        sotto({"predict --overwrite", place + rows, file("m.json"), database_->path("t")});
    EXPECT_EQ(run.code, 2) << rows << run.err;
    EXPECT_THAT(run.err, HasSubstr("over the data, which comes from")) << rows;
  }
  EXPECT_EQ(database_->rows("SELECT count(*) FROM t"), std::vector<std::string>{"100"});
  const auto run = sotto({"predict --overwrite",
                          place + "?SELECT * FROM t",
                          file("m.json"),
                          database_->path("other")});
  EXPECT_EQ(run.code, 0) << run.err;
}

TEST_F(OneFile, TestRowsAreNotTheTrainingTable) {
  database_->run("CREATE VIEW v AS SELECT * FROM t");
  const std::string place = "sqlite:" + file("d.db");
  const auto trained = [&](const std::string& rows, const std::string& test) {
    return sotto({"train --seed 1 --epsilon 1 --delta 1e-5 --quiet --again --schema",
                  schema_,
                  place + rows,
                  file("m.json"),
                  std::string("--test"),
                  place + test});
  };
  for (const auto& [rows, test] : {std::pair("#t", "?SELECT * FROM t"),
                                   std::pair("#t", "#v"),
                                   std::pair("#v", "#T"),
                                   std::pair("?SELECT * FROM t WHERE x < 5", "#t"),
                                   std::pair("#v", "?SELECT * FROM v WHERE x < 5")}) {
    const auto run = trained(rows, test);
    EXPECT_EQ(run.code, 2) << rows << test << run.err;
    EXPECT_THAT(run.err, HasSubstr("is the training data")) << rows << test;
  }
  EXPECT_FALSE(std::filesystem::exists(file("m.json.journal")));
  const auto parts = trained("?SELECT * FROM t WHERE x < 5", "?SELECT * FROM t WHERE x >= 5");
  EXPECT_EQ(parts.code, 0) << parts.err;
}

// What a database has not taken back or copied yet is in files beside it.
TEST_F(OneFile, FilesBesideTheDatabaseAreItsOwn) {
  ASSERT_EQ(sotto(training("m.json")).code, 0);
  std::filesystem::create_symlink(file("d.db"), file("link.db"));
  for (const char* ending : {"-wal", "-shm", "-journal"}) {
    const std::string beside = file("d.db") + ending;
    for (const std::string& rows : {database_->path("t"), "sqlite:" + file("link.db") + "#t"}) {
      for (const std::string& output : {beside, "sqlite:" + beside + "#risks"}) {
        const auto run = sotto({"predict", rows, file("m.json"), output});
        EXPECT_EQ(run.code, 2) << output << run.err;
      }
      EXPECT_EQ(sotto(training(std::string("d.db") + ending)).code, 2) << "a model there";
      EXPECT_FALSE(std::filesystem::exists(beside));
    }
  }
}

TEST_F(OneFile, AStreamIsNoDatabase) {
  ASSERT_EQ(sotto(training("m.json")).code, 0);
  const std::string taken = dir_.write("taken.db", TempDir::read(file("d.db")));
  const std::string before = TempDir::read(taken);
  std::filesystem::create_symlink("/dev/stdout", file("link"));
  for (const std::string& stream :
       {std::string("/dev/stdout"), std::string("/dev/fd/1"), file("link")}) {
    const std::string line = shell_line({"predict --overwrite",
                                         database_->path("t"),
                                         file("m.json"),
                                         "sqlite:" + stream + "#risks"});
    const int status = std::system((line + " >>" + quoted(taken) + " 2>/dev/null").c_str());
    EXPECT_EQ(WEXITSTATUS(status), 2) << stream;
    EXPECT_EQ(TempDir::read(taken), before) << stream;
  }
  const std::string device = "sqlite:/dev/null#risks";
  EXPECT_EQ(sotto({"predict", database_->path("t"), file("m.json"), device}).code, 6);
}

TEST_F(OneFile, VirtualTablesAndTheirPartsAreNotReplaced) {
  ASSERT_EQ(sotto(training("m.json")).code, 0);
  database_->run("CREATE VIRTUAL TABLE words USING fts5(word); INSERT INTO words VALUES ('a')");
  for (const char* name : {"words", "Words", "words_data", "words_content"}) {
    const auto run =
        sotto({"predict --overwrite", database_->path("t"), file("m.json"), database_->path(name)});
    EXPECT_EQ(run.code, 2) << name << run.err;
    EXPECT_THAT(run.err, HasSubstr("never replaced")) << name;
  }
  EXPECT_EQ(database_->rows("SELECT word FROM words('a')"), std::vector<std::string>{"a"});
}

TEST_F(OneFile, AQueryHasNoParameters) {
  for (const char* condition : {"?", "?1", ":least", "@least", "$least"}) {
    const auto data =
        load("sqlite:" + file("d.db") + "?SELECT * FROM t WHERE x > " + std::string(condition));
    ASSERT_FALSE(data) << condition;
    EXPECT_EQ(data.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(data.error().message, HasSubstr(std::string("a parameter (") + condition + ")"));
  }
}

TEST_F(OneFile, NamesThatDifferInCaseAreRefusedBeforeRowsAreScored) {
  ASSERT_EQ(sotto(training("m.json")).code, 0);
  // A row that does not fit would be told of, were it read.
  const std::string rows =
      "sqlite:" + file("d.db") + "?SELECT x, c, 2 AS y, 1 AS Prediction FROM t";
  const auto run = sotto({"predict --keep Prediction", rows, file("m.json"), database_->path("r")});
  EXPECT_EQ(run.code, 2) << run.err;
  EXPECT_THAT(run.err, HasSubstr("two columns"));
}

// As a program that was killed while it wrote leaves it.
TEST_F(OneFile, AnInterruptedWriteIsToldOf) {
  database_->rows("PRAGMA cache_size = 1");
  database_->run("BEGIN; CREATE TABLE long AS SELECT t.* FROM t, t AS u, t AS v LIMIT 100000");
  dir_.write("torn.db", TempDir::read(file("d.db")));
  const std::string journal = TempDir::read(file("d.db-journal"));
  ASSERT_FALSE(journal.empty());
  dir_.write("torn.db-journal", journal);
  database_->run("ROLLBACK");
  const auto torn = load("sqlite:" + file("torn.db") + "#t");
  ASSERT_FALSE(torn);
  EXPECT_EQ(torn.error().kind, ErrorKind::kIo);
  EXPECT_THAT(torn.error().message, HasSubstr("must be taken back first"));
  EXPECT_EQ(sqlite_database(file("torn.db"))->rows("SELECT count(*) FROM t"),
            std::vector<std::string>{"100"});
  EXPECT_TRUE(load("sqlite:" + file("torn.db") + "#t"));
}

TEST_F(OneFile, AFolderThatIsClosedIsToldOf) {
  if (::geteuid() == 0) GTEST_SKIP() << "no folder is closed to root";
  std::filesystem::create_directory(file("closed"));
  const std::string closed = dir_.file("closed/d.db");
  sqlite_database(closed)->rows("PRAGMA journal_mode = WAL");
  sqlite_database(closed)->run("CREATE TABLE t AS SELECT 1 AS x, 'A' AS c, 1 AS y");
  std::filesystem::permissions(file("closed"), std::filesystem::perms(0500));
  const auto data = load("sqlite:" + closed + "#t");
  std::filesystem::permissions(file("closed"), std::filesystem::perms(0700));
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().kind, ErrorKind::kIo);
  EXPECT_THAT(data.error().message, HasSubstr("must write to the folder"));
}

// A file that can't grow is as a full disk is. SQLite leaves the journal there if that happens
// before the last row.
TEST_F(OneFile, AFullDiskLeavesWhatCanBeRead) {
  ASSERT_EQ(sotto(training("m.json")).code, 0);
  database_->run("CREATE TABLE padding AS SELECT zeroblob(8000000) AS bytes");
  const std::string many =
      "sqlite:" + file("d.db") + "?SELECT t.* FROM t, t AS u, t AS v LIMIT 150000";
  const auto units = std::filesystem::file_size(file("d.db")) / 512 + 20;  // of a shell
  const auto run = sotto({"predict --keep c", many, file("m.json"), database_->path("risks")},
                         fmt::format("trap '' XFSZ; ulimit -f {};", units));
  EXPECT_EQ(run.code, 6) << run.err;
  EXPECT_THAT(run.err, HasSubstr("a row can't be written"));
  EXPECT_FALSE(std::filesystem::exists(file("d.db-journal")));
  const auto data = load(database_->path("t"));
  EXPECT_TRUE(data) << data.error().message;
  EXPECT_TRUE(database_->rows("SELECT * FROM sqlite_schema WHERE name = 'risks'").empty());
}

TEST_F(OneFile, NoFileDecidesHowMuchMemoryARowTakes) {
  database_->run("CREATE VIEW large AS SELECT x, zeroblob(900000000) AS c, y FROM t");
  const auto data = load(database_->path("large"));
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().kind, ErrorKind::kBadData);
  EXPECT_THAT(data.error().message, HasSubstr("more bytes than may be held"));
}

// Both began when there was no file.
TEST_F(OneFile, WritersOfANewFileDoNotTakeItFromEachOther) {
  const auto path = *parse_database_path("sqlite:" + file("new.db") + "#risks");
  const std::vector<OutputColumn> columns = {{"row", OutputColumn::Type::kInteger}};
  auto given_up = create_sqlite_table(path, columns, false);
  ASSERT_TRUE(given_up) << given_up.error().message;
  given_up->reset();
  EXPECT_TRUE(std::filesystem::exists(file("new.db"))) << "somebody may have it open";
  const auto made = create_sqlite_table(path, columns, false);
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_TRUE((*made)->commit());
  ASSERT_FALSE(create_sqlite_table(path, columns, false));
  EXPECT_EQ(sqlite_database(file("new.db"))->rows("SELECT count(*) FROM risks"),
            std::vector<std::string>{"0"});
}

/// Another program makes the same database just before this one makes its file.
class Meanwhile final : public FileSystem {
 public:
  explicit Meanwhile(const std::string& file) : file_(file) {}
  int open(const char* path, int flags, mode_t mode) override {
    if ((flags & O_CREAT) != 0 && !std::exchange(done_, true))
      sqlite_database(file_)->run("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (7)");
    return FileSystem::open(path, flags, mode);
  }

 private:
  std::string file_;
  bool done_ = false;
};

TEST_F(OneFile, AFileThatAnotherProgramMadeIsNotReplaced) {
  const auto path = *parse_database_path("sqlite:" + file("new.db") + "#risks");
  Meanwhile files(file("new.db"));
  const FileSystemInUse in_use(files);
  const auto made = create_sqlite_table(path, {{"row", OutputColumn::Type::kInteger}}, false);
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_TRUE((*made)->commit());
  const auto database = sqlite_database(file("new.db"));
  EXPECT_THAT(database->rows("SELECT x FROM theirs"), ElementsAre("7"));
  EXPECT_THAT(database->rows("SELECT count(*) FROM risks"), ElementsAre("0"));
}

TEST_F(OneFile, ATableThatWasWrittenIsThere) {
  ASSERT_EQ(sotto(training("m.json")).code, 0);
  const auto writer = [&](const std::string& name) {
    return started(Words{std::string(SOTTO_BINARY),
                         "predict",
                         database_->path("t"),
                         file("m.json"),
                         "sqlite:" + file("new.db") + "#" + name},
                   "/dev/null");
  };
  for (int k = 0; k < 10; ++k) {
    const bool same_name = k % 2 == 0;
    std::filesystem::remove(file("new.db"));
    const pid_t first = writer("a");
    const pid_t second = writer(same_name ? "a" : "b");
    const bool first_did = ended(first) == 0;
    const bool second_did = ended(second) == 0;
    EXPECT_TRUE(same_name ? first_did != second_did : first_did && second_did) << k;
    const auto database = sqlite_database(file("new.db"));
    const std::vector<const char*> names = same_name ? std::vector{"a"} : std::vector{"a", "b"};
    for (const char* name : names)
      EXPECT_THAT(database->rows(fmt::format("SELECT count(*) FROM {}", name)), ElementsAre("100"))
          << k;
  }
}

}  // namespace
}  // namespace sotto::testing
