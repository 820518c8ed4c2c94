// What every registered method must do, whatever it is. A new method is covered by being
// registered; options that change what it asks get a line in kVariants.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "sotto/optimizer/registry.hpp"
#include "sotto/oracle/exact_oracle.hpp"
#include "sotto/oracle/private_oracle.hpp"
#include "sotto/privacy/filter.hpp"
#include "sotto/privacy/ledger.hpp"
#include "tests/support/recording_oracle.hpp"
#include "tests/support/small_glm.hpp"
#include "tests/support/toy_engine.hpp"

namespace sotto {
namespace {

using testing::FixedGradients;
using testing::RecordingOracle;

const std::map<std::string, std::vector<GivenOptions>> kVariants = {
    {"dp-gd",
     {{},
      {{"steps", "7"}},
      {{"momentum", "0"}, {"average", "0.5"}, {"schedule", "cosine"}},
      {{"output", "random"}, {"steps", "20"}},
      {{"output", "best"}, {"steps", "20"}},
      {{"output", "average"}, {"clip_rule", "glm"}}}},
    {"gd", {{}, {{"steps", "7"}}}},
    {"dp-sgd",
     {{},
      {{"steps", "9"}, {"expected_batch", "10"}},
      {{"epochs", "2"}, {"expected_batch", "20"}},
      {{"update", "adam"}, {"steps", "9"}},
      {{"update", "adam_bc"}, {"steps", "9"}, {"expected_batch", "10"}},
      {{"clip_quantile", "0.5"}, {"steps", "9"}, {"expected_batch", "10"}},
      {{"sampling", "fixed_size"}, {"expected_batch", "10"}, {"steps", "5"}},
      {{"clip_rule", "glm"}, {"expected_batch", "10"}, {"steps", "5"}}}},
    {"sgd", {{}, {{"steps", "9"}}}},
    {"dp-srm",
     {{},
      {{"steps", "9"}, {"expected_batch", "60"}, {"clipping", "together"}},
      {{"step_rule", "theory"}, {"anchor_batch", "30"}, {"difference_bound", "fixed"}},
      {{"mixture", "1"}, {"steps", "9"}, {"expected_batch", "10"}},
      {{"output", "random"}, {"steps", "20"}},
      {{"output", "best"}, {"steps", "20"}, {"candidates", "3"}},
      {{"sampling", "fixed_size"}, {"expected_batch", "10"}, {"anchor_batch", "20"}},
      {{"parameters", "theory"}, {"sampling", "poisson"}, {"steps", "12"}},
      {{"parameters", "corollary"}, {"sampling", "poisson"}, {"drawn_steps", "9"}, {"steps", "9"}},
      {{"sampling", "fixed_size"}, {"clip_rule", "glm"}, {"expected_batch", "10"}, {"steps", "9"}},
      {{"clip_rule", "glm"}, {"steps", "9"}},
      {{"clip_rule", "glm"}, {"steps", "9"}, {"clipping", "together"}}}},
    {"private-spiderboost",
     {{},
      {{"steps", "11"}, {"phase", "4"}, {"expected_batch", "60"}},
      {{"phase", "1"}, {"steps", "5"}},
      {{"sampling", "fixed_size"}, {"phase", "3"}, {"steps", "9"}, {"expected_batch", "10"}},
      {{"clip_rule", "glm"}, {"steps", "9"}, {"phase", "3"}},
      {{"output", "random"}, {"steps", "20"}}}},
    {"storm", {{}, {{"steps", "9"}}}},
    {"rrpsgd",
     {{},
      {{"steps", "20"}, {"expected_batch", "1"}},
      {{"steps", "20"}, {"expected_batch", "1"}, {"sampling", "fixed_size"}},
      {{"schedule", "inverse_sqrt"}, {"steps", "30"}},
      {{"clip_rule", "glm"}, {"steps", "20"}}}},
    {"dp-agd",
     {{},
      {{"splits", "5"}, {"candidates", "3"}},
      {{"splits", "5"}, {"candidates", "3"}, {"clip_rule", "glm"}}}},
    {"adp-sgd",
     {{},
      {{"steps", "9"}, {"groups", "3"}},
      {{"step_rule", "adagrad"}, {"steps", "12"}},
      {{"noise", "adaptive"}, {"steps", "12"}},
      {{"noise", "adaptive"},
       {"step_rule", "adagrad"},
       {"expected_batch", "10"},
       {"first_multiplier", "3"}},
      {{"noise", "constant"}, {"steps", "12"}},
      {{"noise", "constant"}, {"steps", "12"}, {"step_rule", "adagrad"}},
      {{"step_rule", "adagrad"},
       {"steps", "12"},
       {"slope", "0.1"},
       {"beta", "512"},
       {"beta_period", "5"}},
      {{"sampling", "fixed_size"}, {"expected_batch", "10"}, {"steps", "9"}, {"groups", "3"}},
      {{"sampling", "fixed_size"},
       {"noise", "adaptive"},
       {"expected_batch", "10"},
       {"steps", "12"},
       {"first_multiplier", "6"}},
      {{"clip_rule", "glm"}, {"steps", "12"}, {"step_rule", "adagrad"}},
      {{"clip_rule", "glm"}, {"steps", "12"}, {"noise", "adaptive"}}}},
    {"auto", {{}, {{"most_passes", "8"}}}},
    // Coarse noise, and a tolerance that the toy's gradients never meet.
    {"dp-tr",
     {{{"gradient_tolerance", "0.2"}, {"precision", "3"}},
      {{"gradient_tolerance", "0.2"}, {"precision", "3"}, {"curvature_floor", "off"}},
      {{"gradient_tolerance", "0.2"},
       {"precision", "3"},
       {"curvature_floor", "off"},
       {"curvature_tolerance", "50"},
       {"solver", "lanczos"}},
      {{"gradient_tolerance", "0.2"}, {"precision", "3"}, {"init", "normal"}}}},
    {"dp-tr-b",
     {{{"gradient_tolerance", "0.2"}, {"precision", "3"}, {"expected_batch", "20"}},
      {{"gradient_tolerance", "0.2"},
       {"precision", "3"},
       {"expected_batch", "20"},
       {"sampling", "fixed_size"}}}},
    {"dp-str",
     {{{"gradient_tolerance", "0.2"}, {"precision", "3"}, {"expected_batch", "30"}},
      {{"gradient_tolerance", "0.2"},
       {"precision", "3"},
       {"expected_batch", "30"},
       {"sampling", "fixed_size"}}}},
    {"tr", {{{"gradient_tolerance", "0.2"}, {"precision", "3"}}}},
    {"opt",
     {{{"gradient_tolerance", "0.2"}, {"precision", "3"}},
      {{"gradient_tolerance", "0.2"}, {"precision", "3"}, {"gap", "2"}},
      {{"gradient_tolerance", "0.2"},
       {"precision", "3"},
       {"curvature_floor", "off"},
       {"curvature_tolerance", "50"},
       {"solver", "lanczos"}},
      {{"gradient_tolerance", "0.2"}, {"precision", "3"}, {"curvature_floor", "off"}}}},
    {"opt-b",
     {{{"gradient_tolerance", "0.2"}, {"precision", "3"}, {"expected_batch", "20"}},
      {{"gradient_tolerance", "0.2"},
       {"precision", "3"},
       {"expected_batch", "20"},
       {"curvature_floor", "off"},
       {"curvature_tolerance", "50"},
       {"solver", "lanczos"}},
      {{"gradient_tolerance", "0.2"},
       {"precision", "3"},
       {"expected_batch", "20"},
       {"sampling", "fixed_size"}}}},
    {"opt-ls",
     {{{"gradient_tolerance", "0.2"}, {"precision", "3"}},
      {{"gradient_tolerance", "0.2"}, {"precision", "3"}, {"line_search", "sparse_vector"}}}},
    {"2opt", {{{"gradient_tolerance", "0.2"}, {"precision", "3"}}}},
    {"2opt-b", {{{"gradient_tolerance", "0.2"}, {"precision", "3"}, {"expected_batch", "20"}}}},
    {"2opt-ls", {{{"gradient_tolerance", "0.2"}, {"precision", "3"}, {"candidates", "3"}}}},
    {"dp-gd-sosp", {{{"gradient_tolerance", "0.2"}, {"precision", "3"}}}},
    {"dp-newton",
     {{},
      {{"steps", "3"}, {"growth", "2"}, {"memory", "1"}},
      {{"init", "normal"}, {"steps", "4"}}}},
    {"newton", {{}, {{"steps", "5"}}}},
    {"dp-pgd",
     {{},
      {{"steps", "9"}, {"output", "random"}},
      {{"steps", "9"}, {"output", "random_before"}, {"start", "random"}},
      {{"steps", "9"}, {"output", "best"}, {"certificate_share", "0.2"}}}},
    {"dp-pmd", {{}, {{"mirror", "entropy"}, {"steps", "9"}}, {{"mirror", "euclidean"}}}},
    {"dp-fw-l2",
     {{}, {{"steps", "9"}, {"output", "average"}}, {{"certificate_share", "0.1"}, {"steps", "5"}}}},
    {"dp-fw-l1",
     {{},
      {{"selection", "exponential"}, {"steps", "9"}},
      {{"selection", "noisy_max"}, {"steps", "9"}},
      {{"selection", "exponential"}, {"output", "random"}, {"steps", "20"}},
      {{"selection", "exponential"}, {"output", "random_before"}, {"steps", "20"}},
      {{"selection", "exponential"}, {"output", "average"}, {"step_rule", "harmonic"}},
      {{"selection", "exponential"}, {"certificate_share", "0.1"}, {"steps", "5"}}}},
};

struct Case {
  std::string method;
  GivenOptions options;
};

const FixedGradients& toy() {
  static const FixedGradients engine(std::vector<std::vector<double>>(60, {0.3, -0.2, 0.1}));
  return engine;
}

PublicFacts facts_for(const Case& test, Relation relation) {
  const MethodInfo& method = **find_method(test.method);
  PublicProblem problem;
  problem.n = std::int64_t{toy().units()};
  problem.dimension = toy().parameters();
  problem.row_norm = 1;
  problem.relation = relation;
  problem.linear_rows = true;
  if (method.constraints) problem.constraint = l1_ball(1);
  return {problem, method.is_private ? 4.0 : 0.0, 0.7, {}, 1, 1e-5};
}

class Conformance : public ::testing::TestWithParam<Case> {
 protected:
  PublicFacts facts(Relation relation) const { return facts_for(GetParam(), relation); }

