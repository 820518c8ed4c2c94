#include "sotto/data/io/csv.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/parallel.hpp"
#include "tests/data/support.hpp"
#include "tests/support/persons.hpp"

namespace sotto {
namespace {

using test::content;
using test::gzip;
using test::row_of;

constexpr const char* kSchema = R"(
[file]
missing = ["?"]
comment = "|"
[[column]]
name = "age"
kind = "numeric"
min = 0
max = 100
filler = 50
[[column]]
name = "hours"
kind = "numeric"
min = -10
max = 10
missing_indicator = true
[[column]]
name = "job"
kind = "categorical"
values = ["a", "b c"]
other = true
missing_indicator = true
[[column]]
name = "sex"
kind = "categorical"
values = ["f", "m"]
[[column]]
name = "skip"
kind = "ignore"
[[column]]
name = "y"
kind = "label"
positive = ["yes", "yes."]
negative = ["no"]
)";
// Features: age, hours, hours=missing, job=a, job=b c, job=other, job=missing, sex=f, sex=m.

class Csv : public test::DataTest {
 protected:
  static Schema schema(const std::string& head = "", const std::string& text = kSchema) {
    std::string toml = text;
    if (!head.empty()) toml.insert(toml.find("[file]\n") + 7, head + "\n");
    auto parsed = Schema::parse(toml, "s.toml");
    EXPECT_TRUE(parsed) << parsed.error().message;
    return *std::move(parsed);
  }
  Expected<Dataset> read(std::string_view text, const ReadOptions& options = {}) {
    return read_csv(write("a.csv", text), schema(), options);
  }
  void refuse(std::string_view text, const std::string& place, const std::string& reason) {
    EXPECT_FAILS(read(text), ErrorKind::kBadData, "a.csv" + place + ": " + reason);
  }
};

TEST_F(Csv, EncodesByTheSchema) {
  for (const Layout layout : {Layout::kDense, Layout::kSparse}) {
    ReadOptions options;
    options.layout = layout;
    const auto data = read(
        "25,5,a,f,x,yes\n"
        "| a comment\n"
        "?, ? ,  b c ,m,,no\r\n"
        "250,-99,unheard of,?,,yes.\n"
        "0,10,?,x,,no\n"
        "\n\n",
        options);
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_EQ(data->table.sparse(), layout == Layout::kSparse);
    ASSERT_EQ(data->table.rows(), 4);
    EXPECT_EQ(row_of(data->table, 0), (std::vector<float>{0.25F, 0.75F, 0, 1, 0, 0, 0, 1, 0}));
    EXPECT_EQ(row_of(data->table, 1), (std::vector<float>{0.5F, 0, 1, 0, 1, 0, 0, 0, 1}));
    EXPECT_EQ(row_of(data->table, 2), (std::vector<float>{1, 0, 0, 0, 0, 1, 0, 0, 0}));
    EXPECT_EQ(row_of(data->table, 3), (std::vector<float>{0, 1, 0, 0, 0, 0, 1, 0, 0}));
    const auto labels = data->table.labels();
    EXPECT_EQ(std::vector<float>(labels.begin(), labels.end()), (std::vector<float>{1, -1, 1, -1}));
    EXPECT_EQ(data->feature_names.size(), 9U);
    EXPECT_EQ(data->class_names, (std::vector<std::string>{"no", "yes or yes."}));
    EXPECT_DOUBLE_EQ(data->row_norm_bound, 2);
    EXPECT_TRUE(data->notes.empty()) << "everything is declared";
    for (const double norm : data->table.norms())
      EXPECT_LE(norm, data->row_norm_bound * (1 + 1e-12));
  }
}

TEST_F(Csv, BiasAndRowNorm) {
  ReadOptions options;
  options.bias = true;
  const auto data = read("100,10,a,f,,yes\n", options);
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->table.dim(), 10);
  EXPECT_EQ(data->feature_names.back(), "bias");
  EXPECT_DOUBLE_EQ(data->row_norm_bound, std::sqrt(5));
  options.row_norm = 1.5;
  const auto shorter = read("100,10,a,f,,yes\n", options);
  ASSERT_TRUE(shorter);
  EXPECT_EQ(shorter->row_norm_bound, 1.5);
  EXPECT_LE(shorter->table.norms()[0], 1.5);
  options.row_norm = 9;
  EXPECT_DOUBLE_EQ(read("100,10,a,f,,yes\n", options)->row_norm_bound, std::sqrt(5));
}

