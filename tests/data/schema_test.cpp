#include "sotto/data/schema.hpp"

#include <cmath>

#include "tests/data/support.hpp"

namespace sotto {
namespace {

constexpr const char* kLabel =
    "[[column]]\nname='y'\nkind='label'\npositive=['1']\nnegative=['0']\n";

void refuse(const std::string& toml, const std::string& text) {
  EXPECT_FAILS(Schema::parse(toml, "s.toml"), ErrorKind::kBadData, text);
}
/// A column in front of a sound label.
void refuse_column(const std::string& keys, const std::string& text) {
  refuse("[[column]]\n" + keys + "\n" + kLabel, text);
}

TEST(Schema, ReadsEveryKind) {
  const auto schema = Schema::parse(R"(
[file]
header = true
separator = ";"
missing = ["?", ""]
comment = "|"
skip_lines = 2
[[column]]
name = "age"
kind = "numeric"
min = 0
max = 120.5
filler = 30
missing_indicator = true
[[column]]
names = ["a", "b"]
kind = "numeric"
min = -1
max = 1
[[column]]
name = "job"
kind = "categorical"
values = ["x", ["y", "Y"], 3]
other = true
missing_indicator = true
[[column]]
names = ["s1", "s2", "s3"]
kind = "onehot"
[[column]]
name = "id"
kind = "unit"
[[column]]
name = "note"
kind = "ignore"
[[column]]
name = "y"
kind = "label"
positive = [">50K", ">50K."]
negative = "<=50K"
)",
                                    "s.toml");
  ASSERT_TRUE(schema) << schema.error().message;
  EXPECT_TRUE(schema->header);
  EXPECT_EQ(schema->separator, ';');
  EXPECT_EQ(schema->comment, "|");
  EXPECT_EQ(schema->skip_lines, 2);
  EXPECT_EQ(schema->missing, (std::vector<std::string>{"?", ""}));
  EXPECT_EQ(schema->columns.size(), 10U);
  EXPECT_TRUE(schema->has_units);
  EXPECT_EQ(schema->feature_names(),
            (std::vector<std::string>{"age",
                                      "age=missing",
                                      "a",
                                      "b",
                                      "job=x",
                                      "job=y",
                                      "job=3",
                                      "job=other",
                                      "job=missing",
                                      "s1",
                                      "s2",
                                      "s3"}));
  EXPECT_EQ(schema->class_names(), (std::vector<std::string>{"<=50K", ">50K or >50K."}));
  // age: 1 + (30 / 120.5)^2 where missing, in the float that is stored; a, b, job and the one-hot
  // group: 1 each.
  const double squares = 1 + std::pow(static_cast<double>(static_cast<float>(30 / 120.5)), 2) + 4;
  EXPECT_NEAR(schema->row_norm_bound(false), std::sqrt(squares), 1e-12);
  EXPECT_NEAR(schema->row_norm_bound(true), std::sqrt(squares + 1), 1e-12);
  EXPECT_EQ(schema->max_entries(), 6);
}

TEST(Schema, AClassIsNamedByAllOfItsSpellings) {
  const auto schema = Schema::parse(
      "[[column]]\nname='x'\nkind='numeric'\nmin=0\nmax=1\n"
      "[[column]]\nname='l'\nkind='label'\nclasses=[['NO', '>30'], '<30', 'dead']\n",
      "s.toml");
  ASSERT_TRUE(schema) << schema.error().message;
  const std::vector<std::string> names = {"NO or >30", "<30", "dead"};
  EXPECT_EQ(schema->class_names(), names);
  EXPECT_TRUE(schema->is_named(names));
  EXPECT_TRUE(schema->is_named({"NO", "<30", "dead"})) << "as files of version 0.1 have them";
  EXPECT_FALSE(schema->is_named({"NO", "<30"}));
  EXPECT_FALSE(schema->is_named({">30", "<30", "dead"}));
  EXPECT_FALSE(schema->is_named({}));
  for (const char* name : {"NO", ">30", "NO or >30"}) EXPECT_EQ(schema->class_called(name), 0U);
  EXPECT_EQ(schema->class_called("dead"), 2U);
  EXPECT_FALSE(schema->class_called("no"));
}

TEST(Schema, UndeclaredBoundsAreExplained) {
  refuse_column(
      "name='age'\nkind='numeric'",
      "s.toml:1:1: column 'age' is numeric but does not declare min and max. Bounds taken "
      "from the rows would leak");
  refuse_column("name='age'\nkind='numeric'\nmin=3", "does not declare min and max");
  refuse_column("name='job'\nkind='categorical'",
                "does not declare its values. A list taken from the rows would leak");
}

TEST(Schema, UnknownKeysGetAHint) {
  refuse_column("name='age'\nkind='numeric'\nminimum=0\nmax=1",
                "s.toml:4:1: unknown key 'minimum' in a numeric column; did you mean 'min'?");
  refuse("[files]\nheader=true\n", "unknown key 'files' in the schema; did you mean 'file'?");
  refuse("[file]\nseperator=','\n", "unknown key 'seperator' in [file]; did you mean 'separator'?");
  refuse_column("name='x'\nkind='ignore'\nmin=0", "unknown key 'min' in an ignored column");
}

TEST(Schema, BadDeclarations) {
  refuse("", "needs columns");
  refuse("column = 3", "needs columns");
  refuse("[[column]\n", "s.toml:1:");
  refuse_column("name='x'\nkind='number'\nmin=0\nmax=1", "kind must be one of numeric");
  refuse_column("name='x'\nkind='categorial'\nvalues=['a']", "Did you mean 'categorical'?");
  refuse_column("kind='ignore'", "needs either name or names");
  refuse_column("name='x'\nnames=['z']\nkind='ignore'", "needs either name or names");
  refuse_column("name='x'\nkind='numeric'\nmin=2\nmax=2", "min must be less than max");
  // A range beyond double would make NaN of a row that fits; a label beyond float32 infinity.
  refuse_column("name='x'\nkind='numeric'\nmin=-1e308\nmax=1e308", "what float32 holds");
  refuse(
      "[[column]]\nname='x'\nkind='numeric'\nmin=0\nmax=1\n"
      "[[column]]\nname='y'\nkind='label'\nmin=0\nmax=1e39\n",
      "what float32 holds");
  refuse_column("name='x'\nkind='numeric'\nmin='a'\nmax=2", "'min' must be a finite number");
  refuse_column("name='x'\nkind='numeric'\nmin=-inf\nmax=2", "'min' must be a finite number");
  refuse_column("name='x'\nkind='numeric'\nmin=0\nmax=2\nfiller=3", "filler must lie between");
  refuse_column("name='x'\nkind='categorical'\nvalues=[]", "not empty");
  refuse_column("name='x'\nkind='categorical'\nvalues=['a','a']", "names the value 'a' twice");
  refuse_column("name='x'\nkind='categorical'\nvalues=['a']\nother=1",
                "'other' must be true or false");
  refuse_column("name='x'\nkind='categorical'\nvalues=['other']\nother=true",
                "two features would be called 'x=other'");
  refuse_column("name='y'\nkind='ignore'", "column 'y' is declared twice");
  refuse_column("name='x'\nkind='ignore'", "declares no features");
  refuse_column("name='u'\nkind='unit'\n[[column]]\nname='v'\nkind='unit'", "more than one unit");
  refuse("[[column]]\nname='x'\nkind='numeric'\nmin=0\nmax=1\n",
         "exactly one column of kind \"label\"");
  refuse(std::string(kLabel) + "[[column]]\nname='z'\nkind='label'\nclasses=[1,2]\n", "but has 2");
  refuse("[[column]]\nname='y'\nkind='label'\npositive=['1']\n",
         "must declare either positive and negative");
  refuse("[[column]]\nname='y'\nkind='label'\npositive=['1']\nnegative=['1']\n",
         "both positive and negative");
  refuse("[[column]]\nname='y'\nkind='label'\npositive=['a or b']\nnegative=['a', 'b']\n",
         "two classes would both be shown as 'a or b'");
  refuse("[[column]]\nname='y'\nkind='label'\nclasses=['1']\n", "at least two classes");
  refuse("[[column]]\nname='y'\nkind='label'\nmin=0\n", "does not declare min and max");
  refuse("[file]\nseparator=', '\n", "'separator' must be one character");
  refuse("[file]\nskip_lines=-1\n", "'skip_lines' must be a whole number");
}

TEST(Schema, MissingFile) {
  EXPECT_FAILS(Schema::load("/nonexistent/s.toml"), ErrorKind::kIo, "/nonexistent/s.toml");
}

TEST(Schema, Examples) {
  const std::string folder = std::string(SOTTO_SOURCE_DIR) + "/examples/";
  for (const char* name : {"adult.toml", "diabetes.toml", "diabetes3.toml", "covertype.toml"}) {
    const auto schema = Schema::load(folder + name);
    ASSERT_TRUE(schema) << schema.error().message;
  }
}

}  // namespace
}  // namespace sotto