  ConfiguredMethod configured(Relation relation) const {
    auto method = (*find_method(GetParam().method))->configure(GetParam().options, facts(relation));
    EXPECT_TRUE(method) << method.error().message;
    return *std::move(method);
  }

  /// The number of units, which is secret under add-remove, is public for them.
  bool draws_so_many() const {
    const auto& options = GetParam().options;
    return std::find(options.begin(),
                     options.end(),
                     GivenOptions::value_type{"sampling", "fixed_size"}) != options.end();
  }

  const FixedGradients& engine_ = toy();
};

/// Of methods whose plan has a price; under a filter none is known before the run.
class PlannedPrice : public Conformance {};

/// Counts by term of `spent` that `plan` does not have.
std::int64_t not_covered(const Event& plan, const Event& spent) {
  std::map<std::string, std::int64_t> left;
  const CanonicalEvent planned = *canonical(plan);
  for (const Term& term : planned.terms) left[to_string(term)] += term.count;
  std::int64_t missing = 0;
  const CanonicalEvent asked = *canonical(spent);
  for (const Term& term : asked.terms)
    missing += std::max<std::int64_t>(0, term.count - left[to_string(term)]);
  return missing;
}

/// A method with a filter: the filter, not a plan, must cover what the run spends, and the end of
/// the budget must end the run with a model.
void run_with_filter(const Engine& engine,
                     const PublicProblem& problem,
                     const Optimizer& optimizer) {
  const Target budget{1, 1e-5};
  const Plan plan = optimizer.plan(problem, 1);
  LedgerOptions granted;
  granted.budget = budget;
  granted.filter = plan.filter;
  granted.relation = problem.relation;
  granted.planned_samples = plan.noise_samples;
  auto ledger = Ledger::open(granted);
  ASSERT_TRUE(ledger) << ledger.error().message;
  PrivateOracle oracle(engine,
                       problem,
                       *ledger,
                       Stream::seeded(1, Purpose::kSampling),
                       Stream::seeded(2, Purpose::kNoise));
  NoObserver observer;
  const auto result = optimizer.run(oracle, 1, observer);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->w.allFinite());
  EXPECT_GT(result->steps, 0);
  EXPECT_TRUE(result->stopped == StopReason::kBudgetSpent ||
              result->stopped == StopReason::kPlanComplete ||
              result->stopped == StopReason::kPointFound);
  auto filter = make_filter(plan.filter, budget);
  ASSERT_TRUE(filter);
  EXPECT_TRUE((*filter)->try_spend(to_event(ledger->spent()))) << "more than the budget was spent";
}

TEST_P(Conformance, ThePlanCoversWhatTheRunSpends) {
  for (const Relation relation :
       {Relation::kZeroOut, Relation::kReplaceOne, Relation::kAddRemove}) {
    if (relation == Relation::kAddRemove && draws_so_many()) {
      const auto refused =
          (*find_method(GetParam().method))->configure(GetParam().options, facts(relation));
      ASSERT_FALSE(refused);
      EXPECT_THAT(refused.error().message,
                  ::testing::AllOf(::testing::HasSubstr("‘sampling fixed_size’"),
                                   ::testing::HasSubstr("‘sampling poisson’"),
                                   ::testing::HasSubstr("replace-one")));
      continue;
    }
    const auto method = configured(relation);
    if (!method.optimizer->plan(facts(relation).problem, 3.5).filter.empty()) {
      PublicProblem problem = facts(relation).problem;
      problem.linear_rows = false;  // the toy engine is no linear model
      run_with_filter(engine_, problem, *method.optimizer);
      continue;
    }
    ExactOracle exact(
        engine_, facts(relation).problem, Stream::seeded(1, Purpose::kSampling), /*clips=*/true);
    RecordingOracle oracle(exact);
    NoObserver observer;
    const auto result = method.optimizer->run(oracle, 3.5, observer);
    ASSERT_TRUE(result) << result.error().message;
    const Plan plan = method.optimizer->plan(facts(relation).problem, 3.5);
    EXPECT_EQ(not_covered(plan.event, oracle.spent()), 0);
    EXPECT_LE(oracle.samples(), plan.noise_samples);
    EXPECT_TRUE(result->w.allFinite());
    EXPECT_EQ(result->stopped, StopReason::kPlanComplete);
  }
}

TEST_P(Conformance, AnEarlyStopSpendsNoMoreAndGivesAModel) {
  class StopAtThree : public Observer {
    bool keep_going(const StepReport& report) override { return report.step < 3; }
  } observer;
  const auto method = configured(Relation::kZeroOut);
  ExactOracle exact(
      engine_, facts(Relation::kZeroOut).problem, Stream::seeded(1, Purpose::kSampling));
  RecordingOracle oracle(exact);
  const auto result = method.optimizer->run(oracle, 3.5, observer);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->steps, 3);
  EXPECT_EQ(result->w.size(), 3);
  const Plan plan = method.optimizer->plan(facts(Relation::kZeroOut).problem, 3.5);
  // A filter has no plan that could cover it.
  if (plan.filter.empty()) {
    EXPECT_EQ(not_covered(plan.event, oracle.spent()), 0);
  }
}

