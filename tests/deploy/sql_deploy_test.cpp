// A model as SQL, run by SQLite and PostgreSQL and compared with `sotto predict`.

#include <gmock/gmock.h>

#include "sotto/model/deploy/sql_encoding.hpp"
#include "tests/deploy/databases.hpp"
#include "tests/deploy/support.hpp"

namespace sotto::testing {
namespace {

using ::testing::HasSubstr;

SqlRunner runner_of(const std::string& name) { return name == "sqlite" ? sqlite() : postgres(); }

std::string value_of(const nlohmann::json& value) {
  if (value.is_null()) return "NULL";
  if (value.is_string()) return deploy::sql_string(value.get<std::string>());
  return fmt::format("{}", value.get<double>());
}

/// CREATE TABLE and INSERT of typed rows, with a number for each.
std::string table_of(const HostileRows& rows) {
  std::string text = "CREATE TABLE \"rows\" (\"row no\" INTEGER";
  const auto columns = HostileRows::columns();
  for (std::size_t j = 0; j < columns.size(); ++j)
    text += ", " + deploy::sql_name(columns[j]) +
            (HostileRows::is_text(j) ? " TEXT"
             : j < 4                 ? " DOUBLE PRECISION"
                                     : " SMALLINT");
  text += ");\n";
  int number = 0;
  for (const auto& row : typed_rows(rows)) {
    text += fmt::format("INSERT INTO \"rows\" VALUES ({}", ++number);
    for (const auto& value : row) text += ", " + value_of(value);
    text += ");\n";
  }
  return text;
}

class Sql : public ::testing::TestWithParam<std::tuple<std::string, std::size_t>> {};

TEST_P(Sql, GivesWhatPredictGives) {
  const SqlRunner database = runner_of(std::get<0>(GetParam()));
  if (!database.why_not.empty()) GTEST_SKIP() << database.why_not;
  const DeployCase which = deploy_cases()[std::get<1>(GetParam())];
  const DeployedModel deployed(which);
  const std::string file = deployed.file("risk.sql");
  const auto exported =
      sotto({"export --view risk --keep", std::string("row no"), deployed.model(), file});
  ASSERT_EQ(exported.code, 0) << exported.err;
  std::string answers;
  const auto add = [&](const std::string& name) {
    answers += database.exact(deploy::sql_name(name)) + ", ";
  };
  auto expected = deployed.expected();
  if (which.probabilities && deployed.class_count() == 2) {
    add("probability");
    for (Answer& each : expected) each.numbers.erase(each.numbers.begin());
  } else if (which.probabilities) {
    for (const char* name : {"low", "mid' or m", "high\""})
      add(std::string("probability of ") + name);
  } else if (deployed.classes()) {
    add("score");
  }
  answers += deployed.classes() ? "prediction" : database.exact("prediction");
  const auto run = database.run(table_of(deployed.rows()) + TempDir::read(file) + "SELECT " +
                                answers + " FROM \"risk\" ORDER BY \"row no\";\n");
  ASSERT_EQ(run.code, 0) << run.err.substr(0, 2000);
  expect_same(answers_in(run.out, deployed.classes()),
              expected,
              deployed.tolerance(1e-11),
              deployed.classes());
}

INSTANTIATE_TEST_SUITE_P(All,
                         Sql,
                         ::testing::Combine(::testing::Values("sqlite", "postgres"),
                                            ::testing::Range<std::size_t>(0,
                                                                          deploy_cases().size())),
                         [](const auto& which) {
                           return std::get<0>(which.param) + "_" +
                                  deploy_cases()[std::get<1>(which.param)].name;
                         });

// What predict refuses has no answer, and what else is there is as before.
TEST(SqlRows, ThatDoNotFitHaveNoAnswer) {
  const DeployedModel deployed(deploy_cases()[1]);
  const std::string file = deployed.file("risk.sql");
  ASSERT_EQ(sotto({"export --keep plain", deployed.model(), file}).code, 0);
  const auto row = [](const char* age, const char* plain, const char* flags) {
    return fmt::format(
        "INSERT INTO \"rows\" VALUES (1, {}, 1, 100, {}, 'a', NULL, {});\n", age, plain, flags);
  };
  for (const SqlRunner& database : {sqlite(), postgres()}) {
    SCOPED_TRACE(database.name);
    if (!database.why_not.empty()) continue;
    std::string text = table_of(HostileRows(0)) + row("30", "0.2", "0, 0, 1") +
                       row("NULL", "0.2", "0, 0, 0") + row("30", "NULL", "0, 0, 0") +
                       row("30", "999", "0, 0, 0") + row("30", "0.2", "0, 1, 1") +
                       row("30", "0.2", "0, 2, 0") + row("30", "0.2", "0, NULL, 0");
    text += database.name == "sqlite"
                ? row("9e999", "0.2", "0, 0, 0") + row("'old'", "0.2", "0, 0, 0")
                : row("'Infinity'", "0.2", "0, 0, 0") + row("'NaN'", "0.2", "0, 0, 0");
    const auto run = database.run(text + TempDir::read(file));
    ASSERT_EQ(run.code, 0) << run.err.substr(0, 2000);
    const auto lines = lines_of(run.out);
    ASSERT_EQ(lines.size(), 9U);
    for (std::size_t i = 0; i < lines.size(); ++i)
      EXPECT_EQ(lines[i].ends_with("\tNULL\tNULL\tNULL"), i >= 2) << lines[i];
  }
}

TEST(SqlRows, ASqliteTextThatIsANumberIsOne) {
  if (const auto database = sqlite(); database.why_not.empty()) {
    const DeployedModel deployed(deploy_cases()[0]);
    ASSERT_EQ(sotto({"export", deployed.model(), deployed.file("m.sql")}).code, 0);
    std::string table = table_of(HostileRows(0));
    for (const char* type : {" DOUBLE PRECISION", " SMALLINT"})
      for (std::size_t at = table.find(type); at != table.npos; at = table.find(type))
        table.replace(at, std::string(type).size(), " TEXT");
    const std::string statement = TempDir::read(deployed.file("m.sql"));
    const auto run = database.run(
        table +
        "INSERT INTO \"rows\" VALUES (1, 30, -1, 100, 0.2, 'a', 'x', 0, 0, 1);\n"
        "INSERT INTO \"rows\" VALUES (2, '30.0', ' -1', '1e2', '.2', 'a', 'x', '0', '0.0', '1');\n"
        "INSERT INTO \"rows\" VALUES (3, '30', '?', '100', '.2', 'a', 'x', '0', '0', '1');\n"
        "INSERT INTO \"rows\" VALUES (4, '30', NULL, '100', '.2', 'a', 'x', '0', '0', '1');\n"
        "INSERT INTO \"rows\" VALUES (5, '30y', '1', '100', '.2', 'a', 'x', '0', '0', '1');\n" +
        statement);
    ASSERT_EQ(run.code, 0) << run.err.substr(0, 2000);
    const auto lines = lines_of(run.out);
    ASSERT_EQ(lines.size(), 5U);
    EXPECT_EQ(lines[0], lines[1]);
    EXPECT_EQ(lines[2], lines[3]);
    EXPECT_NE(lines[0], lines[2]);
    EXPECT_EQ(lines[4], "NULL\tNULL\tNULL");
  } else {
    GTEST_SKIP() << database.why_not;
  }
}

TEST(SqlRows, EveryFormOfColumnIsEncoded) {
  const Encoding encoding = every_form(/*with_date=*/false);
  EXPECT_FALSE(deploy::SqlEncoding::of(every_form(/*with_date=*/true), 0, false));
  const auto choices = form_fields();
  std::mt19937 random(4);
  std::vector<double> weights;
  for (std::int64_t k = 0; k < encoding.features; ++k) weights.push_back(std::ldexp(1, int(k)));
  std::string table =
      "CREATE TABLE \"rows\" (n INTEGER, \"log\" DOUBLE PRECISION, \"bins\" DOUBLE PRECISION, "
      "\"filled\" DOUBLE PRECISION, \"code\" TEXT);\n";
  std::vector<double> expected;
  for (int i = 0; i < 400; ++i) {
    table += fmt::format("INSERT INTO \"rows\" VALUES ({}", i);
    std::vector<Field> fields;
    for (std::size_t j = 0; j + 1 < choices.size(); ++j) {
      const Field& field = choices[j][random() % choices[j].size()];
      fields.push_back(field);
      table += ", " + (!field || (j < 3 && *field == "?") ? "NULL"
                       : j < 3                            ? *field
                                                          : deploy::sql_string(*field));
    }
    table += ");\n";
    const auto x = reference_features(encoding, fields);
    expected.push_back(x ? 0.25 : NAN);
    for (std::size_t k = 0; x && k < x->size(); ++k) expected.back() += (*x)[k] * weights[k];
  }
  for (const SqlRunner& database : {sqlite(), postgres()}) {
    SCOPED_TRACE(database.name);
    if (!database.why_not.empty()) continue;
    deploy::SqlSteps steps("\"rows\" AS t");
    const auto sql = deploy::SqlEncoding::of(encoding, 0, true).value();
    steps.add("number", "t.n");
    sql.add_features(steps, [](deploy::SqlSteps& of) { of.keep("number"); });
    steps.add("score", sql.sum(weights.data(), 0.25));
    steps.keep("number");
    steps.end_step();
    steps.add("score", database.exact("score"));
    const std::string query = std::move(steps).text();
    const auto run =
        database.run(table + query.substr(0, query.rfind(';')) + " ORDER BY number;\n");
    ASSERT_EQ(run.code, 0) << run.err.substr(0, 2000);
    const auto found = answers_in(run.out, false);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (std::isnan(expected[i]))
        ASSERT_TRUE(std::isnan(found[i].numbers[0])) << i;
      else
        ASSERT_NEAR(found[i].numbers[0], expected[i], 1e-9 * std::abs(expected[i])) << i;
    }
  }
}

/// The score of each row of a table "rows" with a column n, in its order.
CommandResult scored(const SqlRunner& database,
                     const std::string& table,
                     const Encoding& encoding,
                     const std::vector<double>& weights,
                     double row_norm) {
  deploy::SqlSteps steps("\"rows\" AS t");
  const auto sql = deploy::SqlEncoding::of(encoding, row_norm, true).value();
  steps.add("number", "t.n");
  sql.add_features(steps, [](deploy::SqlSteps& of) { of.keep("number"); });
  steps.add("score", sql.sum(weights.data(), 0.25));
  steps.keep("number");
  steps.end_step();
  steps.add("score", database.exact("score"));
  const std::string query = std::move(steps).text();
  return database.run(table + query.substr(0, query.rfind(';')) + " ORDER BY number;\n");
}

Schema::Column numbers_between(const char* name, double min, double max) {
  Schema::Column result;
  result.name = name;
  result.kind = Schema::Kind::kNumeric;
  result.min = min;
  result.max = max;
  return result;
}

// One odd row is no reason to answer none: PostgreSQL fails where a result is too large or too
// small for a double.
TEST(SqlRows, ThatADoubleCanNotHoldAreAnsweredToo) {
  Schema schema;
  Schema::Column code;
  code.name = "code";
  code.kind = Schema::Kind::kCategorical;
  code.values = {{"x"}, {"high"}, {"low"}};
  code.ranges = {{1, 5, 300}, {2, -10, 1}};
  code.other = true;
  schema.columns = {code,
                    numbers_between("d", 0, 10000),
                    numbers_between("e", -1, 3),
                    numbers_between("log", 0, 10000),
                    numbers_between("log2", -0.5, 1000)};
  schema.columns[3].scale = schema.columns[4].scale = Schema::Column::Scale::kLog1p;
  const Encoding encoding = encoding_of(schema);
  const std::string many(400, '0');
  const std::vector<std::string> texts = {"7",
                                          "1" + many,
                                          "-1" + many,
                                          "1" + many + ".5",
                                          "0." + many + "1",
                                          "-." + many + "1",
                                          many + "7",
                                          "-" + many + "7." + many,
                                          "7." + many,
                                          "." + many,
                                          many,
                                          "+" + many + "250",
                                          "0" + many + ".",
                                          "x" + many,
                                          std::string(299, '9'),
                                          std::string(300, '9'),
                                          std::string(300, '9') + "."};
  const std::vector<std::string> numbers = {"1e-322",
                                            "5e-324",
                                            "-5e-324",
                                            "1e-310",
                                            "1e-300",
                                            "1e-160",
                                            "1e-45",
                                            "1e-38",
                                            "0",
                                            "-1",
                                            "3",
                                            "1e300",
                                            "-1e300",
                                            "1.7e308",
                                            "1e-17",
                                            "0.001"};
  std::string table =
      "CREATE TABLE \"rows\" (n INTEGER, \"code\" TEXT, \"d\" DOUBLE PRECISION, \"e\" DOUBLE "
      "PRECISION, \"log\" DOUBLE PRECISION, \"log2\" DOUBLE PRECISION);\n";
  const std::vector<double> weights = {16, 32, 64, 128, 1, 2, 4, 8};
  std::vector<double> expected;
  for (std::size_t i = 0; i < std::max(texts.size(), numbers.size()); ++i) {
    const std::string& text = texts[i % texts.size()];
    const std::string& number = numbers[i % numbers.size()];
    table += fmt::format("INSERT INTO \"rows\" VALUES ({0}, '{1}', {2}, {2}, {2}, {2});\n",
                         i,
                         text,
                         "CAST('" + number + "' AS DOUBLE PRECISION)");
    const bool is_nearly_zero = text.ends_with(many + "1");  // which predict reads as 0
    const auto x =
        reference_features(encoding, {is_nearly_zero ? "0" : text, number, number, number, number});
    ASSERT_TRUE(x) << number;
    expected.push_back(0.25);
    for (std::size_t k = 0; k < x->size(); ++k) expected.back() += (*x)[k] * weights[k];
  }
  for (const SqlRunner& database : {sqlite(), postgres()}) {
    SCOPED_TRACE(database.name);
    if (!database.why_not.empty()) continue;
    for (const double row_norm : {0.0, 1e-170, 1e-40, 1.0}) {
      const auto run = scored(database, table, encoding, weights, row_norm);
      ASSERT_EQ(run.code, 0) << run.err.substr(0, 2000);
      const auto found = answers_in(run.out, false);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size() && row_norm == 0; ++i)
        EXPECT_NEAR(found[i].numbers[0], expected[i], 1e-9 * std::abs(expected[i])) << i;
      for (std::size_t i = 0; i < found.size() && row_norm == 1e-170; ++i)
        EXPECT_EQ(found[i].numbers[0], 0) << i;
    }
  }
}

