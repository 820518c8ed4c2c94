// Every field of a record that its price rests on is changed, one at a time and in every way that
// its type allows, and then several together: `verify` with the journal and the model at hand finds
// all of them, and by itself those that contradict the rest of the record.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "sotto/audit/verify_copies.hpp"
#include "tests/support/command.hpp"

namespace sotto::testing {
namespace {

using nlohmann::json;

struct Files {
  json record;
  json model;
  JournalContent journal;
};

Files trained(const TempDir& dir, const std::vector<std::string>& method) {
  std::vector<std::string> words = {"train", "--quiet", "--delta", "1e-5", "--dim", "2"};
  words.insert(words.end(), method.begin(), method.end());
  for (const std::string& word : {std::string("--row-norm"),
                                  std::string("1.5"),
                                  std::string("--record"),
                                  dir.file("run.json"),
                                  dir.write("rows.svm", small_libsvm(200)),
                                  dir.file("model.json")})
    words.push_back(word);
  const CommandResult result = sotto(words);
  EXPECT_EQ(result.code, 0) << result.err;
  return {json::parse(TempDir::read(dir.file("run.json"))),
          json::parse(TempDir::read(dir.file("model.json"))),
          read_whole_journal(dir.file("model.json.journal")).value()};
}

bool contradicts(const std::vector<RecordCheck>& checks) {
  for (const RecordCheck& check : checks)
    if (check.outcome == RecordCheck::Outcome::kContradiction) return true;
  return false;
}

/// By the record alone.
bool found_alone(const json& record) {
  const auto result = verify_record(record);
  return !result || result->contradicts();
}

bool found(const Files& files) {
  if (found_alone(files.record)) return true;
  const auto by_journal = check_journal(files.record, files.journal);
  return !by_journal || contradicts(*by_journal) ||
         contradicts(check_model(files.record, files.model));
}

/// Numbers, texts and flags that say nothing about what was promised or spent.
bool is_aside(const std::string& path) {
  static const std::set<std::string> kAside = {"/version",
                                               "/passes",
                                               "/gradient_evaluations",
                                               "/stopped",
                                               "/loss",
                                               "/regularizer",
                                               "/epsilon_lower"};
  if (kAside.contains(path)) return true;
  for (const char* part : {"/versions", "/command", "/options", "/warnings", "/trace"})
    if (path.starts_with(part)) return true;
  for (const char* end : {"/passes", "/epsilon_if_planned_to_end_here", "/origin", "/step_size"})
    if (path.ends_with(end)) return true;
  // Points on the way, and settings that no release depends on.
  return path.starts_with("/spending") || path.starts_with("/settings") ||
         path.starts_with("/certificate");
}

/// All that may be written in a leaf's place.
std::vector<json> forged(const json& value) {
  if (value.is_boolean()) return {!value.get<bool>(), nullptr};
  if (value.is_string()) return {value.get<std::string>() + "x", "", 7, nullptr};
  if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    return {number + 1, number / 2, 2 * number + 1, -2, -number - 1, "x", 1e300};
  }
  if (value.is_number()) {
    const double number = value.get<double>();
    return {number / 2, number * 10, -number - 1, 0.999 * number, "x", 1e300};
  }
  return {1};
}

class Forgeries : public ::testing::TestWithParam<std::vector<std::string>> {};
INSTANTIATE_TEST_SUITE_P(
    Runs,
    Forgeries,
    ::testing::Values(
        std::vector<std::string>{"--method", "dp-sgd", "--epsilon", "2", "--steps", "30"},
        std::vector<std::string>{"--method", "dp-srm", "--noise-multiplier", "3", "--steps", "20"},
        std::vector<std::string>{"--method", "dp-tr", "--epsilon", "3"},
        std::vector<std::string>{"--method", "dp-agd", "--epsilon", "3"}));

// Whoever is honest is not accused: every private method, with what changes its plan.
TEST(HonestRecords, HoldForEveryMethod) {
  const CommandResult listed = sotto({"methods", "--json"});
  ASSERT_EQ(listed.code, 0) << listed.err;
  int tried = 0;
  for (const auto& method : json::parse(listed.out)) {
    if (!method.at("private").get<bool>()) continue;
    const std::string name = method.at("name");
    for (const bool by_hand : {false, true}) {
      const TempDir dir;
      std::vector<std::string> words = {"--method", name};
      words.insert(words.end(), {by_hand ? "--noise-multiplier" : "--epsilon", "4"});
      if (name == "dp-pgd" || name == "dp-pmd" || name.starts_with("dp-fw"))
        words.insert(words.end(), {"--constraint", "l1:2", "--row-max", "1"});
      std::vector<std::string> all = {"train", "--quiet", "--delta", "1e-5", "--dim", "2"};
      all.insert(all.end(), words.begin(), words.end());
      for (const std::string& word : {std::string("--row-norm"),
                                      std::string("1.5"),
                                      std::string("--record"),
                                      dir.file("run.json"),
                                      dir.write("rows.svm", small_libsvm(100)),
                                      dir.file("model.json")})
        all.push_back(word);
      const CommandResult trained_run = sotto(all);
      if (by_hand && trained_run.code == 2) continue;  // a filter needs a budget
      ASSERT_EQ(trained_run.code, 0) << name << trained_run.err;
      const CommandResult verified = sotto({"verify",
                                            dir.file("run.json"),
                                            "--journal",
                                            dir.file("model.json.journal"),
                                            "--model",
                                            dir.file("model.json")});
      EXPECT_EQ(verified.code, 0) << name << "\n" << verified.out;
      ++tried;
    }
  }
  EXPECT_GT(tried, 25);
}

// Its plan follows from the settings of the method that it chose, not from its own.
TEST(HonestRecords, OfAutoHoldAtEveryBudget) {
  std::set<std::string> plans;
  for (const char* epsilon : {"0.3", "1", "3", "10"}) {
    const TempDir dir;
    const CommandResult trained_run = sotto({"train",
                                             "--quiet",
                                             "--method",
                                             "auto",
                                             "--epsilon",
                                             epsilon,
                                             "--delta",
                                             "1e-5",
                                             "--dim",
                                             "2",
                                             "--row-norm",
                                             "1.5",
                                             "--record",
                                             dir.file("run.json"),
                                             dir.write("rows.svm", small_libsvm(100)),
                                             dir.file("model.json")});
    ASSERT_EQ(trained_run.code, 0) << trained_run.err;
    const CommandResult verified = sotto({"verify", dir.file("run.json")});
    EXPECT_EQ(verified.code, 0) << epsilon << "\n" << verified.out;
    plans.insert(json::parse(TempDir::read(dir.file("run.json"))).at("steps").dump());
  }
  EXPECT_GT(plans.size(), 1u);
}

TEST_P(Forgeries, AnHonestRecordHolds) {
  const TempDir dir;
  const Files files = trained(dir, GetParam());
  EXPECT_FALSE(found(files));
}

TEST_P(Forgeries, EveryChangedFieldIsFound) {
  const TempDir dir;
  const Files files = trained(dir, GetParam());
  int tried = 0;
  const json leaves = files.record.flatten();
  for (const auto& [path, value] : leaves.items()) {
    if (is_aside(path)) continue;
    for (const json& other : forged(value)) {
      if (other == value) continue;
      // Fewer batches than were paid for lower no price.
      if (path.starts_with("/drawn") && other.is_number() && other >= 0 && other < value) continue;
      // Of a filter it is 1, whatever the noise.
      if (path == "/noise_multiplier" && files.record["privacy"]["rule"] == "filter") continue;
      Files edited = files;
      edited.record[json::json_pointer(path)] = other;
      ++tried;
      EXPECT_TRUE(found(edited)) << path << " = " << value << " -> " << other;
    }
  }
  EXPECT_GE(tried, 100);
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

// No check is turned off by taking away what it reads.
TEST_P(Forgeries, EveryMissingFieldIsFound) {
  const TempDir dir;
  const Files files = trained(dir, GetParam());
  // What some runs have, and what a reader can do without; the journal and the model are not asked.
  const std::set<std::string> optional = {
      "/class_names", "/epsilon_lower", "/trace", "/versions", "/certificate", "/spending"};
  for (const std::string parent : {"", "/privacy", "/privacy/journal"})
    for (const auto& [name, unused] : files.record[json::json_pointer(parent)].items()) {
      const std::string path = parent + "/" + name;
      if (optional.contains(path)) continue;
      Files edited = files;
      edited.record[json::json_pointer(parent)].erase(name);
      edited.model["privacy"] = edited.record.value("privacy", json());
      EXPECT_TRUE(found(edited)) << path;
    }
}

// The statement of a cheaper run, put into the model of a dear one.
TEST(AnotherRuns, StatementIsFoundEvenWithoutItsPlace) {
  const TempDir dear_dir, cheap_dir;
  const std::vector<std::string> method = {"--method", "dp-gd", "--steps", "5", "--epsilon"};
  auto dear_words = method, cheap_words = method;
  dear_words.emplace_back("8");
  cheap_words.emplace_back("0.1");
  const Files dear = trained(dear_dir, dear_words);
  const Files cheap = trained(cheap_dir, cheap_words);
  Files forged{cheap.record, dear.model, dear.journal};
  for (const char* erased : {"none", "journal", "rule"}) {
    forged.record["privacy"].erase(erased);  // the last: as if version 0.1 had written it
    forged.model["privacy"] = forged.record["privacy"];
    EXPECT_TRUE(found(forged)) << erased;
  }
}

TEST(Version01, RecordsAreFoundInTheirJournalsOnly) {
  const auto file = [](const std::string& name) {
    return std::string(SOTTO_SOURCE_DIR) + "/tests/privacy/golden/v0_1/" + name;
  };
  const json record = json::parse(TempDir::read(file("filter.json")));
  const auto own = check_journal(record, read_whole_journal(file("filter.journal")).value());
  ASSERT_TRUE(own) << own.error().message;
  ASSERT_EQ(own->size(), 1U);
  EXPECT_EQ(own->front().outcome, RecordCheck::Outcome::kFlag) << own->front().detail;
  const auto other = check_journal(record, read_whole_journal(file("two.journal")).value());
  ASSERT_TRUE(other);
  EXPECT_TRUE(contradicts(*other));
}

/// The words of a command without an option.
json without(json command, const std::string& option) {
  const auto at = std::find(command.begin(), command.end(), option);
  if (at != command.end()) command.erase(at, at + 2);
  return command;
}

TEST(Commands, AreThoseOfTheClaim) {
  const TempDir dir;
  const Files files =
      trained(dir, {"--method", "dp-sgd", "--epsilon", "2", "--steps", "30", "--seed", "1"});
  ASSERT_FALSE(found(files));
  using Edit = std::pair<const char*, std::function<void(json&)>>;
  const auto option = [](json& record, const std::string& name) -> json& {
    for (json& each : record["options"])
      if (each["name"] == name) return each["value"];
    return record["options"].emplace_back(json{{"name", name}, {"origin", "given"}})["value"];
  };
  const std::vector<Edit> edits = {
      {"no seed",
       [](json& r) {
         r["insecure_seed"] = r["privacy"]["insecure_seed"] = false;
         r["private"] = r["privacy"]["private"] = true;
         r.erase("private_if_seed_secret");
         r["privacy"].erase("private_if_seed_secret");
       }},
      {"a seed less", [](json& r) { r["command"] = without(r["command"], "--seed"); }},
      {"diagnostics", [](json& r) { r["command"].push_back("--unsafe-diagnostics"); }},
      {"test rows", [](json& r) { r["command"].push_back("--test=rows"); }},
      {"an epsilon", [&](json& r) { option(r, "epsilon") = "0.01"; }},
      {"a delta", [&](json& r) { option(r, "delta") = "1e-12"; }},
      {"a noise multiplier", [&](json& r) { option(r, "noise_multiplier") = "100"; }},
      {"a relation", [&](json& r) { option(r, "neighbours") = "add-remove"; }},
      {"an accountant", [&](json& r) { option(r, "accountant") = "zcdp"; }},
      {"a method",
       [](json& r) {
         r["command"] = without(r["command"], "--method");
         r["command"].push_back("--method=dp-gd");
       }},
      {"no delta", [](json& r) { r["command"] = without(r["command"], "--delta"); }},
      {"no options", [](json& r) { r.erase("options"); }},
      {"no command", [](json& r) { r.erase("command"); }},
      {"another verb", [](json& r) { r["command"][0] = "account"; }},
      {"a bound on the rows", [&](json& r) { option(r, "row_norm") = "7"; }},
      {"a loss", [&](json& r) { option(r, "loss") = "squared"; }},
      {"more steps",
       [](json& r) {
         r["command"] = without(r["command"], "--steps");
         r["command"].push_back("--steps=80");
       }},
      {"a clip radius", [](json& r) { r["command"].push_back("--clip=7"); }},
      {"an option that the record does not list",
       [](json& r) { r["command"].push_back("--no-such-option=1"); }},
      {"settings that were not typed",
       [](json& r) {
         for (json& each : r["settings"])
           if (each["name"] == "clip_radius") each["origin"] = "given";
       }},
      {"settings that no method takes, beside others",
       [](json& r) {
         for (json& each : r["settings"]) {
           if (each["name"] == "momentum") each["value"] = "forged";
           if (each["name"] == "expected_batch") each["value"] = "2";
         }
       }},
      {"the end of the curve",
       [](json& r) { r["spending"].back()["epsilon_if_planned_to_end_here"] = 0.001; }},
      {"half of the batches",
       [](json& r) {
         for (json& each : r["drawn"]) each["count"] = each["count"].get<int>() / 2;
       }},
      {"a second epsilon", [](json& r) { r["command"].push_back("--epsilon=9"); }},
      {"a dry run", [](json& r) { r["command"].push_back("--dry-run"); }},
      {"another number of features",
       [&](json& r) {
         r["command"] = without(r["command"], "--dim");
         r["command"].push_back("--dim=3");
         option(r, "dim") = "3";
       }},
      {"no clip radius",
       [](json& r) {
         for (auto at = r["settings"].begin(); at != r["settings"].end(); ++at)
           if ((*at)["name"] == "clip_radius") {
             r["settings"].erase(at);
             break;
           }
       }},
      {"two step sizes", [](json& r) { r["settings"].push_back(r["settings"][1]); }},
      {"fewer passes", [](json& r) { r["passes"] = 0.5 * r["passes"].get<double>(); }}};
  for (const auto& [what, edit] : edits) {
    json record = files.record;
    edit(record);
    const auto result = verify_record(record);
    ASSERT_TRUE(result) << what;
    EXPECT_TRUE(result->contradicts()) << what;
  }
}

TEST(Models, AreThoseOfTheRecord) {
  const TempDir dir;
  const Files files = trained(dir, {"--method", "dp-sgd", "--epsilon", "2", "--steps", "9"});
  ASSERT_FALSE(found(files));
  for (const char* name : {"loss", "regularizer", "made_by", "row_norm"}) {
    json model = files.model;
    if (name == std::string("row_norm"))
      model[name] = 7.0;
    else
      model[name] = name == std::string("loss") ? "squared" : "l2:5";
    EXPECT_TRUE(contradicts(check_model(files.record, model))) << name;
  }
}

// Options that no record lists are no contradiction.
TEST(HonestRecords, HoldWhateverSaysHowToRun) {
  const TempDir dir;
  dir.write("test.svm", small_libsvm(20));
  dir.write("key", std::string(32, 'k'));
  const Files files = trained(dir,
                              {"--method",
                               "dp-sgd",
                               "--epsilon",
                               "2",
                               "--steps",
                               "10",
                               "--batch",
                               "20",
                               "--max-grad-norm",
                               "0.5",
                               "--threads",
                               "1",
                               "--test",
                               dir.file("test.svm"),
                               "--report",
                               dir.file("r.html"),
                               "--checkpoint",
                               dir.file("c"),
                               "--every",
                               "2",
                               "--resume",
                               "--max-line",
                               "1MB",
                               "--max-field",
                               "1MB",
                               "--max-file",
                               "1GB",
                               "--max-unpacked",
                               "1GB"});
  const auto result = verify_record(files.record);
  ASSERT_TRUE(result);
  for (const RecordCheck& check : result->checks)
    EXPECT_NE(check.outcome, RecordCheck::Outcome::kContradiction) << check.name << check.detail;
}

// In every copy that a forger can reach.
TEST(Units, AndDiagnosticsAreInTheJournal) {
  const TempDir dir;
  const Files files = trained(dir, {"--method", "dp-sgd", "--epsilon", "2", "--steps", "30"});
  Files person = files;
  person.record["privacy"]["unit"] = person.model["privacy"]["unit"] = "person";
  EXPECT_TRUE(found(person));
  const TempDir other;
  Files shown = trained(
      other, {"--method", "dp-sgd", "--epsilon", "2", "--steps", "30", "--unsafe-diagnostics"});
  ASSERT_FALSE(found(shown));
  json& record = shown.record;
  record["unsafe_diagnostics"] = record["privacy"]["unsafe_diagnostics"] = false;
  record.erase("diagnostics");
  auto& words = record["command"];
  words.erase(std::find(words.begin(), words.end(), "--unsafe-diagnostics"));
  shown.model["privacy"] = record["privacy"];
  EXPECT_FALSE(found_alone(record)) << "nothing in it tells";
  EXPECT_TRUE(found(shown));
}

TEST(CutBack, AJournalThatWasCutBackIsFound) {
  const TempDir dir;
  Files files = trained(dir, {"--method", "dp-sgd", "--epsilon", "2", "--steps", "30"});
  ASSERT_FALSE(found(files));
  // A second run, and then the first one's journal again as it was before.
  const std::string path = dir.file("model.json.journal");
  const std::string before = TempDir::read(path);
  Files second = trained(dir, {"--method", "dp-sgd", "--epsilon", "1", "--steps", "30"});
  ASSERT_FALSE(found(second));
  dir.write("old.journal", before);
  second.journal = read_whole_journal(dir.file("old.journal")).value();
  EXPECT_TRUE(found(second)) << "the second run is not in it";
}

}  // namespace
}  // namespace sotto::testing
