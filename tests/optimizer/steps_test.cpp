#include "sotto/optimizer/parts/steps.hpp"

#include <gtest/gtest.h>

namespace sotto {
namespace {

class StopAt final : public Observer {
 public:
  explicit StopAt(std::int64_t step) : step_(step) {}
  bool keep_going(const StepReport& report) override {
    EXPECT_EQ(report.steps, 3);
    seen = report.step;
    return report.step != step_;
  }
  std::int64_t seen = 0;

 private:
  std::int64_t step_;
};

/// Three steps, unless the observer stops them.
OptimizerResult walk(std::int64_t stop) {
  StopAt observer(stop);
  Steps steps(observer, 3);
  while (steps.next()) steps.finish(1, 1, nullptr);
  EXPECT_EQ(observer.seen, steps.made());
  return steps.result(Vector());
}

TEST(Steps, EndWithThePlanOrTheObserver) {
  EXPECT_EQ(walk(9).steps, 3);
  EXPECT_EQ(walk(9).stopped, StopReason::kPlanComplete);
  EXPECT_EQ(walk(2).steps, 2);
  EXPECT_EQ(walk(2).stopped, StopReason::kStoppedEarly);
}

TEST(Steps, AnObserverThatStopsTheLastStepIsTooLate) {
  EXPECT_EQ(walk(3).steps, 3);
  EXPECT_EQ(walk(3).stopped, StopReason::kPlanComplete);
}

TEST(Steps, ARefusalEndsTheRunUnlessItIsThePlansFirstOrAnotherError) {
  const auto refuse = [](ErrorKind kind) -> Expected<int> { return fail(kind, "no"); };
  NoObserver observer;
  Steps planned(observer, 3);
  EXPECT_FALSE(planned.unless_spent(refuse(ErrorKind::kBudget)));
  planned.finish(1, 1, nullptr);
  EXPECT_FALSE(planned.unless_spent(refuse(ErrorKind::kUsage)));
  EXPECT_EQ(**planned.unless_spent(Expected<int>(7)), 7);
  EXPECT_TRUE(planned.next());
  const auto refused = planned.unless_spent(refuse(ErrorKind::kBudget));
  ASSERT_TRUE(refused);
  EXPECT_FALSE(*refused);
  EXPECT_FALSE(planned.next());
  EXPECT_EQ(planned.result(Vector()).steps, 1);
  EXPECT_EQ(planned.result(Vector()).stopped, StopReason::kBudgetSpent);

  Steps filtered(observer, 3, Steps::Budget::kFilter);
  EXPECT_FALSE(filtered.unless_spent(refuse(ErrorKind::kUsage)));
  EXPECT_TRUE(filtered.unless_spent(refuse(ErrorKind::kBudget)));
  EXPECT_EQ(filtered.result(Vector()).steps, 0);
  EXPECT_EQ(filtered.result(Vector()).stopped, StopReason::kBudgetSpent);
}

TEST(Steps, AMethodMayEndBeforeAStepOrWithIt) {
  StopAt observer(9);
  for (const bool is_made : {false, true}) {
    Steps steps(observer, 3);
    steps.finish(1, 1, nullptr);
    steps.end(StopReason::kPointFound, is_made);
    EXPECT_FALSE(steps.next());
    EXPECT_EQ(steps.result(Vector()).steps, is_made ? 2 : 1);
    EXPECT_EQ(steps.result(Vector()).stopped, StopReason::kPointFound);
  }
}

}  // namespace
}  // namespace sotto
