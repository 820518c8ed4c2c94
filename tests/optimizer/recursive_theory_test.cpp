#include "sotto/optimizer/first_order/recursive_theory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "sotto/optimizer/registry.hpp"

namespace sotto {
namespace {

using ::testing::HasSubstr;

PublicFacts a9a(Relation relation = Relation::kReplaceOne) {
  PublicFacts facts;
  facts.problem.n = 32561;
  facts.problem.dimension = 123;
  facts.problem.row_norm = 3.7417;
  facts.problem.regularizer = Regularizer(RegularizerKind::kNonconvex, 1e-3);
  facts.problem.relation = relation;
  facts.problem.linear_rows = true;
  facts.single_release_multiplier = 16;
  facts.epsilon = 0.2;
  facts.delta = 1e-5;
  return facts;
}

Expected<ConfiguredMethod> configured(const PublicFacts& facts, GivenOptions options) {
  return (*find_method("dp-srm"))->configure(options, facts);
}

std::string setting(const ConfiguredMethod& method, const std::string& name) {
  for (const Setting& each : method.settings)
    if (each.name == name) return each.value;
  return "";
}

// mpmath's, with 40 digits, straight from the paper's text: a9a, epsilon = 0.2, delta = 1e-5.
constexpr double kSteps = 93.2383370169113;
constexpr double kAccuracy = 0.0671870025238686;
constexpr double kBatch = 321.196006178682;  // b_0 is the same
constexpr double kN0 = 0.173385813910345;
constexpr double kMixture = 0.103562551216519;
constexpr double kCorollaryBatch = 1508.04906831657;

TEST(RecursiveTheory, Theorem54OnA9a) {
  const double R = 3.7417;
  const RecursionFacts facts{32561, 123, 0.2, 1e-5, R, R * R / 4 + 0.002, std::log(2)};
  const TheoryParameters p = theorem_parameters(facts);
  EXPECT_NEAR(p.steps / kSteps, 1, 1e-12);
  EXPECT_NEAR(p.accuracy / kAccuracy, 1, 1e-12);
  EXPECT_NEAR(p.anchor_batch / kBatch, 1, 1e-12);
  EXPECT_NEAR(p.batch / kBatch, 1, 1e-12);
  EXPECT_NEAR(p.n0 / kN0, 1, 1e-12);
  EXPECT_NEAR(p.mixture / kMixture, 1, 1e-12);
  EXPECT_NEAR(corollary_parameters(facts).batch / kCorollaryBatch, 1, 1e-12);
  EXPECT_NEAR(corollary_parameters(facts).anchor_batch / kCorollaryBatch, 1, 1e-12);
}

TEST(RecursiveTheory, GradientComplexityIsTheClaimedOne) {
  for (const double n : {1e3, 1e5, 1e8})
    for (const double G : {0.3, 1.0, 4.0}) {
      const TheoryParameters p = theorem_parameters({n, 70, 0.7, 1e-6, G, 0.4, 2});
      EXPECT_NEAR(p.steps * p.batch * 70 * std::log(1e6) / std::pow(0.7 * n, 2), 1, 1e-12);
      EXPECT_NEAR(p.batch / p.anchor_batch, 1, 1e-12) << "the proof's b_0 = b";
    }
}

TEST(RecursiveTheory, OptionsFollowTheTheoremAndTheAlgorithm) {
  const auto method = configured(a9a(), {{"parameters", "theory"}});
  ASSERT_TRUE(method) << method.error().message;
  const auto is = [&](const char* name, const std::string& value) {
    EXPECT_EQ(setting(*method, name), value) << name;
  };
  is("steps", std::to_string(std::llround(kSteps)));
  is("expected_batch", std::to_string(std::llround(kBatch)));
  is("anchor_batch", std::to_string(std::llround(kBatch)));
  is("sampling", "fixed_size");
  is("step_rule", "theory");
  is("difference_bound", "fixed");
  is("output", "random_before");
  EXPECT_NEAR(std::stod(setting(*method, "accuracy")), kAccuracy, 1e-9);
  EXPECT_NEAR(std::stod(setting(*method, "n0")), kN0, 1e-9);
  EXPECT_NEAR(std::stod(setting(*method, "mixture")), kMixture, 1e-9);
  EXPECT_NEAR(std::stod(setting(*method, "difference_clip")), kAccuracy / kN0, 1e-9);
  // One noise multiplier for the anchor and the pairs: b_0 sigma_0 / G = b sigma / S as printed.
  const Plan plan = method->optimizer->plan(a9a().problem, 3);
  const CanonicalEvent event = *canonical(plan.event);
  std::int64_t releases = 0;
  for (const Term& term : event.terms) {
    EXPECT_NEAR(term.parameter, 3, 1e-12);
    EXPECT_EQ(term.sampling, Term::Sampling::kFixedSize);
    releases += term.count;
  }
  EXPECT_EQ(std::to_string(releases), setting(*method, "drawn_steps"));
}

TEST(RecursiveTheory, SaysWhichConditionsFail) {
  // T is 93 where Corollary 5.3 asks for about 2 million. Theorem 5.4 rests on Theorem 5.1, whose
  // conditions no beta meets here.
  const auto theorem = configured(a9a(), {{"parameters", "theory"}});
  EXPECT_THAT(setting(*theorem, "theory"), HasSubstr("does not apply, it needs Theorem 5.1's"));
  const auto corollary = configured(a9a(), {{"parameters", "corollary"}});
  EXPECT_THAT(setting(*corollary, "theory"), HasSubstr("T >= ln(1/delta)^4"));
  EXPECT_EQ(setting(*corollary, "expected_batch"), std::to_string(std::llround(kCorollaryBatch)));
  PublicFacts few = a9a();
  few.problem.n = 50;
  EXPECT_THAT(setting(*configured(few, {{"parameters", "theory"}}), "theory"),
              HasSubstr("does not apply"));
}

TEST(RecursiveTheory, RefusesWhatItCannotKnow) {
  const auto refused = [](const PublicFacts& facts, const GivenOptions& options) {
    const auto method = configured(facts, options);
    return method ? std::string("accepted") : method.error().message;
  };
  EXPECT_THAT(refused(a9a(Relation::kAddRemove), {{"parameters", "theory"}}),
              HasSubstr("‘sampling poisson’"));
  EXPECT_EQ(refused(a9a(Relation::kAddRemove), {{"parameters", "theory"}, {"sampling", "poisson"}}),
            "accepted");
  PublicFacts noise_given = a9a();
  noise_given.epsilon = 0;
  EXPECT_THAT(refused(noise_given, {{"parameters", "theory"}}), HasSubstr("‘epsilon’"));
  PublicFacts squared = a9a();
  squared.problem.loss = loss_info({LossKind::kSquared});
  EXPECT_THAT(refused(squared, {{"parameters", "theory"}}), HasSubstr("‘clip_radius’"));
  EXPECT_THAT(refused(squared, {{"parameters", "theory"}, {"clip_radius", "1"}}),
              HasSubstr("‘gap’"));
  EXPECT_THAT(refused(squared, {{"step_rule", "theory"}}), HasSubstr("‘gap’"));
  EXPECT_EQ(refused(squared, {{"step_rule", "theory"}, {"n0", "1"}}), "accepted");
}

}  // namespace
}  // namespace sotto
