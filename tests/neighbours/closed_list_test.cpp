// The neighbour table is closed: a method, a format, a mechanism or an artifact that has no line in
// it fails here.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "sotto/audit/made_up_claim.hpp"
#include "sotto/data/load.hpp"
#include "sotto/mechanism/laplace.hpp"
#include "tests/neighbours/lines.hpp"
#include "tests/support/receipts.hpp"
#include "tests/support/temp_dir.hpp"

namespace sotto::testing {
namespace {

using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAreArray;

std::string source(const std::string& path) {
  const std::string text = TempDir::read(std::string(SOTTO_SOURCE_DIR) + "/" + path);
  EXPECT_FALSE(text.empty()) << path;
  return text;
}

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  std::set<std::string> found;
  const std::regex regex(pattern);
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match)
    found.insert((*match)[1]);
  return found;
}

TEST(ClosedList, EveryPrivateMethodHasALine) {
  std::set<std::string> registered, lines;
  for (const MethodInfo& method : methods())
    if (method.is_private) registered.insert(method.name);
  for (const MethodLine& line : method_lines()) lines.insert(line.method);
  EXPECT_EQ(lines, registered) << "tests/neighbours/lines.cpp: method_lines()";
}

TEST(ClosedList, EveryFormatHasATable) {
  // The reader's own list, as it tells it to who names another.
  std::string told = parse_format("?").error().message;
  told = told.substr(told.find("one of ") + 7);
  std::set<std::string> formats = matches(told, "([a-z0-9]+)[,.]");
  EXPECT_TRUE(formats.erase("auto"));
  EXPECT_GE(formats.size(), 6u);
  std::set<std::string> tables;
  for (const TableKind& kind : table_kinds()) tables.insert(kind.format);
  EXPECT_EQ(tables, formats) << "tests/neighbours/tables.cpp: table_kinds()";
}

TEST(ClosedList, EveryTableHasTheFormatThatItSays) {
  for (const TableKind& kind : table_kinds()) {
    LoadOptions options;
    options.path = kind.data;
    for (std::size_t k = 0; k + 1 < kind.arguments.size(); ++k) {
      if (kind.arguments[k] == "--format") options.format = *parse_format(kind.arguments[k + 1]);
      if (kind.arguments[k] == "--schema") options.schema = kind.arguments[k + 1];
    }
    EXPECT_EQ(resolve_format(options)->name, kind.format) << kind.name;
  }
}

TEST(ClosedList, EveryMechanismIsKnown) {
  std::set<std::string> friends =
      matches(source("sotto/release/released.hpp"), "friend class (\\w+);");
  EXPECT_TRUE(friends.erase("ExactRelease")) << "the exact oracle's, never private";
  std::set<std::string> known;
  for (const MechanismLine& line : kMechanisms) known.insert(line.name);
  // Released's own friend is Released.
  friends.erase("Released");
  EXPECT_EQ(known, friends) << "tests/neighbours/replay.cpp: kMechanisms";
}

TEST(ClosedList, NobodyListensButTests) {
  namespace fs = std::filesystem;
  for (const char* folder : {"sotto", "apps"})
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(SOTTO_SOURCE_DIR) / folder)) {
      if (!entry.is_regular_file() || entry.path().stem() == "release_tap") continue;
      const std::string text = TempDir::read(entry.path());
      EXPECT_EQ(text.find("listen_to_releases"), text.npos) << entry.path();
      EXPECT_EQ(text.find("ReleaseTap"), text.npos) << entry.path();
    }
}

/// No method asks for Laplace noise: its line is this program.
int laplace_program() {
  Stream noise = Stream::seeded(5, Purpose::kNoise);
  LaplaceMechanism::release(Sensitive<double>(3, MadeUpClaim::of(1)),
                            test_receipt(Event::laplace(2, Relation::kZeroOut), 1),
                            2,
                            noise);
  return 0;
}

TEST(ClosedList, EveryMechanismIsReachedByALine) {
  std::set<std::string> reached;
  for (const MethodLine& method : method_lines()) {
    const Line line{&method, &table_kinds().front(), Relation::kReplaceOne, Unit::kOrdinary};
    const World world = run_world(*line.table->files(line.unit), sotto_program(command(line)));
    EXPECT_EQ(world.exit_code, 0) << method.name << ": " << world.artifacts.at("stderr");
    for (const std::string& fault : world.faults) ADD_FAILURE() << method.name << ": " << fault;
    EXPECT_FALSE(world.answers.empty()) << method.name;
    reached.insert(world.mechanisms.begin(), world.mechanisms.end());
  }
  const World laplace = run_world({}, laplace_program);
  EXPECT_TRUE(laplace.faults.empty());
  reached.insert(laplace.mechanisms.begin(), laplace.mechanisms.end());
  for (const MechanismLine& line : kMechanisms)
    EXPECT_TRUE(reached.contains(line.name)) << line.name;
}

TEST(ClosedList, TheCoveringArrayCovers) {
  const std::vector<Line> all = all_lines();
  const std::vector<Line> some = covering_lines();
  EXPECT_LT(some.size(), all.size() / 5);
  const auto pairs = [](const std::vector<Line>& lines) {
    std::set<std::string> found;
    for (const Line& line : lines) {
      const std::string parts[4] = {line.method->name,
                                    line.table->name,
                                    std::string(to_string(line.relation)),
                                    to_string(line.unit)};
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < i; ++j) found.insert(parts[j] + " / " + parts[i]);
    }
    return found;
  };
  EXPECT_EQ(pairs(some), pairs(all));
}

/// The rows of the table in docs/background/privacy_model.md: what, where it comes from, compared
/// as.
std::vector<std::vector<std::string>> public_table() {
  std::string text = source("docs/background/privacy_model.md");
  const std::size_t begin = text.find("\n## What is public");
  EXPECT_NE(begin, text.npos);
  text = text.substr(begin, text.find("\n## ", begin + 4) - begin);
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ") || line.starts_with("| what |")) continue;
    std::vector<std::string> cells;
    std::istringstream stream(line.substr(1));
    for (std::string cell; std::getline(stream, cell, '|');) cells.push_back(cell);
    rows.push_back(std::move(cells));
  }
  return rows;
}

TEST(WhatIsPublic, TheDocumentedTableIsTheOneThatIsCompared) {
  const auto rows = public_table();
  EXPECT_GE(rows.size(), 10u);
  const std::vector<std::string> origins = {
      "declared", "format convention", "counted", "released", "derived", "drawn", "never"};
  std::set<std::string> compared;
  for (const auto& cells : rows) {
    ASSERT_EQ(cells.size(), 3u) << cells.front();
    EXPECT_TRUE(std::any_of(
        origins.begin(),
        origins.end(),
        [&](const std::string& origin) { return cells[1].find(origin) != cells[1].npos; }))
        << cells[0] << " comes from " << cells[1];
    const std::set<std::string> names = matches(cells[2], "`([^`]+)`");
    EXPECT_FALSE(names.empty()) << cells[0] << " is compared nowhere";
    compared.insert(names.begin(), names.end());
  }
  EXPECT_EQ(compared, std::set<std::string>(kCompared.begin(), kCompared.end()));
}

}  // namespace
}  // namespace sotto::testing
