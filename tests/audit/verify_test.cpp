#include "sotto/audit/verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sotto/core/file.hpp"
#include "sotto/core/version.hpp"
#include "sotto/report/reported_run.hpp"
#include "tests/support/zoo/dropped_charge.hpp"

namespace sotto {
namespace {

using nlohmann::json;
using testing::zoo::consistent_record;
using testing::zoo::dropped_charge;

/// The names of the checks that failed.
std::vector<std::string> contradictions(const json& record) {
  const auto result = verify_record(record);
  EXPECT_TRUE(result) << result.error().message;
  std::vector<std::string> names;
  if (result)
    for (const auto& check : result->checks)
      if (check.outcome == RecordCheck::Outcome::kContradiction) names.push_back(check.name);
  return names;
}

using Names = std::vector<std::string>;

bool flags(const json& record, const std::string& name) {
  const auto result = verify_record(record);
  return std::any_of(result->checks.begin(), result->checks.end(), [&](const auto& check) {
    return check.outcome == RecordCheck::Outcome::kFlag && check.name == name;
  });
}

TEST(Verify, AConsistentRecordHolds) {
  const auto result = verify_record(consistent_record());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->contradicts());
  ASSERT_EQ(result->prices.size(), 2u) << "rdp and pld have theorems for it";
  EXPECT_EQ(result->prices[1].accountant, "pld");
  EXPECT_TRUE(result->prices[1].claimed);
  EXPECT_LT(result->prices[1].epsilon, result->prices[0].epsilon);
}

TEST(Verify, ADroppedChargeIsCaught) {
  EXPECT_EQ(contradictions(dropped_charge()), (Names{"batches poisson(0.1)", "drawn"}));
}

TEST(Verify, ChargesPricedWithAnotherSamplerAreCaught) {
  json record = consistent_record();
  record["drawn"] = {{{"sampling", "fixed_size(20, 200)"}, {"count", 100}}};
  EXPECT_EQ(contradictions(record), Names{"batches fixed_size(20, 200)"});
}

TEST(Verify, ABatchOfEverybodyIsAFullBatch) {
  json record = consistent_record();
  for (const char* name : {"poisson(1)", "fixed_size(200, 200)", "full"}) {
    record["privacy"]["events"] = record["plan"] = "repeat(100, gaussian(40))";
    record["drawn"] = json::array({{{"sampling", name}, {"count", 100}}});
    EXPECT_EQ(contradictions(record), Names{}) << name;
  }
}

TEST(Verify, TooSmallAnEpsilonIsCaught) {
  json record = consistent_record();
  const double epsilon = record["epsilon_spent"].get<double>();
  record["epsilon_spent"] = record["epsilon_planned"] = 0.9 * epsilon;
  record["privacy"]["epsilon"] = 0.9 * epsilon;
  EXPECT_EQ(contradictions(record), Names{"epsilon"});
  record["privacy"]["epsilon"] = epsilon;
  EXPECT_EQ(contradictions(record), (Names{"statement", "epsilon"}));
}

TEST(Verify, ChargesOutsideThePlanAreCaught) {
  json record = consistent_record();
  record["plan"] = "repeat(99, poisson(0.1, gaussian(4)))";
  EXPECT_EQ(contradictions(record), (Names{"plan", "stopped"}));
}

TEST(Verify, AnotherRelationIsCaught) {
  json record = consistent_record();
  record["privacy"]["neighbours"] = "replace-one";
  EXPECT_EQ(contradictions(record), Names{"relation"});
}

TEST(Verify, AnExceededBudgetIsCaught) {
  json record = consistent_record();
  record["epsilon_budget"] = 0.1;
  EXPECT_EQ(contradictions(record), Names{"budget"});
}

TEST(Verify, AnAccountantWithoutATheoremIsCaught) {
  json record = consistent_record();
  record["privacy"]["accountant"] = "gaussian";
  EXPECT_EQ(contradictions(record), Names{"accountant"});
}

TEST(Verify, SeedsAndDiagnosticsAreFlagged) {
  json record = consistent_record();
  for (const char* name : {"insecure_seed", "unsafe_diagnostics"}) {
    EXPECT_FALSE(flags(record, name)) << name;
    record[name] = record["privacy"][name] = true;
    EXPECT_TRUE(flags(record, name)) << name;
  }
  EXPECT_EQ(contradictions(record), Names{});
  EXPECT_TRUE(verify_record(record)->is_seeded);
}

// Taking away what a check reads does not turn it off.
TEST(Verify, WhatEveryRecordHasIsMissed) {
  const json record = consistent_record();
  for (const char* name : {"version",
                           "method",
                           "loss",
                           "settings",
                           "dimension",
                           "steps",
                           "noise_multiplier",
                           "epsilon_planned",
                           "insecure_seed",
                           "unsafe_diagnostics"}) {
    json edited = record;
    edited.erase(name);
    EXPECT_EQ(contradictions(edited), Names{name});
    edited[name] = json::object();
    EXPECT_NE(contradictions(edited), Names{}) << name << " of another type";
  }
  for (const char* name : {"private", "unit", "public_n", "test_declared_public"}) {
    json edited = record;
    edited["privacy"].erase(name);
    EXPECT_EQ(contradictions(edited), Names{std::string("privacy: ") + name});
  }
  for (const char* name : {"journal", "command", "spending"})
    EXPECT_TRUE(flags(record, name)) << "a program's own records have none";
}

TEST(Verify, AnInfinitePlanIsNotThatOfAFiniteClaim) {
  json record = consistent_record();
  record["epsilon_planned"] = nullptr;
  EXPECT_EQ(contradictions(record), Names{"epsilon_planned"});
}

// Whoever reports the run reads the same types.
TEST(Verify, FieldsOfOtherTypesAreRefused) {
  const std::vector<std::pair<const char*, json>> edits = {{"warnings", json::parse("[[[[1]]]]")},
                                                           {"warnings", {1}},
                                                           {"spending", "xx"},
                                                           {"spending", 1e308},
                                                           {"spending", true},
                                                           {"test_curve", {1}},
                                                           {"class_names", 7},
                                                           {"versions", {{"sotto", 1}}}};
  for (const auto& [name, other] : edits) {
    json record = consistent_record();
    record[name] = other;
    const auto result = verify_record(record);
    EXPECT_TRUE(!result || result->contradicts()) << name << other;
    EXPECT_FALSE(reported_run(record, "", "run.json")) << name << other;
  }
}

// A reader may take them for members that are checked.
TEST(Verify, MembersThatNoRecordHasAreTold) {
  for (const char* name :
       {"Epsilon_spent", "epsilon_spent ", "\u0435psilon_spent", "epsilon", "", "train_seconds"})
    for (const bool stated : {false, true}) {
      json record = consistent_record();
      record["version"] = kVersion;
      if (stated && std::string(name) == "epsilon") continue;  // a statement has one
      (stated ? record["privacy"] : record)[name] = 0.1;
      const auto told = [&] {
        const Names names = contradictions(record);
        return std::count(names.begin(), names.end(), "unknown member");
      };
      EXPECT_EQ(told(), 1) << name;
      record["version"] = "99.0";
      EXPECT_EQ(told(), 0) << "a later version may have more";
      EXPECT_TRUE(flags(record, "unknown member")) << name;
    }
  json record = consistent_record();
  record["\u0435psilon_spent"] = 0.1;
  const auto result = verify_record(record);
  ASSERT_TRUE(result);
  EXPECT_TRUE(std::any_of(result->checks.begin(), result->checks.end(), [](const auto& check) {
    return check.detail.find("\"\\u0435psilon_spent\"") != std::string::npos;
  }));
}

TEST(Verify, WhatCantBeReadInARecordIsBadData) {
  for (const char* text :
       {"gaussian(", "gaussian(-1)", "poisson(0.1, compose(laplace(1), laplace(2)))"})
    for (const char* name : {"plan", "neighbours"}) {
      json record = consistent_record();
      record[name] = text;
      const auto result = verify_record(record);
      ASSERT_FALSE(result) << text;
      EXPECT_EQ(result.error().kind, ErrorKind::kBadData) << text;
    }
}

/// The record with this claim, wherever it stands.
json claiming(json record, double epsilon) {
  record["epsilon_spent"] = record["epsilon_planned"] = epsilon;
  record["privacy"]["epsilon"] = epsilon;
  return record;
}

json golden(const std::string& name) {
  const auto text =
      read_text_file(std::string(SOTTO_SOURCE_DIR) + "/tests/privacy/golden/v0_1/" + name);
  return json::parse(text.value());
}

// A run that was stopped after 36 of 100 steps costs all 100.
TEST(Verify, AStoppedRunCostsItsPlan) {
  const json whole = consistent_record();
  json stopped = whole;
  const std::string part = "repeat(36, poisson(0.1, gaussian(4)))";
  stopped["privacy"]["events"] = part;
  stopped["drawn"][0]["count"] = 36;
  EXPECT_EQ(contradictions(stopped), Names{"stopped"});
  stopped["stopped"] = "stopped early";
  EXPECT_EQ(contradictions(stopped), Names{});
  EXPECT_EQ(verify_record(stopped)->price, whole["epsilon_spent"].get<double>());
  // The twin, as version 0.1 wrote it: the price of the prefix.
  const auto prefix = *canonical(*parse_event(part, Relation::kZeroOut));
  const double low = *epsilon_with_samples(prefix, 360, 1e-5, pld_accountant());
  ASSERT_LT(low, 0.8 * whole["epsilon_spent"].get<double>());
  EXPECT_EQ(contradictions(claiming(stopped, low)), Names{"epsilon"});
}

json under_a_filter() {
  json record = claiming(consistent_record(), 3);
  record["epsilon_budget"] = 3;
  record["privacy"]["rule"] = "filter";
  record["privacy"]["accountant"] = "rdp";
  record["spending"] = json::array({{{"step", 100},
                                     {"passes", 10.0},
                                     {"releases", 100},
                                     {"noise_samples", 1000},
                                     {"filter_share", 0.2}}});
  return record;
}

TEST(Verify, AFilterCostsItsBudget) {
  const json record = under_a_filter();
  EXPECT_EQ(contradictions(record), Names{});
  EXPECT_EQ(verify_record(record)->price, 3);
  EXPECT_TRUE(verify_record(record)->prices.empty()) << "a plan's price is no bound here";
  EXPECT_EQ(contradictions(claiming(record, 0.904)), Names{"epsilon"});
  json endless = record;
  endless["epsilon_budget"] = nullptr;
  EXPECT_EQ(contradictions(endless), (Names{"filter"}));
}

TEST(Verify, AFilterThatIsCalledAPlanIsCaught) {
  json record = under_a_filter();
  const double low = consistent_record()["epsilon_spent"].get<double>();
  record = claiming(record, low);
  record["privacy"]["rule"] = "plan";
  EXPECT_EQ(contradictions(record), Names{"rule"});
  record.erase("spending");
  EXPECT_EQ(contradictions(record), Names{});
  EXPECT_TRUE(flags(record, "calibration")) << "calibration uses budgets up";
  record["privacy"].erase("rule");
  EXPECT_EQ(contradictions(record), Names{"epsilon"}) << "without a rule the budget counts";
}

TEST(Verify, LostReleasesCostTheBudget) {
  json record = consistent_record();
  record["privacy"]["events"] = "repeat(110, poisson(0.1, gaussian(4)))";
  EXPECT_EQ(contradictions(record), (Names{"budget", "plan", "drawn", "stopped"}));
  record["lost"] = "repeat(10, poisson(0.1, gaussian(4)))";
  EXPECT_EQ(contradictions(record), Names{"budget"}) << "which pays for 100, not for 110";
  record["epsilon_budget"] = 2;
  EXPECT_EQ(contradictions(record), Names{"epsilon"});
  EXPECT_EQ(contradictions(claiming(record, 2)), Names{});
}

/// The record with this budget, all of which it claims.
json held_to(json record, double epsilon) {
  record["epsilon_budget"] = epsilon;
  return claiming(std::move(record), epsilon);
}

// A budget is a price only of what can have been granted under it.
TEST(Verify, ABudgetDoesNotOverruleThePlan) {
  const json record = consistent_record();
  const double price = record["epsilon_spent"].get<double>();
  for (const double epsilon : {0.5 * price, 0.01, 0.0, -8.0}) {
    const json edited = held_to(record, epsilon);
    EXPECT_EQ(contradictions(edited), (Names{"epsilon", "budget"})) << epsilon;
    EXPECT_EQ(verify_record(edited)->price, price) << "not that of the budget";
    json lost = edited;
    lost["lost"] = "poisson(0.1, gaussian(4))";
    EXPECT_EQ(contradictions(lost), (Names{"epsilon", "budget"})) << epsilon;
    json old = edited;
    old["privacy"].erase("rule");
    EXPECT_EQ(contradictions(old), (Names{"epsilon", "budget"})) << epsilon;
  }
  // The last digits are not a contradiction.
  EXPECT_EQ(contradictions(held_to(record, price * (1 - 1e-10))), Names{});
}

TEST(Verify, ABudgetDoesNotOverruleWhatItsFilterWasCharged) {
  const json record = under_a_filter();
  for (const double epsilon : {0.3, 0.01, 0.0, -3.0}) {
    EXPECT_EQ(contradictions(held_to(record, epsilon)), (Names{"epsilon", "budget"})) << epsilon;
    EXPECT_TRUE(std::isinf(verify_record(held_to(record, epsilon))->price)) << "nobody knows it";
  }
  json renamed = held_to(consistent_record(), 0.01);
  renamed["privacy"]["accountant"] = "rdp";
  renamed["privacy"]["rule"] = "filter";
  EXPECT_EQ(contradictions(renamed), (Names{"epsilon", "budget"}));
  json by_none = record;
  by_none["privacy"]["accountant"] = "pld";
  EXPECT_EQ(contradictions(by_none), (Names{"epsilon", "budget"})) << "there is no such filter";
  json undeclared = record;
  undeclared["planned_noise_samples"] = 999;
  EXPECT_EQ(contradictions(undeclared), (Names{"epsilon", "budget"})) << "1000 were drawn";
}

// A continued run with noise given by hand was held to the price of its plan, by its accountant.
TEST(Verify, LostReleasesBeyondTheirLimitAreCaught) {
  json record = consistent_record();
  record["epsilon_budget"] = nullptr;
  record["privacy"]["events"] = "repeat(140, poisson(0.1, gaussian(4)))";
  record["drawn"][0]["count"] = 140;
  record["lost"] = "repeat(40, poisson(0.1, gaussian(4)))";
  EXPECT_EQ(contradictions(record), (Names{"epsilon", "budget"}));
}

TEST(Verify, SamplesThatArePlannedBelowNothingAreRefused) {
  json record = consistent_record();
  record["lost"] = "poisson(0.1, gaussian(4))";
  record["planned_noise_samples"] = -1000000000000;
  EXPECT_EQ(verify_record(record).error().kind, ErrorKind::kBadData);
  for (const double delta : {-1e-5, 1.0, 7.0}) {
    json odd = consistent_record();
    odd["delta"] = odd["privacy"]["delta"] = delta;
    const auto result = verify_record(odd);
    ASSERT_FALSE(result) << delta;
    EXPECT_EQ(result.error().kind, ErrorKind::kBadData) << delta;
  }
}

TEST(Verify, AnUnknownRuleIsRefused) {
  json record = consistent_record();
  record["privacy"]["rule"] = "whatever was cheaper";
  EXPECT_EQ(verify_record(record).error().kind, ErrorKind::kBadData);
}

TEST(VerifyVersion01, RecordsAreReadAndPricedByTheirPromise) {
  EXPECT_EQ(contradictions(golden("plan.json")), Names{});
  EXPECT_NEAR(verify_record(golden("plan.json"))->price, 2, 1e-5);
  EXPECT_EQ(contradictions(golden("filter.json")), Names{});
  EXPECT_EQ(verify_record(golden("filter.json"))->price, 3);
  // What `account --journal` of version 0.1 said of the same run.
  EXPECT_EQ(contradictions(claiming(golden("filter.json"), 2.89114)), Names{"epsilon"});
  json stripped = claiming(golden("filter.json"), 2.89114);
  stripped.erase("spending");
  EXPECT_EQ(contradictions(stripped), Names{"epsilon"});
}

TEST(VerifyVersion01, ABudgetDoesNotOverruleThePlan) {
  for (const char* name : {"plan.json", "filter.json"})
    EXPECT_EQ(contradictions(held_to(golden(name), 0.1)), (Names{"epsilon", "budget"})) << name;
}

TEST(VerifyVersion01, SamplesWhoseProductOverflowsAreRefused) {
  json record = golden("plan.json");
  record["plan"] = "repeat(1000000000000000, gaussian(8.916603546344744))";
  record["privacy"]["noise_samples"] = std::int64_t{1} << 53;
  EXPECT_EQ(verify_record(record).error().kind, ErrorKind::kBadData);
  for (const json& odd : {json(1e300), json(1.5), json(-1)}) {
    record["privacy"]["noise_samples"] = odd;
    const auto result = verify_record(record);
    ASSERT_FALSE(result) << odd;
    EXPECT_EQ(result.error().kind, ErrorKind::kBadData) << odd;
  }
}

TEST(VerifyVersion01, WhatTheyMayTellIsFlagged) {
  for (const char* name : {"version 0.1", "grid", "class set", "clock"})
    EXPECT_TRUE(flags(golden("plan.json"), name)) << name;
  EXPECT_FALSE(flags(consistent_record(), "version 0.1"));
  EXPECT_FALSE(flags(consistent_record(), "grid"));
}

TEST(Verify, OtherFilesAreRefused) {
  EXPECT_EQ(verify_record(json::array()).error().kind, ErrorKind::kBadData);
  EXPECT_EQ(verify_record({{"sotto_model", 1}}).error().kind, ErrorKind::kBadData);
  for (const char* name :
       {"private", "epsilon_spent", "delta", "neighbours", "privacy", "plan", "drawn"}) {
    json record = consistent_record();
    record.erase(name);
    const auto result = verify_record(record);
    ASSERT_FALSE(result) << name;
    EXPECT_EQ(result.error().kind, ErrorKind::kBadData) << name;
  }
}

}  // namespace
}  // namespace sotto
