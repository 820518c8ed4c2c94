// Guides that are whole stories run as they are written.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/command.hpp"
#include "tests/support/shared_data.hpp"

namespace sotto::testing {
namespace {

/// The lines of a page that a reader types.
std::vector<std::string> commands_of(const std::string& page) {
  std::vector<std::string> commands;
  std::ifstream file(std::string(SOTTO_SOURCE_DIR) + "/docs/guide/" + page);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("$ ")) commands.push_back(line.substr(2));
  return commands;
}

TEST(Guide, FromAHospitalsTableToTheHundredPatientsAtHighestRisk) {
  SOTTO_NEEDS_DATA("uci/diabetic_data.csv.gz");
  namespace fs = std::filesystem;
  const TempDir dir;
  fs::copy(shared_data("uci/diabetic_data.csv.gz"), dir.file("diabetic_data.csv.gz"));
  fs::copy(std::string(SOTTO_SOURCE_DIR) + "/examples/diabetes.toml", dir.file("diabetes.toml"));
  const std::string path = fs::path(SOTTO_BINARY).parent_path();
  const auto commands = commands_of("hospital.md");
  ASSERT_GE(commands.size(), 6u);
  for (const std::string& command : commands) {
    const auto run = in_a_shell([&](const std::string& redirected) {
      return "cd " + ::sotto::testing::quoted(dir.file("")) +
             " && PATH=" + ::sotto::testing::quoted(path) + ":$PATH && (" + command + ")" +
             redirected;
    });
    ASSERT_EQ(run.code, 0) << command << "\n" << run.err;
  }
  std::istringstream list(TempDir::read(dir.file("risks.csv")));
  std::string line;
  ASSERT_TRUE(std::getline(list, line));
  EXPECT_EQ(line, "encounter_id,patient_nbr,prediction,probability");
  int lines = 0;
  for (double before = 1; std::getline(list, line); ++lines) {
    const double risk = std::stod(line.substr(line.rfind(',') + 1));
    EXPECT_LE(risk, before);
    before = risk;
  }
  EXPECT_EQ(lines, 100);
}

}  // namespace
}  // namespace sotto::testing
