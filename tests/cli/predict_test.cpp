// Scores that people can act on: files without labels, ids, lists and flags.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/support/predictions.hpp"

namespace sotto::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Predictions, RowsNeedNeitherLabelsNorPersonsAndMayHaveMoreColumns) {
  const auto run = sotto({"predict", new_patients(), model_, file("out.csv")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, "") << "no labels, no metrics";
  EXPECT_THAT(run.err, AllOf(HasSubstr("not used: 'ward'."), HasSubstr("no labels")))
      << "encounter_id is declared to be ignored";
}

TEST_F(Predictions, UnknownColumnsAreNamedUpToALimit) {
  std::string header = "age", row = "50";
  for (int k = 0; k < 20; ++k) {
    header += ",x" + std::to_string(k);
    row += ",0";
  }
  const auto run = sotto(
      {"predict", dir_.write("wide.csv", header + "\n" + row + "\n"), model_, file("out.csv")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("'x7' and 12 more"), Not(HasSubstr("x8"))));
}

TEST_F(Predictions, AHeaderAndTheFilesOrder) {
  const auto lines = lines_of(predicted({}, new_patients()));
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], "row,prediction,probability");
  EXPECT_THAT(lines[1], ::testing::StartsWith("1,NO or >30,"));
  EXPECT_THAT(lines[3], ::testing::StartsWith("3,<30,0."));
}

/// Of a person's stays only the highest is listed; rows without a value are different ones.
TEST_F(Predictions, OneLinePerPerson) {
  const std::string rows = dir_.write("more.csv",
                                      "who,age,stay\np1,90,s1\n\"p,2\",80,s2\np1,95,s3\n,70,s4\n"
                                      "\"p,2\",20,s5\n,60,s6\np3,10,s7\np4,75,s8\n");
  const auto stays = [&](const std::string& top) {
    return column(predicted({"--keep stay,who --one-per who --top", top}, rows), "stay");
  };
  EXPECT_THAT(stays("100"), ElementsAre("s3", "s2", "s8", "s4", "s6", "s7"));
  EXPECT_THAT(stays("3"), ElementsAre("s3", "s2", "s8"));
  EXPECT_THAT(stays("1"), ElementsAre("s3"));
  EXPECT_THAT(column(predicted({"--keep stay,who --top 3"}, rows), "stay"),
              ElementsAre("s3", "s1", "s2"));
  const auto says = [&](const Words& more) {
    const auto run = sotto(Words{"predict", rows, model_, file("none.csv")} + more);
    EXPECT_EQ(run.code, 2) << run.err;
    return run.err;
  };
  EXPECT_THAT(says({"--keep stay --one-per who --top 3"}),
              AllOf(HasSubstr("not among the kept columns"), HasSubstr("--keep")));
  EXPECT_THAT(says({"--keep who --one-per who"}), HasSubstr("--one-per goes with --top"));
  EXPECT_THAT(says({"--keep who --one-per who --top 3 --flag-share 0.1"}),
              HasSubstr("without --flag-share"));
}

