// What only a server has: users and passwords, other machines, and connections that break.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "sotto/data/load.hpp"
#include "tests/databases/postgres_server.hpp"
#include "tests/support/child.hpp"

namespace sotto::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(PostgresServer, BooleansAndFilledTextsAreWhatTheyMean) {
  const auto run = train(database_->path("t"));
  EXPECT_EQ(run.code, 0) << run.err;
  LoadOptions options;
  options.path = database_->path("t");
  options.schema = schema_;
  const auto data = load_table(options);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->table.row(0)[1], 1) << "char(5) is 'A' without the blanks that fill it";
  options.path = database_->path("SELECT FROM t");
  const auto none = load_table(options);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("its rows have no columns"));
}

TEST_F(PostgresServer, PasswordsComeFromTheirPlaces) {
  database_->run("DROP ROLE IF EXISTS guarded; CREATE ROLE guarded LOGIN");
  // This server asks nobody; that libpq is handed the place is seen by an open one.
  const std::string path = with("sotto@", "guarded@");
  database_->run("GRANT SELECT ON t TO guarded");
  EXPECT_EQ(train(path).code, 0);
  database_->run("REVOKE SELECT ON t FROM guarded");
  const auto refused = train(path);
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("permission denied"), HasSubstr("42501")));
  const auto nobody = train(with("sotto@", "nobody_of_this_name@"));
  EXPECT_EQ(nobody.code, 6);
  EXPECT_THAT(nobody.err, HasSubstr("nobody_of_this_name"));
  const auto by_service =
      train("postgresql:///?service=here#t",
            "printf '[here]\\nhost=127.0.0.1\\nport=1\\n' > " + in_quotes(file("services")) +
                "; PGSERVICEFILE=" + in_quotes(file("services")) + " ");
  EXPECT_EQ(by_service.code, 6) << by_service.err;
  EXPECT_THAT(by_service.err, HasSubstr("port 1 "));
}

// 192.0.2.0/24 is nobody's (RFC 5737): that nothing was sent there shows in the exit code's haste.
TEST_F(PostgresServer, OtherMachinesMustProveWhoTheyAre) {
  for (const char* weaker : {"disable", "allow", "require"}) {
    const auto run = train(
        "postgresql://me@192.0.2.1/d?connect_timeout=2&sslmode=" + std::string(weaker) + "#t");
    EXPECT_EQ(run.code, 2) << run.err;
    EXPECT_THAT(run.err, HasSubstr("verify-full"));
  }
  const auto among = train("postgresql://127.0.0.1,192.0.2.1/d?sslmode=disable#t");
  EXPECT_EQ(among.code, 2) << "one of several hosts";
  const auto address = train("postgresql://localhost/d?hostaddr=192.0.2.1&sslmode=disable#t");
  EXPECT_EQ(address.code, 2) << "an address stands before a name";
  for (const char* name : {"127.example.org", "localhost.example.org", "127.0.0.1.example.org"})
    EXPECT_EQ(train("postgresql://" + std::string(name) + "/d?sslmode=disable#t").code, 2) << name;
  const auto by_environment = train("postgresql://192.0.2.1/d#t", "PGSSLMODE=disable");
  EXPECT_EQ(by_environment.code, 2);
  // Not named: verify-full. This address is one that leads to the tests' own server, which has no
  // certificate; libpq by itself would do without.
  const auto unnamed = train(with("127.0.0.1", "0.0.0.0"));
  EXPECT_EQ(unnamed.code, 6) << unnamed.err;
  EXPECT_THAT(unnamed.err, HasSubstr("SSL"));
}

TEST_F(PostgresServer, NoticesAreNotShown) {
  database_->run(
      "CREATE FUNCTION shout(integer) RETURNS integer LANGUAGE plpgsql AS "
      "$$BEGIN RAISE NOTICE 'secret %', $1; RAISE WARNING 'secret'; RETURN $1; END$$");
  const auto run = train(database_->path("SELECT shout(1) AS x, c, y FROM t"));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err + run.out, Not(HasSubstr("secret")));
}

