// audit, verify, and what neighbouring data sets may not change, from the outside.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/support/command.hpp"
#include "tests/support/zoo/dropped_charge.hpp"

namespace sotto::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(AuditCommand, SaysWhatItFound) {
  const TempDir dir;
  const auto run = sotto({"audit --method dp-gd --epsilon 4 --delta 1e-5 --runs 1000 --json --roc",
                          dir.file("roc.csv"),
                          "--report",
                          dir.file("audit.html")});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(TempDir::read(dir.file("audit.html")),
              AllOf(HasSubstr("The claim survived the attack"),
                    HasSubstr("at most, by the claim"),
                    HasSubstr("sotto audit --method dp-gd --epsilon 4")));
  const json result = json::parse(run.out);
  EXPECT_EQ(result["method"], "dp-gd");
  EXPECT_EQ(result["claimed"]["epsilon"], 4);
  EXPECT_EQ(result["claimed"]["delta"], 1e-5);
  EXPECT_EQ(result["confidence"], 0.95);
  EXPECT_EQ(result["runs"], 1000);
  EXPECT_GT(result["lower_bound"].get<double>(), 2);
  EXPECT_LT(result["lower_bound"].get<double>(), 4);
  EXPECT_EQ(result["verdict"], "consistent");
  const std::string roc = TempDir::read(dir.file("roc.csv"));
  EXPECT_THAT(roc, HasSubstr("false_alarm,detected,claimed_at_most\n0,"));
  EXPECT_EQ(std::count(roc.begin(), roc.end(), '\n'), 102);
}

