// The keys that make more of a field than a number between bounds: what they encode, and that
// bounds, names and numbers of features follow from declarations.

#include <fmt/format.h>

#include <cmath>
#include <random>
#include <set>

#include "sotto/data/io/csv.hpp"
#include "sotto/data/schema.hpp"
#include "tests/data/support.hpp"

namespace sotto {
namespace {

using test::row_of;
using Texts = std::vector<std::string>;

constexpr const char* kEnd = "[[column]]\nname='y'\nkind='label'\npositive='1'\nnegative='0'\n";

Schema schema_of(const std::string& toml) {
  const auto schema = Schema::parse(toml, "s.toml");
  EXPECT_TRUE(schema) << schema.error().message;
  return schema ? *schema : Schema();
}
Schema schema_of_column(const std::string& keys) {
  return schema_of("[file]\nmissing=['?']\n[[column]]\nname='x'\n" + keys + kEnd);
}

void refuse_keys(const std::string& keys, const std::string& text) {
  EXPECT_FAILS(
      Schema::parse("[[column]]\nname='x'\n" + keys + kEnd, "s.toml"), ErrorKind::kBadData, text);
}

class SchemaKeys : public test::DataTest {
 protected:
  Expected<Dataset> read(const Schema& schema,
                         const std::string& text,
                         Misfits misfits = Misfits::kRefuse,
                         Layout layout = Layout::kDense) {
    ReadOptions options;
    options.misfits = misfits;
    options.layout = layout;
    return read_csv(write("rows.csv", text), schema, options);
  }

