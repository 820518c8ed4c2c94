// What a database's rows become, whichever database it is.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "sotto/data/row_blocks.hpp"
#include "tests/databases/database.hpp"
#include "tests/support/command.hpp"
#include "tests/support/predictions.hpp"

namespace sotto::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// What a schema says of a file means nothing for a database: nothing here fits one.
constexpr const char* kFilePart = R"([file]
header = false
separator = ";"
comment = "p"
skip_lines = 3
)";
constexpr const char* kMissing = "missing = [\"?\", \"\"]\n";
constexpr const char* kColumns = R"([[column]]
name = "id"
kind = "unit"
[[column]]
name = "age"
kind = "numeric"
min = 0
max = 100
filler = 50
[[column]]
name = "ward"
kind = "categorical"
values = ["A", " B", "C, \"old\"", "x'ff'"]
other = true
missing_indicator = true
[[column]]
name = "y"
kind = "label"
positive = ["1"]
negative = ["0"]
)";

class AnyDatabase : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string why_not;
    database_ = GetParam() == std::string("Sqlite") ? sqlite_database(dir_.file("d.db"))
                                                    : postgres_database(why_not);
    if (!database_) GTEST_SKIP() << why_not;
    schema_ = dir_.write("s.toml", std::string(kFilePart) + kMissing + kColumns);
    csv_schema_ =
        dir_.write("c.toml", std::string("[file]\nheader = true\n") + kMissing + kColumns);
  }

  bool is_sqlite() const { return GetParam() == std::string("Sqlite"); }
  std::string file(const std::string& name) const { return dir_.file(name); }
  void make_patients(const std::string& name = "patients") {
    database_->run(fmt::format("CREATE TABLE {} (id text, age {}, ward text, y {})",
                               name,
                               database_->real(),
                               database_->integer()));
  }
  /// 200 stays of 70 persons, as CSV has them and as the table does.
  std::string fill_patients() {
    make_patients();
    std::string csv = "id,age,ward,y\n";
    std::string sql;
    const std::vector<std::pair<std::string, std::string>> wards = {
        {"A", "'A'"},
        {"\" B\"", "' B'"},
        {"\"C, \"\"old\"\"\"", "'C, \"old\"'"},
        {"", "NULL"},
        {"elsewhere", "'elsewhere'"}};
    for (int i = 0; i < 200; ++i) {
      const double age = i / 7.0 + 1e-7 * i;
      const auto& [in_csv, in_sql] = wards[static_cast<std::size_t>(i) % wards.size()];
      csv += fmt::format("\"p{0}\\, it's\",{1},{2},{3}\n",
                         i % 70,
                         i % 9 == 0 ? "" : fmt::format("{}", age),
                         in_csv,
                         i * 7 % 200 / 100);
      sql += fmt::format("INSERT INTO patients VALUES ('p{0}\\, it''s', {1}, {2}, {3});",
                         i % 70,
                         i % 9 == 0 ? "NULL" : fmt::format("{}", age),
                         in_sql,
                         i * 7 % 200 / 100);
    }
    database_->run("BEGIN;" + sql + "COMMIT;");
    return dir_.write("patients.csv", csv);
  }
  CommandResult train(const std::string& data, const std::string& model, const Words& more = {}) {
    const bool csv = data.ends_with(".csv");
    return sotto(Words{"train --seed 3 --epsilon 2 --delta 1e-5 --quiet --schema",
                       csv ? csv_schema_ : schema_,
                       data,
                       file(model)} +
                 more);
  }
  json weights(const std::string& model) const {
    return json::parse(TempDir::read(file(model))).at("weights");
  }
  Expected<Dataset> load(const std::string& target, Misfits misfits = Misfits::kRefuse) const {
    LoadOptions options;
    options.path = database_->path(target);
    options.schema = schema_;
    options.misfits = misfits;
    return load_table(options);
  }
  static std::vector<float> row(const Dataset& data, std::int64_t i) {
    return {data.table.row(i), data.table.row(i) + data.table.dim()};
  }

  TempDir dir_;
  std::unique_ptr<TestDatabase> database_;
  std::string schema_, csv_schema_;
};

