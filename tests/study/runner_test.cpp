#include "sotto/study/runner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "sotto/study/document.hpp"
#include "sotto/study/tables.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto::study {
namespace {

using sotto::testing::TempDir;
using ::testing::HasSubstr;
using ::testing::Not;

StudySpec toy(const std::string& more = "") {
  const auto spec = parse_spec(R"(
name = "toy"
paper = "WYX17"
shows = "Table 1"
title = "a toy"
columns = ["objective", "gradient_norm", "gap", "passes"]
runs = 3
quick_runs = 1
curves = true
quick_rows = 200
[settings]
data = "toy"
regularizer = "l2:1e-2"
delta = "1/n"
[data.toy]
kind = "linear"
rows = 500
dim = 3
about = "made up"
[arm.paper]
method = "dp-gd"
noise = "wyx17"
options = { steps = 20, step_size = 1, momentum = 0, clip_radius = 1 }
[arm.best]
method = "dp-gd"
options = { steps = "{x}" }
[[cell]]
row = "DP-GD"
epsilon = [1, 4]
x = [10, 40]
recipe = "paper"
best = "best"
printed = { objective = [0.6, 0.5, 0.4, 0.3], passes = 20 }
[data.digits]
kind = "idx"
train = "no-images,no-labels"
about = "missing"
[[cell]]
row = "CNN | DP-SGD"
data = "digits"
model = "mnist-cnn4"
best = "best"
printed = { objective = 0.1 }
[[cell]]
row = "slow"
epsilon = 1
quick = false
best = "best"
x = 5
[[slope]]
title = "passes in T"
measure = "passes"
group = ""
row = "DP-GD"
theory = 1
[[chart]]
title = "passes"
x = "passes"
y = "gradient_norm"
[[chart]]
title = "by T"
x = "x"
y = "objective"
[words]
notes = ["the sun <shines>"]
)" + more,
                               "toy.toml");
  EXPECT_TRUE(spec) << spec.error().message;
  return *spec;
}

RunOptions options(const std::string& finished = "") {
  RunOptions options;
  options.finished = finished;
  options.command = "sotto reproduce toy";
  return options;
}

TEST(Runner, FillsEveryCellWithWhatWasRunAndWhatItCosts) {
  const StudySpec spec = toy();
  const auto results = run(spec, options());
  ASSERT_TRUE(results) << results.error().message;
  ASSERT_EQ(results->cells.size(), 6u);
  const CellResult* cell = results->find(key_of(spec.cells[0]));
  ASSERT_TRUE(cell && cell->recipe && cell->best);
  EXPECT_EQ(cell->recipe->runs, 3);
  EXPECT_EQ(cell->recipe->measures.at("passes").mean, 20);
  EXPECT_EQ(cell->best->measures.at("passes").mean, 10);  // {x}
  EXPECT_GT(cell->best->measures.at("gradient_norm").deviation, 0);
  EXPECT_GT(cell->best->measures.at("gap").mean, 0);
  // The published formula is conservative; the other spends what it may and no more.
  EXPECT_LT(cell->recipe->epsilon, 0.9);
  EXPECT_LE(cell->best->epsilon, 1);
  EXPECT_GT(cell->best->epsilon, 0.99);
  EXPECT_FALSE(cell->best->curve.empty());
  // A cell whose images are missing says so.
  const CellResult* network = results->find(key_of(spec.cells[4]));
  ASSERT_TRUE(network && network->best);
  EXPECT_THAT(network->best->missing, HasSubstr("no-images"));
}

TEST(Runner, QuickLeavesOutCellsRowsAndRuns) {
  RunOptions quick = options();
  quick.quick = true;
  const auto results = run(toy(), quick);
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_TRUE(results->quick);
  EXPECT_EQ(results->cells.size(), 5u);
  EXPECT_EQ(results->cells[0].best->runs, 1);
  EXPECT_EQ(results->cells[0].best->n, 200);
  EXPECT_THAT(page_of(toy(), *results, {}), HasSubstr("Quick"));
  EXPECT_THAT(markdown_of(toy(), *results, {}), HasSubstr("QUICK"));
}