TEST_P(Conformance, ShowsItsStateOnceSoThatItsRunsCanBeContinued) {
  class Counts : public Observer {
   public:
    Expected<void> begin(Archived) override {
      ++begun;
      return {};
    }
    bool keep_going(const StepReport&) override { return false; }
    int begun = 0;
  } observer;
  const auto method = configured(Relation::kZeroOut);
  ExactOracle oracle(
      engine_, facts(Relation::kZeroOut).problem, Stream::seeded(1, Purpose::kSampling));
  ASSERT_TRUE(method.optimizer->run(oracle, 3.5, observer));
  EXPECT_EQ(observer.begun, 1);
}

TEST_P(PlannedPrice, MoreNoiseIsNeverLessPrivate) {
  const auto method = configured(Relation::kZeroOut);
  const auto problem = facts(Relation::kZeroOut).problem;
  ASSERT_EQ(method.optimizer->plan(problem, 4).filter, "");
  const auto more = *canonical(method.optimizer->plan(problem, 4).event);
  const auto less = *canonical(method.optimizer->plan(problem, 2).event);
  ASSERT_EQ(more.terms.size(), less.terms.size());
  for (std::size_t k = 0; k < more.terms.size(); ++k)
    if (more.terms[k].mechanism == Term::Mechanism::kExponential ||
        more.terms[k].mechanism == Term::Mechanism::kSparseVector)  // the parameter is an epsilon
      EXPECT_LE(more.terms[k].parameter, less.terms[k].parameter);
    else
      EXPECT_GE(more.terms[k].parameter, less.terms[k].parameter);
}

