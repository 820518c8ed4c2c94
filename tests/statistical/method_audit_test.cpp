// The attack on every method at a large epsilon, where few runs suffice: long, and so not among the
// fast tests.

#include "sotto/audit/method_audit.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/support/names.hpp"

namespace sotto {
namespace {

Expected<Judgement> audit(const MethodAuditOptions& options, std::int64_t runs) {
  SOTTO_ASSIGN(const MethodAudit prepared, MethodAudit::prepare(options));
  Scores scores;
  collect(prepared.trial(), runs, scores);
  return judge(scores, prepared.claim(), prepared.judge_options());
}

// What the attack must find at least, of epsilon 8 with 1000 runs per world. For comparison, by the
// same runs and confidence: the best attack on a Gaussian finds 5.4 (dp-gd), the best one on 20
// batches of a tenth of the records 2.3 (dp-sgd), most of whose curve needs more runs to be seen.
// auto runs dp-gd with its own settings, where the canary's gradient falls below the clip radius as
// the model learns it; dp-agd's filter claims what any rho-zCDP run could do, of which Gaussian
// releases are a part. A method that is not listed must only keep its claim. What is found of
// dp-srm with 1000 runs depends much on the seed (1.4 to 5.6 in 24 of them), so it is attacked with
// more. Of private-spiderboost 3.9 are found since its anchors are full batches, more than 4
// before.
const std::map<std::string, double> kLeast = {{"rrpsgd", 2},
                                              {"dp-srm", 2.4},
                                              {"private-spiderboost", 3.5},
                                              {"adp-sgd", 2},
                                              {"dp-agd", 2.6},
                                              {"auto", 2.4}};

class EveryMethod : public ::testing::TestWithParam<std::string> {};

// At most 100 audits, each alarms falsely with probability at most 1e-8.
TEST_P(EveryMethod, IsAttackedWellAndKeepsItsClaim) {
  MethodAuditOptions options;
  options.method = GetParam();
  options.epsilon = 8;
  options.confidence = 1 - 1e-8;
  const auto judged = audit(options, options.method == "dp-srm" ? 4000 : 1000);
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_LE(judged->lower_bound, 8);
  if (const auto known = kLeast.find(GetParam()); known != kLeast.end()) {
    EXPECT_GT(judged->lower_bound, known->second);
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         EveryMethod,
                         ::testing::ValuesIn(testing::private_methods()),
                         [](const auto& test) { return testing::test_name(test.param); });

// Sensitivities that follow the model, where the clip radius never binds: still within the claim,
// and not far from it, since the canary is as long as a row may be. Each alarms falsely with
// probability at most 1e-8. What 1000 runs find of dp-srm is 0 to 3.2, what 4000 find 1.4 to 4.9
// (18 seeds each).
TEST(MethodAudit, TheGlmRuleKeepsItsClaim) {
  for (const Relation relation : {Relation::kZeroOut, Relation::kReplaceOne})
    for (const auto& [method, least] : {std::pair{"dp-gd", 3.0}, {"dp-srm", 0.7}}) {
      MethodAuditOptions options;
      options.method = method;
      options.options = {{"clip_rule", "glm"}, {"clip_radius", "2"}};
      options.relation = relation;
      options.epsilon = 8;
      options.confidence = 1 - 1e-8;
      const std::int64_t runs = relation == Relation::kZeroOut ? 1000 : 500;
      const auto judged = audit(options, options.method == "dp-srm" ? 4 * runs : runs);
      ASSERT_TRUE(judged) << method << ": " << judged.error().message;
      EXPECT_LE(judged->lower_bound, 8) << method << " " << to_string(relation);
      EXPECT_GT(judged->lower_bound, least) << method << " " << to_string(relation);
    }
}

}  // namespace
}  // namespace sotto
