// What a server says of rows is not shown, whenever it says it; and what it can't say is not made
// up.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sotto/data/load.hpp"
#include "tests/databases/postgres_server.hpp"
#include "tests/support/child.hpp"

namespace sotto::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class PostgresWords : public PostgresServer {
 protected:
  /// In a database with another encoding.
  void use(const std::string& encoding) {
    std::string why_not;
    database_ = postgres_database(why_not, encoding);
    ASSERT_TRUE(database_) << why_not;
    database_->run("CREATE TABLE t (x double precision, c text, y text)");
  }
  Expected<Dataset> load(Misfits misfits) const {
    LoadOptions options;
    options.path = database_->path("t");
    options.schema = schema_;
    options.misfits = misfits;
    return load_table(options);
  }
  /// From now on COMMIT takes its time where rows were written into `risks`.
  void make_commits_slow() {
    database_->run(
        "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN "
        "IF NEW.row = 1 THEN PERFORM pg_sleep(600); END IF; RETURN NEW; END$$;"
        "CREATE FUNCTION made() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN "
        "CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON risks DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION slow(); END$$;"
        "CREATE EVENT TRIGGER made ON ddl_command_end WHEN TAG IN ('CREATE TABLE') "
        "EXECUTE FUNCTION made()");
  }
  /// `sotto predict` into `risks`, which waits in its COMMIT.
  pid_t start_commit(const std::string& said) {
    EXPECT_EQ(train(database_->path("t")).code, 0);
    make_commits_slow();
    const pid_t child = started(Words{std::string(SOTTO_BINARY),
                                      "predict",
                                      database_->path("t"),
                                      file("m.json"),
                                      database_->path("risks")},
                                said);
    EXPECT_TRUE(wait_until([&] { return database_->rows(kCommits).size() == 1; }));
    return child;
  }

  static constexpr const char* kCommits =
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'sotto' AND query = 'COMMIT' AND "
      "wait_event = 'PgSleep'";
};

// Functions of constants run while the query is planned, and read rows: by any code, with any
// words.
TEST_F(PostgresWords, OfFunctionsThatRunBeforeTheFirstRowAreNotShown) {
  for (const auto& [state, code] : {std::pair("P0001", 3),
                                    std::pair("22P02", 3),
                                    std::pair("23505", 3),
                                    std::pair("XX000", 3),
                                    std::pair("42P01", 2),
                                    std::pair("57P01", 2),
                                    std::pair("08006", 2)}) {
    database_->run(
        "CREATE OR REPLACE FUNCTION tells(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS "
        "$$DECLARE s text; BEGIN SELECT 'secret' || max(x) INTO s FROM t; RAISE EXCEPTION '%', s "
        "USING ERRCODE = '" +
        std::string(state) + "'; END$$");
    const auto run = train(database_->path("SELECT tells(1) AS x, c, y FROM t"));
    EXPECT_EQ(run.code, code) << run.err;
    EXPECT_THAT(run.err,
                AllOf(HasSubstr(state), Not(HasSubstr("secret")), Not(HasSubstr("was lost"))));
  }
  const auto divided = train(database_->path("SELECT 1/0 AS x, c, y FROM t"));
  EXPECT_EQ(divided.code, 3) << divided.err;
  EXPECT_THAT(train(database_->path("SELECT nothing FROM t")).err, HasSubstr("\"nothing\""));
}

TEST_F(PostgresWords, ParametersAreNamedAsWhatTheyAre) {
  const auto run = train(database_->path("SELECT $1::float8 AS x, c, y FROM t"));
  EXPECT_EQ(run.code, 2) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("$1"), Not(HasSubstr("was lost"))));
}

TEST_F(PostgresWords, WhereOnlyReadingIsAllowedNoTableIsMade) {
  const auto run = predict(database_->path("t"),
                           database_->path("risks"),
                           {},
                           "PGOPTIONS='-c default_transaction_read_only=on'");
  EXPECT_EQ(run.code, 2) << run.err;
  EXPECT_THAT(run.err, HasSubstr("default_transaction_read_only"));
}

