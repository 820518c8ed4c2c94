// Guides that are whole stories run as they are written.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/command.hpp"
#include "tests/support/onnxruntime.hpp"
#include "tests/support/shared_data.hpp"

namespace sotto::testing {
namespace {

/// The lines of a page that a reader types.
std::vector<std::string> commands_of(const std::string& page) {
  std::vector<std::string> commands;
  std::ifstream file(std::string(SOTTO_SOURCE_DIR) + "/docs/guide/" + page);
  for (std::string line; std::getline(file, line);)
    if (!commands.empty() && commands.back().ends_with("\\"))
      commands.back().replace(commands.back().size() - 1, 1, line);
    else if (line.starts_with("$ "))
      commands.push_back(line.substr(2));
  return commands;
}

/// Runs them in this folder, and stops at the first that fails. What each of them printed.
std::vector<CommandResult> run_page(const std::string& page, const TempDir& dir) {
  const std::string path = std::filesystem::path(SOTTO_BINARY).parent_path();
  std::vector<CommandResult> runs;
  for (std::string command : commands_of(page)) {
    if (command.starts_with("python3 "))
      command = onnxruntime_python().empty() ? "true" : onnxruntime_python() + command.substr(7);
    runs.push_back(in_a_shell([&](const std::string& redirected) {
      return "cd " + ::sotto::testing::quoted(dir.file("")) +
             " && PATH=" + ::sotto::testing::quoted(path) + ":$PATH && (" + command + ")" +
             redirected;
    }));
    EXPECT_EQ(runs.back().code, 0) << command << "\n" << runs.back().err;
    if (runs.back().code != 0) break;
  }
  return runs;
}

void take(const TempDir& dir, const std::string& file) {
  std::filesystem::copy(file, dir.file(std::filesystem::path(file).filename()));
}

/// The second column, without the header.
std::set<std::string> patients_in(const std::string& path) {
  std::set<std::string> patients;
  std::ifstream file(path);
  std::string line;
  for (std::getline(file, line); std::getline(file, line);) {
    const std::size_t comma = line.find(',');
    patients.insert(line.substr(comma + 1, line.find(',', comma + 1) - comma - 1));
  }
  return patients;
}

const std::string kExamples = std::string(SOTTO_SOURCE_DIR) + "/examples/";

TEST(Guide, FromAHospitalsTableToTheHundredPatientsAtHighestRisk) {
  SOTTO_NEEDS_DATA("uci/diabetic_data.csv.gz");
  const TempDir dir;
  take(dir, shared_data("uci/diabetic_data.csv.gz"));
  take(dir, kExamples + "diabetes.toml");
  ASSERT_GE(run_page("hospital.md", dir).size(), 6u);
  std::istringstream list(TempDir::read(dir.file("risks.csv")));
  std::string line;
  ASSERT_TRUE(std::getline(list, line));
  EXPECT_EQ(line, "encounter_id,patient_nbr,prediction,probability");
  int lines = 0;
  std::set<std::string> patients;
  for (double before = 1; std::getline(list, line); ++lines) {
    const std::size_t comma = line.find(',');
    patients.insert(line.substr(comma + 1, line.find(',', comma + 1) - comma - 1));
    const double risk = std::stod(line.substr(line.rfind(',') + 1));
    EXPECT_LE(risk, before);
    before = risk;
  }
  EXPECT_EQ(lines, 100);
  EXPECT_EQ(patients.size(), 100u);
  const auto known = patients_in(dir.file("known.csv"));
  for (const std::string& patient : patients_in(dir.file("new.csv")))
    ASSERT_FALSE(known.contains(patient)) << patient << " is on both sides";
}

TEST(Guide, FromATableInADatabaseToScoresInAnother) {
  if (std::system("command -v sqlite3 >/dev/null") != 0)
    GTEST_SKIP() << "there is no sqlite3 program (Debian: sqlite3)";
  const TempDir dir;
  take(dir, kExamples + "census.sql");
  take(dir, kExamples + "score.py");
  const auto runs = run_page("database.md", dir);
  ASSERT_EQ(runs.size(), 15u);
  using ::testing::HasSubstr;
  EXPECT_THAT(runs[2].out, HasSubstr("12 columns in 65 lines, 1 question left"));
  EXPECT_THAT(runs[5].out, HasSubstr("no warnings"));
  EXPECT_EQ(std::count(runs[9].out.begin(), runs[9].out.end(), '\n'), 3) << runs[9].out;
  EXPECT_EQ(runs[14].out, "1\n") << "the view gives what predict wrote";
  if (onnxruntime_python().empty()) GTEST_SKIP() << "all but score.py ran: " << kNoOnnxruntime;
  // The program gives what predict wrote.
  std::istringstream scores(TempDir::read(dir.file("by_onnx.txt")));
  const auto written = in_a_shell([&](const std::string& redirected) {
    return "sqlite3 " + ::sotto::testing::quoted(dir.file("census.db")) +
           " 'SELECT id, probability FROM scores ORDER BY CAST(id AS INTEGER)'" + redirected;
  });
  std::istringstream expected(written.out);
  int rows = 0;
  std::string id;
  double score = 0;
  for (; scores >> id >> score; ++rows) {
    std::string line;
    ASSERT_TRUE(std::getline(expected, line));
    EXPECT_EQ(line.substr(0, line.find('|')), id);
    ASSERT_NEAR(std::stod(line.substr(line.find('|') + 1)), score, 1e-6);
  }
  EXPECT_EQ(rows, 10000);
}

TEST(Guide, RealLabels) {
  SOTTO_NEEDS_DATA("uci/diabetic_data.csv.gz");
  SOTTO_NEEDS_DATA("uci/wdbc.data");
  const TempDir dir;
  take(dir, shared_data("uci/diabetic_data.csv.gz"));
  take(dir, shared_data("uci/wdbc.data"));
  for (const char* schema : {"diabetes.toml", "wdbc.toml"}) take(dir, kExamples + schema);
  const auto runs = run_page("labels.md", dir);
  ASSERT_EQ(runs.size(), 12u);
  using ::testing::HasSubstr;
  // Without noise, so that these digits are the page's.
  const std::string page = TempDir::read(std::string(SOTTO_SOURCE_DIR) + "/docs/guide/labels.md");
  for (const std::size_t k : {0U, 1U}) {
    const std::string& out = runs[k].out;
    const std::size_t begin = out.find("Accuracy = ") + 11;
    const std::string percent = out.substr(begin, out.find('%', begin) - begin) + " %";
    EXPECT_THAT(page, HasSubstr(percent));
  }
  EXPECT_THAT(runs[3].out, HasSubstr("88.84% if every row were predicted NO or >30"));
  EXPECT_THAT(runs[3].err, HasSubstr("--class-weight"));
  EXPECT_THAT(runs[5].err, ::testing::Not(HasSubstr("no row is predicted")));
  EXPECT_THAT(runs[8].out, HasSubstr("deviance"));
  EXPECT_THAT(TempDir::read(dir.file("risks.csv")).substr(0, 200),
              HasSubstr("probability of NO,probability of >30,probability of <30"));
}

}  // namespace
}  // namespace sotto::testing
