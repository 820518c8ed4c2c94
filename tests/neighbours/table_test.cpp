// The fast part of the neighbour table: lines in which every pair of (method, table, relation,
// unit) occurs. All of them: full_product_test.cpp.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/neighbours/lines.hpp"

namespace sotto::testing {
namespace {

class NeighbourTable : public ::testing::TestWithParam<std::string> {};

TEST_P(NeighbourTable, NothingTellsTheWorldsApart) {
  std::vector<Line> lines = covering_lines();
  std::erase_if(lines, [&](const Line& line) { return line.method->name != GetParam(); });
  ASSERT_FALSE(lines.empty());
  for (const std::string& text : failing(lines)) ADD_FAILURE() << text;
}

std::vector<std::string> line_names() {
  std::vector<std::string> names;
  for (const MethodLine& line : method_lines()) names.push_back(line.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(ByMethod,
                         NeighbourTable,
                         ::testing::ValuesIn(line_names()),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name)
                             if (c == '-' || c == ' ') c = '_';
                           return name;
                         });

// The comparison itself: a run and its replay on the very same file.
TEST(Replay, TheSameFileIsNotToldFromItself) {
  for (const TableKind& table : table_kinds()) {
    const Line line{&method_lines().front(), &table, Relation::kReplaceOne, Unit::kOrdinary};
    const Program program = sotto_program(command(line));
    const World a = run_world(*table.files(Unit::kOrdinary), program);
    ASSERT_EQ(a.exit_code, 0) << table.name << ": " << a.artifacts.at("stderr");
    const World b = run_world(*table.files(Unit::kOrdinary), program, &a);
    for (const std::string& text : differences(a, b)) ADD_FAILURE() << table.name << ": " << text;
    EXPECT_EQ(largest_share(a, b), 0);
    EXPECT_FALSE(a.answers.empty());
  }
}

}  // namespace
}  // namespace sotto::testing
