#include "sotto/privacy/accountant/zcdp.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sotto/privacy/accountant/gaussian.hpp"
#include "tests/support/golden.hpp"

namespace sotto {
namespace {

CanonicalEvent zcdp_form(std::string_view text) {
  return *canonical(*parse_event(text, Relation::kZeroOut));
}

TEST(Zcdp, MatchesHighPrecision) {
  for (const auto& row : testing_support::golden_rows("full_batch")) {
    const double found = zcdp_epsilon(row["rho"], row["delta"]);
    EXPECT_NEAR(found, row["zcdp"].get<double>(), 1e-9 * row["zcdp"].get<double>()) << row;
    EXPECT_GE(found, row["epsilon"].get<double>() * (1 - 1e-9)) << row;
    EXPECT_LE(found, row["bun_steinke"].get<double>()) << row;
  }
}

TEST(Zcdp, RhoAddsUp) {
  const auto event = zcdp_form("compose(repeat(8, gaussian(2)), exponential(2), sparse_vector(2))");
  // 8 / 8 + 4 / 8 + 4 / 2
  EXPECT_NEAR(zcdp_accountant().epsilon(event, 1e-6)->upper, zcdp_epsilon(3.5, 1e-6), 1e-12);
  EXPECT_NEAR(zcdp_rho(zcdp_form("laplace(4)").terms[0]), 1.0 / 32, 1e-16);
}

TEST(Zcdp, PureDpIsNeverBeaten) {
  EXPECT_EQ(zcdp_accountant().epsilon(zcdp_form("sparse_vector(0.1)"), 1e-12)->upper, 0.1);
  EXPECT_EQ(zcdp_accountant().epsilon(zcdp_form("sparse_vector(0.1)"), 0)->upper, 0.1);
  EXPECT_EQ(zcdp_accountant().delta(zcdp_form("laplace(1)"), 1)->upper, 0);
  EXPECT_GT(zcdp_accountant().delta(zcdp_form("laplace(1)"), 0.99)->upper, 0);
}

TEST(Zcdp, EpsilonAndDeltaAgree) {
  for (const double rho : {1e-6, 0.01, 1.0, 100.0}) {
    const double epsilon = zcdp_epsilon(rho, 1e-7);
    EXPECT_NEAR(zcdp_log_delta(rho, epsilon), std::log(1e-7), 1e-6) << rho;
  }
}

TEST(Zcdp, AnswersTheEdges) {
  EXPECT_EQ(zcdp_accountant().epsilon(zcdp_form("compose()"), 0)->upper, 0);
  EXPECT_TRUE(std::isinf(zcdp_accountant().epsilon(zcdp_form("non_private"), 0.1)->upper));
  EXPECT_TRUE(std::isinf(zcdp_accountant().epsilon(zcdp_form("gaussian(1)"), 0)->upper));
  EXPECT_EQ(zcdp_accountant().delta(zcdp_form("non_private"), 1)->upper, 1);
  for (const char* text : {"gaussian(0.1)", "repeat(1e9, gaussian(0.1))", "gaussian(1e12)"}) {
    for (const double delta : {1e-300, 0.5}) {
      const double value = zcdp_accountant().epsilon(zcdp_form(text), delta)->upper;
      EXPECT_GE(value, gaussian_accountant().epsilon(zcdp_form(text), delta)->lower)
          << text << delta;
      EXPECT_TRUE(std::isfinite(value));
    }
  }
}

TEST(Zcdp, RefusesSampling) {
  const auto answer = zcdp_accountant().epsilon(zcdp_form("poisson(0.1, gaussian(1))"), 1e-6);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, ::testing::HasSubstr("not amplified by sampling"));
  EXPECT_THAT(answer.error().message, ::testing::HasSubstr("Use rdp or pld"));
}

}  // namespace
}  // namespace sotto
