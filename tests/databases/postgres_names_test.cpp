// A table is the same one however it is spelled, and no name is another's.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/databases/postgres_server.hpp"

namespace sotto::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using PostgresNames = PostgresServer;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST_F(PostgresNames, RowsAreNotReplacedHoweverTheyAreSpelled) {
  database_->run(
      "CREATE TABLE other AS SELECT * FROM t;"
      "CREATE VIEW v AS SELECT * FROM t;"
      "CREATE VIEW w AS SELECT * FROM v WHERE x > 1;"
      "CREATE TABLE child () INHERITS (t)");
  const std::string t = database_->path("t");
  const std::string by_name = replaced(t, "127.0.0.1", "localhost");
  for (const auto& [from, to] : {std::pair(t, database_->path("public.t")),
                                 std::pair(database_->path("public.t"), t),
                                 std::pair(t, by_name),
                                 std::pair(database_->path("SELECT * FROM t"), t),
                                 std::pair(database_->path("SELECT * FROM w"), by_name),
                                 std::pair(database_->path("v"), t),
                                 std::pair(database_->path("SELECT * FROM other WHERE x IN "
                                                           "(SELECT x FROM t)"),
                                           t)}) {
    const auto run = predict(from, to, {"--overwrite"});
    EXPECT_EQ(run.code, 2) << from << " to " << to << run.err;
    EXPECT_THAT(run.err, HasSubstr("written over the data"));
  }
  EXPECT_THAT(database_->rows("SELECT count(c) FROM t"), ElementsAre("100"));
  // What is not read is replaced: another table, and one of this name in another database.
  const auto other = predict(database_->path("w"), database_->path("other"), {"--overwrite"});
  EXPECT_EQ(other.code, 0) << other.err;
  std::string why_not;
  const auto elsewhere = postgres_database(why_not);
  elsewhere->run("CREATE TABLE t (x integer)");
  const auto far = predict(t, elsewhere->path("t"), {"--overwrite"});
  EXPECT_EQ(far.code, 0) << far.err;
  EXPECT_THAT(elsewhere->rows("SELECT count(prediction) FROM t"), ElementsAre("100"));
}

TEST_F(PostgresNames, TestRowsAreNotTheTrainingRowsHoweverTheyAreSpelled) {
  database_->run("CREATE TABLE other AS SELECT * FROM t");
  const auto tested = [&](const std::string& rows, const std::string& test) {
    return sotto({"train --epsilon 1 --delta 1e-5 --quiet --again --schema",
                  schema_,
                  "--test",
                  test,
                  rows,
                  file("m.json")});
  };
  const std::string t = database_->path("t");
  const std::string query = database_->path("SELECT * FROM t WHERE x < 5");
  for (const auto& [rows, test] : {std::pair(t, database_->path("public.t")),
                                   std::pair(t, replaced(t, "127.0.0.1", "localhost")),
                                   std::pair(query, replaced(query, "127.0.0.1", "localhost"))}) {
    const auto run = tested(rows, test);
    EXPECT_EQ(run.code, 2) << test << run.err;
    EXPECT_THAT(run.err, HasSubstr("is the training data"));
  }
  for (const auto& [rows, test] :
       {std::pair(t, database_->path("other")),
        std::pair(query, database_->path("SELECT * FROM t WHERE x >= 5"))}) {
    const auto run = tested(rows, test);
    EXPECT_EQ(run.code, 0) << test << run.err;
  }
}

// The server would cut them, and find or make another.
TEST_F(PostgresNames, LongNamesAreRefused) {
  const std::string longest(63, 'n');
  database_->run("CREATE TABLE " + longest + " AS SELECT * FROM t");
  EXPECT_EQ(train(database_->path(longest)).code, 0);
  for (const std::string& name : {longest + "n", longest + "n.t", "public." + longest + "n"}) {
    const auto run = train(database_->path(name));
    EXPECT_EQ(run.code, 2) << run.err;
    EXPECT_THAT(run.err, HasSubstr("longer than 63 bytes"));
    EXPECT_EQ(predict(database_->path("t"), database_->path(name), {"--overwrite"}).code, 2);
  }
  EXPECT_THAT(database_->rows("SELECT count(c) FROM " + longest), ElementsAre("100"));
  const std::string schema =
      dir_.write("l.toml",
                 "[file]\nheader = true\n" + std::string(kOne) + "[[column]]\nname = \"" + longest +
                     "n\"\nkind = \"ignore\"\n");
  std::string csv = "x,c,y," + longest + "n\n";
  for (int k = 0; k < 20; ++k) csv += k % 2 == 0 ? "1,A,t,k\n" : "9,A,f,k\n";
  const std::string rows = dir_.write("l.csv", csv);
  ASSERT_EQ(
      sotto({"train -q --epsilon 1 --delta 1e-5 --schema", schema, rows, file("l.json")}).code, 0);
  const auto kept =
      sotto({"predict --keep", longest + "n", rows, file("l.json"), database_->path("kept")});
  EXPECT_EQ(kept.code, 2) << kept.err;
  EXPECT_THAT(kept.err, HasSubstr("longer than 63 bytes"));
}

// `$user` stands before `public`: a name may mean a table there and a new one here.
TEST_F(PostgresNames, ANameMeansOneTable) {
  database_->run(
      "CREATE SCHEMA sotto; CREATE TABLE public.risks (kept integer);"
      "CREATE TABLE public.parts (k integer) PARTITION BY LIST (k);"
      "CREATE TABLE public.part PARTITION OF public.parts FOR VALUES IN (1);"
      "CREATE TABLE public.child () INHERITS (public.risks);"
      "INSERT INTO public.parts VALUES (1)");
  const std::string where =
      "SELECT schemaname || '.' || tablename FROM pg_tables WHERE tablename = ";
  database_->run("DROP TABLE public.child");
  const auto run = predict(database_->path("t"), database_->path("risks"), {"--overwrite"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(database_->rows(where + "'risks'"), ElementsAre("public.risks"));
  EXPECT_THAT(database_->rows("SELECT count(prediction) FROM public.risks"), ElementsAre("100"));
  EXPECT_EQ(predict(database_->path("t"), database_->path("fresh")).code, 0);
  EXPECT_THAT(database_->rows(where + "'fresh'"), ElementsAre("sotto.fresh"));
  const auto part = predict(database_->path("t"), database_->path("part"), {"--overwrite"});
  EXPECT_EQ(part.code, 2) << part.err;
  EXPECT_THAT(part.err, HasSubstr("a part of another one"));
  EXPECT_THAT(database_->rows("SELECT k FROM parts"), ElementsAre("1"));
}

}  // namespace
}  // namespace sotto::testing
