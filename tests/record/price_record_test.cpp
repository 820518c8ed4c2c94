#include "sotto/record/price_record.hpp"

#include <gtest/gtest.h>

#include "sotto/privacy/accountant.hpp"
#include "tests/support/sample_record.hpp"

namespace sotto {
namespace {

using testing::sample_record;

TEST(PriceRecord, PricesEveryPointAndTheInterval) {
  RunRecord record = sample_record();
  record.epsilon_lower = {};
  for (auto& point : record.spending) point.epsilon = {};
  // 40 of 50 planned Gaussians of multiplier 30 were released: the price is that of all 50.
  const auto accountant = find_accountant("gaussian");
  const auto plan = *canonical(*parse_event(record.plan, record.privacy.neighbours));
  const auto whole = (*accountant)->epsilon(plan, record.privacy.delta);
  record.privacy.epsilon = 1.001 * whole->upper;
  ASSERT_TRUE(price_record(record));
  double last = 0;
  for (const auto& point : record.spending) {
    ASSERT_TRUE(point.epsilon);
    EXPECT_GT(*point.epsilon, last) << "after step " << point.step;
    last = *point.epsilon;
  }
  EXPECT_LT(last, whole->lower) << "that of a plan of 40";
  ASSERT_TRUE(record.epsilon_lower);
  EXPECT_DOUBLE_EQ(*record.epsilon_lower, whole->lower);
}

TEST(PriceRecord, NeverSaysMoreThanTheLedgerCertified) {
  RunRecord record = sample_record();
  record.privacy.epsilon = 0.01;  // below what the events cost: the ledger's word counts
  ASSERT_TRUE(price_record(record));
  for (const auto& point : record.spending) EXPECT_LE(*point.epsilon, 0.01);
  EXPECT_LE(*record.epsilon_lower, 0.01);
}

TEST(PriceRecord, LeavesFiltersAndRunsWithoutPrivacyAlone) {
  RunRecord record = sample_record();
  record.epsilon_lower = {};
  for (auto& point : record.spending) {
    point.epsilon = {};
    point.filter_share = 0.5;
  }
  RunRecord not_private = record;
  not_private.privacy.is_private = false;
  for (auto* each : {&record, &not_private}) {
    ASSERT_TRUE(price_record(*each));
    EXPECT_FALSE(each->epsilon_lower);
    EXPECT_FALSE(each->spending[0].epsilon);
  }
}

TEST(PriceRecord, NothingReleasedCostsNothing) {
  RunRecord record = sample_record();
  record.spending.front().events.terms.clear();
  ASSERT_TRUE(price_record(record));
  EXPECT_EQ(record.spending.front().epsilon, 0);
}

}  // namespace
}  // namespace sotto
