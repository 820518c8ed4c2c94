#include "sotto/study/spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "sotto/study/papers.hpp"
#include "sotto/study/published/formula.hpp"
#include "sotto/study/published/search.hpp"
#include "sotto/study/verdict.hpp"

namespace sotto::study {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kSpecs = std::string(SOTTO_SOURCE_DIR) + "/studies";

std::string small_spec(const std::string& more) {
  return R"(
name = "small_spec"
paper = "WX19"
shows = "Table 9"
title = "a title"
columns = ["objective", "passes"]
[data.toy]
kind = "linear"
rows = 100
dim = 3
about = "made up"
[arm.plain]
method = "dp-gd"
options = { steps = 10, step_size = 0.5 }
)" + more;
}

Expected<StudySpec> parse(const std::string& more) {
  return parse_spec(small_spec(more), "small_spec.toml");
}

TEST(Spec, ACellIsACellForEveryEpsilonAndX) {
  const auto spec = parse(R"(
[[cell]]
row = "DP-GD"
data = "toy"
epsilon = [0.5, 1]
x = [10, 20]
recipe = "plain"
best = { use = "plain", options = { steps = "{x}" } }
printed = { objective = [1, 2, 3, nan], objective_sd = 0.5, passes = 7 }
)");
  ASSERT_TRUE(spec) << spec.error().message;
  ASSERT_EQ(spec->cells.size(), 4u);
  EXPECT_EQ(spec->cells[1].epsilon, 0.5);
  EXPECT_EQ(spec->cells[1].x, 20);
  EXPECT_EQ(spec->cells[2].printed.at("objective").value, 3);
  EXPECT_EQ(spec->cells[2].printed.at("objective").deviation, 0.5);
  EXPECT_FALSE(spec->cells[3].printed.contains("objective"));  // nan: not printed
  EXPECT_EQ(spec->cells[3].printed.at("passes").value, 7);
  // An arm that uses another one replaces its options by name.
  ASSERT_EQ(spec->cells[0].best->options.size(), 2u);
  for (const auto& [name, value] : spec->cells[0].best->options)
    EXPECT_EQ(value, name == "steps" ? "{x}" : "0.5");
}

TEST(Spec, ErrorsNameThePlaceAndTheRemedy) {
  const auto message = [](const std::string& more) {
    const auto spec = parse(more);
    EXPECT_FALSE(spec);
    return spec ? std::string() : spec.error().message;
  };
  const std::string cell = "[[cell]]\nrow = \"a\"\ndata = \"toy\"\n";
  EXPECT_THAT(message(cell + "colour = 3\n"),
              AllOf(HasSubstr("small_spec.toml:"), HasSubstr("'colour'"), HasSubstr("Known keys")));
  EXPECT_THAT(message(cell + "best = \"nothing\"\n"), HasSubstr("[arm.nothing]"));
  EXPECT_THAT(message("[[cell]]\nrow = \"a\"\ndata = \"other\"\n"), HasSubstr("[data.other]"));
  EXPECT_THAT(message(cell + "printed = { beauty = 1 }\n"), HasSubstr("beauty"));
  EXPECT_THAT(message(cell + "epsilon = [1, 2]\nprinted = { passes = [1, 2, 3] }\n"),
              HasSubstr("3 values for 2 cells"));
  EXPECT_THAT(message(cell + "epsilon = \"much\"\n"), HasSubstr("'epsilon' must be a number"));
  EXPECT_THAT(message("[[cell]]\ndata = \"toy\"\n"), HasSubstr("'row' is missing"));
  EXPECT_THAT(message(""), HasSubstr("no [[cell]]"));
  EXPECT_THAT(message("= 3\n"), HasSubstr("small_spec.toml:"));
}

// The files themselves.

