// schema new and schema check from the outside.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kHeaderOfRows = "patient_nbr,age,number_of_visits,sex,note,back\n";
// No line behind the header could be read as a row, and one holds what must never be told.
constexpr const char* kBadRows = "\"SECRET,1\n,,,,,,,,,,\n\x01\x02\nSECRET\n";

CommandResult answered(const Words& words, const std::string& answers) {
  return in_a_shell([&](const std::string& redirected) {
    return "printf '%s' " + quoted(answers) + " | " + shell_line(words) + redirected;
  });
}

TEST(SchemaNew, DraftsFromTheFirstLineAlone) {
  const TempDir dir;
  const auto good = dir.write("good.csv", kHeaderOfRows);
  const auto bad = dir.write("bad.csv", std::string(kHeaderOfRows) + kBadRows);
  const auto first = sotto({"schema new - --label back --positive 1 --header", good});
  const auto second = sotto({"schema new - --label back --positive 1 --header", bad});
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(first.out, second.out);
  EXPECT_EQ(second.err, "");
  EXPECT_THAT(first.out,
              AllOf(HasSubstr("positive = [1]"), HasSubstr("name = \"number_of_visits\"")));
  // A pipe from which nothing but the header ever comes: whoever asks for more waits for longer.
  const auto pipe = in_a_shell([&](const std::string& redirected) {
    return "mkfifo " + quoted(dir.file("pipe")) + "; (exec 3>" + quoted(dir.file("pipe")) +
           "; printf '" + std::string(kHeaderOfRows).substr(0, 46) + "\\n' >&3; sleep 20) & " +
           "timeout 10 " + shell_line({"schema new - --label back --positive 1 --header -"}) +
           redirected + " <" + quoted(dir.file("pipe")) + "; code=$?; kill $!; exit $code";
  });
  EXPECT_EQ(pipe.code, 0) << pipe.err;
  EXPECT_EQ(pipe.out, first.out);
}

TEST(SchemaNew, ARowIsNotTakenForNames) {
  const TempDir dir;
  const auto run = sotto({"schema new - --header", dir.write("a.csv", "SECRET,34,yes\n")});
  EXPECT_EQ(run.code, 3);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, AllOf(HasSubstr("field 2 is a number"), Not(HasSubstr("SECRET"))));
}

TEST(SchemaNew, KeepsAFileThatExists) {
  const TempDir dir;
  const auto header = dir.write("a.csv", kHeaderOfRows);
  const auto kept = dir.write("s.toml", "mine");
  const auto refused = sotto({"schema new --header", header, kept});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("exists, and is kept. To replace it, give --overwrite"));
  EXPECT_EQ(TempDir::read(kept), "mine");
  const auto run = sotto({"schema new --overwrite --header", header, kept});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("written: 6 columns in"));
  EXPECT_THAT(TempDir::read(kept), StartsWith("# A draft."));
  EXPECT_EQ(sotto({"schema new --overwrite --header", header, header}).code, 2);
  EXPECT_EQ(TempDir::read(header), kHeaderOfRows);
  EXPECT_EQ(sotto({"schema new --overwrite --dictionary", kept, kept}).code, 2);
  EXPECT_EQ(sotto({"schema new", dir.file("t.toml")}).code, 2) << "of nothing";
}

TEST(SchemaNew, WhatIsUnknownIsRefusedByTrainAndListedWhole) {
  const TempDir dir;
  const auto rows = dir.write("a.csv", std::string(kHeaderOfRows) + "1,30,2,F,x,1\n");
  const auto draft = dir.file("s.toml");
  ASSERT_EQ(sotto({"schema new --label back --header", rows, draft}).code, 0);
  const auto run = sotto({"train --epsilon 1 --delta 1e-5 --schema", draft, rows, dir.file("m")});
  EXPECT_EQ(run.code, 3);
  EXPECT_FALSE(std::filesystem::exists(dir.file("m.journal")));
  std::istringstream lines(TempDir::read(draft));
  int number = 0;
  int questions = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find("\"TODO:") == line.npos) continue;
    ++questions;
    EXPECT_THAT(run.err, HasSubstr("s.toml:" + std::to_string(number) + ":")) << line;
  }
  EXPECT_EQ(questions, 7) << TempDir::read(draft);
  const auto checked = sotto({"schema check", draft});
  EXPECT_EQ(checked.code, 3);
  EXPECT_EQ(checked.err, run.err);
}