TEST(AuditCommand, NamesTheRunsThatItWouldNeed) {
  const auto run = sotto({"audit --epsilon 1 --delta 1e-5 --runs 300 --view final"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("not enough power"));
  EXPECT_TRUE(std::regex_search(run.out, std::regex("--runs [0-9]{4,}"))) << run.out;
}

TEST(AuditCommand, ContinuesFromAFile) {
  const TempDir dir;
  const Words base = {"audit --method dp-sgd --epsilon 4 --delta 1e-5 --json"};
  const auto with = [&](const Words& more) { return sotto(base + more); };
  ASSERT_EQ(with({"--runs 200 --resume", dir.file("scores")}).code, 0);
  const auto continued = with({"--runs 600 --resume", dir.file("scores")});
  ASSERT_EQ(continued.code, 0) << continued.err;
  const auto at_once = with({"--runs 600"});
  json a = json::parse(continued.out);
  json b = json::parse(at_once.out);
  a.erase("seconds");
  b.erase("seconds");
  EXPECT_EQ(a, b);
  EXPECT_EQ(with({"--runs 600 --canary label-flip --resume", dir.file("scores")}).code, 3)
      << "scores of another audit";
}

TEST(AuditCommand, OneRun) {
  const TempDir dir;
  const std::string data = dir.write("train.svm", small_libsvm());
  const auto run =
      sotto({"audit --one-run --journal",
             dir.file("audit.journal"),
             "--canaries 100 --epsilon 2 --delta 1e-4 --row-norm 1 --dim 2 --json --report",
             dir.file("audit.html"),
             data});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(TempDir::read(dir.file("audit.html")), HasSubstr("no charge covers"));
  const json result = json::parse(run.out);
  EXPECT_EQ(result["canaries"], 100);
  EXPECT_LE(result["correct"], result["guesses"]);
  EXPECT_LE(result["lower_bound"].get<double>(), 2);
  EXPECT_NEAR(result["canary_share"].get<double>(), 1.0 / 3, 1e-12);
}

/// The plan in the opening line of the journal's first run.
std::string plan_in(const std::string& journal) {
  const std::string text = TempDir::read(journal);
  return json::parse(text.substr(0, text.find('\n'))).value("plan", "");
}

// An audit on the rows takes the declarations that training takes, refuses what training refuses,
// and runs the same plan.
TEST(AuditCommand, OneRunIsTheRunThatTrainMakes) {
  const TempDir dir;
  const std::string data = dir.write("train.svm", small_libsvm());
  const Words claim = "--epsilon 2 --delta 1e-4 --dim 2";
  int number = 0;
  const auto audit = [&](const Words& how) {
    const std::string journal = dir.file("audit" + std::to_string(++number));
    const auto run = sotto(Words{"audit --one-run --canaries 10 -q --journal", journal} + claim +
                           how + Words{data});
    return std::pair(run, journal);
  };
  const auto train = [&](const Words& how) {
    const std::string model = dir.file("model" + std::to_string(++number));
    const auto run = sotto("train -q" + claim + how + Words{data, model});
    return std::pair(run, model + ".journal");
  };
  for (const Words& how : std::vector<Words>{{"--row-norm 1 --clip-rule glm --steps 5"},
                                             {"--row-norm 1 --method dp-newton"}}) {
    const auto [audited, audits_journal] = audit(how);
    const auto [trained, trains_journal] = train(how);
    ASSERT_EQ(audited.code, 0) << ::testing::PrintToString(how) << audited.err;
    ASSERT_EQ(trained.code, 0) << ::testing::PrintToString(how) << trained.err;
    EXPECT_NE(plan_in(trains_journal), "");
    EXPECT_EQ(plan_in(audits_journal), plan_in(trains_journal));
  }
  for (const Words& how : std::vector<Words>{{"--steps 5"}, {"--clip-rule glm"}}) {
    const auto [audited, audits_journal] = audit(how);
    const auto [trained, trains_journal] = train(how);
    EXPECT_EQ(audited.code, 2) << ::testing::PrintToString(how);
    EXPECT_EQ(audited.err, trained.err) << ::testing::PrintToString(how);
    EXPECT_THAT(audited.err, HasSubstr("--row-norm"));
    EXPECT_FALSE(std::filesystem::exists(audits_journal));
  }
}

TEST(AuditCommand, Mistakes) {
  EXPECT_EQ(sotto({"audit --method dp-gd"}).code, 2) << "no claim";
  EXPECT_EQ(sotto({"audit --method gd --epsilon 1 --delta 1e-5"}).code, 2);
  EXPECT_EQ(sotto({"audit --epsilon 1 --delta 1e-5 --runs 5"}).code, 2);
  EXPECT_EQ(sotto({"audit --epsilon 1 --delta 1e-5 --view none"}).code, 2);
  EXPECT_EQ(sotto({"audit --epsilon 1 --delta 1e-5 --canary none"}).code, 2);
  EXPECT_EQ(sotto({"audit --epsilon 1 --delta 1e-5 data.svm"}).code, 2);
  EXPECT_EQ(sotto({"audit --one-run --epsilon 1 --delta 1e-5"}).code, 2) << "no data";
  EXPECT_EQ(sotto({"audit --epsilon 1 --delta 1e-5 --roc /no/such/folder/f"}).code, 6);
  for (const Words& other :
       std::vector<Words>{{"--seed 1"}, {"--runs 1000"}, {"--view final"}, {"--roc r.csv"}}) {
    const auto run =
        sotto(Words{"audit --one-run --journal j --epsilon 1 --delta 1e-5 d.svm"} + other);
    EXPECT_EQ(run.code, 2) << other[0];
    EXPECT_THAT(run.err, HasSubstr("belongs to audits on made-up data")) << other[0];
  }
}

// Both kinds of audit name what they would not look at.
TEST(AuditCommand, WhatOnlyATrainingTakesIsRefusedByName) {
  const Words audit = "audit --method dp-gd --epsilon 1 --delta 1e-5 --runs 100";
  for (const Words& option : std::vector<Words>{{"--canaries 10"},
                                                {"--journal j"},
                                                {"--regularizer l2:0.1"},
                                                {"--schema s.toml"},
                                                {"--format csv"},
                                                {"--dim 3"},
                                                {"--classes 0,1"},
                                                {"--layout dense"},
                                                {"--row-norm 2"},
                                                {"--bias"},
                                                {"--no-bias"},
                                                {"--no-refusals"},
                                                {"--most-rows 2"},
                                                {"--max-file 1MB"},
                                                {"--max-unpacked 1MB"},
                                                {"--max-line 1MB"},
                                                {"--max-field 1MB"}}) {
    const auto run = sotto(audit + option);
    EXPECT_EQ(run.code, 2) << option[0];
    const std::string name = option[0] == "--no-bias" ? "--bias" : option[0];
    EXPECT_THAT(run.err, HasSubstr(name + " belongs to a training on your rows"));
  }
  for (const char* loss : {"sigmoid", "squared", "huber:2", "poisson:3"}) {
    const auto run = sotto(audit + Words{"--loss", loss});
    EXPECT_EQ(run.code, 2) << loss;
    EXPECT_THAT(run.err, HasSubstr("audited with the logistic loss")) << loss;
  }
  for (const Words& twice :
       {Words{"--loss", std::string("logistic weighted 1,50"), "--class-weight positive=2"},
        Words{"--loss", std::string("logistic weighted 1,50"), "--model softmax"},
        Words{"--loss squared --model softmax --class-weight positive=2"}})
    EXPECT_EQ(sotto(audit + twice).code, 2) << ::testing::PrintToString(twice);
}

// The weights that the loss states are those of --class-weight: the scores are of one audit, and
// not of one without weights or with others.
TEST(AuditCommand, ALossHasItsWeights) {
  const TempDir dir;
  const Words audit = {"audit --method dp-gd --epsilon 2 --delta 1e-5 --runs 100 --resume",
                       dir.file("scores")};
  const auto code = [&](const Words& words) { return sotto(audit + words).code; };
  EXPECT_EQ(code({"--loss", std::string("logistic weighted 0.5,4")}), 0);
  EXPECT_EQ(code({"--class-weight positive=4,negative=0.5"}), 0);
  EXPECT_EQ(code({"--class-weight positive=4"}), 3);
  EXPECT_EQ(code({"--loss logistic"}), 3);
  EXPECT_EQ(code({"--loss multinomial"}), 3);
}

TEST(AuditCommand, ClassesOfANetworkHaveNumbers) {
  const TempDir dir;
  const std::string net = dir.write("net.toml", "input = [4]\nlayers = [\"linear 3\"]\n");
  const Words audit = {"audit --method dp-gd --epsilon 4 --delta 1e-5 --runs 100 --model", net};
  EXPECT_EQ(sotto(audit + "--class-weight 2=1000").code, 0);
  const auto refused = sotto(audit + "--class-weight 3=1000");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("0, 1, 2"));
}

