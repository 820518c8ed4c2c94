// Every broken method must be caught, every correct one must pass. Prints the table of
// docs/studies/audit.md.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "sotto/audit/method_audit.hpp"
#include "sotto/audit/verify.hpp"
#include "sotto/core/parallel.hpp"
#include "tests/support/names.hpp"
#include "tests/support/zoo/dropped_charge.hpp"
#include "tests/support/zoo/full_batch.hpp"
#include "tests/support/zoo/sampled.hpp"
#include "tests/support/zoo/vertices.hpp"

namespace sotto {
namespace {

using namespace testing::zoo;

std::vector<Case> all_cases() {
  return {less_noise(),
          halved_sensitivity(),
          clip_after_averaging(),
          one_row_unclipped(),
          realized_divisor(),
          empty_redrawn(),
          reused_noise(),
          fixed_size_as_poisson(),
          fixed_size_pairs_as_poisson(),
          shuffled_as_poisson(),
          best_iterate(),
          private_means(),
          noise_against_preference(),
          raw_adagrad_norm(),
          noise_over_n(),
          halved_score_sensitivity(),
          entries_not_clipped(),
          best_iterate_by_gap()};
}

TEST(Zoo, EveryBrokenMethodIsCaught) {
  fmt::print("{:<40} {:>8} {:>8} {:>12} {:>7} {}\n",
             "case",
             "claimed",
             "real",
             "lower bound",
             "runs",
             "caught");
  for (const Case& broken : all_cases()) {
    const Judgement found = expect_caught(broken, 1.3, {0.99, 0.2});
    fmt::print("{:<40} {:>8.3g} {:>8.3g} {:>12.3f} {:>7} {}\n",
               broken.name,
               broken.claimed,
               broken.real,
               found.lower_bound,
               broken.runs,
               found.lower_bound > broken.claimed ? "yes" : "NO");
    EXPECT_LE(found.plain_bound, broken.real) << broken.name;
  }
  const auto verified = verify_record(dropped_charge());
  ASSERT_TRUE(verified);
  EXPECT_TRUE(verified->contradicts());
  const auto twice =
      Event::repeat(200, Event::poisson(0.1, Event::gaussian(4, Relation::kZeroOut)));
  const double real = pld_accountant().epsilon(canonical(twice).value(), 1e-5)->lower;
  EXPECT_GE(real, 1.3 * verified->claimed_epsilon);
  fmt::print("{:<40} {:>8.3g} {:>8.3g} {:>12} {:>7} {}\n",
             "a dropped charge",
             verified->claimed_epsilon,
             real,
             "-",
             "verify",
             verified->contradicts() ? "yes" : "NO");
}

// Family-wise false alarms: the 20 audits of a correct method together raise one with probability
// at most 1e-6 (5e-8 each, Bonferroni). Each method is a test of its own, with that bound.
constexpr int kAudits = 20;
constexpr double kConfidence = 1 - 1e-6 / kAudits;

class CorrectMethod : public ::testing::TestWithParam<std::string> {};

TEST_P(CorrectMethod, PassesTwentyAudits) {
  set_thread_count(thread_count());  // asks the system for its cores once, not in every step
  double highest = 0;
  for (int k = 0; k < kAudits; ++k) {
    MethodAuditOptions options;
    options.method = GetParam();
    options.confidence = kConfidence;
    options.seed = 1000 + static_cast<std::uint64_t>(k);
    const auto audit = MethodAudit::prepare(options);
    ASSERT_TRUE(audit) << audit.error().message;
    Scores scores;
    collect(audit->trial(), 2000, scores);
    const auto judged = judge(scores, audit->claim(), audit->judge_options());
    ASSERT_TRUE(judged) << judged.error().message;
    EXPECT_LE(judged->lower_bound, options.epsilon) << "audit " << k;
    highest = std::max(highest, judged->lower_bound);
  }
  fmt::print("{}: passed {} audits of 2000 runs per world, highest lower bound {:.3f} of 1\n",
             GetParam(),
             kAudits,
             highest);
}

INSTANTIATE_TEST_SUITE_P(Zoo,
                         CorrectMethod,
                         ::testing::ValuesIn(testing::private_methods()),
                         [](const auto& test) { return testing::test_name(test.param); });

// The twin of the above: at the same confidence and runs a noise of 0.35 is caught.
TEST(Zoo, TheTwentyAuditsHaveTeeth) {
  expect_caught(less_noise(0.35, 2000), 1, {kConfidence, 0.1});
}

// The tightness that the audit promises: 30,000 runs per world at 95 %.
TEST(Audit, IsTightAtEpsilonOne) {
  set_thread_count(thread_count());
  for (const auto& [name, least] : {std::pair("dp-gd", 0.85), std::pair("dp-sgd", 0.6)}) {
    MethodAuditOptions options;
    options.method = name;
    const auto audit = MethodAudit::prepare(options);
    ASSERT_TRUE(audit) << audit.error().message;
    Scores scores;
    collect(audit->trial(), 30000, scores);
    const auto outcome = report(scores, audit->claim(), audit->judge_options());
    ASSERT_TRUE(outcome) << outcome.error().message;
    fmt::print("{}: lower bound {:.3f} of 1 ({} curve), {:.3f} by (epsilon, delta) alone\n",
               name,
               outcome->judgement.lower_bound,
               outcome->curve,
               outcome->judgement.plain_bound);
    EXPECT_GT(outcome->judgement.lower_bound, least) << name;
    EXPECT_EQ(outcome->verdict, Verdict::kConsistent);
  }
}

}  // namespace
}  // namespace sotto
