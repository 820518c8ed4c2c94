// dp-agd, adp-sgd and rrpsgd: what is particular to them. That they stay within their budget is
// tested for every method in conformance_test.cpp.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sotto/data/table.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/optimizer/registry.hpp"
#include "sotto/oracle/exact_oracle.hpp"
#include "sotto/oracle/private_oracle.hpp"
#include "tests/support/passing_oracle.hpp"
#include "tests/support/recording_oracle.hpp"
#include "tests/support/search_problems.hpp"

namespace sotto {
namespace {

struct Small : testing::Small {
  PublicFacts facts() const {
    PublicFacts facts = testing::Small::facts();
    facts.problem.linear_rows = false;
    facts.single_release_multiplier = 1;
    facts.coin = 0.3;
    return facts;
  }
  OptimizerResult run(const std::string& method, const GivenOptions& options) const {
    return run_with(facts(), method, options);
  }
};

TEST(DpAgd, WithoutNoiseIsExactLineSearchAlongTheGradient) {
  const Small small;
  const auto result =
      small.run("dp-agd", {{"most_steps", "9"}, {"longest_step", "0.5"}, {"candidates", "6"}});
  Vector w = Vector::Zero(3);
  double longest = 0;
  for (int t = 0; t < 9; ++t) {
    const Vector unit = small.gradient(w).normalized();
    double best = 0;
    for (int k = 1; k < 6; ++k)
      if (small.objective(w - 0.1 * k * unit) < small.objective(w - best * unit)) best = 0.1 * k;
    w -= best * unit;
    longest = std::max(longest, best);
  }
  EXPECT_GT(longest, 0.1);
  EXPECT_LE((result.w - w).norm(), 1e-12);
}

TEST(DpAgd, AnswersANullStepByMeasuringMore) {
  const Small small;
  const auto configured =
      (*find_method("dp-agd"))
          ->configure({{"most_steps", "40"}, {"longest_step", "5"}, {"candidates", "3"}},
                      small.facts());
  ASSERT_TRUE(configured);
  ExactOracle exact(small.engine, small.facts().problem, Stream::seeded(1, Purpose::kSampling));
  testing::RecordingOracle oracle(exact);
  NoObserver observer;
  ASSERT_TRUE(configured->optimizer->run(oracle, 1, observer));
  // Steps of 2.5 and 5 soon help no more; each null step adds a measurement with a tenth of the
  // budget.
  std::int64_t null_steps = 0;
  const CanonicalEvent spent = *canonical(oracle.spent());
  double first = 1e300;
  for (const Term& term : spent.terms)
    if (term.mechanism == Term::Mechanism::kGaussian) first = std::min(first, term.parameter);
  for (const Term& term : spent.terms)
    if (term.mechanism == Term::Mechanism::kGaussian && term.parameter > 1.5 * first)
      null_steps += term.count;
  EXPECT_GT(null_steps, 0);
}

/// Answers selections from a list, whatever the losses, and keeps the longest step of each query.
class Scripted final : public testing::PassingOracle {
 public:
  Scripted(Oracle& inner, std::vector<std::int64_t> choices)
      : PassingOracle(inner), choices_(std::move(choices)) {}
  Expected<Released<std::int64_t>> select(const SelectionQuery& query) override {
    longest.push_back((query.candidates.back() - query.candidates.front()).norm());
    SOTTO_ASSIGN(Released<std::int64_t> answer, inner_.select(query));
    return std::move(answer).map([&](std::int64_t) { return choices_.at(longest.size() - 1); });
  }

  std::vector<double> longest;