/// Ten lines of many: what a value's line was dropped for is never needed again. Against a list of
/// all rows.
TEST_F(Predictions, OneLinePerPersonOfMany) {
  std::string text = "who,age,stay\n";
  for (std::int64_t i = 0; i < 30'000; ++i)
    text += fmt::format(
        "p{},{},s{}\n", i * 7919 % 997, static_cast<double>(i * 104729 % 10'007) / 101, i);
  const std::string rows = dir_.write("many.csv", text);
  const std::string all = predicted({"--keep stay,who --sort"}, rows);
  const auto people = column(all, "who"), stays = column(all, "stay");
  std::vector<std::string> expected;
  std::set<std::string> seen;
  for (std::size_t k = 0; k < people.size() && expected.size() < 200; ++k)
    if (seen.insert(people[k]).second) expected.push_back(stays[k]);
  EXPECT_EQ(column(predicted({"--keep stay,who --one-per who --top 200"}, rows), "stay"), expected);
}

TEST_F(Predictions, DataAndModelMayBeExchanged) {
  for (const char* verb : {"predict", "evaluate", "recalibrate"}) {
    const auto run = sotto(Words{verb, model_, rows_} +
                           (std::string(verb) == "evaluate" ? Words{} : Words{file("none")}));
    EXPECT_EQ(run.code, 2) << verb;
    EXPECT_THAT(run.err, HasSubstr("DATA comes before MODEL")) << verb;
  }
}

TEST_F(Predictions, KeptColumnsComeFirstAndAreQuoted) {
  const auto lines = lines_of(predicted({"--keep ward,encounter_id"}, new_patients()));
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], "ward,encounter_id,prediction,probability");
  EXPECT_THAT(lines[2], ::testing::StartsWith("\"B, left\",e1,"));
  EXPECT_THAT(lines[3], ::testing::StartsWith("\"the \"\"C\"\"\",e2,"));
  const auto typo =
      sotto({"predict --keep encounter_it", new_patients(), model_, file("other.csv")});
  EXPECT_EQ(typo.code, 2);
  EXPECT_THAT(typo.err, AllOf(HasSubstr("--keep"), HasSubstr("Did you mean 'encounter_id'")));
  EXPECT_FALSE(std::filesystem::exists(file("other.csv")));
  const std::string own = dir_.write("own.csv", "age,prediction\n5,x\n");
  EXPECT_EQ(sotto({"predict --keep prediction", own, model_, file("other.csv")}).code, 2);
}

TEST_F(Predictions, TheHighestRiskFirst) {
  const Words keep = "--keep encounter_id";
  EXPECT_THAT(column(predicted(keep + "--sort", new_patients()), "encounter_id"),
              ElementsAre("e2", "e3", "e1", "e0"));
  EXPECT_THAT(column(predicted(keep + "--top 2", new_patients()), "encounter_id"),
              ElementsAre("e2", "e3"));
  EXPECT_THAT(column(predicted(keep + "--top 100", new_patients()), "encounter_id").size(), 4u);
  EXPECT_EQ(sotto({"predict --top 0", new_patients(), model_, file("out.csv")}).code, 2);
  // The other class's probability turns the list round.
  const auto turned =
      column(predicted(keep + Words{"--sort --class", std::string("NO or >30")}, new_patients()),
             "encounter_id");
  EXPECT_THAT(turned, ElementsAre("e0", "e1", "e3", "e2"));
}

TEST_F(Predictions, EqualOnesKeepTheFilesOrder) {
  std::string rows = "age,encounter_id\n";
  for (int i = 0; i < 100; ++i)
    rows += std::to_string(i % 4 * 25) + ",e" + std::to_string(100 + i) + "\n";
  const std::string path = dir_.write("ties.csv", rows);
  const auto ids = column(predicted({"--sort --keep encounter_id"}, path), "encounter_id");
  ASSERT_EQ(ids.size(), 100u);
  for (int group = 0; group < 4; ++group)
    EXPECT_TRUE(std::is_sorted(ids.begin() + 25 * group, ids.begin() + 25 * group + 25));
  // Of 25 equal ones the first in the file are flagged.
  const auto flags = column(predicted({"--flag-share 0.1"}, path), "flagged");
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(flags[static_cast<std::size_t>(i)], i % 4 == 3 && i < 40 ? "1" : "0") << i;
}

TEST_F(Predictions, FlagsByThresholdOrByShare) {
  const auto all = column(predicted({}, new_patients()), "probability");
  const auto run =
      sotto({"predict --json --threshold", all[1], new_patients(), model_, file("out.csv")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(nlohmann::json::parse(run.out), (nlohmann::json{{"rows", 4}, {"flagged", 3}}));
  EXPECT_THAT(column(TempDir::read(file("out.csv")), "flagged"), ElementsAre("0", "1", "1", "1"))
      << "at least";
  EXPECT_THAT(column(predicted({"--flag-share 0.5"}, new_patients()), "flagged"),
              ElementsAre("0", "0", "1", "1"));
  EXPECT_THAT(column(predicted({"--flag-share 0.26 --sort"}, new_patients()), "flagged"),
              ElementsAre("1", "1", "0", "0"))
      << "rounded up";
  EXPECT_THAT(column(predicted({"--flag-share 0.5 --top 3"}, new_patients()), "flagged"),
              ElementsAre("1", "1", "0"));
  for (const char* wrong : {"--flag-share=0", "--flag-share=5", "--threshold=2"})
    EXPECT_EQ(sotto({"predict", wrong, new_patients(), model_, file("o")}).code, 2) << wrong;
  EXPECT_EQ(
      sotto({"predict --threshold 0.5 --flag-share 0.1", new_patients(), model_, file("o")}).code,
      2);
}

TEST_F(Predictions, SortsWhatMemoryDoesNotHold) {
  std::string rows = "age,encounter_id\n";
  for (int i = 0; i < 30000; ++i)
    rows += std::to_string(i * 7919 % 101) + ",e" + std::to_string(i) + "\n";
  const std::string path = dir_.write("many.csv", rows);
  const Words keep = "--keep encounter_id";
  for (const Words& how : {Words("--sort"),
                           Words("--sort --flag-share 0.3"),
                           Words("--top 20000"),
                           Words("--flag-share 0.3")})
    EXPECT_EQ(predicted(keep + how + "--sort-memory 50KB", path), predicted(keep + how, path));
}

TEST_F(Predictions, ProbabilitiesOfAllClassesByName) {
  const std::string text = predicted({"--proba"}, new_patients());
  EXPECT_EQ(lines_of(text)[0], "row,prediction,probability of NO or >30,probability of <30");
  const auto low = column(text, "probability of NO or >30");
  const auto high = column(text, "probability of <30");
  for (std::size_t i = 0; i < low.size(); ++i)
    EXPECT_NEAR(std::stod(low[i]) + std::stod(high[i]), 1, 1e-12);
}

TEST_F(Predictions, MetricsOnlyWhereAllRowsHaveLabels) {
  const auto all = sotto({"predict", rows_, model_, file("out.csv")});
  EXPECT_THAT(all.out, AllOf(HasSubstr("Accuracy = 100.00% (90/90)"), HasSubstr("NO or >30")));
  const std::string some = dir_.write(
      "some.csv", "encounter_id,patient_nbr,age,readmitted\na,,50,<30\nb,?,20,\nc,1,20,?\n");
  const auto run = sotto({"predict", some, model_, file("out.csv")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("2 of 3 rows have no label"));
  const std::string strange = dir_.write("strange.csv", "age,readmitted\n50,secret\n");
  const auto refused = sotto({"predict", strange, model_, file("other.csv")});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(
      refused.err,
      AllOf(HasSubstr("strange.csv:2:2"), HasSubstr("leave it empty"), Not(HasSubstr("secret"))));
}

TEST_F(Predictions, FeaturesAreDemandedAndNothingIsHalfWritten) {
  const std::string without = dir_.write("without.csv", "encounter_id\ne1\n");
  const auto run = sotto({"predict", without, model_, file("out.csv")});
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("no column 'age'"));
  std::string rows = "age\n";
  for (int i = 0; i < 1'500'000; ++i) rows += "50\n";  // more than a block
  const std::string bad = dir_.write("bad.csv", rows + "fifty\n5,5\n");
  const auto late = sotto({"predict", bad, model_, file("out.csv")});
  EXPECT_EQ(late.code, 3);
  EXPECT_THAT(
      late.err,
      AllOf(
          HasSubstr("bad.csv:1500002:1"), HasSubstr("bad.csv:1500003:2"), Not(HasSubstr("fifty"))));
  EXPECT_THAT(late.err, AllOf(HasSubstr("leave these rows out"), Not(HasSubstr("--no-refusals"))))
      << "an option that predict does not have";
  EXPECT_FALSE(std::filesystem::exists(file("out.csv")));
  for (const auto& entry : std::filesystem::directory_iterator(dir_.file("")))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".sotto-"));
}

TEST_F(Predictions, ALongFileIsOneFile) {
  std::string rows = "age,encounter_id\n";
  for (int i = 0; i < 800'000; ++i)
    rows += std::to_string(i % 90) + ",e" + std::to_string(i) + "\n";
  const std::string path = dir_.write("long.csv", rows);
  const auto ids = column(predicted({"--keep encounter_id"}, path), "encounter_id");
  ASSERT_EQ(ids.size(), 800'000u);
  for (std::size_t i = 0; i < ids.size(); i += 997) ASSERT_EQ(ids[i], "e" + std::to_string(i));
  EXPECT_EQ(column(predicted({}, path), "row").back(), "800000");
}

TEST_F(Predictions, SeveralClassesOfANetwork) {
  std::string schema = kStays;
  schema.replace(schema.find("positive"), schema.npos, "classes = [\"NO\", \">30\", \"<30\"]\n");
  schema.replace(schema.find("\"unit\""), 6, "\"ignore\"");
  const std::string model = file("softmax.json");
  const auto run = sotto({"train --method sgd --model softmax --schema",
                          dir_.write("three.toml", schema),
                          rows_,
                          model});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto scored = sotto({"predict --proba", new_patients(), model, file("out.csv")});
  ASSERT_EQ(scored.code, 0) << scored.err;
  EXPECT_EQ(lines_of(TempDir::read(file("out.csv")))[0],
            "row,prediction,probability of NO,probability of >30,probability of <30");
  const auto unsaid = sotto({"predict --sort", new_patients(), model, file("out.csv")});
  EXPECT_EQ(unsaid.code, 2);
  EXPECT_THAT(unsaid.err, AllOf(HasSubstr("--class"), HasSubstr("NO, >30, <30")));
  const auto sorted = sotto(
      {"predict --top 1 --keep encounter_id --class <30", new_patients(), model, file("out.csv")});
  ASSERT_EQ(sorted.code, 0) << sorted.err;
  EXPECT_THAT(column(TempDir::read(file("out.csv")), "encounter_id"), ElementsAre("e2"));
  EXPECT_EQ(sotto({"predict --class none", new_patients(), model, file("out.csv")}).code, 2);
}

TEST_F(Predictions, OtherFormatsNumberTheirRows) {
  const std::string rows = dir_.write("rows.svm", small_libsvm(20));
  ASSERT_EQ(sotto({"train --method gd", rows, file("linear.json")}).code, 0);
  const auto run = sotto({"predict --top 2", rows, file("linear.json"), file("out.csv")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(lines_of(TempDir::read(file("out.csv"))).size(), 3u);
  const auto kept = sotto({"predict --keep id", rows, file("linear.json"), file("out.csv")});
  EXPECT_EQ(kept.code, 2);
  EXPECT_THAT(kept.err, AllOf(HasSubstr("--keep"), HasSubstr("libsvm"), HasSubstr("'row'")));
  EXPECT_EQ(sotto({"predict", std::string("-"), file("linear.json"), file("out.csv")}).code, 3)
      << "standard input is LIBSVM text, too, and has no rows";
}

TEST_F(Predictions, WithoutAHeaderTheSchemaSaysWhichColumnIsWhich) {
  std::string schema = kStays;
  schema.replace(schema.find("header = true"), 13, "header = false");
  const std::string path = dir_.write("bare.toml", schema);
  const std::string rows = dir_.write("bare.csv", ",e0,10,\n,e1,90,\n");
  EXPECT_THAT(
      column(predicted({"--sort --keep encounter_id --schema", path}, rows), "encounter_id"),
      ElementsAre("e1", "e0"));
  const auto narrow =
      sotto({"predict --schema", path, dir_.write("narrow.csv", "p,e0,10\n"), model_, file("o")});
  EXPECT_EQ(narrow.code, 3);
  EXPECT_THAT(narrow.err, HasSubstr("empty"));
}

TEST_F(Predictions, NumbersAreSortedAndFlaggedToo) {
  const std::string schema = dir_.write("numbers.toml", R"([file]
header = true
[[column]]
name = "age"
kind = "numeric"
min = 0
max = 100
[[column]]
name = "days"
kind = "label"
min = 0
max = 10
)");
  std::string rows = "age,days\n";
  for (int i = 0; i < 50; ++i) rows += std::to_string(i) + "," + std::to_string(i / 10) + "\n";
  ASSERT_EQ(sotto({"train --method gd --loss squared --bias --schema",
                   schema,
                   dir_.write("days.csv", rows),
                   file("days.json")})
                .code,
            0);
  const auto run = sotto({"predict --sort --threshold 1",
                          dir_.write("a.csv", "age\n0\n90\n"),
                          file("days.json"),
                          file("out.csv")});
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string text = TempDir::read(file("out.csv"));
  EXPECT_EQ(lines_of(text)[0], "row,prediction,flagged");
  EXPECT_THAT(column(text, "row"), ElementsAre("2", "1"));
  EXPECT_EQ(sotto({"predict --proba", rows_, file("days.json"), file("out.csv")}).code, 2);
}

}  // namespace
}  // namespace sotto::testing