  /// The features of a row of one field.
  std::vector<float> encoded(const Schema& schema, const std::string& field) {
    const auto data = read(schema, field + ",1\n");
    EXPECT_TRUE(data) << data.error().message;
    const auto sparse = read(schema, field + ",1\n", Misfits::kRefuse, Layout::kSparse);
    EXPECT_TRUE(sparse);
    if (!data || !sparse) return {};
    EXPECT_EQ(row_of(data->table, 0), row_of(sparse->table, 0)) << field;
    return row_of(data->table, 0);
  }
};

TEST_F(SchemaKeys, Log1p) {
  const Schema schema = schema_of_column("kind='numeric'\nscale='log1p'\nmin=0\nmax=99\n");
  EXPECT_EQ(schema.feature_names(), Texts{"x"});
  EXPECT_FLOAT_EQ(encoded(schema, "0")[0], 0);
  EXPECT_FLOAT_EQ(encoded(schema, "99")[0], 1);
  EXPECT_FLOAT_EQ(encoded(schema, "9")[0], 0.5F) << "log(10) / log(100)";
  EXPECT_FLOAT_EQ(encoded(schema, "-7")[0], 0);
  EXPECT_FLOAT_EQ(encoded(schema, "1e30")[0], 1);
  const Schema from_one = schema_of_column("kind='numeric'\nscale='log1p'\nmin=1\nmax=31\n");
  EXPECT_FLOAT_EQ(encoded(from_one, "7")[0], 0.5F) << "(log 8 - log 2) / (log 32 - log 2)";
  const Schema linear = schema_of_column("kind='numeric'\nscale='linear'\nmin=0\nmax=99\n");
  EXPECT_FLOAT_EQ(encoded(linear, "9")[0], 1.0F / 11);
}

TEST_F(SchemaKeys, Bins) {
  const Schema schema = schema_of_column("kind='numeric'\nbins=[30, 50.5, 70]\n");
  EXPECT_EQ(schema.feature_names(), (Texts{"x=<30", "x=30..50.5", "x=50.5..70", "x=>=70"}));
  EXPECT_EQ(encoded(schema, "29.999"), (std::vector<float>{1, 0, 0, 0}));
  EXPECT_EQ(encoded(schema, "-1e300"), (std::vector<float>{1, 0, 0, 0}));
  EXPECT_EQ(encoded(schema, "30"), (std::vector<float>{0, 1, 0, 0}));
  EXPECT_EQ(encoded(schema, "50.5"), (std::vector<float>{0, 0, 1, 0}));
  EXPECT_EQ(encoded(schema, "70"), (std::vector<float>{0, 0, 0, 1}));
  EXPECT_FAILS(read(schema, "?,1\n"), ErrorKind::kBadData, "is missing, and the schema says");
  EXPECT_FAILS(read(schema, "inf,1\n"), ErrorKind::kBadData, "is not a finite number");
}

TEST_F(SchemaKeys, BinsOfMissingValues) {
  const Schema both =
      schema_of_column("kind='numeric'\nbins=[30]\nfiller=40\nmissing_indicator=true\n");
  EXPECT_EQ(encoded(both, "?"), (std::vector<float>{0, 1, 1}));
  EXPECT_EQ(both.max_entries(), 2);
  EXPECT_DOUBLE_EQ(both.row_norm_bound(false), std::sqrt(2.0));
  const Schema indicator = schema_of_column("kind='numeric'\nbins=[30]\nmissing_indicator=true\n");
  EXPECT_EQ(encoded(indicator, "?"), (std::vector<float>{0, 0, 1}));
  EXPECT_EQ(indicator.max_entries(), 1);
  EXPECT_DOUBLE_EQ(indicator.row_norm_bound(false), 1);
  const Schema filler = schema_of_column("kind='numeric'\nbins=[30]\nfiller=30\n");
  EXPECT_EQ(encoded(filler, "?"), (std::vector<float>{0, 1}));
  const auto kept = read(filler, "text,1\n", Misfits::kNull);
  ASSERT_TRUE(kept);
  EXPECT_EQ(row_of(kept->table, 0), (std::vector<float>{0, 1})) << "counts as missing";
}

TEST_F(SchemaKeys, Dates) {
  const Schema schema = schema_of_column(
      "kind='numeric'\ndate='%d.%m.%Y'\nmin='01.01.2000'\nmax='01.01.2001'\nfiller='2.7.2000'\n");
  EXPECT_FLOAT_EQ(encoded(schema, "01.01.2000")[0], 0);
  EXPECT_FLOAT_EQ(encoded(schema, "2.7.2000")[0], 0.5F) << "183 of 366 days";
  EXPECT_FLOAT_EQ(encoded(schema, "?")[0], 0.5F);
  EXPECT_FLOAT_EQ(encoded(schema, "31.12.1999")[0], 0);
  for (const char* bad :
       {"2000-01-01", "30.02.2000", "1.1.00", "1.1.2000 ", "1.1.2000x", "11.2000"}) {
    const auto data = read(schema, std::string("\"") + bad + "\",1\n");
    ASSERT_FALSE(data) << bad;
    EXPECT_NE(data.error().message.find("is not a date of the form"), std::string::npos);
    EXPECT_EQ(data.error().message.find(bad), std::string::npos) << "no row is quoted";
  }
  const Schema binned =
      schema_of_column("kind='numeric'\ndate='%Y-%m-%d'\nbins=['2000-1-1', '2010-01-01']\n");
  EXPECT_EQ(binned.feature_names(),
            (Texts{"x=<2000-01-01", "x=2000-01-01..2010-01-01", "x=>=2010-01-01"}));
  EXPECT_EQ(encoded(binned, "1999-12-31"), (std::vector<float>{1, 0, 0}));
  EXPECT_EQ(encoded(binned, "2000-01-01"), (std::vector<float>{0, 1, 0}));
}

TEST_F(SchemaKeys, PrefixAndRanges) {
  const Schema icd = schema_of_column(
      "kind='categorical'\nprefix=3\nvalues=['V27', '410']\nranges=[['circulatory', 390, 459], "
      "['diabetes', 250, 250], ['circulatory', 785, 785]]\nother=true\nmissing_indicator=true\n");
  EXPECT_EQ(icd.feature_names(),
            (Texts{"x=V27", "x=410", "x=circulatory", "x=diabetes", "x=other", "x=missing"}));
  const auto place = [&](const std::string& field) {
    const auto row = encoded(icd, field);
    EXPECT_EQ(std::count(row.begin(), row.end(), 1.0F), 1) << field;
    return std::find(row.begin(), row.end(), 1.0F) - row.begin();
  };
  EXPECT_EQ(place("V27.0"), 0);
  EXPECT_EQ(place("410.71"), 1) << "a listed value wins over a range";
  EXPECT_EQ(place("390"), 2);
  EXPECT_EQ(place("459.99"), 2) << "of which 459 is looked at";
  EXPECT_EQ(place("785"), 2);
  EXPECT_EQ(place("250.83"), 3);
  EXPECT_EQ(place("389"), 4);
  EXPECT_EQ(place("460"), 4);
  EXPECT_EQ(place("E88"), 4);
  EXPECT_EQ(place("nan"), 4);
  EXPECT_EQ(place("circulatory"), 4) << "its first three characters are no value";
  EXPECT_EQ(place("?"), 5);
  const Schema whole = schema_of_column("kind='categorical'\nranges=[['a', 0, 9], ['a', 5, 20]]\n");
  EXPECT_EQ(encoded(whole, "20"), std::vector<float>{1}) << "ranges of one value may overlap";
  EXPECT_EQ(encoded(whole, "20.5"), std::vector<float>{0});
  EXPECT_EQ(encoded(whole, "a"), std::vector<float>{1}) << "a range's name is its spelling";
}

TEST_F(SchemaKeys, AMissingNumberIsInNoRange) {
  const Schema schema = schema_of(
      "[file]\nmissing=['999']\n[[column]]\nname='x'\nkind='categorical'\n"
      "ranges=[['a', 0, 1000]]\nmissing_indicator=true\n" +
      std::string(kEnd));
  EXPECT_EQ(encoded(schema, "998"), (std::vector<float>{1, 0}));
  EXPECT_EQ(encoded(schema, "999"), (std::vector<float>{0, 1}));
}

TEST_F(SchemaKeys, APrefixIsOfCharactersNotBytes) {
  const Schema schema = schema_of_column("kind='categorical'\nprefix=2\nvalues=['Öl', '€']\n");
  EXPECT_EQ(encoded(schema, "Ölbaum"), (std::vector<float>{1, 0}));
  EXPECT_EQ(encoded(schema, "€"), (std::vector<float>{0, 1}));
  EXPECT_EQ(encoded(schema, "€1"), (std::vector<float>{0, 0}));
}

TEST_F(SchemaKeys, Case) {
  const Schema schema = schema_of_column(
      "kind='categorical'\ncase='ignore'\nvalues=[['F', 'Female', 'female'], 'M', 'Ö']\n");
  EXPECT_EQ(encoded(schema, "FEMALE"), (std::vector<float>{1, 0, 0}));
  EXPECT_EQ(encoded(schema, "m"), (std::vector<float>{0, 1, 0}));
  EXPECT_EQ(encoded(schema, "ö"), (std::vector<float>{0, 0, 0})) << "A to Z alone";
  EXPECT_EQ(encoded(schema, std::string(500, 'f')), (std::vector<float>{0, 0, 0}));
  const Schema exact = schema_of_column("kind='categorical'\ncase='exact'\nvalues=['F', 'f']\n");
  EXPECT_EQ(encoded(exact, "f"), (std::vector<float>{0, 1}));
  const Schema label = schema_of(
      "[[column]]\nname='x'\nkind='numeric'\nmin=0\nmax=1\n"
      "[[column]]\nname='y'\nkind='label'\npositive='Yes'\nnegative='No'\ncase='ignore'\n");
  const auto data = read(label, "1,YES\n1,no\n");
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->table.labels()[0], 1);
  EXPECT_EQ(data->table.labels()[1], -1);
  EXPECT_EQ(label.class_called("yES"), 1U);
  EXPECT_FAILS(read(label, "1,y\n"), ErrorKind::kBadData, "not one of the label's declared values");
}

/// Columns of every combination of keys, and rows that reach all ends of what fields can be.
struct Drawn {
  std::string schema;
  std::vector<std::vector<std::string>> fields;  ///< by column: those that are drawn from
};

Drawn draw_schema(std::mt19937& random) {
  const auto coin = [&] { return random() % 2 == 0; };
  Drawn drawn{"[file]\nmissing=['?']\n", {}};
  for (int c = 0; c < 6; ++c) {
    std::string keys = fmt::format("[[column]]\nname='c{}'\n", c);
    std::vector<std::string> fields;
    bool missing = false;
    switch (random() % 5) {
      case 0:
        keys += fmt::format("kind='numeric'\nscale='log1p'\nmin={}\nmax={}\n",
                            coin() ? "-0.5" : "2",
                            coin() ? "3" : "1e6");
        if (missing = coin(); missing) keys += "filler=2.5\n";
        fields = {"-1e9", "2", "2.7", "1e9"};
        break;
      case 1:
        keys += "kind='numeric'\nbins=[-1, 2, 30]\n";
        if (missing = coin(); missing) keys += "filler=2\n";
        fields = {"-1e9", "2", "29", "1e9"};
        break;
      case 2:
        keys +=
            "kind='numeric'\ndate='%Y%m%d'\nmin='19000101'\nmax='20000101'\nfiller='19990101'\n";
        missing = true;
        fields = {"00010101", "19500606", "20000101", "99991231"};
        break;
      case 3:
        keys += "kind='numeric'\nmin=-2\nmax=5\n";
        if (missing = coin(); missing) keys += "filler=5\n";
        fields = {"-9", "0", "5", "9"};
        break;
      default:
        keys +=
            "kind='categorical'\nprefix=2\ncase='ignore'\nvalues=['a', ['bb', '7']]\n"
            "ranges=[['r', 10, 20], ['a', 21, 30]]\n";
        if (coin()) keys += "other=true\n";
        missing = true;
        fields = {"A", "BB!", "7", "15", "22", "nothing", ""};
    }
    if (coin()) {
      keys += "missing_indicator=true\n";
      missing = true;
    }
    if (missing) fields.emplace_back("?");
    drawn.schema += keys;
    drawn.fields.push_back(fields);
  }
  drawn.schema += kEnd;
  return drawn;
}

/// A row may be as long as the schema says, and no longer: rows are not shortened while they are
/// read (a feature of 1 would then be less), and some row reaches the bound.
TEST_F(SchemaKeys, RowsKeepTheBoundsThatFollowFromDeclarations) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const Drawn drawn = draw_schema(random);
    const Schema schema = schema_of(drawn.schema);
    // Every field of each column once beside every longest field of the others would be too many:
    // the longest row is that of each column's longest field.
    std::string text;
    std::vector<std::string> row(drawn.fields.size());
    for (int k = 0; k < 300; ++k) {
      for (std::size_t c = 0; c < row.size(); ++c)
        row[c] = drawn.fields[c][random() % drawn.fields[c].size()];
      text += fmt::format("{},1\n", fmt::join(row, ","));
    }
    const auto data = read(schema, text);
    ASSERT_TRUE(data) << data.error().message << drawn.schema;
    const auto sparse = read(schema, text, Misfits::kRefuse, Layout::kSparse);
    ASSERT_TRUE(sparse);
    const auto names = schema.feature_names();
    ASSERT_EQ(static_cast<std::size_t>(data->table.dim()), names.size());
    std::vector<double> longest(schema.columns.size());
    std::vector<std::int64_t> most(schema.columns.size());
    for (std::int64_t i = 0; i < data->table.rows(); ++i) {
      const auto features = row_of(data->table, i);
      ASSERT_EQ(features, row_of(sparse->table, i));
      std::size_t at = 0;
      for (std::size_t c = 0; c < schema.columns.size(); ++c) {
        double squares = 0;
        std::int64_t entries = 0;
        for (std::size_t k = 0; k < schema.columns[c].features(); ++k, ++at) {
          ASSERT_TRUE(features[at] >= 0 && features[at] <= 1) << names[at];
          // One-hot features, indicators and clamped values at the upper end are 1 to the bit.
          if (names[at].find('=') != std::string::npos) {
            ASSERT_TRUE(features[at] == 0 || features[at] == 1) << names[at] << features[at];
          }
          squares += static_cast<double>(features[at]) * static_cast<double>(features[at]);
          entries += features[at] != 0 ? 1 : 0;
        }
        longest[c] = std::max(longest[c], squares);
        most[c] = std::max(most[c], entries);
      }
      ASSERT_EQ(at, features.size());
      ASSERT_LE(data->table.norms()[static_cast<std::size_t>(i)],
                schema.row_norm_bound(false) * (1 + 1e-7));
    }
    double reached = 0;
    std::int64_t entries = 0;
    for (std::size_t c = 0; c < longest.size(); ++c) {
      reached += longest[c];
      entries += most[c];
    }
    // No bound below these would do: a twin that forgets the bin of a filler is one.
    EXPECT_NEAR(schema.row_norm_bound(false), std::sqrt(reached), 1e-6) << drawn.schema;
    EXPECT_EQ(schema.max_entries(), entries) << drawn.schema;
  }
}

