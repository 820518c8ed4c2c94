// The whole neighbour table (label slow): every method x table x relation x unit.

#include <gtest/gtest.h>

#include "tests/neighbours/lines.hpp"

namespace sotto::testing {
namespace {

class WholeNeighbourTable : public ::testing::TestWithParam<std::string> {};

TEST_P(WholeNeighbourTable, NothingTellsTheWorldsApart) {
  std::vector<Line> lines = all_lines();
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
                         WholeNeighbourTable,
                         ::testing::ValuesIn(line_names()),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name)
                             if (c == '-' || c == ' ') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace sotto::testing