// ln(1 + d) has lost most digits of such a d, and the feature with them.
TEST(SqlRows, LogarithmsOfSmallNumbersAreExact) {
  Schema schema;
  schema.columns = {numbers_between("d", 0, 1e-9), numbers_between("e", -1e-6, 1e-6)};
  schema.columns[0].scale = schema.columns[1].scale = Schema::Column::Scale::kLog1p;
  const Encoding encoding = encoding_of(schema);
  std::string table =
      "CREATE TABLE \"rows\" (n INTEGER, \"d\" DOUBLE PRECISION, \"e\" DOUBLE PRECISION);\n";
  std::vector<double> expected;
  for (int i = 0; i < 50; ++i) {
    const std::string d = fmt::format("{}", i * 1.9e-11);
    const std::string e = fmt::format("{}", (i - 25) * 3.7e-8);
    table += fmt::format("INSERT INTO \"rows\" VALUES ({}, {}, {});\n", i, d, e);
    const auto x = reference_features(encoding, {d, e});
    ASSERT_TRUE(x);
    expected.push_back(0.25 + (*x)[0] + 3 * (*x)[1]);
  }
  for (const SqlRunner& database : {sqlite(), postgres()}) {
    SCOPED_TRACE(database.name);
    if (!database.why_not.empty()) continue;
    const auto run = scored(database, table, encoding, {1, 3}, 0);
    ASSERT_EQ(run.code, 0) << run.err.substr(0, 2000);
    const auto found = answers_in(run.out, false);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i].numbers[0], expected[i], 3e-7 * 1e-6) << i;
  }
}