TEST_F(SchemaKeys, MistakesAreRefused) {
  refuse_keys("kind='numeric'\nscale='log'\nmin=0\nmax=1\n",
              "'scale' must be one of linear, log1p");
  refuse_keys("kind='numeric'\nscale='log1p'\nmin=-1\nmax=1\n", "min must be more than -1");
  // Their logarithms are the same number: 0 / 0 would be no feature.
  refuse_keys("kind='numeric'\nscale='log1p'\nmin=1e17\nmax=1.00000000000000016e17\n", "too near");
  refuse_keys("kind='numeric'\nscale='log1p'\nbins=[1]\n", "not for dates or bins");
  refuse_keys("kind='numeric'\nbins=[]\n", "'bins' must be a list of edges");
  refuse_keys("kind='numeric'\nbins=[1, 1]\n", "must rise, but 1 follows 1");
  refuse_keys("kind='numeric'\nbins=[1, nan]\n", "'bins' must be a finite number");
  refuse_keys("kind='numeric'\nbins=[5]\nmin=5\n", "but 5 does not");
  refuse_keys("kind='numeric'\nbins=[5, 9]\nmin=0\nmax=9\n", "but 9 does not");
  refuse_keys("kind='numeric'\nbins=[5]\nmin=0\nmax=9\nfiller=10\n", "filler must lie between");
  refuse_keys("kind='numeric'\nbins=[5]\nmin=7\nfiller=6\n", "filler must lie between");
  refuse_keys("kind='numeric'\ndate='%d.%m.%y'\nmin='1'\nmax='2'\n", "another % part");
  refuse_keys("kind='numeric'\ndate='%d.%m'\nmin='1'\nmax='2'\n", "it has no %Y");
  refuse_keys("kind='numeric'\ndate='%Y %Y'\nmin='1'\nmax='2'\n", "it has a part twice");
  refuse_keys("kind='numeric'\ndate='%Y'\nmin=1999\nmax='2000'\n",
              "'min' of column 'x' must be a date");
  refuse_keys("kind='numeric'\ndate='%Y-%m-%d'\nmin='2001-02-29'\nmax='2002-01-01'\n",
              "'min' of column 'x' must be a date");
  refuse_keys("kind='numeric'\ndate='%Y'\nmin='2001'\nmax='2000'\n", "min is 2001 and max is 2000");
  refuse_keys("kind='categorical'\nvalues=['a']\nprefix=0\n", "'prefix' must be a whole number");
  refuse_keys("kind='categorical'\nvalues=['abc']\nprefix=2\n", "no field can be 'abc'");
  refuse_keys("kind='categorical'\nranges=[['a', 1]]\n", "'ranges' must be a list of values with");
  refuse_keys("kind='categorical'\nranges=[['a', 2, 1]]\n", "ends before it begins");
  refuse_keys("kind='categorical'\nranges=[['a', 1, 5], ['b', 5, 6]]\n",
              "the ranges of 'a' and 'b' overlap at 5");
  refuse_keys("kind='categorical'\nranges=[['a', 1, 9], ['a', 2, 3], ['b', 5, 6]]\n",
              "overlap at 5");
  refuse_keys("kind='categorical'\nranges=[['b', 0, 8], ['a', 1, 9], ['a', 2, 3]]\n",
              "overlap at 1");
  refuse_keys("kind='categorical'\nvalues=['F', 'f']\ncase='ignore'\n", "a spelling of two values");
  refuse_keys("kind='categorical'\nvalues=['F']\ncase='no'\n",
              "'case' must be one of exact, ignore");
  refuse_keys("kind='categorical'\nvalues=['r']\nranges=[['R', 1, 2]]\ncase='ignore'\n",
              "a spelling of two values");
  refuse_keys("kind='categorical'\nvalues=['other']\nranges=[['other', 1, 2]]\nother=true\n",
              "two features would be called 'x=other'");
  EXPECT_FAILS(Schema::parse("[[column]]\nname='x'\nkind='numeric'\nmin=0\nmax=1\n[[column]]\n"
                             "name='y'\nkind='label'\nmin=0\nmax=1\ncase='ignore'\n",
                             "s"),
               ErrorKind::kBadData,
               "which has no case");
}