TEST_F(Csv, QuotedFields) {
  const auto data = read("\"25\",\"5\" ,\"b c\",\"m\",\"x, \"\"y\"\", z\",\"yes\"\n");
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(row_of(data->table, 0), (std::vector<float>{0.25F, 0.75F, 0, 0, 1, 0, 0, 0, 1}));
  const std::string quotes = R"(
[[column]]
name = "say"
kind = "categorical"
values = ['a "b" c', 'x,y']
[[column]]
name = "y"
kind = "label"
positive = [1]
negative = [0]
)";
  const auto said =
      read_csv(write("q.csv", "\"a \"\"b\"\" c\",1\n \"x,y\" , \"0\"\n"), schema("", quotes), {});
  ASSERT_TRUE(said) << said.error().message;
  EXPECT_EQ(row_of(said->table, 0), (std::vector<float>{1, 0}));
  EXPECT_EQ(row_of(said->table, 1), (std::vector<float>{0, 1}));
}

TEST_F(Csv, OtherSeparators) {
  for (const std::string separator : {";", "\\t", " "}) {
    std::string text = "25;5;a;f;;yes\n";
    std::replace(text.begin(), text.end(), ';', separator == "\\t" ? '\t' : separator[0]);
    const auto data =
        read_csv(write("a.csv", text), schema("separator = \"" + separator + "\""), {});
    ASSERT_TRUE(data) << separator << data.error().message;
    EXPECT_EQ(row_of(data->table, 0), (std::vector<float>{0.25F, 0.75F, 0, 1, 0, 0, 0, 1, 0}));
  }
}

TEST_F(Csv, HeaderGivesTheOrder) {
  const Schema with_header = schema("header = true\nskip_lines = 1");
  const auto data = read_csv(write("a.csv",
                                   "a title, whatever\n| and a comment\n"
                                   "y, sex ,skip,job,\"hours\",age\nyes,m,,a,5,25\n"),
                             with_header,
                             {});
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_EQ(data->table.rows(), 1);
  EXPECT_EQ(row_of(data->table, 0), (std::vector<float>{0.25F, 0.75F, 0, 1, 0, 0, 0, 0, 1}));

  const auto refuse_header = [&](const char* header, const char* text) {
    EXPECT_FAILS(
        read_csv(write("a.csv", std::string("\n") + header + "\nyes,m,,a,5,25\n"), with_header, {}),
        ErrorKind::kBadData,
        text);
  };
  refuse_header("y,sex,skip,job,hours,years", "a.csv:2:1: the header has no column 'age'");
  refuse_header("y,sex,skip,job,hours,age,more", "does not declare column 7 of the header");
  refuse_header("y,sex,skip,job,hours,age,age", "names column 'age' twice");
  refuse_header("\"y,sex", "a quoted field must end");
  EXPECT_FAILS(
      read_csv(write("a.csv", "\n"), with_header, {}), ErrorKind::kBadData, "no header line");
  EXPECT_FAILS(read_csv(write("a.csv", "\ny,sex,skip,job,hours,age\n"), with_header, {}),
               ErrorKind::kBadData,
               "the file has no rows");
}

