// What may be a mistake in a schema, by public facts alone.

#include "sotto/data/schema_remarks.hpp"

#include <fmt/format.h>

#include "sotto/data/dictionary.hpp"
#include "sotto/data/public_words.hpp"
#include "tests/data/support.hpp"

namespace sotto {
namespace {

constexpr const char* kAge = "[[column]]\nname='age'\nkind='numeric'\nmin=0\nmax=120\n";
constexpr const char* kBack = "[[column]]\nname='back'\nkind='label'\npositive='1'\nnegative='0'\n";

std::string remarked(const std::string& toml,
                     const std::string& dictionary = "",
                     std::vector<std::string> header = {}) {
  const auto reading = SchemaReading::of(toml);
  for (const auto& mistake : reading.mistakes) ADD_FAILURE() << mistake.text;
  RemarkSources sources;
  std::vector<ColumnFacts> facts;
  if (!dictionary.empty()) {
    const auto parsed = parse_dictionary(dictionary, "d.csv");
    EXPECT_TRUE(parsed) << parsed.error().message;
    facts = *parsed;
    sources.dictionary = &facts;
  }
  const HeaderLine line{',', std::move(header)};
  if (!line.names.empty()) sources.header = &line;
  std::string text;
  for (const auto& each : remarks_on(reading, sources))
    text += fmt::format("{}:{}: {}\n", each.place.line, each.place.column, each.text);
  return text;
}

void expect_remark(const std::string& remarks, const std::string& part) {
  EXPECT_NE(remarks.find(part), std::string::npos) << remarks;
}

std::string column(const std::string& name, const std::string& keys) {
  return fmt::format("{}[[column]]\nname='{}'\n{}\n{}", kAge, name, keys, kBack);
}

TEST(Remarks, NoneOfASoundSchema) {
  EXPECT_EQ(remarked(std::string(kAge) + kBack), "");
  EXPECT_EQ(remarked("[file]\nheader=true\n" + std::string(kAge) + kBack,
                     "column,type,min,max,values\nage,integer,0,120,\nback,,,,0|1\n",
                     {"back", "age"}),
            "");
}

TEST(Remarks, TinyFeatures) {
  expect_remark(remarked(column("number_of_visits", "kind='numeric'\nmin=0\nmax=100")),
                "6:1: column 'number_of_visits': between 0 and 100 one more changes the feature by "
                "0.01 only");
  expect_remark(remarked(column("income", "kind='numeric'\nmin=0\nmax=1e6")), "scale = \"log1p\"");
  expect_remark(remarked(fmt::format("{}[[column]]\nnames=['num_a', 'num_b', 'c']\nkind='numeric'\n"
                                     "min=0\nmax=100\n{}",
                                     kAge,
                                     kBack)),
                "columns 'num_a', 'num_b': between");
  for (const char* keys : {"kind='numeric'\nscale='log1p'\nmin=0\nmax=100",
                           "kind='numeric'\nbins=[1, 5]",
                           "kind='numeric'\nmin=0\nmax=20",
                           "kind='numeric'\nmin=100\nmax=1000",
                           "kind='numeric'\nmin=-100\nmax=100"})
    EXPECT_EQ(remarked(column("number_of_visits", keys)), "") << keys;
}

TEST(Remarks, NamesOfIdsPersonsAndLabels) {
  expect_remark(remarked(column("ward_id", "kind='numeric'\nmin=0\nmax=10")),
                "is numeric, but its name is that of an id");
  EXPECT_EQ(remarked(column("ward_id", "kind='categorical'\nvalues=[1, 2]")), "");
  expect_remark(remarked(column("patient_nbr", "kind='ignore'")),
                "6:1: no column is of kind \"unit\", so that the guarantee is for each row");
  EXPECT_EQ(remarked(column("patient_nbr", "kind='unit'")), "");
  expect_remark(remarked(column("surname", "kind='categorical'\nvalues=['a', 'b']")),
                "tells who somebody is");
  expect_remark(remarked(column("back_date", "kind='numeric'\ndate='%Y'\nmin='1990'\nmax='2020'")),
                "is named like the label 'back'");
  EXPECT_EQ(remarked(column("back_date", "kind='ignore'")), "");
  expect_remark(remarked(column("Age", "kind='numeric'\nmin=0\nmax=120")),
                "columns 'age' and 'Age' differ only in case");
  expect_remark(remarked(column("c", "kind='categorical'\nvalues=['Yes']")), "has one value");
  EXPECT_EQ(remarked(column("c", "kind='categorical'\nvalues=['Yes']\nother=true")), "");
}

constexpr const char* kCodes =
    "column,type,min,max,values\nage,integer,0,90,\nsex,,,,Female|Male\nback,,,,0|1\n";

TEST(Remarks, ValuesThatTheDictionarySpellsOtherwise) {
  const std::string short_ones =
      remarked(column("sex", "kind='categorical'\nvalues=['F', 'M']"), kCodes);
  expect_remark(short_ones, "the dictionary has no 'F', but 'Female', which may be the same");
  expect_remark(short_ones, "the dictionary has no 'M', but 'Male'");
  expect_remark(short_ones, "does not list 'Female', 'Male' of the dictionary");
  const std::string small =
      remarked(column("sex", "kind='categorical'\nvalues=['female', 'male']"), kCodes);
  expect_remark(small, "spells 'female' as 'Female'");
  for (const char* keys : {"kind='categorical'\nvalues=['female', 'male']\ncase='ignore'",
                           "kind='categorical'\nvalues=[['F', 'Female'], ['Male', 'M']]",
                           "kind='categorical'\nprefix=1\nvalues=['F', 'M']"})
    EXPECT_EQ(remarked(column("sex", keys), kCodes),
              "1:1: column 'age': the dictionary's bounds, 0 and 90, are tighter than 0 and 120, "
              "and make larger features.\n")
        << keys;
  expect_remark(
      remarked(column("sex", "kind='categorical'\nvalues=['Female', 'Male', 'x']"), kCodes),
      "the dictionary does not have 'x'");
  expect_remark(remarked(column("ward", "kind='ignore'"), kCodes), "tighter");
  expect_remark(remarked(column("sexx", "kind='categorical'\nvalues=['a', 'b']"), kCodes),
                "column 'sexx' is not in the dictionary. Did you mean 'sex'?");
  expect_remark(
      remarked(std::string(kAge) +
                   "[[column]]\nname='back'\nkind='label'\npositive='yes'\nnegative='no'\n",
               kCodes),
      "the dictionary has no 'yes', but '1'");
}

TEST(Remarks, BoundsAndKindsOfTheDictionary) {
  expect_remark(remarked(std::string(kAge) + kBack, "column,min,max\nage,0,130\nback,,\n"),
                "the dictionary's bounds, 0 and 130, are wider");
  expect_remark(remarked(std::string(kAge) + kBack, "column,type\nage,date\nback,\n"),
                "is a date in the dictionary");
  expect_remark(remarked(std::string(kAge) + kBack, "column,values\nage,1|2|3\nback,\n"),
                "lists its values: say kind = \"categorical\"");
}

TEST(Remarks, OfAHeader) {
  const std::string none = remarked(std::string(kAge) + kBack, "", {"age", "bakc", "ward"});
  expect_remark(none, "the schema has no [file] table, which means that the file has no header");
  expect_remark(none, "column 'back' is not in the header. Did you mean 'bakc'?");
  expect_remark(none, "column 'ward' of the header is not declared");
  expect_remark(
      remarked("[file]\nheader=true\nskip_lines=1\n" + std::string(kAge) + kBack, "", {"x"}),
      "the header is not compared");
  const std::string row =
      remarked("[file]\nheader=true\n" + std::string(kAge) + kBack, "", {"Smith", "x"});
  expect_remark(row, "has none of the schema's columns");
  EXPECT_EQ(row.find("Smith"), std::string::npos) << "it may be somebody's row";
}

TEST(PublicWords, KindsOfNames) {
  EXPECT_EQ(words_of("admissionType_ID-2 x"),
            (std::vector<std::string>{"admission", "type", "id", "2", "x"}));
  EXPECT_EQ(likely_kind("number_outpatient"), LikelyKind::kCount);
  EXPECT_EQ(likely_kind("PatientId"), LikelyKind::kPersonId);
  EXPECT_EQ(likely_kind("patient_nbr"), LikelyKind::kPersonId);
  EXPECT_EQ(likely_kind("encounter_id"), LikelyKind::kId);
  EXPECT_EQ(likely_kind("time_in_hospital"), LikelyKind::kUnknown);
  EXPECT_EQ(likely_kind("insulin"), LikelyKind::kUnknown);
  EXPECT_EQ(likely_kind("diag_1"), LikelyKind::kDiagnosis);
  EXPECT_TRUE(are_synonyms("F", "female"));
  EXPECT_TRUE(are_synonyms("1", "Yes"));
  EXPECT_FALSE(are_synonyms("F", "Male"));
  EXPECT_FALSE(are_synonyms("a", "a"));
}

TEST(Remarks, TwinsOfOneGroupCostNothing) {
  const std::string twins = "[[column]]\nnames=['Ward A', 'ward_a']\nkind=";
  expect_remark(remarked(kAge + twins + "'numeric'\nmin=0\nmax=1\n" + kBack), "both cost norm");
  EXPECT_EQ(remarked(kAge + twins + "'onehot'\n" + kBack), "");
  expect_remark(remarked(std::string(kAge) +
                         "[[column]]\nnames=['Ward A', 'b']\nkind='onehot'\n"
                         "[[column]]\nnames=['ward_a', 'c']\nkind='onehot'\n" +
                         kBack),
                "both cost norm");
}

}  // namespace
}  // namespace sotto