// A step that has the table's name would be made of itself.
TEST(SqlRows, OfATableThatIsCalledAsAStepIs) {
  const DeployedModel deployed(deploy_cases()[0]);
  for (const char* name : {"sotto_step_1", "Sotto_Step_2", "sotto_step__1"}) {
    SCOPED_TRACE(name);
    const std::string file = deployed.file(std::string(name) + ".sql");
    ASSERT_EQ(sotto({"export --table", std::string(name), deployed.model(), file}).code, 0);
    std::string table = table_of(HostileRows(5));
    for (std::size_t at = table.find("\"rows\""); at != table.npos; at = table.find("\"rows\""))
      table.replace(at, 6, deploy::sql_name(name));
    for (const SqlRunner& database : {sqlite(), postgres()}) {
      if (!database.why_not.empty()) continue;
      const auto run = database.run(table + TempDir::read(file));
      ASSERT_EQ(run.code, 0) << run.err.substr(0, 2000);
      EXPECT_EQ(lines_of(run.out).size(), 5U);
    }
  }
}

// Spellings of a missing value are compared as they are, however a column is declared.
TEST(SqlRows, ASqliteColumnsOrderDoesNotCount) {
  const SqlRunner database = sqlite();
  if (!database.why_not.empty()) GTEST_SKIP() << database.why_not;
  const DeployedModel deployed(deploy_cases()[0]);
  ASSERT_EQ(sotto({"export", deployed.model(), deployed.file("m.sql")}).code, 0);
  std::string table = table_of(HostileRows(0));
  for (const char* type : {" DOUBLE PRECISION", " SMALLINT"})
    for (std::size_t at = table.find(type); at != table.npos; at = table.find(type))
      table.replace(at, std::string(type).size(), " TEXT COLLATE RTRIM");
  const auto row = [](const char* age) {
    return fmt::format(
        "INSERT INTO \"rows\" VALUES (1, '{}', '1', '100', '.2', 'a', 'x', '0', '0', '1');\n", age);
  };
  const auto run = database.run(table + row("?") + row("? ") + row("  ") +
                                TempDir::read(deployed.file("m.sql")));
  ASSERT_EQ(run.code, 0) << run.err.substr(0, 2000);
  const auto lines = lines_of(run.out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(lines[0], "NULL\tNULL\tNULL");
  EXPECT_EQ(lines[1], "NULL\tNULL\tNULL");
  EXPECT_EQ(lines[2], "NULL\tNULL\tNULL");
}

TEST(SqlRefusals, NameTheColumnTheLayerAndTheRemedy) {
  const DeployedModel deployed(deploy_cases()[0]);
  const auto refused = [&](const Words& more, const char* text) {
    const auto run = sotto(Words{"export", deployed.model(), deployed.file("x.sql")} + more);
    EXPECT_EQ(run.code, 2) << run.err;
    EXPECT_THAT(run.err, HasSubstr(text));
  };
  refused({"--keep prediction"}, "two columns of the answer");
  refused({"--keep plain,plain"}, "two columns of the answer");
  refused({"--table", std::string("a..b")}, "no name of a table");
  refused({"--table", std::string("\"a")}, "no name of a table");
  refused({"--raw"}, "--raw is for --format onnx");
  refused({"--name x"}, "--name is for --format c");
  const TempDir dir;
  const std::string model = dir.file("m.json");
  ASSERT_EQ(sotto({"train --method gd --dim 2", dir.write("r.svm", small_libsvm()), model}).code,
            0);
  const auto none = sotto({"export", model, dir.file("m.sql")});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("the model has no schema"));
  const std::string net = dir.write("net.toml",
                                    "input = [1, 2, 1]\nloss = \"logistic\"\nlayers = "
                                    "[\"conv 2 1x1\", \"flatten\", \"linear 1\"]\n");
  const std::string schema = dir.write(
      "s.toml",
      "[[column]]\nnames = [\"a\", \"b\"]\nkind = \"numeric\"\nmin = 0\nmax = 1\n[[column]]\n"
      "name = \"y\"\nkind = \"label\"\nnegative = \"0\"\npositive = \"1\"\n");
  const std::string rows = dir.write("r.csv", "0,1,1\n1,0,0\n0.5,0.5,1\n");
  ASSERT_EQ(
      sotto({"train --method gd --steps 2 --model", net, "--schema", schema, rows, dir.file("n")})
          .code,
      0);
  for (const char* output : {"n.sql", "n.h"}) {
    const auto layer = sotto({"export", dir.file("n"), dir.file(output)});
    EXPECT_EQ(layer.code, 2) << layer.err;
    EXPECT_THAT(layer.err, HasSubstr("layer 1 of the network, 'conv 2 1'"));
  }
}