TEST_P(Conformance, EverySettingHasAValueAndAnOrigin) {
  const auto method = configured(Relation::kZeroOut);
  const auto& infos = (*find_method(GetParam().method))->options;
  ASSERT_GE(method.settings.size(), infos.size());
  for (const auto& setting : method.settings) {
    EXPECT_FALSE(setting.value.empty()) << setting.name;
    EXPECT_FALSE(to_string(setting.origin).empty()) << setting.name;
  }
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& method : methods()) {
    const auto found = kVariants.find(method.name);
    if (found == kVariants.end()) {
      cases.push_back({method.name, {}});
      continue;
    }
    for (const auto& options : found->second) cases.push_back({method.name, options});
  }
  return cases;
}

/// A case that can't be configured stays: its test says why.
std::vector<Case> planned_cases() {
  std::vector<Case> cases = all_cases();
  std::erase_if(cases, [](const Case& test) {
    const PublicFacts facts = facts_for(test, Relation::kZeroOut);
    const auto method = (*find_method(test.method))->configure(test.options, facts);
    return method && !method->optimizer->plan(facts.problem, 4).filter.empty();
  });
  return cases;
}

std::string name_of(const ::testing::TestParamInfo<Case>& test) {
  std::string name = test.param.method + "_" + std::to_string(test.index);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(AllMethods, Conformance, ::testing::ValuesIn(all_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(AllMethods, PlannedPrice, ::testing::ValuesIn(planned_cases()), name_of);

/// Where a run ends on a linear model, with the plan or filter that it asks for.
Expected<Vector> end_of_run(const std::string& method, const char* rule, Relation relation) {
  const testing::SmallGlm small(LossKind::kLogistic, 15);
  const PublicFacts facts = small.facts(relation);
  SOTTO_ASSIGN(const ConfiguredMethod configured,
               (*find_method(method))->configure({{"clip_rule", rule}}, facts));
  const Plan plan = configured.optimizer->plan(facts.problem, 3.5);
  LedgerOptions granted;
  granted.relation = relation;
  granted.planned_samples = plan.noise_samples;
  granted.budget.delta = 1e-5;
  if (plan.filter.empty()) {
    granted.plan = plan.event;
  } else {
    granted.budget.epsilon = 3;
    granted.filter = plan.filter;
  }
  SOTTO_ASSIGN(Ledger ledger, Ledger::open(granted));
  PrivateOracle oracle(small.engine(),
                       facts.problem,
                       ledger,
                       Stream::seeded(1, Purpose::kSampling),
                       Stream::seeded(2, Purpose::kNoise));
  NoObserver observer;
  SOTTO_ASSIGN(const OptimizerResult result, configured.optimizer->run(oracle, 3.5, observer));
  return result.w;
}

// auto runs one of these; second-order methods use the rule wherever it holds, without an option.
TEST(Conformance, EveryFirstOrderMethodHasTheGlmRuleUnderEveryRelation) {
  for (const char* name :
       {"dp-gd", "dp-sgd", "rrpsgd", "dp-agd", "dp-srm", "private-spiderboost", "adp-sgd"}) {
    const MethodInfo& method = **find_method(name);
    for (const Relation relation :
         {Relation::kZeroOut, Relation::kReplaceOne, Relation::kAddRemove}) {
      const auto glm = end_of_run(method.name, "glm", relation);
      ASSERT_TRUE(glm) << method.name << ": " << glm.error().message;
      EXPECT_TRUE(glm->allFinite()) << method.name;
      const auto flat = end_of_run(method.name, "flat", relation);
      ASSERT_TRUE(flat) << method.name << ": " << flat.error().message;
      EXPECT_NE(*glm, *flat) << method.name << ": the rule changes the noise";
    }
    PublicFacts facts = testing::SmallGlm(LossKind::kLogistic).facts();
    facts.problem.linear_rows = false;
    const auto refused = method.configure({{"clip_rule", "glm"}}, facts);
    ASSERT_FALSE(refused) << method.name;
    EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  }
}

TEST(Conformance, CoverageCanFail) {
  const Event step = Event::gaussian(3, Relation::kZeroOut);
  EXPECT_EQ(not_covered(Event::repeat(5, step), Event::repeat(6, step)), 1);
  EXPECT_EQ(not_covered(Event::repeat(5, step), Event::gaussian(2.9, Relation::kZeroOut)), 1);
}

TEST(Registry, UnknownMethodsAndOptionsAreUsageErrors) {
  const auto method = find_method("dp-magic");
  ASSERT_FALSE(method);
  EXPECT_EQ(method.error().kind, ErrorKind::kUsage);
  EXPECT_NE(method.error().message.find("dp-gd"), std::string::npos) << "lists what there is";
  PublicFacts facts;
  facts.problem.n = 100;
  facts.problem.dimension = 2;
  facts.problem.row_norm = 1;
  for (const GivenOptions& bad : std::vector<GivenOptions>{{{"expected_batch", "10"}},
                                                           {{"steps", "0"}},
                                                           {{"steps", "many"}},
                                                           {{"momentum", "1"}},
                                                           {{"momentum", "nan"}},
                                                           {{"clip_radius", "-1"}},
                                                           {{"step_size", "inf"}},
                                                           {{"schedule", "square"}},
                                                           {{"average", "2"}}}) {
    const auto configured = (*find_method("dp-gd"))->configure(bad, facts);
    ASSERT_FALSE(configured) << bad[0].first << " " << bad[0].second;
    EXPECT_EQ(configured.error().kind, ErrorKind::kUsage);
  }
}

}  // namespace
}  // namespace sotto
