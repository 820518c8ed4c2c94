// What a path of a database means, and what is refused.

#include "sotto/data/sql/database_path.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sotto/data/load.hpp"

namespace sotto {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

DatabasePath parsed(const std::string& path) {
  const auto result = parse_database_path(path);
  EXPECT_TRUE(result) << result.error().message;
  return result.value_or(DatabasePath());
}

TEST(DatabasePaths, NameATableOrAQuery) {
  const DatabasePath table = parsed("sqlite:data/h.db#patients");
  EXPECT_EQ(table.place, "data/h.db");
  EXPECT_EQ(table.select(), "SELECT * FROM \"patients\"");
  EXPECT_EQ(parsed("sqlite:h.db?SELECT 1").select(), "SELECT 1");
  EXPECT_EQ(parsed("sqlite:h.db#select(1)").select(), "select(1)");
  EXPECT_EQ(parsed("sqlite:h.db# (WITH x AS (SELECT 1) SELECT * FROM x)").table.size(), 0u);
  const DatabasePath remote = parsed("postgresql://me@h:5432/db?sslmode=verify-ca#clinic.stays");
  EXPECT_EQ(remote.place, "postgresql://me@h:5432/db?sslmode=verify-ca");
  EXPECT_EQ(remote.select(), "SELECT * FROM \"clinic\".\"stays\"");
  EXPECT_EQ(parsed("postgres:///db#VALUES (1)").select(), "VALUES (1)");
  EXPECT_EQ(parsed("postgresql://h/db#SELECT a::int, '#' FROM t").query,
            "SELECT a::int, '#' FROM t");
}

TEST(DatabasePaths, NamesAreNamesWhateverTheyHold) {
  EXPECT_EQ(parsed("sqlite:d#a; DROP TABLE b --").quoted_table(), "\"a; DROP TABLE b --\"");
  EXPECT_EQ(parsed("sqlite:d#he said \"x\"").quoted_table(), "\"he said \"\"x\"\"\"");
  EXPECT_THAT(parsed("sqlite:d#\"a.\"\"b\"").table, ElementsAre("a.\"b"));
  EXPECT_THAT(parsed("sqlite:d#\"select 1\"").table, ElementsAre("select 1"));
  EXPECT_THAT(parsed("sqlite:d#select").table, ElementsAre("select"));
  EXPECT_THAT(parsed("sqlite:d#selection of x").table, ElementsAre("selection of x"));
  EXPECT_THAT(parsed("postgresql:///d#\"A.B\".c").table, ElementsAre("A.B", "c"));
}

TEST(DatabasePaths, RefuseWhatSaysNoRows) {
  for (const char* path : {"sqlite:",
                           "sqlite:h.db",
                           "sqlite:h.db#",
                           "sqlite:#t",
                           "sqlite:h.db?patients",
                           "sqlite:h.db?mode=ro",
                           "sqlite:h.db#other.t",
                           "sqlite:h.db#\"t",
                           "sqlite:h.db#\"t\"x",
                           "sqlite:h.db#a.b.c",
                           "sqlite:h.db#a..b",
                           "postgresql://h/db",
                           "postgresql://h/db?SELECT 1",
                           "postgresql://h/db#",
                           "postgresql://h/db#a.b.c"}) {
    const auto result = parse_database_path(path);
    ASSERT_FALSE(result) << path;
    EXPECT_EQ(result.error().kind, ErrorKind::kUsage) << path;
    EXPECT_THAT(result.error().message, HasSubstr(path)) << path;
  }
}

TEST(DatabasePaths, NeverShowAPassword) {
  for (const char* path : {"postgresql://u:secret@h/db#t",
                           "postgresql://u:sec#ret@h/db#t",
                           "postgresql://u:sec/ret@h/db#t",
                           "postgres://u:secret@h",
                           "postgresql://h/db?password=secret#t",
                           "postgresql://h/db?x=y&PassWord=secret",
                           "postgresql://h/db?sslpassword=secret#t",
                           "postgresql://h/db?pass%77ord=secret#t",
                           "postgresql://h/db?x=y&p%61SSword=secret#SELECT 1",
                           "postgresql://h/db? password =secret#t",
                           "postgresql://h/db?passwd=secret#t",
                           "postgresql://h/db?pass%zzword=secret#t",
                           "postgresql://u:secret#select x@h/db#t",
                           "postgresql://u:sec/ret#select x@h/db#t",
                           "postgresql://u:123#select sec@h/db#t"}) {
    const auto result = parse_database_path(path);
    ASSERT_FALSE(result) << path;
    EXPECT_THAT(result.error().message, Not(HasSubstr("sec"))) << path;
    EXPECT_THAT(result.error().message, HasSubstr("pgpass"));
  }
  for (const char* path : {"postgresql://h:5432/db#t@x",
                           "postgresql://h:5432,[::1]:5433/db?application_name=a@b#t",
                           "postgresql://h:5432/db?passfile=x%zz#t",
                           "postgresql://?service=x#SELECT a::text FROM t WHERE a = '@'",
                           "postgresql://me@h:5432/db?options=-cx%3Dy:z@a#SELECT 1"})
    EXPECT_TRUE(parse_database_path(path)) << path;
  EXPECT_TRUE(parse_database_path("postgresql://h/db#SELECT mail FROM t WHERE a = '?password=x'"));
}

TEST(DatabasePaths, KnowTheSameRows) {
  EXPECT_TRUE(parsed("sqlite:./h.db#T").same_rows(parsed("sqlite:./h.db#main.t")));
  EXPECT_FALSE(parsed("sqlite:h.db#t").same_rows(parsed("sqlite:h.db#u")));
  EXPECT_FALSE(parsed("sqlite:h.db#t").same_rows(parsed("sqlite:h.db#SELECT * FROM t")));
  EXPECT_FALSE(parsed("postgresql://h/d#t").same_rows(parsed("postgresql://h/d#T")));
  EXPECT_FALSE(parsed("postgresql://h/d#t").same_rows(parsed("sqlite:h#t")));
}

TEST(DatabasePaths, AreCsvToTheRest) {
  LoadOptions options;
  options.path = "sqlite:data/h.db#main.npy";
  EXPECT_EQ(resolve_format(options)->name, "csv");
  const std::string real = std::filesystem::weakly_canonical("data/h.db");
  EXPECT_THAT(data_files(options),
              ElementsAre("data/h.db", real + "-wal", real + "-shm", real + "-journal"));
  options.path = "postgresql://h/d#t";
  EXPECT_TRUE(data_files(options).empty());
  options.path = "-";
  EXPECT_THAT(data_files(options), ElementsAre("/dev/stdin"));
  options.path = "sqlite:data/h.db#t";
  options.format = *parse_format("libsvm");
  EXPECT_EQ(load_table(options).error().kind, ErrorKind::kUsage);
}

TEST(DatabasePaths, OtherProgramsFilesAreNamed) {
  for (const char* path : {"x.parquet", "x.arrow", "x.feather"}) {
    LoadOptions options;
    options.path = path;
    const auto data = load_table(options);
    ASSERT_FALSE(data);
    EXPECT_EQ(data.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(data.error().message, HasSubstr("Python package"));
  }
}

}  // namespace
}  // namespace sotto