INSTANTIATE_TEST_SUITE_P(Databases,
                         AnyDatabase,
                         ::testing::Values("Sqlite", "Postgres"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(AnyDatabase, GivesTheSameBitsAsCsv) {
  const std::string csv = fill_patients();
  LoadOptions options;
  options.path = csv;
  options.schema = csv_schema_;
  const auto from_csv = load_table(options);
  ASSERT_TRUE(from_csv) << from_csv.error().message;
  for (const char* target :
       {"patients", "SELECT * FROM patients", "SELECT y, ward, age, id FROM patients"}) {
    const auto from_here = load(target);
    ASSERT_TRUE(from_here) << from_here.error().message;
    ASSERT_EQ(from_here->table.rows(), from_csv->table.rows()) << target;
    ASSERT_EQ(from_here->table.units(), 70);
    for (std::int64_t i = 0; i < from_csv->table.rows(); ++i)
      ASSERT_EQ(row(*from_here, i), row(*from_csv, i)) << target << ", row " << i;
    EXPECT_TRUE(std::equal(from_csv->table.labels().begin(),
                           from_csv->table.labels().end(),
                           from_here->table.labels().begin()));
  }
  for (const auto& [data, model] :
       {std::pair(csv, "a.json"), std::pair(database_->path("patients"), "b.json")}) {
    const auto run = train(data, model);
    ASSERT_EQ(run.code, 0) << run.err;
  }
  EXPECT_EQ(weights("a.json"), weights("b.json"));
}

TEST_P(AnyDatabase, NullIsMissingAndATextIsAText) {
  make_patients();
  database_->run(
      "INSERT INTO patients VALUES ('a', 50, NULL, 1), ('b', NULL, 'A', 0), "
      "('c', 50, '?', 1), ('d', 50, '', 1), (NULL, 50, 'A', 0)");
  // A schema in which no text is missing: NULL still is.
  schema_ = dir_.write("s.toml", std::string(kFilePart) + "missing = [\"nothing\"]\n" + kColumns);
  const auto data = load("patients", Misfits::kNull);
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_EQ(data->table.rows(), 5);
  // age, A, " B", C, x'ff', other, missing
  EXPECT_THAT(row(*data, 0), ElementsAre(0.5F, 0, 0, 0, 0, 0, 1));
  EXPECT_THAT(row(*data, 1), ElementsAre(0.5F, 1, 0, 0, 0, 0, 0)) << "the filler";
  EXPECT_THAT(row(*data, 2), ElementsAre(0.5F, 0, 0, 0, 0, 1, 0)) << "a text like others";
  EXPECT_THAT(row(*data, 3), ElementsAre(0.5F, 0, 0, 0, 0, 1, 0)) << "an empty text";
  EXPECT_THAT(data->table.null_units(), ElementsAre(0, 0, 0, 0, 1)) << "names nobody";
  const auto refused = load("patients");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kBadData);
  EXPECT_THAT(refused.error().message, HasSubstr("#patients:5:1: the value of 'id' is missing"));
}

TEST_P(AnyDatabase, ARowIsOneRecordWhateverItsTextsHold) {
  make_patients();
  // Each is a person of its own, and none of them a comment, a line or a separator.
  const std::vector<std::string> ids = {"p",
                                        "p ",
                                        " p",
                                        "p\np",
                                        "p\\np",
                                        "\"p\"",
                                        "p,p",
                                        "p;p",
                                        "\\",
                                        "\\\\",
                                        "\n",
                                        "p\r",
                                        "\xEF\xBB\xBFp",
                                        "''p",
                                        "#p",
                                        "p\tp",
                                        "\x01",
                                        "NULL"};
  std::string sql;
  for (const std::string& id : ids) {
    std::string quoted_id;
    for (const char c : id) quoted_id += c == '\'' ? std::string("''") : std::string(1, c);
    sql += fmt::format("INSERT INTO patients VALUES ('{}', 20, 'A', 1);", quoted_id);
  }
  database_->run(sql);
  const auto data = load("patients");
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->table.rows(), std::ssize(ids));
  EXPECT_EQ(data->table.units(), std::ssize(ids));
  // And they come out as they went in.
  ASSERT_EQ(train(database_->path("patients"), "m.json", {"--method gd"}).code, 0);
  const auto scored = sotto(
      {"predict --keep id", database_->path("patients"), file("m.json"), database_->path("risks")});
  ASSERT_EQ(scored.code, 0) << scored.err;
  EXPECT_EQ(database_->rows("SELECT count(*) FROM risks JOIN patients ON risks.id = patients.id"),
            std::vector{std::to_string(ids.size())});
}