TEST_F(Csv, BadLinesNamePlaceAndRule) {
  refuse("25,5,a,f,x,yes\n1,2\n", ":2:2", "the row has too few fields; the schema declares 6");
  refuse("25,5,a,f,x,yes,1\n", ":1:7", "the row has too many fields; the schema declares 6");
  refuse("| c\n\n12x,5,a,f,x,yes\n", ":3:1", "the value of 'age' is not a finite number");
  refuse("nan,5,a,f,x,yes\n", ":1:1", "the value of 'age' is not a finite number");
  refuse("1, inf,a,f,x,yes\n", ":1:2", "the value of 'hours' is not a finite number");
  refuse("1,,a,f,x,yes\n", ":1:2", "the value of 'hours' is not a finite number");
  refuse(
      "25,5,a,f,x,maybe\n", ":1:6", "the value of 'y' is not one of the label's declared values");
  refuse("25,5,\"a,f,x,yes\n", ":1:3", "a quoted field must end");
  refuse("25,5,\"a\"b,f,x,yes\n", ":1:3", "a quoted field must end");
  std::string many;
  for (int i = 0; i < 30; ++i) many += "1\n";
  EXPECT_FAILS(read(many), ErrorKind::kBadData, "a.csv:10:1: the row has too few");
  EXPECT_FAILS(read(many),
               ErrorKind::kBadData,
               "30 rows do not fit what is declared; the first 10 are shown");
}

TEST_F(Csv, MissingWithoutARule) {
  const std::string toml =
      "[file]\nmissing=['?']\n[[column]]\nname='x'\nkind='numeric'\nmin=0\nmax=1\n"
      "[[column]]\nname='y'\nkind='label'\nmin=-5\nmax=5\n";
  ReadOptions real;
  real.labels = LabelKind::kReal;
  EXPECT_FAILS(read_csv(write("a.csv", "0.5,1\n?,2\n"), schema("", toml), real),
               ErrorKind::kBadData,
               "a.csv:2:1: the value of 'x' is missing, and the schema says neither filler nor");
  const auto data = read_csv(write("a.csv", "0.5,1.5\n1,-70\n"), schema("", toml), real);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->table.labels()[0], 1.5F);
  EXPECT_EQ(data->table.labels()[1], -5.0F) << "clamped to the declared bounds";
  EXPECT_FAILS(read_csv(write("a.csv", "0.5,?\n"), schema("", toml), real),
               ErrorKind::kBadData,
               "the value of 'y' is not a finite number");
}

TEST_F(Csv, MessagesNeverQuoteARow) {
  const auto data =
      read("secret1,secret2,a,f,x,secret3\n1,1,a,f,\"secret4,yes\n1,1,a,f,,secret5\n");
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().message.find("secret"), std::string::npos) << data.error().message;
}

TEST_F(Csv, LabelKinds) {
  const std::string toml =
      "[file]\n[[column]]\nname='x'\nkind='numeric'\nmin=0\nmax=1\n"
      "[[column]]\nname='y'\nkind='label'\nclasses=['r',['g','G'],'b']\n";
  const std::string file = write("a.csv", "0,b\n0,r\n0,G\n");
  ReadOptions options;
  EXPECT_FAILS(read_csv(file, schema("", toml), options),
               ErrorKind::kUsage,
               "the schema declares several classes, but the loss needs two");
  options.labels = LabelKind::kMulticlass;
  const auto data = read_csv(file, schema("", toml), options);
  ASSERT_TRUE(data);
  const auto labels = data->table.labels();
  EXPECT_EQ(std::vector<float>(labels.begin(), labels.end()), (std::vector<float>{2, 0, 1}));
  EXPECT_EQ(data->class_names, (std::vector<std::string>{"r", "g or G", "b"}));
  const auto two = read("25,5,a,f,x,yes\n25,5,a,f,x,no\n", options);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->table.labels()[0], 1.0F);
  EXPECT_EQ(two->table.labels()[1], 0.0F);
  options.labels = LabelKind::kReal;
  EXPECT_FAILS(read("25,5,a,f,x,yes\n", options), ErrorKind::kUsage, "needs a numeric label");
}

