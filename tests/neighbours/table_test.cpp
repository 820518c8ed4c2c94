// The fast part of the neighbour table: lines in which every pair of (method, table, relation,
// unit) occurs. All of them: full_product_test.cpp.

#include <gtest/gtest.h>

#include "tests/neighbours/lines.hpp"
#include "tests/support/names.hpp"

namespace sotto::testing {
namespace {

class NeighbourTable : public ::testing::TestWithParam<std::string> {};

TEST_P(NeighbourTable, NothingTellsTheWorldsApart) {
  expect_the_same(covering_lines(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(ByMethod,
                         NeighbourTable,
                         ::testing::ValuesIn(line_names()),
                         [](const auto& test) { return test_name(test.param); });

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
