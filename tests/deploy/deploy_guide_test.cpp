// The programs of docs/guide/deploy.md, run as they stand there.

#include <gmock/gmock.h>

#include "tests/deploy/databases.hpp"
#include "tests/deploy/support.hpp"
#include "tests/support/onnxruntime.hpp"

namespace sotto::testing {
namespace {

std::string page() { return TempDir::read(SOTTO_SOURCE_DIR "/docs/guide/deploy.md"); }

/// The code of the page in this language.
std::string code_in(const std::string& language) {
  const std::string text = page();
  const std::string fence = "```" + language + "\n";
  const auto begin = text.find(fence);
  EXPECT_NE(begin, text.npos);
  const auto from = begin + fence.size();
  return text.substr(from, text.find("```", from) - from);
}

/// The page's command for this output.
Words export_command(const std::string& output) {
  for (const std::string& line : lines_of(page()))
    if (line.starts_with("    sotto export ") && line.find(output) != line.npos) {
      Words words;
      std::istringstream stream(line);
      for (std::string word; stream >> word;) words.push_back(word);
      words.erase(words.begin());
      return words;
    }
  ADD_FAILURE() << output;
  return {};
}

/// A folder in which `sotto demo` was run, and commands are.
class DeployGuide : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_ = std::make_unique<TempDir>();
    const auto run = sotto({"demo --out", dir_->file("sotto-demo")});
    ASSERT_EQ(run.code, 0) << run.err;
  }
  static void TearDownTestSuite() { dir_.reset(); }

  static CommandResult in_folder(const std::string& command) {
    return in_a_shell([&](const std::string& to) {
      return "cd " + in_quotes(dir_->file("")) + " && (" + command + ")" + to;
    });
  }
  static void do_export(const std::string& output) {
    const auto run = in_folder(shell_line(export_command(output)));
    ASSERT_EQ(run.code, 0) << run.err;
  }
  static std::vector<Answer> expected() {
    auto answers = predicted_answers(
        dir_->file("sotto-demo/test.csv"), dir_->file("sotto-demo/private.json"), true);
    for (Answer& each : answers) each.numbers.erase(each.numbers.begin());
    return answers;
  }
  /// Lines `CLASS<separator>PROBABILITY`.
  static void expect_predictions(const std::string& text, char separator) {
    std::vector<Answer> found;
    for (const std::string& line : lines_of(text)) {
      const auto at = line.find(separator);
      ASSERT_NE(at, line.npos) << line;
      found.push_back({line.substr(0, at), {plain_number(line.substr(at + 1)).value_or(NAN)}});
    }
    expect_same(found, expected(), 1e-9, true);
  }

  static std::unique_ptr<TempDir> dir_;
};

std::unique_ptr<TempDir> DeployGuide::dir_;

TEST_F(DeployGuide, PythonProgram) {
  if (onnxruntime_python().empty()) GTEST_SKIP() << kNoOnnxruntime;
  do_export("risk.onnx");
  const std::string file = dir_->write("program.py", code_in("python"));
  const auto run = in_folder(onnxruntime_python() + " " + in_quotes(file));
  ASSERT_EQ(run.code, 0) << run.err.substr(0, 2000);
  expect_predictions(run.out, ' ');
}

TEST_F(DeployGuide, SqliteView) {
  if (const auto database = sqlite(); !database.why_not.empty()) GTEST_SKIP() << database.why_not;
  do_export("risk.sql");
  std::string commands;
  for (const std::string& line : lines_of(code_in("console"))) commands += line.substr(2) + "\n";
  // All digits, and tabs.
  const auto place = commands.rfind("probability FROM");
  ASSERT_NE(place, commands.npos);
  commands.replace(place, 11, "printf('%!.17g', probability)");
  const auto run = in_folder(commands);
  ASSERT_EQ(run.code, 0) << run.err.substr(0, 2000);
  expect_predictions(run.out, '|');
}

TEST_F(DeployGuide, CProgram) {
  if (std::system("cc --version >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "there is no C compiler (cc)";
  do_export("risk.h");
  dir_->write("program.c", code_in("c"));
  const auto run = in_folder(
      "cc -std=c99 -Wall -Wextra -Werror -pedantic -o program program.c -lm && ./program");
  ASSERT_EQ(run.code, 0) << run.err.substr(0, 2000);
  const std::string row =
      dir_->write("row.csv",
                  "age,education_years,hours_per_week,savings,commute_minutes,sector,occupation,"
                  "marital_status,region,sex\n43,16,45,12.5,18,private,,divorced,west,male\n");
  const auto answer = predicted_answers(row, dir_->file("sotto-demo/private.json"), true);
  ASSERT_EQ(answer.size(), 1U);
  EXPECT_EQ(run.out, fmt::format("{} {:.9f}\n", answer[0].guess, answer[0].numbers[1]));
}

}  // namespace
}  // namespace sotto::testing