TEST_F(Csv, OneHotGroups) {
  const std::string toml =
      "[file]\n[[column]]\nnames=['a','b']\nkind='onehot'\n[[column]]\nnames=['c','d']\nkind='"
      "onehot'\n"
      "[[column]]\nname='y'\nkind='label'\npositive=[1]\nnegative=[0]\n";
  const auto data = read_csv(write("a.csv", "1,0,0,1,1\n0,0,1.0,0,0\n"), schema("", toml), {});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(row_of(data->table, 0), (std::vector<float>{1, 0, 0, 1}));
  EXPECT_EQ(row_of(data->table, 1), (std::vector<float>{0, 0, 1, 0}));
  EXPECT_DOUBLE_EQ(data->row_norm_bound, std::sqrt(2));
  EXPECT_FAILS(read_csv(write("a.csv", "1,1,0,0,1\n"), schema("", toml), {}),
               ErrorKind::kBadData,
               "a.csv:1:2: the value of 'b' is a second 1 in its one-hot group");
  EXPECT_FAILS(read_csv(write("a.csv", "2,0,0,0,1\n"), schema("", toml), {}),
               ErrorKind::kBadData,
               "must be 0 or 1");
}

// Public rows need neither persons nor columns that are ignored, and may have more, but labels.
TEST_F(Csv, RowsForEvaluation) {
  const std::string file = path("e.csv");
  const Schema schema =
      *Schema::parse(testing::sick_or_well("[[column]]\nname = \"who\"\nkind = \"unit\"\n"
                                           "[[column]]\nname = \"note\"\nkind = \"ignore\"\n"),
                     "s");
  ReadOptions options;
  options.public_rows = true;
  options.purpose = ReadFor::kEvaluation;
  write("e.csv", "y,more,x\nsick,1,0.5\nwell,2,0.25\n");
  const auto bare = read_csv(file, schema, options);
  ASSERT_TRUE(bare) << bare.error().message;
  EXPECT_EQ(bare->table.rows(), 2);
  EXPECT_FALSE(bare->table.has_units());
  ASSERT_EQ(bare->notes.size(), 1u);
  EXPECT_NE(bare->notes[0].find("not used: 'more'"), std::string::npos) << bare->notes[0];
  write("e.csv", "y,who,x\nsick,a,0.5\nwell,a,0.25\n");
  EXPECT_EQ(read_csv(file, schema, options)->table.units(), 1) << "where there is one, it is used";
  // Nobody needs to be named where rows count alone.
  write("e.csv", "y,who,x\nsick,,0.5\nwell,,0.25\n");
  EXPECT_FALSE(read_csv(file, schema, options));
  options.persons = false;
  EXPECT_EQ(read_csv(file, schema, options)->table.units(), 2);
  for (const char* text : {"who,x\na,0.5\n", "y,who,x\n,a,0.5\n", "y,who\nsick,a\n"}) {
    write("e.csv", text);
    EXPECT_FALSE(read_csv(file, schema, options)) << text;
  }
  options.purpose = ReadFor::kTraining;
  write("e.csv", "y,x\nsick,0.5\nwell,0.25\n");
  EXPECT_FALSE(read_csv(file, schema, options)) << "training demands them";
}