TEST(SchemaNew, AnswersMakeASchemaThatTrains) {
  const TempDir dir;
  std::string text = kHeaderOfRows;
  for (int i = 0; i < 40; ++i)
    text += std::to_string(i / 2) + "," + std::to_string(20 + i) + "," + std::to_string(i % 7) +
            (i % 2 ? ",F" : ",M") + ",free text," + (i % 3 ? "no" : "yes") + "\n";
  const auto rows = dir.write("a.csv", text);
  const auto draft = dir.file("s.toml");
  const auto run =
      answered({"schema new --interactive --header", rows, draft},
               "bakc\nback\nyes\npatient_nbr\n0..12O\n0..120\n0..50 log\nF, M\n-\nno\n");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("Did you mean 'back'?"), HasSubstr("are no bounds")));
  EXPECT_THAT(run.out, HasSubstr("0 questions left"));
  const auto checked = sotto({"schema check --header", rows, draft});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_THAT(
      checked.out,
      AllOf(HasSubstr("6 features"), HasSubstr("person (patient_nbr)"), HasSubstr("no warnings")));
  const auto trained = sotto(
      {"train -q --epsilon 1 --delta 1e-3 --steps 3 --schema", draft, rows, dir.file("m.json")});
  ASSERT_EQ(trained.code, 0) << trained.err;
  // The model carries the schema, with its keys.
  const auto predicted = sotto({"predict", rows, dir.file("m.json"), dir.file("p.csv")});
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_THAT(json::parse(TempDir::read(dir.file("m.json"))).dump(), HasSubstr("log1p"));
  const auto shown = sotto({"show", dir.file("m.json")});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("age (0 to 120)"), Not(HasSubstr("visits (0 to 50)"))));
}

TEST(SchemaNew, AnswersThatEndLeaveQuestions) {
  const TempDir dir;
  const auto header = dir.write("a.csv", kHeaderOfRows);
  const auto run = answered({"schema new --interactive --header", header, dir.file("s.toml")},
                            "back\n\n\n-\n=\n");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("5 questions left"));
  EXPECT_THAT(TempDir::read(dir.file("s.toml")), HasSubstr("names = [\"patient_nbr\", \"age\"]"));
  EXPECT_EQ(answered({"schema new --interactive --header -", dir.file("t.toml")}, "a,b\n").code, 2);
}

/// What a new user has to fill in for 50 columns.
TEST(SchemaNew, ADraftOfFiftyColumnsIsShort) {
  const std::string rows = std::string(SOTTO_SHARED_DIR) + "/data/uci/diabetic_data.csv.gz";
  if (!std::filesystem::exists(rows)) GTEST_SKIP() << "the UCI Diabetes data is not there";
  const auto run =
      sotto({"schema new - --label readmitted --positive <30 --person patient_nbr --header", rows});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_LE(std::count(run.out.begin(), run.out.end(), '\n'), 80) << run.out;
  int questions = 0;
  for (std::size_t at = 0; (at = run.out.find("\"TODO:", at)) != run.out.npos; ++at) ++questions;
  EXPECT_LE(questions, 8) << run.out;
}

constexpr const char* kSound = R"([file]
header = true
[[column]]
name = "patient_nbr"
kind = "ignore"
[[column]]
name = "sex"
kind = "categorical"
values = ["F", "M"]
[[column]]
name = "back"
kind = "label"
positive = "1"
negative = "0"
)";

TEST(SchemaCheck, WarnsByPublicFacts) {
  const TempDir dir;
  const auto schema = dir.write("s.toml", kSound);
  const auto dictionary = dir.write("d.csv", "column,values\nsex,Female|Male\nback,0|1\n");
  const auto rows = dir.write("a.csv", std::string("patient_nbr,sex,back,ward\n") + kBadRows);
  const auto run = sotto({"schema check --header", rows, "--dictionary", dictionary, schema});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("s.toml:3:1: warning: no column is of kind \"unit\""),
                    HasSubstr("s.toml:6:1: warning: column 'sex': the dictionary has no 'F'"),
                    HasSubstr("column 'ward' of the header is not declared"),
                    HasSubstr("5 warnings"),
                    Not(HasSubstr("SECRET"))));
  const auto told =
      json::parse(sotto({"schema check --json --dictionary", dictionary, schema}).out);
  EXPECT_EQ(told["warnings"].size(), 4u) << told;
  EXPECT_EQ(told["warnings"][0]["line"], 3);
  EXPECT_EQ(told["features"], 2);
  EXPECT_EQ(told["mistakes"].size(), 0u);
}

