#include "sotto/audit/mechanism_audit.hpp"

#include <gtest/gtest.h>

#include <set>

namespace sotto {
namespace {

constexpr std::int64_t kRuns = 3000;
// 13 mechanisms: a false alarm of any with probability at most 1e-6.
constexpr JudgeOptions kJudge{1 - 1e-6 / 13, 0.5};

double bound(const MechanismAudit& audit,
             double lie,
             std::int64_t runs,
             const JudgeOptions& options) {
  Scores scores;
  collect(audit.trial(lie), runs, scores);
  const auto judged = judge(scores, audit.claim(), options);
  EXPECT_TRUE(judged) << judged.error().message;
  return judged ? judged->lower_bound : 0;
}

TEST(MechanismAudit, CoversEveryMechanismAndItsSampledForm) {
  const auto audits = mechanism_audits(1, 1e-5);
  ASSERT_TRUE(audits) << audits.error().message;
  std::set<std::string> names;
  for (const auto& audit : *audits) names.insert(audit.name());
  for (const std::string name : {"gaussian",
                                 "symmetric gaussian",
                                 "joint gaussian",
                                 "laplace",
                                 "exponential",
                                 "permute and flip"}) {
    EXPECT_TRUE(names.contains(name)) << name;
    EXPECT_TRUE(names.contains(name + " on poisson(0.5)")) << name;
  }
  EXPECT_TRUE(names.contains("sparse vector"));
}

TEST(MechanismAudit, EveryMechanismKeepsItsClaimAndEveryLieIsCaught) {
  const auto audits = mechanism_audits(2, 1e-5);
  ASSERT_TRUE(audits) << audits.error().message;
  for (const auto& audit : *audits) {
    EXPECT_LE(bound(audit, 1, kRuns, kJudge), audit.claim().epsilon()) << audit.name();
    // The sensitivity is four times what was sealed.
    EXPECT_GT(bound(audit, 4, kRuns, kJudge), audit.claim().epsilon()) << audit.name();
  }
}

TEST(MechanismAudit, IsTightForGaussianAndLaplace) {
  const auto audits = mechanism_audits(1, 1e-5);
  ASSERT_TRUE(audits);
  for (const auto& audit : *audits) {
    if (audit.name() != "gaussian" && audit.name() != "laplace") continue;
    EXPECT_GT(bound(audit, 1, 30000, {0.95, 0.1}), 0.8 * audit.claim().epsilon()) << audit.name();
  }
}

TEST(MechanismAudit, RefusesAMeaninglessClaim) {
  EXPECT_FALSE(mechanism_audits(-1, 1e-5));
  EXPECT_FALSE(mechanism_audits(1, 0));
}

}  // namespace
}  // namespace sotto