TEST(SqlFiles, QuoteTablesAndComment) {
  const DeployedModel deployed(deploy_cases()[0]);
  auto forged = nlohmann::json::parse(TempDir::read(deployed.model()));
  forged["method"] = "gd\nDROP TABLE rows; --";
  const std::string file = deployed.dir().write("forged.json", forged.dump());
  ASSERT_EQ(sotto({"export",
                   file,
                   deployed.file("f.sql"),
                   "--table",
                   std::string("clinic.\"odd.\"\" name\"")})
                .code,
            0);
  const std::string text = TempDir::read(deployed.file("f.sql"));
  EXPECT_THAT(text, HasSubstr("FROM \"clinic\".\"odd.\"\" name\" AS t"));
  EXPECT_THAT(text, HasSubstr("-- sotto.privacy {"));
  for (const std::string& line : lines_of(text)) EXPECT_FALSE(line.starts_with("DROP")) << line;
  // It is there now, and stays.
  EXPECT_EQ(sotto({"export", deployed.model(), deployed.file("f.sql")}).code, 2);
  EXPECT_EQ(TempDir::read(deployed.file("f.sql")), text);
  EXPECT_EQ(sotto({"export --overwrite", deployed.model(), deployed.file("f.sql")}).code, 0);
}

}  // namespace
}  // namespace sotto::testing