TEST(AuditCommand, OneRunNamesTheNetworkOfALoss) {
  const TempDir dir;
  const Words audit = {
      "audit --one-run --canaries 10 --epsilon 2 --delta 1e-4 --dim 2 --classes "
      "-1,1 --loss multinomial --steps 3 -q",
      dir.write("train.svm", small_libsvm())};
  const auto told = sotto(audit + Words{"--journal", dir.file("a")});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("dp-gd on softmax: "));
  const auto run = sotto(audit + Words{"--json --journal", dir.file("b")});
  EXPECT_EQ(json::parse(run.out)["model"], "softmax");
}

TEST(VerifyCommand, ARealRunHoldsAndItsEditedRecordDoesNot) {
  const TempDir dir;
  const std::string data = dir.write("train.svm", small_libsvm());
  for (const std::string method : {"dp-gd", "dp-sgd"}) {
    const std::string record = dir.file(method + ".json");
    const auto run = sotto({"train --method",
                            method,
                            "--steps 10 --epsilon 1 --delta 1e-4 --row-norm 1 --dim 2 --record",
                            record,
                            "-q",
                            data,
                            dir.file(method + ".model")});
    ASSERT_EQ(run.code, 0) << run.err;
    const auto good = sotto({"verify", record});
    EXPECT_EQ(good.code, 0) << good.out << good.err;
    EXPECT_THAT(good.out, HasSubstr("The record holds together."));

    json edited = json::parse(TempDir::read(record));
    edited["drawn"][0]["count"] = edited["drawn"][0]["count"].get<int>() + 1;
    const auto bad = sotto({"verify", dir.write("edited.json", edited.dump())});
    EXPECT_EQ(bad.code, 5);
    EXPECT_THAT(bad.out, HasSubstr("a charge was dropped"));
  }
}

