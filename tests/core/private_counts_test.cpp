// Counts and norms of rows are for engines: no front end, record or page asks a table for them,
// except at the door that makes a count public.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

namespace {

namespace fs = std::filesystem;

/// True if the line asks for a count or a norm of rows other than at the door. What follows
/// "public rows:" or "not private:" in a comment on the line is a reason.
bool asks(const std::string& line) {
  static const std::regex question("(\\.|->)(units|rows|norms)\\(\\)");
  static const std::regex door("counted_as_public\\(|public_units\\(|public rows:|not private:");
  return std::regex_search(line, question) && !std::regex_search(line, door);
}

TEST(PrivateCounts, FrontEndsAskForThemOnlyAtTheDoor) {
  const fs::path root = SOTTO_SOURCE_DIR;
  int files = 0;
  for (const char* folder : {"apps", "sotto/task", "sotto/training", "sotto/report"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".hpp" && extension != ".cpp") continue;
      ++files;
      std::ifstream stream(entry.path());
      int number = 0;
      for (std::string line; std::getline(stream, line);)
        EXPECT_FALSE(++number && asks(line))
            << fs::relative(entry.path(), root).string() << ":" << number << ": " << line
            << "\nsay at the end of the line whose rows these are (\"public rows:\", \"not "
               "private:\"), or go through counted_as_public";
    }
  EXPECT_GT(files, 50);
}

TEST(PrivateCounts, TheRuleCanFail) {
  EXPECT_TRUE(asks("  record.rows = table.rows();"));
  EXPECT_TRUE(asks("  const std::int64_t n = data.table->units();"));
  EXPECT_FALSE(asks("  SOTTO_ASSIGN(n, counted_as_public(data.table.units(), relation));"));
  EXPECT_FALSE(asks("  rows(test.rows());  // public rows: the test set"));
}

}  // namespace
