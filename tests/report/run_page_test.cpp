#include "sotto/report/run_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "sotto/record/record_json.hpp"
#include "sotto/report/assets.hpp"
#include "sotto/report/run_charts.hpp"
#include "tests/support/sample_record.hpp"

namespace sotto {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::sample_record;

ReportedRun reported(const RunRecord& record, const std::string& label = "run") {
  auto run = reported_run(to_json(record), label, "the test's record");
  EXPECT_TRUE(run) << run.error().message;
  return *std::move(run);
}

std::string page_of(const RunRecord& record) { return run_page(reported(record)); }

/// The positions of the texts must increase.
void expect_order(const std::string& html, const std::vector<std::string>& texts) {
  std::size_t last = 0;
  for (const auto& text : texts) {
    const std::size_t at = html.find(text, last);
    ASSERT_NE(at, std::string::npos) << text << " is missing, or stands before what it follows";
    last = at;
  }
}

TEST(RunPage, HasEveryPartInTheOrderThatReadersNeed) {
  expect_order(page_of(sample_record()),
               {"<h2 id=\"privacy\">",
                "What was protected",
                "For whom",
                "Against what",
                "How much",
                "What is not promised",
                "<h2 id=\"budget-over-time\">",
                "<h2 id=\"released-values\">",
                "Released gradient norms",
                "Objective on public test rows",
                "<h2 id=\"metrics-on-public-test-rows\">",
                "<h2 id=\"settings\">",
                "<h2 id=\"events\">",
                "<h2 id=\"warnings\">",
                "<h2 id=\"versions\">",
                "<h2 id=\"how-to-reproduce\">"});
}

TEST(RunPage, SaysWhatWasProtectedAndHowMuch) {
  const std::string html = page_of(sample_record());
  EXPECT_THAT(html, HasSubstr("Each single row of the training data"));
  EXPECT_THAT(html, HasSubstr("<code>zero-out</code>"));
  EXPECT_THAT(html, HasSubstr("32,561"));
  EXPECT_THAT(html, HasSubstr("epsilon at most 0.9182 at delta 1e-5"));
  EXPECT_THAT(html, HasSubstr("lies between 0.9181 and 0.9182")) << "rounded outwards";
  EXPECT_THAT(html, HasSubstr("at most, of 1 granted"));
  EXPECT_THAT(html, HasSubstr("It costs its whole plan, however early it stopped"));
  EXPECT_THAT(html, Not(HasSubstr("Unspent")));
  EXPECT_THAT(html, HasSubstr("People with several rows")) << "per-row privacy is not per-person";
}

TEST(RunPage, SpeaksOfPersonsWhereAPersonIsTheUnit) {
  RunRecord record = sample_record();
  record.privacy.unit = "patient";
  const std::string html = page_of(record);
  EXPECT_THAT(html, HasSubstr("person (all rows with the same <code>patient</code>)"));
  EXPECT_THAT(html, Not(HasSubstr("People with several rows")));
}

TEST(RunPage, TellsTheRelationsApart) {
  RunRecord record = sample_record();
  record.privacy.neighbours = Relation::kReplaceOne;
  EXPECT_THAT(page_of(record), HasSubstr("replaced by anything else"));
  record.privacy.neighbours = Relation::kAddRemove;
  EXPECT_THAT(page_of(record), AllOf(HasSubstr("added or taken away"), HasSubstr("declared")));
}

TEST(RunPage, UnsafeRunsCarryABannerBeforeAnythingElse) {
  RunRecord record = sample_record();
  EXPECT_THAT(page_of(record), Not(HasSubstr("class=\"banner danger\"")));
  record.privacy.unsafe_diagnostics = true;
  record.diagnostics = Diagnostics{0.3, 0.01};
  const std::string html = page_of(record);
  expect_order(html,
               {"<main>\n<div class=\"banner danger\" role=\"alert\">",
                "NOT PRIVATE: true training values were printed",
                "<h2 id=\"privacy\">",
                "True training values (not private)"});
  record.privacy.unsafe_diagnostics = false;
  record.privacy.insecure_seed = true;
  EXPECT_THAT(page_of(record), HasSubstr("the randomness is known"));
}

TEST(RunPage, ARunWithoutPrivacyClaimsNone) {
  RunRecord record = sample_record();
  record.method = "gd";
  record.privacy = {};
  record.privacy.epsilon = std::numeric_limits<double>::infinity();
  record.epsilon_budget = record.epsilon_planned = record.privacy.epsilon;
  record.spending.clear();
  record.epsilon_lower = {};
  const std::string html = page_of(record);
  EXPECT_THAT(html, HasSubstr("NOT PRIVATE: no guarantee at all"));
  for (const char* promise : {"What was protected", "epsilon at most", "Budget over time"})
    EXPECT_THAT(html, Not(HasSubstr(promise)));
}

TEST(RunPage, ARunUnderAFilterShowsItsShare) {
  RunRecord record = sample_record();
  record.privacy.accountant = "zcdp";
  record.privacy.rule = "filter";
  record.epsilon_lower = {};
  for (auto& point : record.spending) {
    point.epsilon = {};
    point.filter_share = 0.01 * static_cast<double>(point.step);
  }
  EXPECT_THAT(page_of(record), HasSubstr("the whole budget counts as spent"));
  const ReportedRun run = reported(record);
  const Chart chart = budget_chart({&run, 1});
  EXPECT_EQ(chart.y_label, "share of the budget");
  EXPECT_EQ(chart.series[0].points.back(), std::make_pair(40.0, 0.4));
  EXPECT_EQ(chart.series[1].points.back(), std::make_pair(40.0, 1.0));
}

TEST(RunPage, ShowsSettingsEventsAndTheCommand) {
  const std::string html = page_of(sample_record());
  EXPECT_THAT(html, HasSubstr("<td>clip_radius</td><td>1.8735</td><td>rule"));
  EXPECT_THAT(html, HasSubstr("<td>momentum</td><td>0</td><td>default</td>"));
  EXPECT_THAT(html, HasSubstr("<td>epsilon</td><td>1</td><td>given</td>"));
  EXPECT_THAT(html, HasSubstr("rule: the least that meets the budget"));
  EXPECT_THAT(html,
              HasSubstr("<code>gaussian(30)</code></td><td class=\"number\">50</td><td "
                        "class=\"number\">40</td>"));
  EXPECT_THAT(html, HasSubstr("sotto train --epsilon 1 &#39;my data.svm&#39; model.json"));
  EXPECT_THAT(html, HasSubstr(">rich</th>"));
}

TEST(RunPage, ShowsNetworksWithTheirOwnLoss) {
  RunRecord record = sample_record();
  EXPECT_THAT(page_of(record), HasSubstr("<td>loss</td><td>logistic</td>"));
  record.network = "loss = \"softmax\"";
  EXPECT_THAT(page_of(record),
              AllOf(HasSubstr("loss = &quot;softmax&quot;"), Not(HasSubstr("<td>loss</td>"))));
}

TEST(RunPage, ShowsCertificates) {
  RunRecord record = sample_record();
  Certificate certificate;
  certificate.verdict = Certificate::Verdict::kCertified;
  certificate.confidence = 0.95;
  certificate.gradient_tolerance = 0.06;
  certificate.curvature_tolerance = 0.245;
  certificate.gradient_upper = 0.031;
  certificate.curvature_lower = -0.02;
  record.certificate = certificate;
  record.gap = RecordedGap{0.5, 0.1, 0.95};
  EXPECT_THAT(page_of(record),
              AllOf(HasSubstr("(0.06, 0.245)-second-order point: certified"),
                    HasSubstr("at most 0.031"),
                    HasSubstr("0.5 ± 0.1 with 95 % confidence")));
  record.certificate = Certificate{};
  record.certificate->verdict = Certificate::Verdict::kRefused;
  record.certificate->reason = "the budget is spent";
  EXPECT_THAT(page_of(record),
              AllOf(HasSubstr("second-order point: refused"),
                    HasSubstr("the budget is spent"),
                    Not(HasSubstr("smallest curvature"))));
}

TEST(RunPage, CutsLongListsOfEvents) {
  RunRecord record = sample_record();
  std::string events;
  for (int k = 0; k < 100; ++k)
    events += (k ? ", gaussian(" : "gaussian(") + std::to_string(40 + k) + ")";
  record.privacy.events = record.plan = "compose(" + events + ")";
  EXPECT_THAT(page_of(record), HasSubstr("and 88 more kinds"));
}

TEST(RunPage, MakesDoWithoutWhatIsMissing) {
  RunRecord record = sample_record();
  record.spending.clear();
  record.test_curve.clear();
  record.trace.clear();
  record.options.clear();
  record.command.clear();
  record.test = {};
  record.epsilon_lower = {};
  const std::string html = page_of(record);
  EXPECT_THAT(html, HasSubstr("does not tell how the budget was spent over time"));
  EXPECT_THAT(html, HasSubstr("This run released no gradient norms"));
  EXPECT_THAT(html, HasSubstr("was not released: that would cost budget"));
  EXPECT_THAT(html, HasSubstr("No test set was given"));
  EXPECT_THAT(html, HasSubstr("does not hold the command line"));
  EXPECT_THAT(html, HasSubstr("which proves no lower one"));
}

TEST(RunPage, TextsFromRecordsCanNotBreakOut) {
  RunRecord record = sample_record();
  const std::string hostile = "</script><img src=x onerror=alert(1)>";
  record.method = record.privacy.unit = hostile;
  record.warnings = record.command = record.class_names = {hostile, hostile};
  record.options = record.settings = {{hostile, hostile, Origin::kGiven, hostile}};
  record.privacy.events = hostile;
  EXPECT_THAT(page_of(record), Not(HasSubstr("<img")));
  EXPECT_THAT(comparison_page({reported(record, hostile), reported(record, hostile)}),
              Not(HasSubstr("<img")));
}

TEST(ComparisonPage, OverlaysRunsAndAddsTheirBudgets) {
  RunRecord other = sample_record();
  other.method = "dp-sgd";
  other.settings[0].value = "80";
  for (auto& point : other.trace) point.passes /= 2;
  const std::vector<ReportedRun> runs = {reported(sample_record(), "first"),
                                         reported(other, "second")};
  const std::string html = comparison_page(runs);
  EXPECT_THAT(html, HasSubstr("Comparison of 2 runs"));
  EXPECT_THAT(html, HasSubstr("If all 2 used the same data: epsilon 1.837 at delta 2e-5"));
  EXPECT_THAT(html, HasSubstr("it is no guarantee for runs chosen after looking"));
  EXPECT_THAT(html, HasSubstr("<td>steps</td><td>50 (given)</td><td>80 (given)</td>"));
  EXPECT_THAT(html, Not(HasSubstr("<td>momentum</td>"))) << "the same in both";
  const Chart norms = gradient_chart(runs);
  ASSERT_EQ(norms.series.size(), 2u);
  EXPECT_EQ(norms.x_label, "passes over the data");
  EXPECT_EQ(norms.series[1].name, "second");
  EXPECT_EQ(norms.series[1].points.back(), std::make_pair(20.0, 1.0 / 40));
  EXPECT_EQ(budget_chart(runs).series.size(), 2u);
}

TEST(ComparisonPage, DoesNotAddWhatCanNotBeAdded) {
  RunRecord other = sample_record();
  other.privacy.neighbours = Relation::kReplaceOne;
  EXPECT_THAT(comparison_page({reported(sample_record(), "a"), reported(other, "b")}),
              HasSubstr("These guarantees can&#39;t be compared or added"));
  other = sample_record();
  other.privacy.is_private = false;
  const std::string html = comparison_page({reported(sample_record(), "a"), reported(other, "b")});
  EXPECT_THAT(html, HasSubstr("All of these runs together: no guarantee"));
  EXPECT_THAT(html, HasSubstr("The run b used the method"));
}

TEST(ComparisonPage, TellsRunsOfOneNameApart) {
  RunRecord other = sample_record();
  other.method = "dp-sgd";
  EXPECT_THAT(comparison_page({reported(sample_record()), reported(other)}),
              AllOf(HasSubstr("run (dp-gd)"), HasSubstr("run (dp-sgd)")));
  EXPECT_THAT(comparison_page({reported(sample_record()), reported(sample_record())}),
              AllOf(HasSubstr("run (dp-gd) (1)"), HasSubstr("run (dp-gd) (2)")));
}

TEST(ShellCommand, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(shell_command({"train", "--epsilon=1", "a b", "it's", "$HOME", ""}),
            "sotto train --epsilon=1 'a b' 'it'\\''s' '$HOME' ''");
}

}  // namespace
}  // namespace sotto
