// Verdicts follow from cells: means, errors and runs decide, and nothing that is typed.

#include "sotto/study/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace sotto::study {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Two rows, A and B, at the epsilons given, with means, deviations and runs of a best arm.
struct Maker {
  Reproduced made;

  Maker() {
    made.spec.name = "toy";
    made.spec.paper = "WX19";
    made.spec.data["d"] = {};
    made.results.emplace();
  }

  Maker& cell(const std::string& row,
              double epsilon,
              double mean,
              double deviation,
              int runs,
              std::optional<double> x = {}) {
    CellSpec cell;
    cell.row = row;
    cell.data = "d";
    cell.epsilon = epsilon;
    cell.x = x;
    cell.best.emplace();
    cell.recipe.emplace();
    made.spec.cells.push_back(cell);
    if (runs == 0) return *this;
    ArmResult arm;
    arm.method = "m";
    arm.runs = runs;
    arm.epsilon = mean;  // what the recipe spends, for tests of the price
    arm.measures["objective"] = {mean, deviation};
    made.results->cells.push_back({key_of(cell), arm, arm});
    return *this;
  }
};

TestSpec test_of(TestSpec::Kind kind, const std::string& row, const std::string& than = "") {
  TestSpec test;
  test.kind = kind;
  test.in = "toy";
  test.measure = "objective";
  test.row = row;
  test.than = than;
  test.than_arm = test.arm;
  return test;
}

ClaimSpec claim_of(std::vector<TestSpec> tests) {
  ClaimSpec claim;
  claim.item = "Table 1";
  claim.claim = "c";
  claim.tests = std::move(tests);
  return claim;
}

Verdict verdict(const Maker& maker, std::vector<TestSpec> tests) {
  return verdict_of(claim_of(std::move(tests)), {maker.made});
}

using Kind = TestSpec::Kind;

TEST(Compare, IsWelchsTest) {
  // Five runs each, deviation 1: the standard error of the difference is sqrt(2/5), eight degrees
  // of freedom, and the quantile 2.306: a difference of 1.458 is on the line.
  EXPECT_EQ(compare({0, 1}, 5, {1.45, 1}, 5, true), Outcome::kUndecided);
  EXPECT_EQ(compare({0, 1}, 5, {1.47, 1}, 5, true), Outcome::kHolds);
  EXPECT_EQ(compare({1.47, 1}, 5, {0, 1}, 5, true), Outcome::kFails);
  EXPECT_EQ(compare({1.47, 1}, 5, {0, 1}, 5, false), Outcome::kHolds);
  // With two runs one degree of freedom is left, if only one side varies: quantile 12.7.
  EXPECT_EQ(compare({0, 1}, 2, {8, 0}, 2, true), Outcome::kUndecided);
  EXPECT_EQ(compare({0, 1}, 2, {10, 0}, 2, true), Outcome::kHolds);
}

TEST(Compare, OneRunDecidesNothing) {
  EXPECT_EQ(compare({0, 0}, 1, {100, 1}, 30, true), Outcome::kForOnce);
  EXPECT_EQ(compare({100, 0}, 1, {0, 1}, 30, true), Outcome::kAgainstOnce);
}

TEST(Verdict, CountsPairsOfCellsThatDifferInTheRowAlone) {
  Maker maker;
  maker.cell("A", 1, 0.1, 0.01, 5).cell("B", 1, 0.2, 0.01, 5);
  EXPECT_EQ(verdict(maker, {test_of(Kind::kLower, "A", "B")}).word, "yes");
  EXPECT_EQ(verdict(maker, {test_of(Kind::kHigher, "A", "B")}).word, "no");
  maker.cell("A", 2, 0.3, 0.01, 5).cell("B", 2, 0.2, 0.01, 5);
  maker.cell("A", 3, 0.2, 0.01, 5).cell("B", 3, 0.2, 0.01, 5);
  maker.cell("A", 4, 0.1, 0, 1).cell("B", 4, 0.2, 0.01, 5);
  maker.cell("A", 5, 0.1, 0.01, 5).cell("B", 5, 0, 0, 0);
  const Verdict found = verdict(maker, {test_of(Kind::kLower, "A", "B")});
  EXPECT_EQ(found.word,
            "yes in 1 of 4, no in 1 of 4, no difference in 1 of 4, 1 with one run: 1 for, 0 "
            "against, 1 not run");
  EXPECT_THAT(found.evidence,
              AllOf(HasSubstr("ε 2: 0.3000 ± 0.0045 (5) against 0.2000 ± 0.0045 (5)"),
                    HasSubstr("ε 4: 0.1000 (1) against")));
}