TEST(Specs, AllNamesOfTheFivePapersAreThere) {
  const auto specs = load_specs(kSpecs);
  ASSERT_TRUE(specs) << specs.error().message;
  std::set<std::string> names;
  for (const auto& spec : *specs) names.insert(spec.name);
  for (const char* name : {"srm-table2",
                           "srm-fig1",
                           "srm-fig2",
                           "srm-fig3",
                           "srm-table1",
                           "opt-loose",
                           "opt-tight",
                           "nonstationary-fig1",
                           "nonstationary-fig2",
                           "nonstationary-fig3",
                           "nonstationary-fig4",
                           "nonstationary-table1",
                           "nonstationary-theorem3",
                           "tr-fig2",
                           "tr-fig4",
                           "tr-fig6",
                           "tr-fig8",
                           "tr-fig10",
                           "adp-fig1",
                           "adp-table1",
                           "adp-table2",
                           "adp-table4",
                           "adp-fig2",
                           "saddles",
                           "recovery",
                           "dimension"})
    EXPECT_TRUE(names.contains(name)) << name;
  // And no file is forgotten by papers.toml.
  for (const auto& entry : std::filesystem::directory_iterator(kSpecs))
    if (entry.path().extension() == ".toml" && entry.path().stem() != "papers") {
      EXPECT_TRUE(names.contains(entry.path().stem().string())) << entry.path();
    }
}

TEST(Specs, MethodsOptionsAndFormulasExist) {
  const auto specs = load_specs(kSpecs);
  ASSERT_TRUE(specs) << specs.error().message;
  std::set<std::string> formulas;
  for (const auto& formula : published_formulas()) formulas.insert(formula.name);
  for (const auto& spec : *specs)
    for (const auto& cell : spec.cells)
      for (const auto& arm : {cell.recipe, cell.best}) {
        if (!arm) continue;
        const MethodInfo* method = find_published(arm->method);
        if (!method) {
          const auto listed = find_method(arm->method);
          ASSERT_TRUE(listed) << spec.name << ": " << arm->method;
          method = *listed;
        }
        for (const auto& [name, value] : arm->options) {
          bool known = false;
          for (const auto& option : method->options) known = known || option.name == name;
          EXPECT_TRUE(known) << spec.name << ": " << arm->method << " has no option " << name;
        }
        if (!arm->noise.empty()) {
          EXPECT_TRUE(formulas.contains(arm->noise)) << spec.name << ": " << arm->noise;
        }
      }
}

TEST(Specs, EveryReproductionDecidesAClaim) {
  const auto specs = load_specs(kSpecs);
  ASSERT_TRUE(specs) << specs.error().message;
  const auto papers = load_papers(kSpecs);
  ASSERT_TRUE(papers) << papers.error().message;
  EXPECT_EQ(papers->size(), 6u);  // the last: questions of our own
  for (const auto& paper : *papers) EXPECT_FALSE(paper.claims.empty()) << paper.key;
  const auto checked = check_claims(*papers, *specs);
  EXPECT_TRUE(checked) << checked.error().message;
  // Every reproduction is there for something: a claim that its cells decide.
  for (const auto& spec : *specs) {
    bool used = false;
    for (const auto& paper : *papers) used |= !claim_lines(paper, {}, spec.name).empty();
    EXPECT_TRUE(used) << spec.name << " decides no claim of papers.toml";
  }
}

TEST(Specs, EveryTrapThatIsCitedIsExplained) {
  const auto text_of = [](const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  const std::string traps = text_of(std::string(SOTTO_SOURCE_DIR) + "/docs/traps.md");
  const std::regex number("\\bT([0-9]{1,2})\\b");
  int cited = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSpecs)) {
    if (entry.path().extension() != ".toml") continue;
    const std::string text = text_of(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it, ++cited)
      EXPECT_NE(traps.find("| " + it->str() + " |"), std::string::npos)
          << entry.path() << ": " << it->str();
  }
  EXPECT_GT(cited, 20);
}

TEST(Specs, AFolderWithoutThemSaysWhereItLooked) {
  const auto found = find_specs("/nowhere", "/usr/bin/sotto");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, AllOf(HasSubstr("/nowhere"), HasSubstr("‘specs DIR’")));
}

}  // namespace
}  // namespace sotto::study