TEST(SchemaMistakes, AreToldAllAtOnceByPlace) {
  const auto schema = Schema::parse(
      "[file]\nheadr = true\n[[column]]\nname='a'\nkind='numeric'\nmax='x'\n"
      "[[column]]\nname='b'\nkind='categorial'\n"
      "[[column]]\nname='y'\nkind='label'\npositive=['1']\nnegative=['1']\n",
      "s.toml");
  ASSERT_FALSE(schema);
  EXPECT_TRUE(schema.error().is_list);
  std::vector<std::string> starts;
  for (std::size_t begin = 0; begin < schema.error().message.size();) {
    const auto end =
        std::min(schema.error().message.find('\n', begin), schema.error().message.size());
    starts.push_back(schema.error().message.substr(begin, 12));
    begin = end + 1;
  }
  EXPECT_EQ(starts,
            (Texts{"s.toml:2:1: ", "s.toml:3:1: ", "s.toml:6:5: ", "s.toml:9:6: ", "s.toml:13:10"}))
      << schema.error().message;
}

TEST(SchemaMistakes, BeyondTwentyAreCountedButQuestionsAreAllTold) {
  std::string toml;
  for (int c = 0; c < 27; ++c)
    toml += fmt::format("[[column]]\nname='c{0}'\nkind='numeric'\nmin=0\nmax=0\n", c);
  for (int c = 0; c < 25; ++c)
    toml += fmt::format("[[column]]\nname='q{0}'\nkind='TODO: what {0}?'\n", c);
  const auto schema = Schema::parse(toml + kEnd, "s.toml");
  ASSERT_FALSE(schema);
  const std::string& message = schema.error().message;
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 20 + 25);
  EXPECT_TRUE(message.ends_with("\nand 7 more")) << message;
  for (int c = 0; c < 25; ++c)
    EXPECT_NE(message.find(fmt::format(
                  "s.toml:{}:6: a question without an answer: what {}?", 27 * 5 + c * 3 + 3, c)),
              std::string::npos)
        << message;
}

TEST_F(SchemaKeys, ARowOfNamesIsExplained) {
  const std::string columns =
      "[[column]]\nname='age'\nkind='numeric'\nmin=0\nmax=1\n" + std::string(kEnd);
  EXPECT_FAILS(read(schema_of(columns), "age,y\n1,1\n"),
               ErrorKind::kBadData,
               "the schema has no [file] table, which means that the file has no header");
  EXPECT_FAILS(read(schema_of("[file]\nmissing=['?']\n" + columns), "age,y\n1,1\n"),
               ErrorKind::kBadData,
               "[file] of the schema says no header = true");
  const auto other = read(schema_of(columns), "age,z\n1,1\n");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message.find("[file]"), std::string::npos) << "it may be anybody's row";
}

}  // namespace
}  // namespace sotto
