// Records that say something else than their command, their model or their journal; and those of
// other runs.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/cli/forgery.hpp"

namespace sotto::testing {
namespace {

using nlohmann::json;

// The statement of a cheaper run, put into the model of an expensive one.
TEST(AnotherRuns, StatementIsFoundEvenWithoutItsPlace) {
  const TempDir expensive_dir, cheap_dir;
  const Files expensive = trained(expensive_dir, "--method dp-gd --steps 5 --epsilon 8");
  const Files cheap = trained(cheap_dir, "--method dp-gd --steps 5 --epsilon 0.1");
  Files forged{cheap.record, expensive.model, expensive.journal};
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
  const Files files = trained(dir, {"--method dp-sgd --epsilon 2 --steps 30 --seed 1"});
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

/// An option's or a setting's value, in the list of this name.
json& listed_in(json& record, const char* list, const std::string& name) {
  for (json& each : record[list])
    if (each["name"] == name) return each["value"];
  ADD_FAILURE() << list << " has no " << name;
  return record[list].emplace_back(json{{"name", name}})["value"];
}

/// The forger edits the model as well.
struct Lie {
  const char* what;
  std::function<void(json& record, json& model)> tell;
};

void expect_found(const Files& files, const std::vector<Lie>& lies) {
  ASSERT_FALSE(found(files));
  for (const auto& [what, tell] : lies) {
    Files forged = files;
    tell(forged.record, forged.model);
    EXPECT_TRUE(found(forged)) << what;
    EXPECT_TRUE(found_alone(forged.record)) << what << ", by the record alone";
  }
}

TEST(Options, ThatCantBeReadOrAreNoDefaultsAreFound) {
  const TempDir dir;
  const Files files = trained(dir, {"--method dp-gd --epsilon 2 --class-weight positive=8"});
  const auto loss = [](const char* option, const char* stated) {
    return [=](json& record, json& model) {
      listed_in(record, "options", "loss") = option;
      record["loss"] = model["loss"] = stated;
    };
  };
  const auto regularizer = [](const char* option) {
    return [=](json& record, json& model) {
      listed_in(record, "options", "regularizer") = option;
      record["regularizer"] = model["regularizer"] = "l2:0.5";
    };
  };
  expect_found(files,
               {{"no loss", loss("mystery", "logistic")},
                {"no loss, and another", loss("mystery", "sigmoid")},
                {"a loss that is no default", loss("sigmoid", "sigmoid weighted 1,8")},
                {"no regularizer", regularizer("mystery")},
                {"a regularizer that is no default", regularizer("l2:0.5")},
                {"class weights that can't be read",
                 [](json& record, json&) {
                   listed_in(record, "options", "class_weight") = "positive";
                   for (json& word : record["command"])
                     if (word == "positive=8") word = "positive";
                 }},
                {"an option twice", [](json& record, json&) {
                   record["options"].push_back(
                       {{"name", "loss"}, {"origin", "default"}, {"value", "logistic"}});
                 }}});
}

TEST(Options, OfNetworksAreFound) {
  const TempDir dir;
  const Files files = trained(dir, {"--method dp-gd --model softmax --epsilon 2 --steps 5"});
  expect_found(
      files,
      {{"a regularizer",
        [](json& record, json& model) { record["regularizer"] = model["regularizer"] = "l2:0.5"; }},
       {"no constraint",
        [](json& record, json&) {
          auto& options = record["options"];
          options.erase(std::find_if(options.begin(), options.end(), [](const json& each) {
            return each["name"] == "constraint";
          }));
        }},
       {"a constraint",
        [](json& record, json&) {
          listed_in(record, "options", "constraint") = record["constraint"] = "l2:1";
        }},
       {"a loss", [](json& record, json&) { listed_in(record, "options", "loss") = "sigmoid"; }}});
}

TEST(Starts, FrozenLayersNeedOneThatWasDeclaredPublic) {
  const TempDir dir;
  trained(dir, {"--method dp-gd --model mlp:2 --epsilon 2 --steps 2"});
  dir.write("public.json", TempDir::read(dir.file("model.json")));
  dir.write("net.toml",
            "input = [2]\nloss = \"logistic\"\nlayers = [\"linear 2 frozen\", \"relu\", "
            "\"linear 1\"]\n");
  const Files files = trained(dir,
                              {"--again --method dp-gd --model DIR/net.toml --epsilon 2 --steps 2 "
                               "--pretrained",
                               dir.file("public.json")});
  expect_found(files,
               {{"none is named", [](json& record, json& model) {
                   record["command"] = without(record["command"], "--pretrained");
                   auto& options = record["options"];
                   options.erase(std::find_if(options.begin(), options.end(), [](const json& each) {
                     return each["name"] == "pretrained";
                   }));
                   record["privacy"].erase("start_declared_public");
                   model["privacy"] = record["privacy"];
                 }}});
}

TEST(Settings, ThatNobodyGaveAreThoseOfDefaultsAndRules) {
  const auto setting = [](const char* name, const char* forged) {
    return [=](json& record, json&) { listed_in(record, "settings", name) = forged; };
  };
  const std::vector<Lie> lies = {
      {"a default", setting("momentum", "0")},
      {"a rule", setting("clip_radius", "0.1")},
      {"a rule's step", setting("step_size", "1e-3")},
      {"a default that is said to be a rule's",
       [](json& record, json&) {
         listed_in(record, "settings", "momentum") = "0";
         for (json& each : record["settings"])
           if (each["name"] == "momentum") each["origin"] = "rule";
       }},
      {"one that the method does not have",
       [](json& record, json&) {
         record["settings"].push_back({{"name", "extra"}, {"origin", "rule"}, {"value", "7"}});
       }},
      {"fewer gradients", [](json& record, json&) { record["gradient_evaluations"] = 1; }}};
  const TempDir dir;
  expect_found(trained(dir, {"--method dp-gd --epsilon 2"}), lies);
  // The record does not have the bound on rows that a schema sets; the model does.
  const TempDir persons;
  const Files files = trained(persons, {"--method dp-gd --schema DIR/persons.toml --epsilon 2"});
  ASSERT_FALSE(found(files));
  for (const auto& [what, tell] : lies) {
    Files forged = files;
    tell(forged.record, forged.model);
    EXPECT_TRUE(found(forged)) << what;
  }
}

TEST(Settings, OfOtherVersionsAreNotAccused) {
  const TempDir dir;
  json record = trained(dir, {"--method dp-gd --epsilon 2"}).record;
  record["version"] = record["versions"]["sotto"] = "0.2.9";
  listed_in(record, "settings", "momentum") = "0.8";
  const auto result = verify_record(record);
  ASSERT_TRUE(result);
  bool flagged = false;
  for (const RecordCheck& check : result->checks) {
    EXPECT_NE(check.outcome, RecordCheck::Outcome::kContradiction) << check.detail;
    flagged |= check.name == "settings" && check.outcome == RecordCheck::Outcome::kFlag;
  }
  EXPECT_TRUE(flagged);
}

TEST(Settings, ShowRefusesWhatVerifyContradicts) {
  const TempDir dir;
  Files files = trained(dir, {"--method dp-gd --epsilon 2"});
  const Words show = {"show", dir.file("model.json"), "--record", dir.file("run.json")};
  ASSERT_EQ(sotto(show).code, 0);
  listed_in(files.record, "settings", "momentum") = "0";
  dir.write("run.json", files.record.dump());
  const CommandResult refused = sotto(show);
  EXPECT_EQ(refused.code, 3) << refused.err;
  EXPECT_NE(refused.err.find("momentum"), std::string::npos) << refused.err;
}

TEST(Models, AreThoseOfTheRecord) {
  const TempDir dir;
  const Files files = trained(dir, {"--method dp-sgd --epsilon 2 --steps 9"});
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

// In every copy that a forger can reach.
TEST(Units, AndDiagnosticsAreInTheJournal) {
  const TempDir dir;
  const Files files = trained(dir, {"--method dp-sgd --epsilon 2 --steps 30"});
  Files person = files;
  person.record["privacy"]["unit"] = person.model["privacy"]["unit"] = "person";
  EXPECT_TRUE(found(person));
  const TempDir other;
  Files shown = trained(other, {"--method dp-sgd --epsilon 2 --steps 30 --unsafe-diagnostics"});
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
  Files files = trained(dir, {"--method dp-sgd --epsilon 2 --steps 30"});
  ASSERT_FALSE(found(files));
  // A second run, and then the first one's journal again as it was before.
  const std::string path = dir.file("model.json.journal");
  const std::string before = TempDir::read(path);
  Files second = trained(dir, {"--again --method dp-sgd --epsilon 1 --steps 30"});
  ASSERT_FALSE(found(second));
  dir.write("old.journal", before);
  second.journal = read_whole_journal(dir.file("old.journal")).value();
  EXPECT_TRUE(found(second)) << "the second run is not in it";
}

}  // namespace
}  // namespace sotto::testing
