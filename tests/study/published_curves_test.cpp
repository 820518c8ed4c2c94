#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sotto/study/published/curves.hpp"
#include "sotto/study/tables.hpp"

namespace sotto::study {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

FormulaChartSpec figure_1(const std::string& formula) {
  return {"a title",
          formula,
          {{"steps", 1000},
           {"n", 50000},
           {"epsilon", 0.8},
           {"delta", 1e-5},
           {"clip_radius", 2.5},
           {"offset", 1},
           {"slope", 1}}};
}

/// ln(16 t / (n delta)) ln(1.25 / delta), and the sum of alpha^-2, from the paper's page.
double B(double t) { return std::log(16 * t / (50000 * 1e-5)) * std::log(1.25 / 1e-5); }
double sum(bool matched, double t) {
  double total = 0;
  for (double s = 1; s <= t; ++s) total += matched ? 1 / std::sqrt(1 + s) : 1;
  return total;
}

TEST(FormulaCurves, NoiseIsTheTheoremsForTheWholeRun) {
  const auto chart = formula_chart(figure_1("adp21-noise"));
  ASSERT_TRUE(chart) << chart.error().message;
  ASSERT_EQ(chart->series.size(), 2u);
  for (const bool matched : {true, false}) {
    const auto& points = chart->series[matched ? 0 : 1].points;
    const double sigma = 2.5 * std::sqrt(B(1000) * sum(matched, 1000)) / (50000 * 0.8);
    EXPECT_EQ(points.front().first, 1);
    EXPECT_EQ(points.back().first, 1000);
    for (const auto& [t, noise] : points) {
      const double b = std::sqrt(1 + t);
      EXPECT_NEAR(noise, sigma * (matched ? std::sqrt(b) : 1) / b, 1e-12) << t;
    }
  }
  // Adaptive noise begins lower and ends higher: what the figure is there to show.
  EXPECT_LT(chart->series[0].points.front().second, chart->series[1].points.front().second);
  EXPECT_GT(chart->series[0].points.back().second, chart->series[1].points.back().second);
}

TEST(FormulaCurves, PrivacyEndsAtTheBudgetAndGrowsAsTheTheoremSays) {
  const auto chart = formula_chart(figure_1("adp21-privacy"));
  ASSERT_TRUE(chart) << chart.error().message;
  for (const bool matched : {true, false}) {
    const auto& points = chart->series[matched ? 0 : 1].points;
    EXPECT_NEAR(points.back().second, 0.8, 1e-12);
    for (const auto& [t, privacy] : points)
      EXPECT_NEAR(
          privacy, 0.8 * std::sqrt(B(t) * sum(matched, t) / (B(1000) * sum(matched, 1000))), 1e-12)
          << t;
  }
}

TEST(FormulaCurves, ConstantNoiseIsThatOfTheRecipes) {
  NoiseFacts facts;
  facts.problem.n = 50000;
  facts.problem.relation = Relation::kZeroOut;
  facts.epsilon = 0.8;
  facts.delta = 1e-5;
  facts.steps = 1000;
  facts.batch = 256;
  facts.arguments["matched"] = 0;
  const auto recipe = published_noise("adp21", facts);
  ASSERT_TRUE(recipe);
  const auto chart = formula_chart(figure_1("adp21-noise"));
  const auto& [t, noise] = chart->series[1].points.front();
  EXPECT_NEAR(noise * std::sqrt(1 + t), *recipe->multiplier * 2.5 / 256, 1e-12);
}

TEST(FormulaCurves, UnknownNamesAndMissingArgumentsAreErrors) {
  EXPECT_THAT(formula_chart(figure_1("adp22")).error().message,
              AllOf(HasSubstr("adp22"), HasSubstr("adp21-noise")));
  FormulaChartSpec spec = figure_1("adp21-noise");
  spec.arguments.erase("delta");
  EXPECT_THAT(formula_chart(spec).error().message, HasSubstr("'delta'"));
  spec.arguments["delta"] = -1;
  EXPECT_FALSE(formula_chart(spec));
  spec = figure_1("adp21-noise");
  spec.arguments["steps"] = 0.5;
  EXPECT_FALSE(formula_chart(spec));
}

TEST(FormulaCurves, AReproductionMayConsistOfThemAlone) {
  const auto spec = parse_spec(R"(
name = "small"
paper = "ADP21"
shows = "Figure 9"
title = "a title"
[[formula_chart]]
title = "noise"
formula = "adp21-noise"
arguments = { steps = 10, n = 100, epsilon = 1, delta = 1e-5, clip_radius = 1, offset = 1, slope = 1 }
)",
                               "small.toml");
  ASSERT_TRUE(spec) << spec.error().message;
  const auto charts = charts_of(*spec, Results{});
  ASSERT_EQ(charts.size(), 1u);
  EXPECT_EQ(charts[0].title, "noise");
  EXPECT_THAT(provenance(Results{}), HasSubstr("nothing is run"));
  ASSERT_EQ(formulas_of(*spec).size(), 1u);
  EXPECT_THAT(formulas_of(*spec)[0], HasSubstr("Theorem 4.1"));
  const auto wrong = parse_spec(
      "name = \"a\"\npaper = \"b\"\nshows = \"c\"\ntitle = \"d\"\n[[formula_chart]]\ntitle = "
      "\"e\"\nformula = \"f\"\n",
      "wrong.toml");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, AllOf(HasSubstr("wrong.toml:"), HasSubstr("'f'")));
}

}  // namespace
}  // namespace sotto::study