TEST_P(AnyDatabase, EmptyTextsAndNullsStayDifferentOnTheirWayBack) {
  fill_patients();
  ASSERT_EQ(train(database_->path("patients"), "m.json", {"--method gd"}).code, 0);
  make_patients("newer");
  database_->run("INSERT INTO newer VALUES ('', 50, 'A', NULL), (NULL, 50, 'A', NULL)");
  const auto run = sotto(
      {"predict --keep id", database_->path("newer"), file("m.json"), database_->path("risks")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(database_->rows("SELECT id FROM risks"), ElementsAre("", "NULL"));
}

// As from a CSV file, where both are written the same.
TEST_P(AnyDatabase, NeitherNullNorAnEmptyTextIsSomebody) {
  fill_patients();
  ASSERT_EQ(train(database_->path("patients"), "m.json", {"--method gd"}).code, 0);
  make_patients("newer");
  database_->run(
      "INSERT INTO newer VALUES ('', 50, 'A', NULL), ('', 40, 'A', NULL), (NULL, 30, 'A', NULL), "
      "(NULL, 20, 'A', NULL), ('p', 10, 'A', NULL), ('p', 5, 'A', NULL)");
  const auto run = sotto({"predict --keep id --top 10 --one-per id",
                          database_->path("newer"),
                          file("m.json"),
                          database_->path("risks")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(database_->rows("SELECT count(*) FROM risks"), ElementsAre("5"));
  EXPECT_THAT(database_->rows("SELECT count(*) FROM risks WHERE id = ''"), ElementsAre("2"));
  EXPECT_THAT(database_->rows("SELECT count(*) FROM risks WHERE id = 'p'"), ElementsAre("1"));
}

TEST_P(AnyDatabase, WritesWhatTheFileWouldHold) {
  const std::string csv = fill_patients();
  ASSERT_EQ(train(csv, "m.json").code, 0);
  const auto to_file = sotto({"predict --flag-share 0.1", csv, file("m.json"), file("o.csv")});
  ASSERT_EQ(to_file.code, 0) << to_file.err;
  const std::string patients = database_->path("patients");
  const std::string risks = database_->path("\"the \"\"risks\"\"; DROP TABLE patients\"");
  const Words predict = Words{"predict --flag-share 0.1", patients, file("m.json"), risks};
  const auto to_table = sotto(predict);
  ASSERT_EQ(to_table.code, 0) << to_table.err;
  EXPECT_EQ(to_table.out, to_file.out);
  std::vector<std::string> lines = lines_of(TempDir::read(file("o.csv")));
  lines.erase(lines.begin());
  const std::string all =
      "SELECT row, prediction, probability, flagged FROM "
      "\"the \"\"risks\"\"; DROP TABLE patients\"";
  const auto written = database_->rows(all);
  ASSERT_EQ(written.size(), lines.size());
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const auto here = column("row,prediction,probability,flagged\n" + lines[k], "probability");
    std::string cells = lines[k];
    std::replace(cells.begin(), cells.end(), ',', '|');
    // Numbers are numbers there, and their texts may differ.
    EXPECT_EQ(written[k].substr(0, written[k].find('|', 3)), cells.substr(0, cells.find('|', 3)));
    const std::string probability =
        written[k].substr(written[k].find('|', written[k].find('|') + 1) + 1);
    EXPECT_EQ(std::stod(probability), std::stod(here.front())) << written[k];
  }
  // A table that is there is kept, unless it is to be replaced.
  const auto kept = sotto(predict);
  EXPECT_EQ(kept.code, 2);
  EXPECT_THAT(kept.err, HasSubstr("--overwrite"));
  const auto replaced = sotto(predict + Words{"--overwrite --one-per age"});
  EXPECT_EQ(replaced.code, 2) << "one-per without top";
  EXPECT_EQ(database_->rows(all), written) << "a refusal replaces nothing";
  const auto again =
      sotto({"predict --top 5 --overwrite", patients, file("m.json"), database_->path("top")});
  EXPECT_EQ(again.code, 0) << again.err;
  const auto once_more =
      sotto({"predict --top 3 --overwrite", patients, file("m.json"), database_->path("top")});
  EXPECT_EQ(once_more.code, 0) << once_more.err;
  EXPECT_THAT(database_->rows("SELECT count(*) FROM top"), ElementsAre("3"));
  EXPECT_THAT(database_->rows("SELECT count(*) FROM patients"), ElementsAre("200"));
}

TEST_P(AnyDatabase, NoTableIsHalfWritten) {
  fill_patients();
  ASSERT_EQ(train(database_->path("patients"), "m.json").code, 0);
  database_->run(
      "CREATE TABLE risks (kept integer); INSERT INTO risks VALUES (7);"
      "CREATE VIEW seen AS SELECT kept FROM risks");
  const std::string patients = database_->path("patients");
  // Over its own rows, into what is no table, into a query, and with a row that does not fit.
  database_->run("INSERT INTO patients VALUES ('x', 5, 'A', 9)");
  const auto misfit =
      sotto({"predict --overwrite", patients, file("m.json"), database_->path("risks")});
  EXPECT_EQ(misfit.code, 3) << misfit.err;
  for (const char* target : {"patients", "seen", "SELECT 1"}) {
    const auto run =
        sotto({"predict --overwrite", patients, file("m.json"), database_->path(target)});
    EXPECT_EQ(run.code, 2) << target << run.err;
  }
  EXPECT_THAT(database_->rows("SELECT kept FROM seen"), ElementsAre("7"));
  EXPECT_THAT(database_->rows("SELECT count(*) FROM patients"), ElementsAre("201"));
}

TEST_P(AnyDatabase, RefusesWhatIsNoQueryThatReads) {
  fill_patients();
  const auto message = [&](const std::string& target, ErrorKind kind) {
    const auto data = load(target);
    EXPECT_FALSE(data) << target;
    if (data) return std::string();
    EXPECT_EQ(data.error().kind, kind) << target << ": " << data.error().message;
    return data.error().message;
  };
  message("SELECT * FROM patients; DROP TABLE patients", ErrorKind::kUsage);
  message("WITH x AS (SELECT 1) DELETE FROM patients", ErrorKind::kUsage);
  message("SELECT 1) TO PROGRAM 'true'; --", ErrorKind::kUsage);
  EXPECT_THAT(message("nowhere", ErrorKind::kUsage), HasSubstr("nowhere"));
  message("PATIENTS; DROP TABLE patients", ErrorKind::kUsage);
  message("SELECT nothing FROM patients", ErrorKind::kUsage);
  EXPECT_THAT(message("SELECT id, age, ward FROM patients", ErrorKind::kBadData),
              HasSubstr("no column 'y'"));
  EXPECT_THAT(message("SELECT *, 1 AS more FROM patients", ErrorKind::kBadData),
              HasSubstr("'more'"));
  EXPECT_THAT(message("SELECT *, 1 AS age FROM patients", ErrorKind::kBadData),
              HasSubstr("'age' twice"));
  message("SELECT * FROM patients WHERE age > 1000", ErrorKind::kBadData);
  database_->run("CREATE TABLE pictures (id text, age integer, ward " + database_->bytes() +
                 ", y integer); INSERT INTO pictures VALUES ('a', 1, NULL, 1)");
  EXPECT_THAT(message("pictures", ErrorKind::kBadData), HasSubstr("'ward' holds bytes"));
  EXPECT_THAT(database_->rows("SELECT count(*) FROM patients"), ElementsAre("200"));
}

TEST_P(AnyDatabase, HostileNamesAreNamesOnly) {
  const std::string name = "a \"b\"; DROP TABLE patients; --' .c";
  fill_patients();
  database_->run(
      "CREATE TABLE \"a \"\"b\"\"; DROP TABLE patients; --' .c\" AS SELECT * FROM patients");
  const auto data = load("\"a \"\"b\"\"; DROP TABLE patients; --' .c\"");
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->table.rows(), 200);
  // Blanks and marks need no quotes.
  database_->run("CREATE TABLE \"my stays; --\" AS SELECT * FROM patients");
  EXPECT_TRUE(load("my stays; --"));
  EXPECT_THAT(database_->rows("SELECT count(*) FROM patients"), ElementsAre("200"));
}

TEST_P(AnyDatabase, AViewThatFailsHalfWayTellsNoRow) {
  fill_patients();
  database_->run("CREATE TABLE numbers (x integer)");
  std::string sql;
  for (int k = 0; k < 100; ++k) sql += fmt::format("INSERT INTO numbers VALUES ({});", k);
  database_->run(sql + "CREATE VIEW broken AS SELECT 'p' || x AS id, 0 AS y, 'A' AS ward, " +
                 database_->fails_at_50() + " AS age FROM numbers");
  const auto run = train(database_->path("broken"), "m.json");
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("failed while rows were read"), Not(HasSubstr("secret"))));
  EXPECT_FALSE(std::filesystem::exists(file("m.json.journal"))) << "nothing is charged";
  ASSERT_EQ(train(database_->path("patients"), "m.json").code, 0);
  const auto scored =
      sotto({"predict", database_->path("broken"), file("m.json"), database_->path("risks")});
  EXPECT_EQ(scored.code, 3) << scored.err;
  EXPECT_THAT(scored.err, Not(HasSubstr("secret")));
  EXPECT_EQ(
      sotto({"predict", database_->path("patients"), file("m.json"), database_->path("risks")})
          .code,
      0)
      << "no table was left";
}

