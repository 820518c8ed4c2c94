#include "sotto/audit/method_audit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sotto/audit/worlds.hpp"
#include "sotto/core/parallel.hpp"
#include "sotto/oracle/per_example_sum.hpp"

namespace sotto {
namespace {

MethodAuditOptions options_for(const std::string& method) {
  MethodAuditOptions options;
  options.method = method;
  return options;
}

Expected<Judgement> audit(const MethodAuditOptions& options, std::int64_t runs) {
  SOTTO_ASSIGN(const MethodAudit prepared, MethodAudit::prepare(options));
  Scores scores;
  collect(prepared.trial(), runs, scores);
  return judge(scores, prepared.claim(), prepared.judge_options());
}

// Under every relation, at a large epsilon where few runs suffice: not refuted, and yet attacked
// well. Six audits, each alarms falsely with probability at most 1e-7.
TEST(MethodAudit, DescentIsAttackedWellAndKeepsItsClaim) {
  for (const char* method : {"dp-gd", "dp-sgd"})
    for (const Relation relation :
         {Relation::kZeroOut, Relation::kReplaceOne, Relation::kAddRemove}) {
      MethodAuditOptions options = options_for(method);
      options.relation = relation;
      options.epsilon = 8;
      options.confidence = 1 - 1e-7;
      const auto judged = audit(options, 1000);
      ASSERT_TRUE(judged) << method << ": " << judged.error().message;
      EXPECT_LE(judged->lower_bound, 8) << method << " " << to_string(relation);
      EXPECT_GT(judged->lower_bound, 2) << method << " " << to_string(relation);
    }
}

TEST(MethodAudit, TheFinalModelTellsAsMuchAsAllOfDpGd) {
  MethodAuditOptions options = options_for("dp-gd");
  options.epsilon = 4;
  options.view = View::kFinal;
  const auto judged = audit(options, 2000);
  ASSERT_TRUE(judged);
  EXPECT_GT(judged->lower_bound, 2.5);
}

TEST(MethodAudit, TheLabelFlipIsACanaryToo) {
  MethodAuditOptions options = options_for("dp-gd");
  options.epsilon = 4;
  options.canary = Canary::kLabelFlip;
  const auto judged = audit(options, 2000);
  ASSERT_TRUE(judged);
  EXPECT_GT(judged->lower_bound, 2.5);
}

TEST(MethodAudit, ScoresDependOnTheRunNumberAlone) {
  const auto prepared = MethodAudit::prepare(options_for("dp-sgd"));
  ASSERT_TRUE(prepared);
  Scores one, many;
  set_thread_count(1);
  collect(prepared->trial(), 50, one);
  set_thread_count(4);
  collect(prepared->trial(), 50, many);
  set_thread_count(0);
  for (int world = 0; world < 2; ++world) EXPECT_EQ(one.world[world], many.world[world]);
  EXPECT_NE(one.world[0], one.world[1]);
}

constexpr Relation kRelations[] = {Relation::kZeroOut, Relation::kReplaceOne, Relation::kAddRemove};
constexpr ClassWeights kWeights[] = {{1, 1}, {1, 50}, {50, 1}, {0.01, 1}, {1, 0.01}, {0.01, 0.02}};

// A canary of the light class would leave most of what a heavy row can do untried.
TEST(MethodAudit, TheCanaryWeighsAsMuchAsAnyRow) {
  for (const ClassWeights& weights : kWeights)
    for (const Relation relation : kRelations)
      for (const Canary canary : {Canary::kDirection, Canary::kLabelFlip, Canary::kSpread}) {
        const Worlds worlds(relation, canary, 20, 4, weights);
        const double longest = 0.5 * std::max(weights.negative, weights.positive);
        const auto gradient = [&](int world) {
          Vector sum;
          PerExampleSum(worlds.last(world)).clipped_gradients({}, Vector::Zero(4), 100, sum);
          return sum;
        };
        EXPECT_NEAR(gradient(1).dot(worlds.pull()), -longest, 1e-5 * longest);
        const double other = relation == Relation::kReplaceOne ? longest : 0;
        EXPECT_NEAR(gradient(0).dot(worlds.pull()), other, 1e-5 * longest);
      }
}

// Eighteen audits, each alarms falsely with probability at most 1e-7.
TEST(MethodAudit, ClassWeightsLeaveAnAttackItsPower) {
  for (const ClassWeights& weights : kWeights)
    for (const Relation relation : kRelations) {
      MethodAuditOptions options = options_for("dp-gd");
      options.relation = relation;
      options.class_weights = weights;
      options.epsilon = 8;
      options.confidence = 1 - 1e-7;
      const auto judged = audit(options, 1000);
      ASSERT_TRUE(judged) << judged.error().message;
      EXPECT_LE(judged->lower_bound, 8) << weights.negative << " " << weights.positive;
      EXPECT_GT(judged->lower_bound, 1)
          << weights.negative << " " << weights.positive << " " << to_string(relation);
    }
}

TEST(MethodAudit, FewRunsAreNotEnoughPower) {
  const auto prepared = MethodAudit::prepare(options_for("dp-gd"));
  ASSERT_TRUE(prepared);
  Scores scores;
  collect(prepared->trial(), 500, scores);
  const auto few = report(scores, prepared->claim(), prepared->judge_options());
  ASSERT_TRUE(few);
  EXPECT_EQ(few->verdict, Verdict::kNotEnoughPower);
  EXPECT_GT(few->runs_needed, 3000);
  // The same scores refute a much smaller claim, whatever the power.
  for (double& score : scores.world[1]) score += 10;
  const auto refuted = report(scores, prepared->claim(), prepared->judge_options());
  ASSERT_TRUE(refuted);
  EXPECT_EQ(refuted->verdict, Verdict::kContradicts);
}

TEST(MethodAudit, RefusesWhatMakesNoSense) {
  EXPECT_EQ(MethodAudit::prepare(options_for("gd")).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(MethodAudit::prepare(options_for("no-such")).error().kind, ErrorKind::kUsage);
  MethodAuditOptions options = options_for("dp-gd");
  options.confidence = 1;
  EXPECT_EQ(MethodAudit::prepare(options).error().kind, ErrorKind::kUsage);
  options = options_for("dp-gd");
  options.epsilon = -1;
  EXPECT_EQ(MethodAudit::prepare(options).error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace sotto
