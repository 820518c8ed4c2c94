#include "sotto/study/published/formula.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

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

/// A claimed epsilon, and what is expected of it.
using Pairs = std::vector<std::pair<double, double>>;

TEST(Formula, DpSrm) {
  FormulaInputs in{.n = 32561,
                   .steps = 1303,
                   .epsilon = 0.2,
                   .delta = 1e-5,
                   .batch = 100,
                   .relation = Relation::kZeroOut};
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
  FormulaInputs in{.n = 32561,
                   .steps = 1303,
                   .epsilon = 0.2,
                   .delta = 1e-5,
                   .batch = 100,
                   .sampling = Sampling::Kind::kFixedSize};
  const Formula formula = evaluate("dp-srm", in);
  ASSERT_TRUE(formula.proof);
  EXPECT_NEAR(formula.proof->needed, 116.1, 0.1);
  EXPECT_LT(formula.proof->order, 6);
  EXPECT_GT(formula.proof->epsilon, 2);
  EXPECT_LT(real_epsilon(formula, in.delta), 0.05);
}

TEST(Formula, DpStr) {
  FormulaInputs in{.n = 581012, .steps = 131, .delta = 1.0 / 581012, .batch = 50000};
  // There with the shift of a replaced record at rate q; Poisson under replace-one is slightly
  // less.
  for (const auto& [epsilon, expected] : Pairs{{0.5, 0.17}, {1, 0.36}, {2, 0.78}}) {
    in.epsilon = epsilon;
    const double value = real_epsilon(evaluate("dp-str", in), in.delta);
    EXPECT_LE(value, expected * (1 + kTwoDigits));
    EXPECT_GE(value, expected * 0.85);
  }
  in.epsilon = 1;
  in.steps = 2000;
  EXPECT_GT(real_epsilon(evaluate("dp-str", in), in.delta), 1.2);  // not private as claimed
}

TEST(Formula, AdpSgd) {
  FormulaInputs in{
      .n = 50000, .steps = 11700, .delta = 1e-5, .batch = 256, .relation = Relation::kZeroOut};
  struct Case {
    double claimed, multiplier, real;
  };
  for (const auto& [claimed, multiplier, real] : {Case{0.8, 8.50, 0.215},
                                                  {1.2, 5.66, 0.336},
                                                  {1.6, 4.25, 0.464},
                                                  {3.2, 2.12, 1.042},
                                                  {6.4, 1.06, 2.81}}) {
    in.epsilon = claimed;
    const Formula formula = evaluate("adp-sgd", in);
    EXPECT_NEAR(formula.noise_multiplier, multiplier, 0.006);
    EXPECT_NEAR(real_epsilon(formula, in.delta), real, real * kThreeDigits);
  }
}

TEST(Formula, DpFwL1) {
  FormulaInputs in{.n = 10000, .steps = 200, .delta = 1e-3};
  for (const auto& [epsilon, expected] : Pairs{{0.1, 0.0072}, {0.5, 0.064}, {2, 0.33}, {5, 0.97}}) {
    in.epsilon = epsilon;
    EXPECT_NEAR(
        real_epsilon(evaluate("dp-fw-l1", in), in.delta, "zcdp"), expected, expected * kTwoDigits);
  }
}

TEST(Formula, DpPgdPrintsRhoSquared) {
  FormulaInputs in{.n = 10000, .steps = 200, .delta = 1e-3};
  for (const auto& [epsilon, inflation] : Pairs{{0.1, 52.8}, {0.5, 10.7}, {2, 2.8}, {5, 1.22}}) {
    in.epsilon = epsilon;
    // dp-tr's formula is right for 2 T releases; for T it would be 1/sqrt(2) of it.
    const double correct = evaluate("dp-tr", in).noise / std::sqrt(2);
    EXPECT_NEAR(evaluate("dp-pgd", in).noise / correct / inflation, 1, 0.01);
  }
  in.epsilon = 8;  // rho > 1: less noise than epsilon needs
  EXPECT_GT(real_epsilon(evaluate("dp-pgd", in), in.delta),
            real_epsilon(evaluate("dp-tr", in), in.delta));
}

TEST(Formula, DpGdWithConstantsOfOneOverspends) {
  FormulaInputs in{.n = 495141, .steps = 1000, .epsilon = 1, .delta = 1.0 / 495141};
  EXPECT_NEAR(real_epsilon(evaluate("dp-gd", in), in.delta), 1.14, 0.005);
}

TEST(Formula, DpTrAndOptKeepTheirPromise) {
  FormulaInputs in{.n = 495141, .steps = 421, .epsilon = 1, .delta = 1.0 / 495141};
  EXPECT_LT(real_epsilon(evaluate("dp-tr", in), in.delta), 1);
  EXPECT_LT(real_epsilon(evaluate("opt", in), in.delta), 1);
  in.line_search = true;
  EXPECT_LT(real_epsilon(evaluate("opt", in), in.delta), 1);
}

TEST(Formula, RrpsgdOnOnePassOfManyRecords) {
  FormulaInputs in{.n = 32561, .steps = std::int64_t{32561} * 32561, .epsilon = 0.5, .delta = 1e-5};
  const Formula formula = evaluate("rrpsgd", in);
  EXPECT_NEAR(formula.noise, std::sqrt(32 * std::log(32561 / 1e-5) * std::log(1e5)) / 0.5, 1e-9);
  EXPECT_LT(real_epsilon(formula, in.delta), 0.5);
}

TEST(Formula, EveryMethodExplainsItself) {
  FormulaInputs in{.n = 1000, .steps = 10, .epsilon = 1, .delta = 1e-5, .batch = 100};
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
  FormulaInputs good{.n = 1000, .steps = 10, .epsilon = 1, .delta = 1e-5, .batch = 100};
  EXPECT_THAT(paper_formula("dp-x", good).error().message, testing::HasSubstr("dp-srm"));
  const auto with = [&](auto field, auto value) {
    FormulaInputs in = good;
    in.*field = value;
    return in;
  };
  const FormulaInputs no_batch = with(&FormulaInputs::batch, 0);
  EXPECT_THAT(paper_formula("dp-srm", no_batch).error().message,
              testing::HasSubstr("batch must be"));
  EXPECT_TRUE(paper_formula("dp-gd", no_batch));
  EXPECT_FALSE(paper_formula("dp-gd", with(&FormulaInputs::delta, 0)));
  EXPECT_FALSE(paper_formula("dp-gd", with(&FormulaInputs::steps, 0)));
  EXPECT_FALSE(paper_formula("dp-gd", with(&FormulaInputs::epsilon, std::nan(""))));
}

}  // namespace
}  // namespace sotto::study