TEST(SchemaCheck, ListsAllMistakesAndEndsWithThree) {
  const TempDir dir;
  const auto schema = dir.write("s.toml",
                                "[[column]]\nname='a'\nkind='numeric'\nminn=0\nmax=1\n"
                                "[[column]]\nname='b'\nkind='categorial'\n");
  const auto run = sotto({"schema check", schema});
  EXPECT_EQ(run.code, 3);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("s.toml:1:1: column 'a' is numeric but does not declare"),
                    HasSubstr("\n" + schema + ":4:1: unknown key 'minn'"),
                    HasSubstr("\n" + schema + ":8:6: a column's kind must be one of")));
  const auto machine = sotto({"schema check --json", schema});
  EXPECT_EQ(machine.code, 3);
  const auto told = json::parse(machine.out);
  ASSERT_EQ(told["mistakes"].size(), 3u);
  EXPECT_EQ(told["mistakes"][1]["line"], 4);
  EXPECT_FALSE(told["mistakes"][1]["question"]);
  EXPECT_EQ(sotto({"schema check", dir.file("none.toml")}).code, 6);
}

TEST(SchemaCheck, ListsMoreMistakesThanTrain) {
  const TempDir dir;
  std::string text;
  for (int i = 0; i < 32; ++i) text += "[[column]]\nname='c" + std::to_string(i) + "'\nkind='x'\n";
  const auto schema = dir.write("s.toml", text);
  const auto told = [](const CommandResult& run) {
    EXPECT_EQ(run.code, 3);
    std::size_t count = 0;
    for (std::size_t at = run.err.find("s.toml:"); at != run.err.npos;
         at = run.err.find("s.toml:", at + 1))
      ++count;
    return count;
  };
  const auto checked = sotto({"schema check", schema});
  const auto all = told(checked);
  EXPECT_GE(all, 32u) << checked.err;
  EXPECT_THAT(checked.err, Not(HasSubstr(" more")));
  const auto trained = sotto({"train --epsilon 1 --delta 1e-5 --schema",
                              schema,
                              dir.write("a.csv", "1\n"),
                              dir.file("m")});
  EXPECT_EQ(told(trained), 20u);
  EXPECT_THAT(trained.err, HasSubstr("and " + std::to_string(all - 20) + " more"));
}

TEST(SchemaCheck, AWrongDateFormIsOneMistake) {
  const TempDir dir;
  const auto run = sotto({"schema check",
                          dir.write("s.toml",
                                    "[[column]]\nname='a'\nkind='numeric'\ndate='YYYY'\n"
                                    "min='2020-01-01'\nmax='2021-01-01'\n"
                                    "[[column]]\nname='y'\nkind='label'\npositive='1'\n"
                                    "negative='0'\n")});
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("s.toml:4:6: "),
                    Not(HasSubstr("finite number")),
                    Not(HasSubstr("s.toml:5:")),
                    Not(HasSubstr("s.toml:6:"))));
}

TEST(SchemaNew, AnswersThatNoSchemaCanHaveAreAskedAgain) {
  const TempDir dir;
  const auto header = dir.write("a.csv", "a,back\n");
  const auto draft = dir.file("s.toml");
  const auto run = answered({"schema new --interactive --header", header, draft},
                            "back\ny\x1b[1mes\nTODO: yes\nyes\n\nx,\x1b[1m\n0..1e300\n0..1\nno\n");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("0 questions left"));
  EXPECT_EQ(sotto({"schema check", draft}).code, 0) << TempDir::read(draft);
  const auto refused = sotto({"schema new --overwrite --label back --header",
                              header,
                              draft,
                              "--positive",
                              std::string("a\x1b[1m")});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("positive class"));
}

}  // namespace
}  // namespace sotto::testing
