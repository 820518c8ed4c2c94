// What else the program does with private rows than to train to the end: runs that a ^C stops,
// plots, dry runs, facts about a file.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

#include "tests/neighbours/lines.hpp"

namespace sotto::testing {
namespace {

/// One line of every table under every relation; the first unit that makes sense, or all.
std::vector<Line> table_lines(const MethodLine& method) {
  std::vector<Line> lines;
  for (const Line& line : all_lines())
    if (line.method == &method) lines.push_back(line);
  return lines;
}

const MethodLine& line_named(const std::string& name) {
  for (const MethodLine& line : method_lines())
    if (line.name == name) return line;
  ADD_FAILURE() << name;
  return method_lines().front();
}

TEST(OtherRuns, AnInterruptedRunLeavesTheSame) {
  for (const char* name : {"dp-sgd", "dp-gd best"}) {
    std::vector<Line> lines = table_lines(line_named(name));
    std::erase_if(lines, [](const Line& line) {
      return line.unit != Unit::kAllColumns && line.unit != Unit::kManyRows;
    });
    for (const std::string& text : failing(lines, {.interrupt_after = 2})) ADD_FAILURE() << text;
  }
}

/// How fast this machine is, which a dry run measures with rows that it makes itself.
void take_out_speed(std::string& text) {
  text = std::regex_replace(text, std::regex("\"(examples_a_second|seconds)\":[-+.0-9e]+"), "$1");
}

/// Runs `words` in both worlds of each line and compares.
void compare(const std::vector<Line>& lines,
             const std::function<Words(const Line&)>& words,
             const std::string& artifact = "stdout") {
  ASSERT_FALSE(lines.empty());
  for (const Line& line : lines) {
    const Program program = sotto_program(words(line));
    World a = run_world(*line.table->files(partner(line.relation)), program);
    World b = run_world(*line.table->files(line.unit), program, &a);
    for (World* world : {&a, &b}) take_out_speed(world->artifacts["stdout"]);
    EXPECT_EQ(a.exit_code, 0) << to_string(line) << a.artifacts.at("stderr");
    EXPECT_FALSE(a.artifacts.contains(artifact) && a.artifacts.at(artifact).empty())
        << to_string(line);
    for (const std::string& text : differences(a, b))
      ADD_FAILURE() << to_string(line) << "\n" << text;
  }
}

TEST(OtherRuns, APlotIsTheSame) {
  if (std::system("gnuplot --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no gnuplot";
  std::vector<Line> lines = table_lines(line_named("dp-gd"));
  std::erase_if(lines, [](const Line& line) {
    return line.unit != Unit::kAllColumns || line.relation != Relation::kReplaceOne;
  });
  compare(
      lines, [](const Line& line) { return command(line) + "--plot run.svg"; }, "plot");
}

TEST(OtherRuns, ADryRunIsTheSame) {
  std::vector<Line> lines = table_lines(line_named("dp-gd"));
  std::erase_if(lines, [](const Line& line) { return !line.table->network; });
  compare(lines, [](const Line& line) {
    Words words = {
        "train --dry-run --json --method dp-gd --delta 1e-5 --noise-multiplier 2 --steps 3 "
        "--no-refusals --neighbours",
        std::string(to_string(line.relation))};
    if (line.relation == Relation::kAddRemove) words += {"--public-n", std::to_string(kTableUnits)};
    return words + line.table->arguments + line.table->training + line.table->data;
  });
}

// With the same seed both worlds draw the same batches, so that a batch's realized size would be
// the same in both. Without one, each draws its own; the sums then have nothing to say.
TEST(OtherRuns, SecretCoinsLeaveNoTrace) {
  for (const MethodLine& method : method_lines())
    for (const TableKind& table : table_kinds()) {
      if (table.name != "persons" && table.name != "network" && table.name != "density_limit")
        continue;
      const Line line{&method, &table, Relation::kReplaceOne, Unit::kAllColumns};
      if (!makes_sense(line)) continue;
      Words words = command(line);
      const auto seed = std::find(words.begin(), words.end(), "--seed");
      words.erase(seed, seed + 2);
      // A checkpoint also holds the coin of random settings, drawn anew without a seed.
      if (const auto file = std::find(words.begin(), words.end(), "--checkpoint");
          file != words.end())
        words.erase(file, file + 4);
      const Program program = sotto_program(words);
      World a = run_world(*table.files(Unit::kOrdinary), program);
      World b = run_world(*table.files(line.unit), program, &a);
      EXPECT_EQ(a.exit_code, 0) << to_string(line) << a.artifacts.at("stderr");
      EXPECT_FALSE(a.answers.empty());
      a.sealed.clear();
      b.sealed.clear();
      for (const std::string& text : differences(a, b))
        ADD_FAILURE() << to_string(line) << "\n" << text;
    }
}

TEST(OtherRuns, DataInfoIsTheSame) {
  // Pictures have more classes than the two that `data info` reads labels as.
  std::vector<Line> lines = table_lines(line_named("dp-gd"));
  std::erase_if(lines, [](const Line& line) { return line.table->network; });
  compare(lines, [](const Line& line) {
    Words words = {"data info"};
    if (line.relation == Relation::kAddRemove) words += {"--public-n", std::to_string(kTableUnits)};
    words.push_back("--no-refusals");
    words += line.table->arguments;
    words.push_back(line.table->data);
    return words;
  });
}

}  // namespace
}  // namespace sotto::testing