TEST(VerifyCommand, FlagsAndMistakes) {
  const TempDir dir;
  const std::string data = dir.write("train.svm", small_libsvm());
  const auto run =
      sotto({"train --steps 5 --epsilon 1 --delta 1e-4 --row-norm 1 --dim 2 --seed 7 "
             "--unsafe-diagnostics --record",
             dir.file("run.json"),
             "-q",
             data,
             dir.file("model.json")});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto flagged = sotto({"verify --json", dir.file("run.json")});
  EXPECT_EQ(flagged.code, 0);
  int flags = 0;
  const json result = json::parse(flagged.out);
  for (const auto& check : result["checks"]) flags += check["outcome"] == "FLAG";
  EXPECT_EQ(flags, 2);
  EXPECT_EQ(sotto({"verify", dir.write("dropped.json", zoo::dropped_charge().dump())}).code, 5);
  EXPECT_EQ(sotto({"verify /no/such/file"}).code, 6);
  EXPECT_EQ(sotto({"verify", dir.write("cut.json", "{\"sotto_run\":")}).code, 3);
  EXPECT_EQ(sotto({"verify", dir.file("model.json")}).code, 3) << "a model is not a record";
}

/// What a run shows beside its released values: exit code, messages, sizes of files, and the record
/// without numbers that are released (the trace's norms) or times.
struct Seen {
  int code = 0;
  std::string messages;
  std::string record;
  std::size_t model_weights = 0;
};

Seen train_on(const std::string& rows, const std::string& method) {
  const TempDir dir;
  const std::string data = dir.write("train.svm", rows);
  const auto run = sotto({"train --method",
                          method,
                          "--steps 20 --epsilon 1 --delta 1e-4 --row-norm 1 --dim 2 --record",
                          dir.file("run.json"),
                          data,
                          dir.file("model.json")});
  Seen seen;
  seen.code = run.code;
  seen.messages = run.out + run.err;
  for (std::size_t at; (at = seen.messages.find(dir.file(""))) != std::string::npos;)
    seen.messages.erase(at, dir.file("").size());
  if (run.code != 0) return seen;
  json record = json::parse(TempDir::read(dir.file("run.json")));
  for (auto& point : record["trace"]) {
    point.erase("gradient_norm");
  }
  for (auto& word : record["command"])
    if (word.get<std::string>().starts_with(dir.file(""))) word = "a file";
  record["privacy"].erase("journal");  // a run's name is random, and says nothing of any row
  seen.record = record.dump();
  seen.model_weights = json::parse(TempDir::read(dir.file("model.json")))["weights"].size();
  return seen;
}

// One record replaced by an outlier, by nothing at all, or by one with the other label: everything
// but the released values must be the same, letter by letter.
TEST(SideChannels, NeighboursDifferInReleasedValuesOnly) {
  const std::string rows = small_libsvm();
  const std::string rest = rows.substr(rows.find('\n'));
  for (const std::string method : {"dp-gd", "dp-sgd"}) {
    const Seen base = train_on(rows, method);
    ASSERT_EQ(base.code, 0) << base.messages;
    for (const std::string first :
         {"+1 1:1e30 2:-1e30", "+1 1:0", "-1 1:0.8 2:0.1", "+1 2:1e-40"}) {
      const Seen other = train_on(first + rest, method);
      EXPECT_EQ(other.code, base.code) << first;
      EXPECT_EQ(other.messages, base.messages) << first;
      EXPECT_EQ(other.record, base.record) << first;
      EXPECT_EQ(other.model_weights, base.model_weights) << first;
    }
  }
}

}  // namespace
}  // namespace sotto::testing