 private:
  std::vector<std::int64_t> choices_;
};

TEST(DpAgd, SetsTheLongestStepAnewAfterEveryTenMoves) {
  const Small small;
  // Lengths 0, 1, …, 5 at first. Nine moves, then two choices that help nothing, then two moves.
  const std::vector<std::int64_t> choices = {1, 1, 2, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1};
  const auto configured = (*find_method("dp-agd"))
                              ->configure({{"most_steps", std::to_string(choices.size())},
                                           {"longest_step", "5"},
                                           {"candidates", "6"}},
                                          small.facts());
  ASSERT_TRUE(configured);
  ExactOracle exact(small.engine, small.facts().problem, Stream::seeded(1, Purpose::kSampling));
  Scripted oracle(exact, choices);
  NoObserver observer;
  ASSERT_TRUE(configured->optimizer->run(oracle, 1, observer));
  ASSERT_EQ(oracle.longest.size(), choices.size());
  for (std::size_t k = 0; k < 12; ++k) EXPECT_NEAR(oracle.longest[k], 5, 1e-9) << k;
  EXPECT_NEAR(oracle.longest[12], 1.1 * 2, 1e-9) << "1.1 times the longest of the ten moves";
}

TEST(AdpSgd, WithoutNoiseIsDescentWithPolynomialSteps) {
  const Small small;
  const auto result = small.run("adp-sgd",
                                {{"steps", "30"},
                                 {"step_size", "2"},
                                 {"expected_batch", "4"},
                                 {"offset", "5"},
                                 {"slope", "2"}});
  Vector w = Vector::Zero(3);
  for (int t = 0; t < 30; ++t) w -= 2 / std::sqrt(5 + 2.0 * (t + 1)) * small.gradient(w);
  EXPECT_LE((result.w - w).norm(), 1e-12);
}

TEST(AdpSgd, NoiseSquaredFollowsTheSteps) {
  const Small small;
  const auto configured =
      (*find_method("adp-sgd"))
          ->configure({{"steps", "1000"}, {"groups", "10"}, {"expected_batch", "2"}},
                      small.facts());
  const CanonicalEvent plan =
      *canonical(configured->optimizer->plan(small.facts().problem, 3).event);
  ASSERT_EQ(plan.terms.size(), 10u);
  double least = 1e300, most = 0;
  for (const Term& term : plan.terms) {
    EXPECT_EQ(term.count, 100);
    least = std::min(least, term.parameter);
    most = std::max(most, term.parameter);
  }
  // alpha^2 = b = sqrt(20 + t) at the middles of the first and the last group.
  EXPECT_NEAR(most / least, std::pow((20 + 950.0) / (20 + 50.0), 0.25), 1e-12);
}

/// Remembers every step's length.
class StepLengths final : public Observer {
 public:
  bool keep_going(const StepReport& report) override {
    lengths.push_back(report.step_size);
    return true;
  }
  std::vector<double> lengths;
};

TEST(AdpSgd, BetaFallsWithinEveryPeriod) {
  // Without noise b² grows by beta_t |g|², the squared gradient of the loss alone; the weights
  // beta_t = max{beta / ((t mod 3) + 1), 1} are written out.
  const Small small;
  struct Case {
    const char* beta;
    const char* period;
    std::vector<double> weights;
  };
  for (const auto& [beta, period, weights] :
       {Case{"40", "3", {40, 20, 40.0 / 3, 40, 20, 40.0 / 3, 40}},
        Case{"1.5", "3", {1.5, 1, 1, 1.5, 1, 1, 1.5}},
        Case{"0.25", "3", {1, 1, 1, 1, 1, 1, 1}},
        Case{"0.25", "0", {0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25}}}) {
    const auto configured = (*find_method("adp-sgd"))
                                ->configure({{"steps", "7"},
                                             {"step_size", "1"},
                                             {"expected_batch", "4"},
                                             {"clip_radius", "100"},
                                             {"step_rule", "adagrad"},
                                             {"noise", "constant"},
                                             {"offset", "2"},
                                             {"nu", "1e-9"},
                                             {"beta", beta},
                                             {"beta_period", period}},
                                            small.facts());
    ASSERT_TRUE(configured) << configured.error().message;
    ExactOracle oracle(small.engine, small.facts().problem, Stream::seeded(1, Purpose::kSampling));
    StepLengths steps;
    const auto result = configured->optimizer->run(oracle, 0, steps);
    ASSERT_TRUE(result);
    ASSERT_EQ(steps.lengths.size(), weights.size());
    Vector w = Vector::Zero(3);
    double square = 2;
    for (std::size_t t = 0; t < weights.size(); ++t) {
      const Vector g = small.gradient(w);
      square += weights[t] * (g - 0.1 * w).squaredNorm();
      EXPECT_NEAR(steps.lengths[t], 1 / std::sqrt(square), 1e-12) << beta << ", step " << t;
      w -= g / std::sqrt(square);
    }
    EXPECT_LE((result->w - w).norm(), 1e-12);
  }
  EXPECT_EQ(
      (*find_method("adp-sgd"))->configure({{"beta_period", "-1"}}, small.facts()).error().kind,
      ErrorKind::kUsage);
}

TEST(AdpSgd, MatchedNoiseWithAdagradStepsIsThatOfProposition52) {
  // alpha_t² = sqrt(b_0² + t C), fixed beforehand: offset is b_0², slope is C, and one stage per
  // step leaves the schedule as it is printed.
  const Small small;
  const auto configured = (*find_method("adp-sgd"))
                              ->configure({{"steps", "40"},
                                           {"groups", "40"},
                                           {"expected_batch", "2"},
                                           {"step_rule", "adagrad"},
                                           {"offset", "20"},
                                           {"slope", "0.1"}},
                                          small.facts());
  const CanonicalEvent plan =
      *canonical(configured->optimizer->plan(small.facts().problem, 3).event);
  ASSERT_EQ(plan.terms.size(), 40u);
  std::vector<double> multipliers;
  for (const Term& term : plan.terms) multipliers.push_back(term.parameter);
  std::sort(multipliers.begin(), multipliers.end());
  for (std::size_t t = 0; t < multipliers.size(); ++t) {
    const double b_0 = std::sqrt(20.0), b_t = std::sqrt(20 + 0.1 * static_cast<double>(t));
    EXPECT_NEAR(multipliers[t], 3 * std::sqrt(b_t / b_0), 1e-12) << t;
  }
}

TEST(AdpSgd, AdagradReadsTheReleasedGradientAndNothingElse) {
  // Two oracles that give the same answers from different data lead to the same run: the step can't
  // depend on anything that was not released.
  class Fixed final : public testing::PassingOracle {
   public:
    Fixed(Oracle& inner, PublicProblem problem)
        : PassingOracle(inner), problem_(std::move(problem)) {}
    const PublicProblem& problem() const override { return problem_; }
    Expected<Released<Vector>> gradient(const GradientQuery& query) override {
      SOTTO_ASSIGN(Released<Vector> answer, inner_.gradient(query));
      return std::move(answer).map(
          [](const Vector&) -> Vector { return Eigen::Vector3d(0.3, -0.1, 0.2); });
    }

   private:
    PublicProblem problem_;
  };
  const Small one;
  Small other;
  for (float& x : other.rows) x *= -3;
  other.table = TableBuilder::dense(4, 3, other.rows, other.labels, {});
  std::vector<Vector> ends;
  for (const Small* small : std::initializer_list<const Small*>{&one, &other}) {
    const GlmEngine engine(small->table, {});
    const auto configured =
        (*find_method("adp-sgd"))
            ->configure(
                {{"steps", "15"}, {"step_rule", "adagrad"}, {"beta", "50"}, {"beta_period", "4"}},
                one.facts());
    ExactOracle exact(engine, one.facts().problem, Stream::seeded(1, Purpose::kSampling));
    Fixed oracle(exact, one.facts().problem);
    NoObserver observer;
    ends.push_back(configured->optimizer->run(oracle, 0.01, observer)->w);
  }
  EXPECT_EQ(ends[0], ends[1]);
}

TEST(Rrpsgd, DrawsItsStepsFromTheLawOfThePaper) {
  const Small small;
  const auto drawn = [&](double coin, const char* schedule) {
    PublicFacts facts = small.facts();
    facts.coin = coin;
    const auto configured =
        (*find_method("rrpsgd"))
            ->configure({{"steps", "100"}, {"step_size", "0.3"}, {"schedule", schedule}}, facts);
    std::int64_t steps = 0;
    for (const auto& setting : configured->settings)
      if (setting.name == "drawn_steps") steps = std::stoll(setting.value);
    // The plan is for the drawn steps alone.
    const Event plan = configured->optimizer->plan(facts.problem, 2).event;
    EXPECT_EQ(canonical(plan)->terms.at(0).count, steps);
    return steps;
  };
  EXPECT_EQ(drawn(0, "constant"), 1);
  EXPECT_EQ(drawn(0.5, "constant"), 51);
  EXPECT_EQ(drawn(0.999, "constant"), 100);
  // Falling steps: P_R(k) ~ 2 g_k - L g_k^2 with g_k = 0.3 / sqrt(k), L = 2.3^2 / 4 + 0.1.
  const double L = 2.3 * 2.3 / 4 + 0.1;
  const auto weight = [&](int k) { return 2 * 0.3 / std::sqrt(k) - L * 0.09 / k; };
  double total = 0, sum = 0;
  for (int k = 1; k <= 100; ++k) total += weight(k);
  int expected = 0;
  while (sum <= 0.4 * total) sum += weight(++expected);
  EXPECT_EQ(drawn(0.4, "inverse_sqrt"), expected);
}

TEST(Auto, FollowsItsRule) {
  const auto settings = [](std::int64_t n, const GivenOptions& given) {
    PublicFacts facts;
    facts.problem.n = n;
    facts.problem.dimension = 10;
    facts.problem.row_norm = 1;
    facts.single_release_multiplier = 4;
    std::map<std::string, std::string> found;
    const auto configured = (*find_method("auto"))->configure(given, facts);
    for (const auto& setting : configured->settings) found[setting.name] = setting.value;
    return found;
  };
  EXPECT_EQ(settings(1000, {})["chosen_method"], "dp-gd");
  EXPECT_NE(settings(1000, {})["reason"].find("few units"), std::string::npos);
  EXPECT_EQ(settings(1000, {{"most_passes", "20"}})["chosen_method"], "dp-sgd");
  auto many = settings(30'000, {});
  EXPECT_EQ(many["chosen_method"], "dp-sgd");
  EXPECT_NE(many["reason"].find("random batches"), std::string::npos);
  EXPECT_EQ(many["average"], "0.3");
  // Six passes, whatever the horizon.
  EXPECT_NEAR(std::stod(many["steps"]) * std::stod(many["expected_batch"]) / 30'000, 6, 0.5);
}

TEST(Spiderboost, AnchorsAreFullBatchesByDefault) {
  PublicFacts facts;
  facts.problem.n = 32561;
  facts.problem.dimension = 123;
  facts.problem.row_norm = 3.7417;
  facts.single_release_multiplier = 16.3;
  const auto configured = (*find_method("private-spiderboost"))->configure({}, facts);
  std::map<std::string, std::string> found;
  for (const auto& setting : configured->settings) found[setting.name] = setting.value;
  EXPECT_EQ(found["anchor_batch"], "32561");
  EXPECT_NEAR(std::stod(found["steps"]) / std::stod(found["phase"]), 40, 3);
}

}  // namespace
}  // namespace sotto