// All rows are as they were when the first was asked for.
TEST_P(AnyDatabase, ReadsOneMoment) {
  make_patients();
  const std::string many =
      is_sqlite()
          ? "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) "
            "INSERT INTO patients SELECT 'somebody number ' || i, i % 100, 'A', i % 2 FROM n"
          : "INSERT INTO patients SELECT 'somebody number ' || i, i % 100, 'A', i % 2 FROM "
            "generate_series(1, 300000) i";
  if (is_sqlite()) database_->rows("PRAGMA journal_mode = WAL");  // else a writer would wait
  database_->run(many);
  LoadOptions options;
  options.path = database_->path("patients");
  options.schema = schema_;
  auto blocks = open_rows(options);
  ASSERT_TRUE(blocks) << blocks.error().message;
  RowBlock block;
  ASSERT_TRUE(*(*blocks)->next(block));
  std::int64_t rows = block.table.rows();
  ASSERT_LT(rows, 300'000);
  database_->run("INSERT INTO patients SELECT * FROM patients");
  for (;;) {
    const auto more = (*blocks)->next(block);
    ASSERT_TRUE(more) << more.error().message;
    if (!*more) break;
    rows += block.table.rows();
  }
  EXPECT_EQ(rows, 300'000);
}

TEST_P(AnyDatabase, EveryVerbReadsIt) {
  const std::string csv = fill_patients();
  const std::string patients = database_->path("patients");
  database_->run("CREATE TABLE testing AS SELECT * FROM patients");
  const auto trained =
      train(patients, "m.json", {"--test", database_->path("testing"), "--record", file("r.json")});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto itself = train(patients, "n.json", {"--test", patients});
  EXPECT_EQ(itself.code, 2);
  EXPECT_THAT(itself.err, HasSubstr("is the training data"));
  // A model that was trained on the file, whose schema says what the file is like.
  ASSERT_EQ(train(csv, "m.json", {"--again"}).code, 0);
  const auto same = [&](const Words& before, const Words& after) {
    const auto here = sotto(before + Words{patients} + after);
    const auto there = sotto(before + Words{csv} + after);
    EXPECT_EQ(here.code, 0) << here.err;
    EXPECT_EQ(here.out, there.out) << there.err;
    EXPECT_EQ(here.err, there.err);
  };
  same({"evaluate"}, {file("m.json")});
  same({"predict"}, {file("m.json"), "-"});
  const auto info = sotto({"data info --json --schema", schema_, patients});
  EXPECT_EQ(json::parse(info.out).at("units"), 70) << info.err;
  EXPECT_EQ(json::parse(info.out).at("format"), is_sqlite() ? "sqlite" : "postgresql");
  EXPECT_EQ(sotto({"data info --unsafe-diagnostics --schema", schema_, patients}).code, 0);
  EXPECT_EQ(sotto({"data check --schema", schema_, patients}).code, 0);
  const auto converted = sotto({"data convert --schema", schema_, patients, file("x.svm")});
  EXPECT_THAT(converted.err, HasSubstr("the rows belong to persons")) << "they were read";
  EXPECT_EQ(sotto({"recalibrate", patients, file("m.json"), file("c.json")}).code, 0);
  const auto audited = sotto({"audit --one-run --canaries 10 --journal",
                              file("j"),
                              "--epsilon 2 --delta 1e-5 --schema",
                              schema_,
                              patients});
  EXPECT_EQ(audited.code, 0) << audited.err;
  const auto bare = sotto({"train --epsilon 1 --delta 1e-5", patients, file("z.json")});
  EXPECT_EQ(bare.code, 2);
  EXPECT_THAT(bare.err, HasSubstr("a database needs a schema"));
}

}  // namespace
}  // namespace sotto::testing