TEST_F(PostgresServer, AFunctionThatWritesIsRefused) {
  database_->run(
      "CREATE TABLE log (x integer); CREATE FUNCTION sneak(numeric) RETURNS numeric LANGUAGE sql "
      "AS $$INSERT INTO log VALUES (1); SELECT $1$$");
  const auto run = train(database_->path("SELECT sneak(x) AS x, c, y FROM t"));
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_THAT(run.err, HasSubstr("SQLSTATE 25006")) << "the transaction reads only";
}

TEST_F(PostgresServer, ALostConnectionChargesNothing) {
  database_->run(
      "CREATE FUNCTION slow(boolean) RETURNS boolean LANGUAGE plpgsql AS "
      "$$BEGIN PERFORM pg_sleep(0.2); RETURN $1; END$$");
  const std::string path = database_->path("SELECT x, c, slow(y) AS y FROM t");
  const std::string said = file("said");
  const pid_t child = started(Words{std::string(SOTTO_BINARY),
                                    "train",
                                    "--epsilon",
                                    "1",
                                    "--delta",
                                    "1e-5",
                                    "--schema",
                                    schema_,
                                    path,
                                    file("m.json")},
                              said);
  const std::string other = "FROM pg_stat_activity WHERE application_name = 'sotto'";
  ASSERT_TRUE(wait_until([&] { return database_->rows("SELECT pid " + other).size() == 1; }));
  ::usleep(500'000);
  database_->rows("SELECT pg_terminate_backend(pid) " + other);
  EXPECT_EQ(ended(child), 6);
  EXPECT_THAT(TempDir::read(said), HasSubstr("the connection to the server was lost"));
  EXPECT_FALSE(std::filesystem::exists(file("m.json.journal")));
}

TEST_F(PostgresServer, ASignalEndsAWaitAndTheQuery) {
  const std::string path = database_->path("SELECT x, c, y FROM t, pg_sleep(600)");
  const pid_t child = started(Words{std::string(SOTTO_BINARY),
                                    "train",
                                    "--epsilon",
                                    "1",
                                    "--delta",
                                    "1e-5",
                                    "--schema",
                                    schema_,
                                    path,
                                    file("m.json")},
                              "/dev/null");
  const std::string other = "SELECT pid FROM pg_stat_activity WHERE application_name = 'sotto'";
  ASSERT_TRUE(wait_until([&] { return database_->rows(other).size() == 1; }));
  ::usleep(300'000);
  ::kill(child, SIGINT);
  EXPECT_EQ(ended(child), 130);
  EXPECT_TRUE(wait_until([&] { return database_->rows(other).empty(); })) << "the query ended, too";
}

TEST_F(PostgresServer, NothingIsWrittenWithoutPermission) {
  ASSERT_EQ(train(database_->path("t")).code, 0);
  database_->run(
      "DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN; GRANT SELECT ON t TO reader");
  std::string output = with("sotto@", "reader@");
  output.replace(output.find("#t"), 2, "#risks");
  const auto run = sotto({"predict", database_->path("t"), file("m.json"), output});
  EXPECT_EQ(run.code, 2) << run.err;
  EXPECT_THAT(run.err, HasSubstr("the table can't be made"));
  database_->run(
      "CREATE TABLE risks (kept integer); INSERT INTO risks VALUES (7);"
      "CREATE VIEW seen AS SELECT kept FROM risks");
  const auto needed = sotto(
      {"predict --overwrite", database_->path("t"), file("m.json"), database_->path("risks")});
  EXPECT_EQ(needed.code, 2) << needed.err;
  EXPECT_THAT(database_->rows("SELECT kept FROM risks"), ElementsAre("7"));
}

}  // namespace
}  // namespace sotto::testing
