// Models, records and journals of seeded runs, for every method on every kind of table and network.
// seeded.json holds their digests; a change that is not meant to touch arithmetic, a plan or a file
// leaves all of them as they are. One that is meant to says so in its commit and makes them anew:
//
//   build/bin/test_golden --gtest_also_run_disabled_tests --gtest_filter='*WriteAgain'

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "sotto/core/digest.hpp"
#include "sotto/core/processor.hpp"
#include "tests/neighbours/lines.hpp"
#include "tests/support/names.hpp"

namespace sotto::testing {
namespace {

using nlohmann::json;

const std::string kFile = SOTTO_SOURCE_DIR "/tests/golden/seeded.json";

/// Methods without privacy have no line of the neighbour table.
const std::vector<MethodLine>& reference_lines() {
  static const std::vector<MethodLine> lines = {
      {"gd", "gd", {"--steps 4"}},
      {"sgd", "sgd", {"--steps 4 --expected-batch 6"}},
      {"storm", "storm", {"--steps 4 --expected-batch 6"}},
      {"tr", "tr", {"--steps 4 --loss sigmoid --hessian-lipschitz 1"}},
      {"newton", "newton", {"--steps 3"}},
  };
  return lines;
}

/// Every method and variant on every table; the other relations on the first table that allows it.
std::vector<Line> lines_of(const MethodLine& method) {
  std::vector<Line> lines;
  for (const Relation relation :
       {Relation::kZeroOut, Relation::kReplaceOne, Relation::kAddRemove}) {
    for (const TableKind& table : table_kinds()) {
      const Line line{&method, &table, relation, Unit::kOrdinary};
      // Of a database the bits are those of CSV (tests/databases).
      if (!makes_sense(line) || table.data.starts_with("sqlite:")) continue;
      lines.push_back(line);
      if (relation != Relation::kZeroOut) break;
    }
  }
  return lines;
}

std::string name_of(const Line& line) {
  return line.method->name + " / " + line.table->name + " / " +
         std::string(to_string(line.relation));
}

/// A record repeats its run's command, and the digests of these methods' runs were made with
/// checkpoints, when others had none.
const std::set<std::string> kWithCheckpoints = {"auto",
                                                "adp-sgd",
                                                "dp-gd",
                                                "dp-sgd",
                                                "dp-srm",
                                                "gd",
                                                "private-spiderboost",
                                                "rrpsgd",
                                                "sgd",
                                                "storm"};

/// The digests are older than the clip radius that networks on tables with bounds have by default.
/// `auto` has no such option: its digests are of the new one.
bool has_old_clip(const Line& line) {
  static const std::set<std::string> kOther = {"auto", "storm"};
  return line.table->name.starts_with("persons_network") && !kOther.contains(line.method->method);
}

Words command_of(const Line& line) {
  Words words = command(line, kWithCheckpoints.contains(line.method->method));
  if (has_old_clip(line)) words.insert(words.begin() + 1, {"--clip-radius", "0.3"});
  return words;
}

/// A record as it was without --clip-radius, the value being that of the old rule.
void take_clip_away(json& record) {
  auto& words = record["command"];
  const auto option = std::find(words.begin(), words.end(), "--clip-radius");
  words.erase(option, option + 2);
  for (json& setting : record["settings"])
    if (setting["name"] == "clip_radius") setting["origin"] = "rule";
}

/// What a seeded run leaves behind, without what names the compiler and its libraries.
json digests_of(const Line& line) {
  World world = run_world(*line.table->files(line.unit), sotto_program(command_of(line)));
  EXPECT_EQ(world.exit_code, 0) << name_of(line) << ": " << world.artifacts["stderr"];
  json record = json::parse(world.artifacts.at("record"));
  record.erase("versions");
  // The digests are older than the intercept that linear models have unless told otherwise.
  auto& words = record["command"];
  words.erase(std::remove(words.begin(), words.end(), "--no-bias"), words.end());
  if (has_old_clip(line)) take_clip_away(record);
  // They are older than the warning of an epsilon that promises little.
  json& warnings = record["warnings"];
  warnings.erase(std::remove_if(warnings.begin(),
                                warnings.end(),
                                [](const json& warning) {
                                  return warning.get<std::string>().find("promises little") !=
                                         std::string::npos;
                                }),
                 warnings.end());
  world.artifacts["record"] = record.dump();
  json digests = json::object();
  for (const char* artifact : {"model", "record", "journal"})
    if (const auto found = world.artifacts.find(artifact); found != world.artifacts.end())
      digests[artifact] = sha256(found->second).substr(0, 16);
  return digests;
}

std::vector<const MethodLine*> all_methods() {
  std::vector<const MethodLine*> all;
  for (const auto* lines : {&method_lines(), &reference_lines()})
    for (const MethodLine& line : *lines) all.push_back(&line);
  return all;
}

class SeededRuns : public ::testing::TestWithParam<const MethodLine*> {};

TEST_P(SeededRuns, LeaveTheSameBytesAsBefore) {
#ifndef __GNUC__
#error "which compiler?"
#elif defined(__clang__)
  GTEST_SKIP() << "the digests are GCC's: another compiler contracts other sums";
#endif
  if (!runs_x86_64_v3()) GTEST_SKIP() << "the digests are those of kernels with FMA";
  const json golden = json::parse(std::ifstream(kFile));
  for (const Line& line : lines_of(*GetParam())) {
    ASSERT_TRUE(golden.contains(name_of(line))) << name_of(line) << ": write the digests again";
    EXPECT_EQ(digests_of(line), golden.at(name_of(line))) << name_of(line);
  }
}

INSTANTIATE_TEST_SUITE_P(ByMethod,
                         SeededRuns,
                         ::testing::ValuesIn(all_methods()),
                         [](const auto& test) { return test_name(test.param->name); });

TEST(Seeded, EveryDigestBelongsToARun) {
  std::size_t runs = 0;
  for (const MethodLine* method : all_methods()) runs += lines_of(*method).size();
  EXPECT_EQ(json::parse(std::ifstream(kFile)).size(), runs);
}

TEST(Seeded, DISABLED_WriteAgain) {
  json golden = json::object();
  for (const MethodLine* method : all_methods())
    for (const Line& line : lines_of(*method)) golden[name_of(line)] = digests_of(line);
  std::ofstream(kFile) << golden.dump(1) << '\n';
}

}  // namespace
}  // namespace sotto::testing