TEST(Runner, FinishedCellsAreNotRunAgain) {
  const TempDir dir;
  const StudySpec spec = toy();
  RunOptions first = options(dir.file("cells.jsonl"));
  int seen = 0;
  first.progress = [&](const std::string& text) {
    seen += text.find(", step ") == std::string::npos;
    return seen <= 7;  // two arms and a bit
  };
  EXPECT_FALSE(run(spec, first));
  int again = 0;
  RunOptions second = options(dir.file("cells.jsonl"));
  // A long run may tell of its steps besides.
  second.progress = [&](const std::string& text) {
    again += text.find(", step ") == std::string::npos;
    return true;
  };
  const auto resumed = run(spec, second);
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_EQ(again, 9 * 3 - 6);
  // The same as in one go, but for the time it took.
  auto whole = run(spec, options());
  ASSERT_TRUE(whole);
  for (std::size_t k = 0; k < whole->cells.size(); ++k)
    if (whole->cells[k].recipe) {
      auto a = *whole->cells[k].recipe, b = *resumed->cells[k].recipe;
      for (ArmResult* arm : {&a, &b}) {
        arm->measures.erase("seconds");
        for (auto& point : arm->curve) point.values.erase("seconds");
      }
      EXPECT_EQ(to_json(a).dump(), to_json(b).dump());
    }
  // Another setting is another cell.
  RunOptions more = options(dir.file("cells.jsonl"));
  more.runs = 2;
  again = 0;
  more.progress = second.progress;
  ASSERT_TRUE(run(spec, more));
  EXPECT_EQ(again, 9 * 2);
}

TEST(Runner, OnlyTheCellsThatAreAskedForAreRunAndTheOthersKept) {
  const TempDir dir;
  const StudySpec spec = toy();
  RunOptions some = options(dir.file("cells.jsonl"));
  some.only = "epsilon 4 / x 40";
  const auto first = run(spec, some);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->cells[0].best->missing, "not run");
  EXPECT_EQ(first->cells[3].best->runs, 3);
  some.only = "epsilon 1 / x 10";
  const auto second = run(spec, some);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->cells[0].best->runs, 3);
  EXPECT_EQ(to_json(*second->cells[3].best).dump(), to_json(*first->cells[3].best).dump());
  EXPECT_EQ(second->cells[1].best->missing, "not run");
  // One of a cell's two arms.
  some.only = "epsilon 1 / x 40 recipe";
  const auto third = run(spec, some);
  ASSERT_TRUE(third) << third.error().message;
  EXPECT_EQ(third->cells[1].recipe->runs, 3);
  EXPECT_EQ(third->cells[1].best->missing, "not run");
}

TEST(Runner, MissingDataIsAClearError) {
  StudySpec spec = toy();
  spec.data["toy"].kind = DataKind::kLibsvm;
  spec.data["toy"].train = "nobody.gz";
  const auto results = run(spec, options());
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().kind, ErrorKind::kIo);
  EXPECT_THAT(results.error().message, HasSubstr("nobody.gz"));
  EXPECT_THAT(results.error().message, HasSubstr("‘data DIR’"));
}

// What is shown.

TEST(Documents, ResultsSurviveTheirFile) {
  const auto results = run(toy(), options());
  ASSERT_TRUE(results);
  const std::string text = to_json(*results).dump();
  const auto read = results_from_json(text, "toy.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read).dump(), text);
  EXPECT_EQ(markdown_of(toy(), *read, {}), markdown_of(toy(), *results, {}));
  EXPECT_FALSE(results_from_json("{}", "toy.json"));
  EXPECT_FALSE(results_from_json("{\"reproduction\": \"toy\"}", "toy.json"));
}

TEST(Documents, ThreeLinesACellAndTheEpsilonThatIsSpent) {
  const StudySpec spec = toy();
  auto results = run(spec, options());
  ASSERT_TRUE(results);
  for (auto& cell : results->cells)
    if (cell.recipe) cell.recipe->epsilon = 17.1234;
  const auto panels = panels_of(spec, *results);
  ASSERT_EQ(panels.size(), 2u);  // one a data set
  const auto& lines = panels[0].lines;
  EXPECT_EQ(lines[0].what, "printed");
  EXPECT_EQ(lines[0].values[0], "0.6");
  EXPECT_EQ(lines[1].what, "its recipe");
  EXPECT_EQ(lines[1].epsilon, "17.2");  // never rounded down
  EXPECT_TRUE(lines[1].over);
  EXPECT_EQ(lines[2].what, "Sotto: dp-gd");
  EXPECT_FALSE(lines[2].over);
  // What a public code would spend is not what the run beside it spends.
  results->cells[0].recipe->epsilon = 0.5;
  results->cells[0].recipe->epsilon_of_code = 17.1234;
  const auto again = panels_of(spec, *results)[0].lines[1];
  EXPECT_EQ(again.epsilon, "0.5");
  EXPECT_THAT(again.what, HasSubstr("its public code would spend 17.2"));
  results->cells[0].recipe->epsilon = 17.1234;
  const std::string markdown = markdown_of(spec, *results, {});
  EXPECT_THAT(markdown, HasSubstr("**17.2**"));
  EXPECT_THAT(markdown, HasSubstr("CNN \\| DP-SGD"));
  const std::string page = page_of(spec, *results, {});
  EXPECT_THAT(page, HasSubstr("the sun &lt;shines&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<shines>")));
}