TEST(Verdict, FollowsTheCellsAndNothingElse) {
  Maker before, after;
  before.cell("A", 1, 0.1, 0.01, 5).cell("B", 1, 0.2, 0.01, 5);
  after.cell("A", 1, 0.25, 0.01, 5).cell("B", 1, 0.2, 0.01, 5);
  EXPECT_EQ(verdict(before, {test_of(Kind::kLower, "A", "B")}).word, "yes");
  EXPECT_EQ(verdict(after, {test_of(Kind::kLower, "A", "B")}).word, "no");
}

TEST(Verdict, OfWhatWasNotRun) {
  Maker maker;
  maker.cell("A", 1, 0, 0, 0).cell("B", 1, 0, 0, 0);
  EXPECT_EQ(verdict(maker, {test_of(Kind::kLower, "A", "B")}).word, "not run");
  ClaimSpec argued = claim_of({});
  argued.argued = "by algebra";
  EXPECT_EQ(verdict_of(argued, {}).word, "argued, not measured");
}

TEST(Verdict, ACellThatIsToHaveNoSuchArmDoesNotWait) {
  Maker maker;
  maker.cell("A", 1, 0.1, 0.01, 5).cell("B", 1, 0.2, 0.01, 5);
  maker.cell("A", 2, 0, 0, 0).cell("B", 2, 0.2, 0.01, 5);
  TestSpec test = test_of(Kind::kLower, "A", "B");
  test.arm = test.than_arm = Way::kRecipe;
  EXPECT_EQ(verdict(maker, {test}).word, "yes, 1 not run");
  maker.made.spec.cells[2].recipe.reset();
  EXPECT_EQ(verdict(maker, {test}).word, "yes");
}

TEST(Verdict, OfAPrice) {
  Maker maker;
  maker.cell("A", 1, 0.9, 0, 5);  // spends 0.9 where 1 is stated
  TestSpec test = test_of(Kind::kSpends, "A");
  test.arm = Way::kRecipe;
  EXPECT_EQ(verdict(maker, {test}).word, "yes");
  maker.cell("A", 2, 2.1, 0, 5);
  EXPECT_EQ(verdict(maker, {test}).word, "yes in 1 of 2, no in 1 of 2");
}

TEST(Verdict, OfAPrintedNumber) {
  Maker maker;
  maker.cell("A", 1, 0.5, 0.05, 5);
  maker.made.spec.cells[0].printed["objective"] = {0.58, std::nullopt};
  EXPECT_EQ(verdict(maker, {test_of(Kind::kPrinted, "A")}).word, "yes");
  maker.made.spec.cells[0].printed["objective"] = {0.61, std::nullopt};
  EXPECT_EQ(verdict(maker, {test_of(Kind::kPrinted, "A")}).word, "no");
  maker.made.spec.cells[0].printed["objective"] = {0.61, 0.06};
  EXPECT_EQ(verdict(maker, {test_of(Kind::kPrinted, "A")}).word, "yes");
}

TEST(Verdict, OfABound) {
  Maker maker;
  maker.cell("A", 1, 71, 0.2, 5);
  TestSpec test = test_of(Kind::kAtLeast, "A");
  test.bound = 86;
  EXPECT_EQ(verdict(maker, {test}).word, "no");
  test.bound = 70;
  EXPECT_EQ(verdict(maker, {test}).word, "yes");
  test.bound = 71.1;
  EXPECT_EQ(verdict(maker, {test}).word, "no difference");
}

