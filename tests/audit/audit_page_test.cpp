#include "sotto/audit/audit_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sotto {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string page_with(Verdict verdict) {
  PreparedRun prepared;
  prepared.configured.settings = {{"steps", "20", Origin::kGiven},
                                  {"momentum", "none", Origin::kDefault}};
  AuditReport report;
  report.verdict = verdict;
  report.runs = 30000;
  report.runs_needed = 45000;
  report.curve = "gaussian";
  report.judgement.lower_bound = 1.23456;
  return audit_page({}, prepared, report, {{0, 0, 0.1}, {0.5, 0.6, 0.7}, {1, 1, 1}}, {"audit"});
}

TEST(AuditPage, LeadsWithTheVerdict) {
  EXPECT_THAT(page_with(Verdict::kConsistent),
              AllOf(HasSubstr("class=\"banner good\""),
                    HasSubstr("The claim survived the attack"),
                    Not(HasSubstr("banner danger"))));
  EXPECT_THAT(page_with(Verdict::kContradicts),
              AllOf(HasSubstr("class=\"banner danger\""),
                    HasSubstr("epsilon of at least 1.234, more than the claimed 1")));
  EXPECT_THAT(page_with(Verdict::kNotEnoughPower),
              AllOf(HasSubstr("class=\"banner warning\""), HasSubstr("45,000 runs per world")));
}

TEST(AuditPage, ShowsTheRocBesideTheClaim) {
  const std::string html = page_with(Verdict::kConsistent);
  EXPECT_THAT(html,
              AllOf(HasSubstr("\"name\":\"the attack\""), HasSubstr("at most, by the claim")));
  EXPECT_THAT(html, AllOf(HasSubstr("<td>steps</td>"), Not(HasSubstr("<td>momentum</td>"))));
}

TEST(AuditPage, OneRunIsForItsOwnerOnly) {
  OneRunReport report;
  report.epsilon = 1;
  report.guess = {10, 9, 2};
  EXPECT_THAT(one_run_page({}, {}, report, {}),
              AllOf(HasSubstr("no charge covers"), HasSubstr("The claim is contradicted")));
  report.guess.lower_bound = 0.5;
  EXPECT_THAT(one_run_page({}, {}, report, {}), HasSubstr("The claim survived the attack"));
}

}  // namespace
}  // namespace sotto