TEST(Documents, SlopesAndChartsFollowTheCells) {
  const StudySpec spec = toy();
  const auto results = run(spec, options());
  ASSERT_TRUE(results);
  const auto slopes = slopes_of(spec, *results);
  ASSERT_EQ(slopes.size(), 1u);
  EXPECT_EQ(slopes[0].measured, "+1.00 ± 0.00");  // passes are T
  const auto charts = charts_of(spec, *results);
  ASSERT_EQ(charts.size(), 2u);
  EXPECT_EQ(charts[0].series.size(), 9u);  // a curve for every arm that ran
  EXPECT_EQ(charts[0].series[0].points.size(), charts[0].series[0].band.size());
  std::set<std::string> names;
  for (const auto& series : charts[0].series) names.insert(series.name);
  EXPECT_EQ(names.size(), 9u) << "what the chart leaves open is in the names";
  // One series a row and way, and the printed points.
  EXPECT_EQ(charts[1].series.size(), 4u);
}

TEST(Documents, TheIndexComparesEveryPrintedNumber) {
  const StudySpec spec = toy();
  const auto results = run(spec, options());
  ASSERT_TRUE(results);
  const auto all = comparisons_of(spec, *results);
  EXPECT_EQ(all.size(), 9u);  // 4 cells of two numbers, and the network's
  PaperSpec paper{"WYX17", "A paper", {"toy"}, {}};
  paper.claims.push_back({"Table 9", "it works", {}, "by algebra", "", {"toy"}});
  const std::string markdown = markdown_index({paper}, {{spec, *results}});
  EXPECT_THAT(markdown, HasSubstr("[toy](toy.md)"));
  EXPECT_THAT(markdown, HasSubstr("argued, not measured"));
  // Numbers of what was not run are there too.
  EXPECT_EQ(comparisons_of(spec, {}).size(), 9u);
  EXPECT_THAT(markdown_index({paper}, {{spec, std::nullopt}}), HasSubstr("not run"));
  EXPECT_THAT(page_index({paper}, {{spec, *results}}), HasSubstr("toy.html"));
}

TEST(Documents, CsvHasALineForEveryNumber) {
  const StudySpec spec = toy();
  const auto results = run(spec, options());
  ASSERT_TRUE(results);
  const std::string csv = to_csv(spec, *results);
  EXPECT_THAT(csv, HasSubstr("\"DP-GD\",\"\",\"toy\",1,10,printed,,,objective,0.6,,\n"));
  const std::string head = csv.substr(0, csv.find('\n'));
  const auto commas = [](const std::string& line) {
    return std::count(line.begin(), line.end(), ',');
  };
  std::size_t begin = 0;
  for (std::size_t end; (end = csv.find('\n', begin)) != std::string::npos; begin = end + 1)
    EXPECT_EQ(commas(csv.substr(begin, end - begin)), commas(head));
}

TEST(Documents, NumbersAreShownWithDigitsThatMeanSomething) {
  EXPECT_EQ(shown("objective", 0.35061), "0.3506");
  EXPECT_EQ(shown("objective", 0.00001234), "1.2e-05");
  EXPECT_EQ(shown("passes", 7.04), "7.0");
  EXPECT_EQ(shown("objective", INFINITY), "∞");
}