TEST(Verdict, OfASeries) {
  TestSpec test = test_of(Kind::kFalls, "A");
  test.along = Axis::kX;
  Maker falling, bent, flat;
  falling.cell("A", 1, 0.3, 0.01, 5, 10)
      .cell("A", 1, 0.2, 0.01, 5, 20)
      .cell("A", 1, 0.1, 0.01, 5, 30);
  bent.cell("A", 1, 0.3, 0.01, 5, 10).cell("A", 1, 0.1, 0.01, 5, 20).cell("A", 1, 0.2, 0.01, 5, 30);
  flat.cell("A", 1, 0.2, 0.01, 5, 10).cell("A", 1, 0.2, 0.01, 5, 20);
  EXPECT_EQ(verdict(falling, {test}).word, "yes");
  EXPECT_EQ(verdict(bent, {test}).word, "no");
  EXPECT_EQ(verdict(flat, {test}).word, "no difference");
  test.kind = Kind::kSteady;
  EXPECT_EQ(verdict(flat, {test}).word, "yes");
  EXPECT_EQ(verdict(falling, {test}).word, "no");
}

TEST(Verdict, OfALeadThatGrows) {
  TestSpec test = test_of(Kind::kWidens, "A", "B");
  test.along = Axis::kX;
  Maker maker;
  maker.cell("A", 1, 50, 0.1, 5, 60).cell("B", 1, 49, 0.1, 5, 60);
  maker.cell("A", 1, 50, 0.1, 5, 200).cell("B", 1, 45, 0.1, 5, 200);
  const Verdict found = verdict(maker, {test});
  EXPECT_EQ(found.word, "yes");
  EXPECT_THAT(found.evidence, AllOf(HasSubstr("+1.0000"), HasSubstr("+5.0000")));
  std::swap(test.row, test.than);
  EXPECT_EQ(verdict(maker, {test}).word, "no");
}

TEST(Verdict, OfAnExponent) {
  Maker maker;
  for (const double x : {1.0, 2.0, 4.0, 8.0})
    maker.cell("A", 1, std::pow(x, -0.7) * (x == 2 ? 1.01 : 1), 0, 5, x);
  maker.made.spec.slopes = {{"in x", "objective", "", "A", Axis::kX, -0.6}};
  EXPECT_EQ(verdict(maker, {test_of(Kind::kSlope, "in x")}).word, "yes");
  maker.made.spec.slopes[0].theory = -0.9;
  EXPECT_EQ(verdict(maker, {test_of(Kind::kSlope, "in x")}).word, "no");
}

TEST(Claims, ATypingMistakeIsNoVerdict) {
  Maker maker;
  maker.cell("A", 1, 0.1, 0.01, 5).cell("B", 1, 0.2, 0.01, 5);
  const auto check = [&](const TestSpec& test) {
    const PaperSpec paper{"WX19", "t", {"toy"}, {claim_of({test})}};
    return check_claims({paper}, {maker.made.spec});
  };
  EXPECT_TRUE(check(test_of(Kind::kLower, "A", "B")));
  EXPECT_FALSE(check(test_of(Kind::kLower, "A", "C")));
  EXPECT_FALSE(check(test_of(Kind::kLower, "a", "B")));
  TestSpec other = test_of(Kind::kLower, "A", "B");
  other.in = "elsewhere";
  EXPECT_FALSE(check(other));
}

TEST(Claims, AreReadStrictly) {
  const auto read = [](const std::string& more) {
    return parse_papers(
        "[[paper]]\nkey = \"K\"\ntitle = \"t\"\nreproductions = []\n"
        "[[paper.claim]]\nitem = \"Table 1\"\nclaim = \"c\"\n" +
            more,
        "papers.toml");
  };
  const auto claim =
      read("tests = [{ in = \"toy\", lower = \"A\", than = \"B\", measure = \"objective\" }]");
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_EQ(claim->front().claims.front().tests.front().row, "A");
  for (const char* bad : {"",
                          "holds = \"yes\"",
                          "argued = \"a\"\nabsent = \"b\"",
                          "tests = [{ in = \"toy\", lower = \"A\", higher = \"A\", than = \"B\", "
                          "measure = \"objective\" }]",
                          "tests = [{ in = \"toy\", lower = \"A\", measure = \"objective\" }]",
                          "tests = [{ in = \"toy\", falls = \"A\", measure = \"objective\" }]",
                          "tests = [{ in = \"toy\", reaches = \"A\", measure = \"objective\" }]"})
    EXPECT_FALSE(read(bad)) << bad;
}

}  // namespace
}  // namespace sotto::study
