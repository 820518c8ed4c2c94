// Every leaf of a record and of a model is changed, one at a time and in every way that its type
// allows, or taken away, and then several together: `verify` with the journal and the model
// finds all of them, and by itself those that contradict the rest of the record.

#include "tests/cli/forgery.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

namespace sotto::testing {
namespace {

using nlohmann::json;

struct Aside {
  const char* begin;
  const char* end;
  const char* why;
};

/// What may be changed unseen, and why no price falls and nobody is misled about privacy.
constexpr Aside kAside[] = {
    {"/trace/", "/step_size", "chosen by the method from public settings; told once"},
    {"/trace/", "/gradient_norm", "a released value; told once"},
    {"/trace/", "/passes", "grows, and is the same where `spending` has the step; effort only"},
    {"/spending/", "/noise_samples", "grows to the stated total; moves no price but by 2^-60"},
    {"/versions/", "/eigen", "of the build; told once"},
    {"/versions/", "/compiler", "of the build; told once"},
    {"/versions/", "/boost", "of the build; told once"},
    {"/gradient_evaluations", "", "effort; exact only where every visit computes as many"},
    {"/options/", "/group", "a heading of the report"}};

/// Options and settings that say how rows are stored or where a network starts, in words.
bool is_aside_by_name(const json& record, const std::string& path) {
  static const std::set<std::string> kNames = {"layout", "initial_seed", "second_order_condition"};
  if (!path.starts_with("/options/") && !path.starts_with("/settings/")) return false;
  const json& each = record[json::json_pointer(path).parent_pointer()];
  return kNames.contains(each["name"]) && !path.ends_with("/origin");
}

/// Words of the command that name files, which no other place repeats, and how loud it was.
bool is_aside_word(const json& record, const std::string& path) {
  if (!path.starts_with("/command/")) return false;
  const std::string word = record[json::json_pointer(path)];
  return word == "--quiet" || word.ends_with("/rows.svm") || word.ends_with("/persons.csv") ||
         word.ends_with("/model.json") || word.ends_with("/run.json");
}

bool is_aside(const json& record, const std::string& path) {
  for (const Aside& each : kAside)
    if (path.starts_with(each.begin) && path.ends_with(each.end)) return true;
  return is_aside_by_name(record, path) || is_aside_word(record, path);
}

/// Of long lists a few items stand for all: the first two, one in the middle, the last two.
bool is_sampled(const json& root, const std::string& path) {
  json::json_pointer at(path);
  for (; !at.empty(); at = at.parent_pointer()) {
    const json& list = root[at.parent_pointer()];
    if (!list.is_array() || list.size() < 6) continue;
    const std::size_t k = std::stoul(at.back()), n = list.size();
    if (k > 1 && k != n / 2 && k < n - 2) return false;
  }
  return true;
}

/// All that may be written in a leaf's place.
std::vector<json> forged(const json& value) {
  if (value.is_boolean()) return {!value.get<bool>(), nullptr};
  if (value.is_string()) return {value.get<std::string>() + "x", "", 7, nullptr};
  if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    return {number + 1, number / 2, 2 * number + 1, 0, -2, -number - 1, "x", 1e300};
  }
  if (value.is_number()) {
    const double number = value.get<double>();
    return {number / 2, number * 10, 0.0, -number - 1, 0.999 * number, "x", 1e300};
  }
  return {1};
}

class Forgeries : public ::testing::TestWithParam<Words> {};
INSTANTIATE_TEST_SUITE_P(
    Runs,
    Forgeries,
    ::testing::Values(
        Words{"--method dp-gd --epsilon 1 --steps 12"},
        Words{"--method dp-sgd --epsilon 2 --steps 30"},
        Words{"--method dp-srm --noise-multiplier 3 --steps 20"},
        Words{"--method dp-tr --epsilon 3"},
        Words{"--method dp-agd --epsilon 3"},
        Words{
            "--method dp-fw-l1 --constraint polytope:DIR/p.txt --row-max 1 --no-bias --epsilon 1"},
        Words{"--method dp-sgd --model mlp:3 --epsilon 2 --steps 10"},
        Words{"--method dp-sgd --schema DIR/persons.toml --epsilon 2 --steps 10"},
        Words{"--method dp-sgd --most-rows 1 --schema DIR/persons.toml --epsilon 2 --steps 10"},
        Words{"--method dp-srm --model mlp:2 --most-rows 2 --schema DIR/persons.toml --epsilon 2 "
              "--steps 10"}),
    [](const auto& run) {
      std::string name = run.param[1] + (run.param[2].starts_with("--e") ? "" : run.param[2]);
      std::erase(name, '-');
      return name;
    });

TEST_P(Forgeries, AnHonestRecordHolds) {
  const TempDir dir;
  const Files files = trained(dir, GetParam());
  EXPECT_FALSE(found(files));
}

TEST_P(Forgeries, EveryChangedFieldIsFound) {
  const TempDir dir;
  const Files files = trained(dir, GetParam());
  ASSERT_FALSE(found(files));
  int tried = 0;
  const json leaves = files.record.flatten();
  for (const auto& [path, value] : leaves.items()) {
    if (is_aside(files.record, path) || !is_sampled(files.record, path)) continue;
    for (const json& other : forged(value)) {
      if (other == value) continue;
      Files edited = files;
      edited.record[json::json_pointer(path)] = other;
      ++tried;
      EXPECT_TRUE(found(edited)) << path << " = " << value << " -> " << other;
    }
  }
  EXPECT_GE(tried, 100);
}

/// What only the model file says.
bool is_of_model_alone(const std::string& path) {
  return path.starts_with("/weights") || path.starts_with("/feature_names");
}

TEST_P(Forgeries, EveryChangedFieldOfTheModelIsFound) {
  const TempDir dir;
  const Files files = trained(dir, GetParam());
  int tried = 0;
  const json leaves = files.model.flatten();
  for (const auto& [path, value] : leaves.items()) {
    if (is_of_model_alone(path)) continue;
    for (const json& other : forged(value)) {
      if (other == value) continue;
      Files edited = files;
      edited.model[json::json_pointer(path)] = other;
      ++tried;
      EXPECT_TRUE(found(edited)) << path << " = " << value << " -> " << other;
    }
  }
  EXPECT_GE(tried, 50);
}

// A forger who changes all copies of what he knows of.
TEST_P(Forgeries, ConsistentOnesAreFoundWithTheJournal) {
  const TempDir dir;
  const Files files = trained(dir, GetParam());
  const bool filter = files.record["privacy"]["rule"] == "filter";
  std::vector<std::pair<std::string, std::function<void(json&)>>> edits = {
      {"a smaller epsilon in every copy",
       [](json& r) {
         r["epsilon_spent"] = r["epsilon_planned"] = r["privacy"]["epsilon"] =
             0.5 * r["epsilon_spent"].get<double>();
       }},
      {"and a smaller budget",
       [](json& r) {
         const double less = 0.9 * r["epsilon_spent"].get<double>();
         r["epsilon_spent"] = r["epsilon_planned"] = r["privacy"]["epsilon"] = less;
         r["epsilon_budget"] = less;
       }},
      {"a larger delta in every copy", [](json& r) { r["delta"] = r["privacy"]["delta"] = 1e-3; }},
      {"another relation in every copy",
       [](json& r) { r["neighbours"] = r["privacy"]["neighbours"] = "add-remove"; }},
      {"no seed in any copy, or one",
       [](json& r) {
         const bool seeded = r["insecure_seed"];
         r["insecure_seed"] = r["privacy"]["insecure_seed"] = !seeded;
       }},
      {"more units", [](json& r) { r["privacy"]["public_n"] = 100'000; }},
      {"another run's place", [](json& r) { r["privacy"]["journal"]["line"] = 1; }},
      {"no place at all and half the price", [](json& r) {
         r["privacy"].erase("journal");
         r["epsilon_spent"] = r["epsilon_planned"] = r["privacy"]["epsilon"] =
             0.5 * r["epsilon_spent"].get<double>();
       }}};
  if (!filter)
    edits.push_back({"fewer events, the same steps", [](json& r) {
                       const std::string text = "poisson(0.05, gaussian(50))";
                       r["plan"] = r["privacy"]["events"] = text;
                       r["drawn"] = json::array({{{"sampling", "poisson(0.05)"}, {"count", 1}}});
                     }});
  for (const auto& [what, edit] : edits) {
    Files edited = files;
    edit(edited.record);
    edited.model["privacy"] = edited.record["privacy"];
    EXPECT_TRUE(found(edited)) << what;
  }
}

/// The paths of all objects in it.
void objects_in(const json& value, const std::string& path, std::vector<std::string>& found) {
  if (value.is_object()) found.push_back(path);
  if (value.is_structured())
    for (const auto& [name, each] : value.items()) objects_in(each, path + "/" + name, found);
}

// No check is turned off by taking away what it reads.
TEST_P(Forgeries, EveryMissingFieldIsFound) {
  const TempDir dir;
  const Files files = trained(dir, GetParam());
  // What some runs have, and what a reader can do without.
  const std::set<std::string> optional = {"/epsilon_lower", "/trace", "/versions", "/spending"};
  std::vector<std::string> parents;
  objects_in(files.record, "", parents);
  for (const std::string& parent : parents)
    for (const auto& [name, unused] : files.record[json::json_pointer(parent)].items()) {
      const std::string path = parent + "/" + name;
      if (optional.contains(path) || !is_sampled(files.record, path)) continue;
      if (is_aside(files.record, path) && !path.ends_with("noise_samples")) continue;
      Files edited = files;
      edited.record[json::json_pointer(parent)].erase(name);
      edited.model["privacy"] = edited.record.value("privacy", json());
      EXPECT_TRUE(found(edited)) << path;
    }
}

}  // namespace
}  // namespace sotto::testing