TEST_F(Csv, MostRowsCountsAPersonsRows) {
  write("e.csv", "who,x,y\na,0.5,sick\nb,0,well\na,0.1,well\na,1,sick\n");
  const Schema schema = *Schema::parse(testing::kPersons, "s");
  ReadOptions options;
  options.most_rows = 2;
  const auto two = read_csv(path("e.csv"), schema, options);
  ASSERT_TRUE(two) << two.error().message;
  EXPECT_EQ(two->table.rows(), 3);
  EXPECT_TRUE(two->notes.empty()) << "how many were left out is private";
  const Schema rows = *Schema::parse(testing::sick_or_well(), "s");
  write("e.csv", "x,y\n0.5,sick\n");
  const auto refused = read_csv(path("e.csv"), rows, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_NE(refused.error().message.find("‘most_rows’"), std::string::npos);
  options.most_rows = -1;
  EXPECT_FALSE(read_csv(path("e.csv"), schema, options));
}

TEST_F(Csv, UnitsKeepThePersonsRowsTogether) {
  const std::string toml =
      "[file]\n[[column]]\nname='who'\nkind='unit'\n[[column]]\nname='x'\nkind='numeric'\nmin="
      "0\nmax=8\n"
      "[[column]]\nname='y'\nkind='label'\npositive=[1]\nnegative=[0]\n";
  const auto data =
      read_csv(write("a.csv", "ann,1,1\nbob,2,0\nann,3,0\ncy,4,1\nbob,5,1\n\"ann\",6,1\n"),
               schema("", toml),
               {});
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_EQ(data->table.units(), 3);
  EXPECT_EQ(data->table.unit_begin(1), 3);
  EXPECT_EQ(data->table.unit_begin(2), 5);
  std::vector<float> order;
  for (std::int64_t i = 0; i < 6; ++i) order.push_back(row_of(data->table, i)[0] * 8);
  EXPECT_EQ(order, (std::vector<float>{1, 3, 6, 2, 5, 4}));
  EXPECT_FAILS(read_csv(write("a.csv", "ann,1,1\n ,2,0\n"), schema("", toml), {}),
               ErrorKind::kBadData,
               "a.csv:2:1: the value of 'who' is missing, but every row must name its person");
}

TEST_F(Csv, ResultDoesNotDependOnThreadsOrCompression) {
  std::string text;
  for (int i = 0; i < 120000; ++i)
    text += std::to_string(i % 97) + ", " + std::to_string(i % 19 - 9) + ", " +
            (i % 5 == 0   ? "?"
             : i % 3 == 0 ? "a"
                          : "zzz") +
            ", m, some filling text here that is " + "ignored by the schema, " +
            (i % 7 == 0 ? "yes" : "no") + "\n";
  ASSERT_GT(text.size(), std::size_t{8} << 20);
  const std::string plain = write("a.csv", text);
  const std::string packed = write("b.gz", gzip(text));
  for (const Layout layout : {Layout::kDense, Layout::kSparse}) {
    ReadOptions options;
    options.layout = layout;
    set_thread_count(1);
    const auto one = read_csv(plain, schema(), options);
    set_thread_count(5);
    const auto five = read_csv(packed, schema(), options);
    set_thread_count(0);
    ASSERT_TRUE(one && five);
    EXPECT_EQ(one->table.rows(), 120000);
    EXPECT_EQ(content(one->table), content(five->table));
    EXPECT_EQ(one->table.bytes(), five->table.bytes());
  }
}

TEST_F(Csv, BadFiles) {
  EXPECT_FAILS(read_csv(path("none.csv"), schema(), {}), ErrorKind::kIo, "can't open");
  EXPECT_FAILS(read(""), ErrorKind::kBadData, "the file is empty");
  EXPECT_FAILS(read("\n| only a comment\n"), ErrorKind::kBadData, "the file has no rows");
}

TEST_F(Csv, KnownDataSets) {
  const std::string folder = std::string(SOTTO_SHARED_DIR) + "/data/uci/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "needs " << folder;
  struct Case {
    const char *file, *schema;
    std::int64_t rows, units, positive;
  };
  // Counts as the data sets' own descriptions give them.
  for (const Case& known :
       {Case{"adult.data.gz", "adult.toml", 32561, 32561, 7841},
        Case{"adult.test.gz", "adult.toml", 16281, 16281, 3846},
        Case{"covtype.subset177k.data.gz", "covertype.toml", 176997, 176997, 86477},
        Case{"diabetic_data.csv.gz", "diabetes.toml", 101766, 71518, 11357}}) {
    const auto schema = Schema::load(std::string(SOTTO_SOURCE_DIR) + "/examples/" + known.schema);
    ASSERT_TRUE(schema) << schema.error().message;
    const auto data = read_csv(folder + known.file, *schema, {});
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_EQ(data->table.rows(), known.rows);
    EXPECT_EQ(data->table.units(), known.units);
    EXPECT_EQ(std::count(data->table.labels().begin(), data->table.labels().end(), 1.0F),
              known.positive);
    const auto norms = data->table.norms();
    EXPECT_LE(*std::max_element(norms.begin(), norms.end()), data->row_norm_bound * (1 + 1e-12));
  }
}

}  // namespace
}  // namespace sotto
