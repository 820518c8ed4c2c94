#include "sotto/study/citations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sotto::study {
namespace {

using ::testing::HasSubstr;

std::vector<Reproduced> one_study() {
  Reproduced study;
  study.spec.name = "a-study";
  CellSpec cell;
  cell.row = "DP-GD";
  cell.group = "dense";
  cell.data = "toy";
  cell.epsilon = 0.2;
  study.spec.cells = {cell};
  ArmResult best;
  best.runs = 5;
  best.measures["objective"] = {0.34567, 0.00234};
  best.measures["passes"] = {69, 0};
  ArmResult recipe = best;
  recipe.measures["objective"] = {0.4, 0.01};
  Results results;
  results.cells = {{key_of(cell), recipe, best}};
  study.results = results;
  return {study};
}

TEST(Citations, TheirTextIsTheCells) {
  const auto text = with_citations(
      "It is [?](a-study.md \"dense / DP-GD / toy / epsilon 0.2: objective\"), not [old\n"
      "text](a-study.md \"dense / DP-GD / toy /\nepsilon 0.2, recipe: objective\"), after "
      "[1](a-study.md \"dense / DP-GD / toy / epsilon 0.2: passes\") passes ([page](a-study.md)).",
      "page.md",
      one_study());
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text,
            "It is [0.3457 ± 0.0023](a-study.md \"dense / DP-GD / toy / epsilon 0.2: objective\"), "
            "not [0.4000 ± 0.0100](a-study.md \"dense / DP-GD / toy /\nepsilon 0.2, recipe: "
            "objective\"), after [69.0](a-study.md \"dense / DP-GD / toy / epsilon 0.2: passes\") "
            "passes ([page](a-study.md)).");
  EXPECT_EQ(*with_citations(*text, "page.md", one_study()), *text);
}

TEST(Citations, WhatIsNotThereIsAnError) {
  for (const char* what : {"dense / DP-GD / toy / epsilon 0.3: objective",
                           "dense / DP-GD / toy / epsilon 0.2: error",
                           "slope: anything",
                           "nothing"}) {
    const auto text =
        with_citations(fmt::format("[1](a-study.md \"{}\")", what), "page.md", one_study());
    ASSERT_FALSE(text) << what;
    EXPECT_THAT(text.error().message, HasSubstr(what));
    EXPECT_THAT(text.error().message, HasSubstr("page.md"));
  }
  EXPECT_FALSE(with_citations("[1](other.md \"a: objective\")", "page.md", one_study()));
}

}  // namespace
}  // namespace sotto::study
