#include "sotto/audit/verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

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
  EXPECT_EQ(contradictions(dropped_charge()), Names{"batches poisson(0.1)"});
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
  record["epsilon_spent"] = 0.9 * epsilon;
  record["privacy"]["epsilon"] = 0.9 * epsilon;
  EXPECT_EQ(contradictions(record), Names{"epsilon"});
  record["privacy"]["epsilon"] = epsilon;
  EXPECT_EQ(contradictions(record), (Names{"statement", "epsilon"}));
}

TEST(Verify, ChargesOutsideThePlanAreCaught) {
  json record = consistent_record();
  record["plan"] = "repeat(99, poisson(0.1, gaussian(4)))";
  EXPECT_EQ(contradictions(record), Names{"plan"});
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
  record["insecure_seed"] = true;
  record.erase("unsafe_diagnostics");
  const auto result = verify_record(record);
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->contradicts());
  EXPECT_EQ(
      std::count_if(result->checks.begin(),
                    result->checks.end(),
                    [](const auto& check) { return check.outcome == RecordCheck::Outcome::kFlag; }),
      2);
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
