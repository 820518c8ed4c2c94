// The whole neighbour table (label slow): every method x table x relation x unit.

#include <gtest/gtest.h>

#include "tests/neighbours/lines.hpp"
#include "tests/support/names.hpp"

namespace sotto::testing {
namespace {

class WholeNeighbourTable : public ::testing::TestWithParam<std::string> {};

TEST_P(WholeNeighbourTable, NothingTellsTheWorldsApart) {
  expect_the_same(all_lines(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(ByMethod,
                         WholeNeighbourTable,
                         ::testing::ValuesIn(line_names()),
                         [](const auto& test) { return test_name(test.param); });

}  // namespace
}  // namespace sotto::testing
