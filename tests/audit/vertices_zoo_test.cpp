// Broken twins of the Frank–Wolfe methods must be caught, and the methods themselves must not.

#include <gtest/gtest.h>

#include "sotto/audit/judge.hpp"
#include "sotto/audit/method_audit.hpp"
#include "tests/support/zoo/vertices.hpp"

namespace sotto {
namespace {

using namespace testing::zoo;

TEST(VerticesZoo, EveryBrokenTwinIsCaught) {
  for (const Case& broken :
       {halved_score_sensitivity(), entries_not_clipped(), best_iterate_by_gap()}) {
    const Judgement found = expect_caught(broken, 1.15, {0.99, 0.1});
    EXPECT_LE(found.plain_bound, broken.real) << broken.name;
  }
}

/// Wrong with probability 1e-6 at most.
TEST(VerticesZoo, TheCorrectTwinIsNot) {
  const Case correct = correct_selection(6000);
  EXPECT_LE(correct.real, correct.claimed);
  const auto found = judged(correct, {1 - 1e-6, 0.1});
  ASSERT_TRUE(found);
  EXPECT_LE(found->lower_bound, kEpsilon);
}

/// The attacker sees every answer of the real methods and finds no more than was claimed, each with
/// a false alarm of probability 1e-6 at most; and it is not blind.
TEST(VerticesZoo, TheMethodsHoldTheirClaims) {
  for (const auto* name : {"dp-pgd", "dp-pmd", "dp-fw-l2", "dp-fw-l1"})
    for (const Relation relation : {Relation::kZeroOut, Relation::kReplaceOne}) {
      MethodAuditOptions options;
      options.method = name;
      options.relation = relation;
      if (std::string_view(name) == "dp-fw-l1") options.canary = Canary::kSpread;
      options.confidence = 1 - 1e-6;
      const auto audit = MethodAudit::prepare(options);
      ASSERT_TRUE(audit) << name << ": " << audit.error().message;
      Scores scores;
      collect(audit->trial(), 2000, scores);
      const auto judged = judge(scores, audit->claim(), audit->judge_options());
      ASSERT_TRUE(judged) << judged.error().message;
      EXPECT_LE(judged->lower_bound, options.epsilon) << name;
      // At the usual confidence the same scores show that the attack is strong.
      const auto usual = judge(scores, audit->claim(), {0.95, 0.2});
      ASSERT_TRUE(usual);
      EXPECT_GT(usual->lower_bound, 0.2) << name << " " << to_string(relation);
    }
}

}  // namespace
}  // namespace sotto