TEST(Documents, ExponentsAreFittedToPositivePoints) {
  EXPECT_NEAR(fitted_exponent({{1, 2}, {2, 8}, {4, 32}})->value, 2, 1e-12);
  EXPECT_NEAR(fitted_exponent({{1, 2}, {2, 8}, {4, 32}})->error, 0, 1e-7);
  // y = 1, 2, 1 at ln x = 0, 1, 2: slope 0, residuals -1/3, 2/3, -1/3 of ln 2, error ln 2 / sqrt 3.
  const auto bent = fitted_exponent({{1, 1}, {M_E, 2}, {M_E * M_E, 1}});
  EXPECT_NEAR(bent->value, 0, 1e-12);
  EXPECT_NEAR(bent->error, std::log(2.0) * std::sqrt(6.0 / 9.0 / 2.0), 1e-12);
  EXPECT_FALSE(fitted_exponent({{1, 2}}));
  EXPECT_FALSE(fitted_exponent({{1, 2}, {2, -1}}));
}

StudySpec small(const std::string& columns, const std::string& data, const std::string& rest) {
  const auto spec =
      parse_spec("name = \"small\"\nshows = \"a question\"\ntitle = \"a toy\"\n" + columns +
                     "\nruns = 2\n[data.toy]\nabout = \"made up\"\n" + data +
                     "[settings]\ndata = \"toy\"\nneighbours = \"zero-out\"\n" + rest,
                 "small.toml");
  EXPECT_TRUE(spec) << spec.error().message;
  return *spec;
}

/// From w = 0, where the curvature is negative: long steps leave it at once, tiny ones never.
TEST(Runner, CountsThePassesUntilASaddleIsLeft) {
  const StudySpec spec =
      small("columns = [\"escaped\", \"first_passes\", \"passes\"]\nsaddle_tolerance = 0.05",
            "kind = \"phase\"\nrows = 2000\ndim = 4\n",
            R"(loss = "phase-retrieval:6"
[arm.gd]
method = "dp-gd"
options = { steps = 40, clip_radius = 2, momentum = 0.9, schedule = "constant" }
[[cell]]
row = "far"
epsilon = 8
best = { use = "gd", options = { step_size = 2 } }
[[cell]]
row = "nowhere"
epsilon = 8
best = { use = "gd", options = { step_size = 1e-9 } }
)");
  const auto results = run(spec, options());
  ASSERT_TRUE(results) << results.error().message;
  const auto& far = results->cells[0].best->measures;
  EXPECT_EQ(far.at("escaped").mean, 1);
  EXPECT_GE(far.at("first_passes").mean, 1);
  EXPECT_LT(far.at("first_passes").mean, far.at("passes").mean);
  const auto& nowhere = results->cells[1].best->measures;
  EXPECT_EQ(nowhere.at("escaped").mean, 0);
  EXPECT_FALSE(nowhere.contains("first_passes"));  // of the runs that escaped: none
  EXPECT_FALSE(
      parse_spec("name = \"a\"\nshows = \"a\"\ntitle = \"a\"\ncolumns = [\"escaped\"]\n", "a"));
}

TEST(Runner, CountsTheRelevantFeatures) {
  const StudySpec spec = small("columns = [\"recovered\"]",
                               "kind = \"sparse\"\nrows = 4000\ndim = 300\nrow_max = 1\n",
                               R"(
[arm.gd]
method = "gd"
[[cell]]
row = "all"
best = { use = "gd", options = { steps = 60, step_size = 0.5 } }
[[cell]]
row = "none"
epsilon = 0.001
best = { use = "gd", method = "dp-gd", options = { steps = 60, step_size = 1 } }
)");
  const auto results = run(spec, options());
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(results->cells[0].best->measures.at("recovered").mean, 10);
  EXPECT_LT(results->cells[1].best->measures.at("recovered").mean, 5);
  // A question of our own has no paper to cite.
  const std::string page = markdown_of(spec, *results, {});
  EXPECT_THAT(page, HasSubstr("\na question. Mean"));
}

}  // namespace
}  // namespace sotto::study
