#include "sotto/study/published/formula.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sotto/privacy/accountant.hpp"

namespace sotto::study {
namespace {

Formula evaluate(std::string_view method, const FormulaInputs& inputs) {
  auto formula = paper_formula(method, inputs);
  EXPECT_TRUE(formula) << formula.error().message;
  return *formula;
}

double real_epsilon(const Formula& formula, double delta, std::string_view accountant = {}) {
  const auto form = *canonical(formula.event);
  const auto* chosen =
      accountant.empty() ? *tightest_accountant(form) : *find_accountant(accountant);
  const auto value = chosen->epsilon_upper(form, delta);
  EXPECT_TRUE(value) << value.error().message;
  return *value;
}

// Numbers below are those of the design notes on the methods (sections 3 and 5), computed there
// independently; they are printed to two or three digits.
constexpr double kTwoDigits = 0.035;
constexpr double kThreeDigits = 0.006;

TEST(Formula, DpSrm) {
  FormulaInputs in;
  in.n = 32561;
  in.batch = 100;
  in.steps = 1303;
  in.epsilon = 0.2;
  in.delta = 1e-5;
  in.relation = Relation::kZeroOut;
  EXPECT_NEAR(evaluate("dp-srm", in).noise_multiplier, 14.1, 0.05);
  EXPECT_NEAR(real_epsilon(evaluate("dp-srm", in), in.delta), 0.021, 0.021 * kTwoDigits);
  in.relation = Relation::kReplaceOne;
  EXPECT_NEAR(real_epsilon(evaluate("dp-srm", in), in.delta), 0.045, 0.045 * kTwoDigits);
  // The paper samples batches of fixed size, which costs nearly the same.
  in.sampling = Sampling::Kind::kFixedSize;
  EXPECT_LT(real_epsilon(evaluate("dp-srm", in), in.delta), 0.055);
}

// By a scan over orders instead of the two closed forms: the lemma's own proof gives far more than
// the formula claims, because the order that the claim needs is outside of its condition.
TEST(Formula, TheLemmaOfDpSrm) {
  const auto scanned = [](double releases, double b, double n, double z, double delta) {
    double best = std::numeric_limits<double>::infinity();
    const double rate = b / n;
    if (z * z < 0.7) return best;
    for (double order = 1.0005; order < 400; order += 0.0005)
      if (order - 1 <= 2 * z * z / 3 * std::log(1 / (rate * order * (1 + z * z))))
        best = std::min(
            best,
            releases * 3.5 * rate * rate * order / (z * z) + std::log(1 / delta) / (order - 1));
    return best;
  };
  for (const double z : {0.5, 0.9, 2.0, 7.068, 30.0})
    for (const std::int64_t b : {10, 100, 3000})
      for (const std::int64_t releases : {1, 1304, 1000000}) {
        const PaperProof proof = lemma_of_wjeg23(releases, b, 32561, z, 1e-5);
        const double expected =
            scanned(static_cast<double>(releases), static_cast<double>(b), 32561, z, 1e-5);
        if (std::isinf(expected))
          EXPECT_TRUE(std::isinf(proof.epsilon) || proof.order < 1.0005 + 1e-9) << z << " " << b;
        else
          EXPECT_NEAR(proof.epsilon / expected, 1, 1e-3) << z << " " << b << " " << releases;
      }
  FormulaInputs in;
  in.n = 32561;
  in.batch = 100;
  in.steps = 1303;
  in.epsilon = 0.2;
  in.delta = 1e-5;
  in.sampling = Sampling::Kind::kFixedSize;
  const Formula formula = evaluate("dp-srm", in);
  ASSERT_TRUE(formula.proof);
  EXPECT_NEAR(formula.proof->needed, 116.1, 0.1);
  EXPECT_LT(formula.proof->order, 6);
  EXPECT_GT(formula.proof->epsilon, 2);
  EXPECT_LT(real_epsilon(formula, in.delta), 0.05);
}

TEST(Formula, DpStr) {
  FormulaInputs in;
  in.n = 581012;
  in.batch = 50000;
  in.steps = 131;
  in.delta = 1.0 / 581012;
  // There with the shift of a replaced record at rate q; Poisson under replace-one is slightly
  // less.
  const double expected[] = {0.17, 0.36, 0.78};
  int i = 0;
  for (const double epsilon : {0.5, 1.0, 2.0}) {
    in.epsilon = epsilon;
    const double value = real_epsilon(evaluate("dp-str", in), in.delta);
    EXPECT_LE(value, expected[i] * (1 + kTwoDigits));
    EXPECT_GE(value, expected[i] * 0.85);
    ++i;
  }
  in.epsilon = 1;
  in.steps = 2000;
  EXPECT_GT(real_epsilon(evaluate("dp-str", in), in.delta), 1.2);  // not private as claimed
}

TEST(Formula, AdpSgd) {
  FormulaInputs in;
  in.n = 50000;
  in.batch = 256;
  in.steps = 11700;
  in.delta = 1e-5;
  in.relation = Relation::kZeroOut;
  const double multipliers[] = {8.50, 5.66, 4.25, 2.12, 1.06};
  const double epsilons[] = {0.215, 0.336, 0.464, 1.042, 2.81};
  int i = 0;
  for (const double epsilon : {0.8, 1.2, 1.6, 3.2, 6.4}) {
    in.epsilon = epsilon;
    const Formula formula = evaluate("adp-sgd", in);
    EXPECT_NEAR(formula.noise_multiplier, multipliers[i], 0.006);
    EXPECT_NEAR(real_epsilon(formula, in.delta), epsilons[i], epsilons[i] * kThreeDigits);
    ++i;
  }
}

TEST(Formula, DpFwL1) {
  FormulaInputs in;
  in.n = 10000;
  in.steps = 200;
  in.delta = 1e-3;
  const double expected[] = {0.0072, 0.064, 0.33, 0.97};
  int i = 0;
  for (const double epsilon : {0.1, 0.5, 2.0, 5.0}) {
    in.epsilon = epsilon;
    EXPECT_NEAR(real_epsilon(evaluate("dp-fw-l1", in), in.delta, "zcdp"),
                expected[i],
                expected[i] * kTwoDigits);
    ++i;
  }
}

TEST(Formula, DpPgdPrintsRhoSquared) {
  FormulaInputs in;
  in.n = 10000;
  in.steps = 200;
  in.delta = 1e-3;
  const double inflation[] = {52.8, 10.7, 2.8, 1.22};
  int i = 0;
  for (const double epsilon : {0.1, 0.5, 2.0, 5.0}) {
    in.epsilon = epsilon;
    // dp-tr's formula is right for 2 T releases; for T it would be 1/sqrt(2) of it.
    const double correct = evaluate("dp-tr", in).noise / std::sqrt(2);
    EXPECT_NEAR(evaluate("dp-pgd", in).noise / correct / inflation[i], 1, 0.01);
    ++i;
  }
  in.epsilon = 8;  // rho > 1: less noise than epsilon needs
  EXPECT_GT(real_epsilon(evaluate("dp-pgd", in), in.delta),
            real_epsilon(evaluate("dp-tr", in), in.delta));
}

TEST(Formula, DpGdWithConstantsOfOneOverspends) {
  FormulaInputs in;
  in.n = 495141;
  in.steps = 1000;
  in.epsilon = 1;
  in.delta = 1.0 / 495141;
  EXPECT_NEAR(real_epsilon(evaluate("dp-gd", in), in.delta), 1.14, 0.005);
}

TEST(Formula, DpTrAndOptKeepTheirPromise) {
  FormulaInputs in;
  in.n = 495141;
  in.steps = 421;
  in.epsilon = 1;
  in.delta = 1.0 / 495141;
  EXPECT_LT(real_epsilon(evaluate("dp-tr", in), in.delta), 1);
  EXPECT_LT(real_epsilon(evaluate("opt", in), in.delta), 1);
  in.line_search = true;
  EXPECT_LT(real_epsilon(evaluate("opt", in), in.delta), 1);
}

TEST(Formula, RrpsgdOnOnePassOfManyRecords) {
  FormulaInputs in;
  in.n = 32561;
  in.steps = std::int64_t{32561} * 32561;
  in.epsilon = 0.5;
  in.delta = 1e-5;
  const Formula formula = evaluate("rrpsgd", in);
  EXPECT_NEAR(formula.noise, std::sqrt(32 * std::log(32561 / 1e-5) * std::log(1e5)) / 0.5, 1e-9);
  EXPECT_LT(real_epsilon(formula, in.delta), 0.5);
}

TEST(Formula, EveryMethodExplainsItself) {
  FormulaInputs in;
  in.n = 1000;
  in.batch = 100;
  in.steps = 10;
  in.epsilon = 1;
  in.delta = 1e-5;
  for (const std::string_view method : formula_methods()) {
    const Formula formula = evaluate(method, in);
    EXPECT_FALSE(formula.source.empty());
    EXPECT_FALSE(formula.trap.empty());
    EXPECT_GT(formula.noise, 0);
    EXPECT_TRUE(formula.event.check()) << method;
  }
  EXPECT_EQ(formula_methods().size(), 9u);
}

TEST(Formula, RefusesBadInputs) {
  FormulaInputs good;
  good.n = 1000;
  good.batch = 100;
  good.steps = 10;
  good.epsilon = 1;
  good.delta = 1e-5;
  EXPECT_THAT(paper_formula("dp-x", good).error().message, testing::HasSubstr("dp-srm"));
  auto in = good;
  in.batch = 0;
  EXPECT_THAT(paper_formula("dp-srm", in).error().message, testing::HasSubstr("batch must be"));
  EXPECT_TRUE(paper_formula("dp-gd", in));
  in = good;
  in.delta = 0;
  EXPECT_FALSE(paper_formula("dp-gd", in));
  in = good;
  in.steps = 0;
  EXPECT_FALSE(paper_formula("dp-gd", in));
  in = good;
  in.epsilon = std::nan("");
  EXPECT_FALSE(paper_formula("dp-gd", in));
}

}  // namespace
}  // namespace sotto::study