// Bytes that are no text end no run that refuses no row: they are bytes, as in CSV.
TEST_F(PostgresWords, BytesWithoutAnEncodingAreAsInCsv) {
  use("SQL_ASCII");
  const Words train = Words{
      "train --seed 3 --epsilon 2 --delta 1e-5 --quiet --no-refusals --again --schema", schema_};
  std::string csv = "x,c,y\n";
  for (int k = 0; k < 40; ++k) {
    const std::string c = k == 7 ? "\xff\xfe" : "A";
    csv += std::to_string(k % 10) + "," + c + (k % 2 == 0 ? ",t\n" : ",f\n");
    database_->run("INSERT INTO t VALUES (" + std::to_string(k % 10) + ", '" + c +
                   (k % 2 == 0 ? "', 't')" : "', 'f')"));
  }
  const std::string with_header =
      dir_.write("h.toml", std::string("[file]\nheader = true\n") + kOne);
  const auto here = sotto(train + Words{database_->path("t"), file("a.json")});
  ASSERT_EQ(here.code, 0) << here.err;
  Words from_csv =
      Words{"train --seed 3 --epsilon 2 --delta 1e-5 --quiet --no-refusals --again --schema",
            with_header};
  const auto there = sotto(from_csv + Words{dir_.write("t.csv", csv), file("b.json")});
  ASSERT_EQ(there.code, 0) << there.err;
  const auto weights = [&](const std::string& model) {
    return nlohmann::json::parse(TempDir::read(file(model))).at("weights");
  };
  EXPECT_EQ(weights("a.json"), weights("b.json"));
}

TEST_F(PostgresWords, NoByteEndsTheReadingWhereThatIsPromised) {
  for (const char* encoding : {"LATIN1",
                               "LATIN2",
                               "LATIN4",
                               "LATIN5",
                               "LATIN6",
                               "LATIN7",
                               "LATIN8",
                               "LATIN9",
                               "LATIN10",
                               "WIN1256",
                               "WIN866",
                               "KOI8R",
                               "KOI8U",
                               "ISO_8859_5",
                               "SQL_ASCII"}) {
    use(encoding);
    database_->run("INSERT INTO t SELECT 1, convert_from(set_byte('\\x00'::bytea, 0, i), '" +
                   std::string(encoding) + "'), 't' FROM generate_series(1, 255) i");
    const auto data = load(Misfits::kNull);
    ASSERT_TRUE(data) << encoding << data.error().message;
    EXPECT_EQ(data->table.rows(), 255) << encoding;
  }
}

// By what is public: whether a row holds such a byte decides nothing.
TEST_F(PostgresWords, EncodingsWithHolesKeepNoSuchPromise) {
  use("WIN1252");
  database_->run("INSERT INTO t VALUES (1, 'A', 't')");
  EXPECT_TRUE(load(Misfits::kRefuse));
  const auto clean = load(Misfits::kNull);
  database_->run("INSERT INTO t VALUES (1, E'\\x81', 't')");
  const auto with_it = load(Misfits::kNull);
  ASSERT_FALSE(clean);
  ASSERT_FALSE(with_it);
  EXPECT_EQ(clean.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(clean.error().message, HasSubstr("WIN1252"));
  EXPECT_EQ(with_it.error().message, clean.error().message);
  const auto refused = load(Misfits::kRefuse);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kBadData);
}

TEST_F(PostgresWords, AConnectionLostAtTheEndLeavesItUnknown) {
  const std::string said = file("said");
  const pid_t child = start_commit(said);
  database_->rows(std::string("SELECT pg_terminate_backend(pid) FROM (") + kCommits + ") s");
  EXPECT_EQ(ended(child), 6);
  EXPECT_THAT(TempDir::read(said),
              AllOf(HasSubstr("is unknown"),
                    HasSubstr("\"public\".\"risks\" has 100 rows"),
                    Not(HasSubstr("Nothing was kept"))));
}

TEST_F(PostgresWords, ASignalAtTheEndLeavesItUnknown) {
  const std::string said = file("said");
  const pid_t child = start_commit(said);
  ::kill(child, SIGINT);
  EXPECT_EQ(ended(child), 130);
  EXPECT_THAT(TempDir::read(said), AllOf(HasSubstr("is unknown"), Not(HasSubstr("nothing was"))));
}

}  // namespace
}  // namespace sotto::testing
