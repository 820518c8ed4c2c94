// Drafts of schemas, and what they are made of: headers and dictionaries, never rows.

#include "sotto/data/schema_draft.hpp"

#include <sys/stat.h>

#include <cmath>

#include "sotto/data/date_form.hpp"
#include "sotto/data/dictionary.hpp"
#include "sotto/data/header_line.hpp"
#include "sotto/data/schema.hpp"
#include "tests/data/support.hpp"

namespace sotto {
namespace {

using Type = ColumnFacts::Type;
using Strings = std::vector<std::string>;

ColumnFacts named(const std::string& name) {
  ColumnFacts facts;
  facts.name = name;
  return facts;
}

std::string draft(const std::vector<ColumnFacts>& columns, const DraftChoices& choices = {}) {
  const auto text = draft_schema(columns, choices);
  EXPECT_TRUE(text) << text.error().message;
  return text.value_or("");
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class HeaderLines : public test::DataTest {};

TEST_F(HeaderLines, NamesAndSeparator) {
  const auto read = [&](const std::string& text) {
    const auto header = read_header_line(write("a.csv", text));
    EXPECT_TRUE(header) << header.error().message;
    return header.value_or(HeaderLine());
  };
  EXPECT_EQ(read("a,b c,\"d, e\"\r\n1,2,3\n").names, (Strings{"a", "b c", "d, e"}));
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "a;b\n")
                .names,
            (Strings{"a", "b"}));
  EXPECT_EQ(read("a;b").separator, ';');
  EXPECT_EQ(read("a\tb,c\td\n").names, (Strings{"a", "b,c", "d"}));
  EXPECT_EQ(read_header_line(write("z.csv.gz", test::gzip("a,b\n1,2\n")))->names,
            (Strings{"a", "b"}));
}

/// A stream that gives the first line and then blocks forever: whoever asks for a byte more hangs.
TEST_F(HeaderLines, NothingBehindTheFirstLineIsRead) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const int before = ::dup(STDIN_FILENO);
  ASSERT_EQ(::dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
  const std::string text = "a,b\nPRIVATE";
  ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  const auto header = read_header_line("-");
  char rest[32];
  const auto left = ::read(STDIN_FILENO, rest, sizeof rest);
  ::dup2(before, STDIN_FILENO);
  for (const int each : {ends[0], ends[1], before}) ::close(each);
  ASSERT_TRUE(header) << header.error().message;
  EXPECT_EQ(header->names, (Strings{"a", "b"}));
  EXPECT_EQ(std::string(rest, static_cast<std::size_t>(left)), "PRIVATE");
}

TEST_F(HeaderLines, ARowIsNoHeaderAndNotQuoted) {
  for (const char* row :
       {"Smith,34,yes\n", "Smith,,yes\n", "Smith,yes,yes\n", "\n", "\"Smith,b\n"}) {
    const auto header = read_header_line(write("a.csv", row));
    ASSERT_FALSE(header) << row;
    EXPECT_EQ(header.error().kind, ErrorKind::kBadData);
    EXPECT_TRUE(holds(header.error().message, "may be a row"));
    EXPECT_FALSE(holds(header.error().message, "Smith")) << header.error().message;
  }
}

TEST(Dictionary, OfCsv) {
  const auto columns = parse_dictionary(
      "Variable,Type,Minimum,Maximum,Values,Description\n"
      "age,integer,0,120,,\"Age, in years\"\n"
      "sex,categorical,,,F=Female | M=Male,Sex\n"
      "smoker,radio,,,\"1, Yes | 0, No\",\n"
      "ward,,,,a;b;c,\n"
      "born,date,1900-01-01,2024-12-31,,\n"
      "name,varchar(20),,,,\n",
      "d.csv");
  ASSERT_TRUE(columns) << columns.error().message;
  ASSERT_EQ(columns->size(), 6U);
  EXPECT_EQ((*columns)[0].type, Type::kInteger);
  EXPECT_EQ((*columns)[0].max, 120.0);
  EXPECT_EQ((*columns)[0].comment, "Age, in years");
  EXPECT_EQ((*columns)[1].values, (Strings{"F", "M"}));
  EXPECT_EQ((*columns)[1].comment, "Sex: F = Female, M = Male");
  EXPECT_EQ((*columns)[2].values, (Strings{"1", "0"}));
  EXPECT_EQ((*columns)[3].values, (Strings{"a", "b", "c"}));
  EXPECT_EQ((*columns)[4].min, DateForm::parse("%Y-%m-%d")->days("1900-01-01"));
  EXPECT_EQ((*columns)[5].type, Type::kText);
  const auto semicolons = parse_dictionary("column;values\r\nx;a|b\r\n", "d.csv");
  ASSERT_TRUE(semicolons);
  EXPECT_EQ((*semicolons)[0].values, (Strings{"a", "b"}));
}

TEST(Dictionary, OfToml) {
  const auto columns = parse_dictionary(
      "[[column]]\nname='age'\ntype='integer'\nmin=0\nmax=120\ndescription='years'\n"
      "[[column]]\nname='in'\ntype='date'\nmin='2010-01-01'\nvalues=['x', 2]\nnullable=false\n",
      "d.toml");
  ASSERT_TRUE(columns) << columns.error().message;
  EXPECT_EQ((*columns)[0].max, 120.0);
  EXPECT_EQ((*columns)[1].min, 14610.0);
  EXPECT_EQ((*columns)[1].values, (Strings{"x", "2"}));
  EXPECT_FALSE((*columns)[1].nullable);
}

TEST(Dictionary, AllMistakesAreToldAtOnce) {
  const auto csv = parse_dictionary(
      "column,type,min\nage,integr,0\nb,integer,low\n,text,\nc,date,1.1.2010\n", "d.csv");
  ASSERT_FALSE(csv);
  for (const char* part : {"d.csv:2:2: unknown type 'integr'",
                           "d.csv:3:3: the bound 'low' of column 'b' is no number",
                           "d.csv:4:1: a column needs a name",
                           "d.csv:5:3: the bound '1.1.2010' of column 'c' is no date"})
    EXPECT_TRUE(holds(csv.error().message, part)) << csv.error().message;
  const auto toml = parse_dictionary(
      "[[column]]\nname='a'\ntype='x'\n[[column]]\nnam='b'\nmin='low'\n", "d.toml");
  ASSERT_FALSE(toml);
  for (const char* part : {"d.toml:3:6: the type must be",
                           "d.toml:4:1: a column needs a name",
                           "d.toml:5:1: unknown key 'nam'",
                           "d.toml:6:5: 'min' must be a number"})
    EXPECT_TRUE(holds(toml.error().message, part)) << toml.error().message;
  EXPECT_FAILS(parse_dictionary("type,min\n", "d.csv"), ErrorKind::kBadData, "needs headings");
  EXPECT_FAILS(parse_dictionary("", "d.csv"), ErrorKind::kBadData, "a line of headings");
  EXPECT_FAILS(parse_dictionary("column\na\na\n", "d.csv"), ErrorKind::kBadData, "is there twice");
}

std::vector<ColumnFacts> described() {
  ColumnFacts id = named("patient_nbr");
  ColumnFacts age = named("age");
  age.type = Type::kInteger;
  age.min = 0;
  age.max = 120;
  age.comment = "In years";
  ColumnFacts sex = named("sex");
  sex.values = {"F", "M"};
  ColumnFacts drug = named("insulin");
  drug.values = {"No", "Up \"x\" \\"};
  ColumnFacts other = named("metformin");
  other.values = drug.values;
  ColumnFacts in = named("admitted");
  in.type = Type::kDate;
  in.min = 14610;
  in.max = 20000.0;
  in.nullable = false;
  ColumnFacts smoker = named("smoker");
  smoker.type = Type::kBoolean;
  ColumnFacts key = named("row");
  key.key = true;
  ColumnFacts label = named("back");
  label.values = {"NO", "<30", ">30"};
  return {id, age, sex, drug, other, in, smoker, key, label};
}

TEST(Draft, OfWhatIsKnownIsASchema) {
  DraftChoices choices;
  choices.label = "back";
  choices.positive = {"<30"};
  choices.person = "patient_nbr";
  const std::string text = draft(described(), choices);
  EXPECT_EQ(open_questions(text), 0);
  const auto schema = Schema::parse(text, "draft");
  ASSERT_TRUE(schema) << schema.error().message << text;
  EXPECT_TRUE(schema->header);
  EXPECT_EQ(schema->unit(), "patient_nbr");
  EXPECT_EQ(schema->columns.size(), 9U);
  EXPECT_EQ(schema->class_names(), (Strings{"NO or >30", "<30"}));
  EXPECT_TRUE(holds(text, "names = [\"insulin\", \"metformin\"]")) << text;
  EXPECT_TRUE(holds(text, "# In years\n[[column]]\nname = \"age\"")) << text;
  EXPECT_TRUE(holds(text, "min = \"2010-01-01\"")) << text;
  const auto names = schema->feature_names();
  for (const char* name :
       {"age", "age=missing", "sex=F", "insulin=Up \"x\" \\", "admitted", "smoker=1"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  EXPECT_EQ(std::find(names.begin(), names.end(), "admitted=missing"), names.end());
}

/// What nobody said is refused, each question by its line.
TEST(Draft, OfNamesAloneIsFullOfQuestions) {
  const std::string text = draft({named("number_of_visits"),
                                  named("num_tests"),
                                  named("ward"),
                                  named("x1"),
                                  named("x2"),
                                  named("birth_date")});
  EXPECT_TRUE(holds(text, "names = [\"number_of_visits\", \"num_tests\"]")) << text;
  EXPECT_TRUE(holds(text, "names = [\"x1\", \"x2\"]")) << text;
  EXPECT_TRUE(holds(text, "\n# scale = \"log1p\"\n")) << "a guess is a comment";
  EXPECT_EQ(open_questions(text), 4 + 3) << text;
  const auto schema = Schema::parse(text, "draft.toml");
  ASSERT_FALSE(schema);
  std::size_t told = 0;
  for (std::size_t at = 0;
       (at = schema.error().message.find("a question without", at)) != std::string::npos;
       ++at)
    ++told;
  EXPECT_EQ(told, 7U) << schema.error().message;
  EXPECT_FALSE(holds(schema.error().message, "must be")) << "a question is no other mistake";
}

TEST(Draft, OfTypesAsksForBounds) {
  ColumnFacts stay = named("stay");
  stay.type = Type::kInteger;
  ColumnFacts code = named("diagnosis");
  code.type = Type::kText;
  code.refers_to = "diagnoses(code)";
  ColumnFacts id = named("order_id");
  id.type = Type::kInteger;
  const std::string text = draft({stay, code, id});
  EXPECT_TRUE(holds(text, "min = \"TODO: the least value")) << text;
  EXPECT_TRUE(holds(text, "max = \"TODO: the greatest value")) << text;
  EXPECT_TRUE(holds(text, "values = \"TODO: the codes of diagnoses(code), in a list?")) << text;
  EXPECT_TRUE(holds(text, "--public-table")) << text;
  EXPECT_TRUE(holds(text, "name = \"order_id\"\nkind = \"TODO: an id")) << text;
}

TEST(Draft, Choices) {
  DraftChoices wrong;
  wrong.label = "bcak";
  EXPECT_FAILS(draft_schema(described(), wrong),
               ErrorKind::kUsage,
               "‘label’ names 'bcak', which is no column. Did you mean 'back'?");
  DraftChoices both;
  both.label = both.person = "back";
  EXPECT_FAILS(draft_schema(described(), both), ErrorKind::kUsage, "both the label and the person");
  DraftChoices tab;
  tab.separator = '\t';
  EXPECT_TRUE(holds(draft(described(), tab), "separator = \"\\t\"\n"));
}

TEST(Draft, Answers) {
  DraftChoices choices;
  ColumnFacts facts = named("x");
  const auto say_of = [&](const char* line) {
    facts = named("x");
    return answer(line, facts, choices);
  };
  ASSERT_TRUE(say_of(" 0..120 "));
  EXPECT_EQ(facts.max, 120.0);
  EXPECT_EQ(facts.type, Type::kReal);
  ASSERT_TRUE(say_of("2010-01-01..2010-01-03"));
  EXPECT_EQ(facts.type, Type::kDate);
  EXPECT_EQ(*facts.max - *facts.min, 2);
  ASSERT_TRUE(say_of("yes, no,, yes"));
  EXPECT_EQ(facts.values, (Strings{"yes", "no"}));
  ASSERT_TRUE(say_of("codes 9..11"));
  EXPECT_EQ(facts.values, (Strings{"9", "10", "11"}));
  EXPECT_TRUE(holds(draft({facts}, choices), "values = [9, 10, 11]\n"));
  facts.values = {"01", "1", "0", "1.5", "-1"};
  EXPECT_TRUE(holds(draft({facts}, choices), "values = [\"01\", 1, 0, \"1.5\", \"-1\"]\n"));
  ASSERT_TRUE(say_of(""));
  EXPECT_FALSE(is_described(facts, choices));
  ASSERT_TRUE(say_of("0..50 log"));
  EXPECT_TRUE(choices.log.contains("x"));
  EXPECT_TRUE(holds(draft({facts}, choices), "scale = \"log1p\""));
  ASSERT_TRUE(say_of("-"));
  EXPECT_TRUE(choices.ignored.contains("x"));
  EXPECT_TRUE(is_described(facts, choices));
  ASSERT_TRUE(say_of("person"));
  EXPECT_EQ(choices.person, "x");
  for (const char* bad : {"3..1",
                          "a..b",
                          "0..inf",
                          "-1..5 log",
                          "yes",
                          "person",
                          "2010-01-01..7",
                          "codes 5",
                          "codes 1..0",
                          "codes 0..1000",
                          "codes 1..2.5"})
    EXPECT_EQ(say_of(bad).error().kind, ErrorKind::kUsage) << bad;
}

/// No answer to a question could make a schema of it, or no draft would be TOML.
TEST(Draft, TextsThatNoSchemaCanHaveAreRefused) {
  for (const char* text : {"a\nb", "a\x1b[1m", "a\xff", "TODO: hi", "a\xE2\x80\xAE"}) {
    DraftChoices choices;
    EXPECT_FAILS(draft_schema({named(text)}, choices), ErrorKind::kUsage, "the name of a column");
    ColumnFacts facts = named("x");
    EXPECT_FAILS(answer(std::string("yes, ") + text, facts, choices), ErrorKind::kUsage, "value '");
    EXPECT_TRUE(facts.values.empty());
    facts.values = {"yes", text};
    EXPECT_FAILS(draft_schema({facts}, choices), ErrorKind::kUsage, "a value of column 'x'");
    choices.label = "x";
    choices.positive = {text};
    EXPECT_FAILS(draft_schema({named("x")}, choices), ErrorKind::kUsage, "positive class");
    EXPECT_FAILS(parse_dictionary(fmt::format("[[column]]\nname='x'\nvalues=[\"yes\", \"{}\"]\n",
                                              text[1] == '\n' ? "TODO: x" : text),
                                  "d.toml"),
                 ErrorKind::kBadData,
                 "d.toml");
  }
  EXPECT_FAILS(parse_dictionary("column\nTODO: hi\n", "d.csv"), ErrorKind::kBadData, "TODO:");
  DraftChoices twice;
  twice.label = "x";
  twice.positive = {"1", "1"};
  EXPECT_FAILS(draft_schema({named("x")}, twice), ErrorKind::kUsage, "there twice");
}

TEST(Draft, AQuestionInACommentIsNone) {
  ColumnFacts facts = named("x");
  facts.values = {"a", "b"};
  facts.comment = "says \"TODO: ask\"";
  DraftChoices choices;
  choices.label = "x";
  choices.positive = {"a"};
  EXPECT_EQ(open_questions(draft({facts}, choices)), 0);
}

TEST(Draft, BoundsThatNoSchemaTakesAreAQuestion) {
  ColumnFacts facts = named("x");
  DraftChoices choices;
  for (const char* bounds : {"0..1e300", "-1e39..0"})
    EXPECT_FAILS(answer(bounds, facts, choices), ErrorKind::kUsage, "float32 can hold");
  EXPECT_TRUE(answer("-3e38..3e38", facts, choices));
  facts.max = 1e300;
  EXPECT_TRUE(holds(draft({facts}), "max = \"TODO:"));
  facts.min = facts.max = 0;
  EXPECT_TRUE(holds(draft({facts}), "max = \"TODO:"));
}

TEST(Dictionary, WhatContradictsItselfIsRefused) {
  const auto csv = parse_dictionary(
      "column,type,min,max,values\na,real,5,1,\nb,date,2020-01-01,2010-01-01,\n"
      "c,,,,x|y|x\nd,real,0,1e300,\ne,real,1,1,\nf,real,0,1,\n",
      "d.csv");
  ASSERT_FALSE(csv);
  for (const char* part : {"d.csv:2:1: the bounds of column 'a' must be in order, but 5 is not",
                           "d.csv:3:1: the bounds of column 'b' must be in order, but 2020-01-01",
                           "d.csv:4:1: column 'c' names the value 'x' twice",
                           "d.csv:5:1: the bound 1e+300 of column 'd' is beyond float32",
                           "d.csv:6:1: the bounds of column 'e'"})
    EXPECT_TRUE(holds(csv.error().message, part)) << csv.error().message;
  EXPECT_FALSE(holds(csv.error().message, "'f'")) << csv.error().message;
  EXPECT_FAILS(parse_dictionary("[[column]]\nname='a'\nmin=5\nmax=1\n", "d.toml"),
               ErrorKind::kBadData,
               "d.toml:1:1: the bounds of column 'a'");
}

TEST_F(HeaderLines, DatesAndHexadecimalNumbersAreNoNames) {
  for (const char* field : {"2020-01-01",
                            "1.2.2020",
                            "12/31/99",
                            "2020/1/1 10:00",
                            "2020-01-01T10:00:00Z",
                            "0x12",
                            "-0XaF"}) {
    const auto header = read_header_line(write("a.csv", fmt::format("Smith,{},y\n", field)));
    ASSERT_FALSE(header) << field;
    EXPECT_TRUE(holds(header.error().message, "field 2 is a ")) << header.error().message;
    EXPECT_FALSE(holds(header.error().message, "Smith"));
    EXPECT_FALSE(holds(header.error().message, field));
  }
  const auto names = "2020,0xyz,2020-01,1-2-3 months,a-b-c,1.2.3,day 2020-01-01,0x";
  const auto header = read_header_line(write("a.csv", std::string(names).substr(5) + "\n"));
  EXPECT_TRUE(header) << header.error().message;
}

}  // namespace
}  // namespace sotto
