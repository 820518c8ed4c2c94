#include "sotto/privacy/accountant/gaussian.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/golden.hpp"

namespace sotto {
namespace {

using testing_support::golden_rows;

constexpr double kExact = 1e-9;

CanonicalEvent gaussians(double noise_multiplier, std::int64_t count) {
  return *canonical(Event::repeat(count, Event::gaussian(noise_multiplier, Relation::kReplaceOne)));
}

TEST(Gaussian, MatchesHighPrecision) {
  const auto rows = golden_rows("gaussian");
  ASSERT_EQ(rows.size(), 54u);
  for (const auto& row : rows) {
    const double epsilon = row["epsilon"];
    const double delta = row["delta"];
    const GaussianEpsilon answer = gaussian_epsilon(row["mu"], delta);
    EXPECT_NEAR(answer.value, epsilon, 1e-13 * epsilon + 1e-15) << row;
    EXPECT_LE(std::abs(answer.value - epsilon), answer.width + 2e-16 * epsilon) << row;
    // Near delta(0), where epsilon is 0, only the absolute error is small.
    EXPECT_LT(answer.width, 1e-13 * epsilon + 1e-14) << row;
    // log delta of a rounded epsilon: conditioned by how fast delta falls.
    const double slope = epsilon + std::abs(std::log(delta)) * 100;
    EXPECT_NEAR(gaussian_log_delta(row["mu"], epsilon), std::log(delta), 1e-14 * slope) << row;
    EXPECT_NEAR(gaussian_largest_mu(epsilon, delta) / double{row["mu"]}, 1, 1e-12) << row;
  }
}

TEST(Gaussian, CompositionsMatchHighPrecision) {
  for (const auto& row : golden_rows("full_batch")) {
    const auto answer =
        gaussian_accountant().epsilon(gaussians(row["z"], row["steps"]), row["delta"]);
    ASSERT_TRUE(answer);
    const double exact = row["epsilon"];
    EXPECT_NEAR(answer->upper, exact, kExact * exact) << row;
    EXPECT_NEAR(answer->lower, exact, kExact * exact) << row;
  }
}

TEST(Gaussian, ComposesThroughMuSquared) {
  const auto mixed = *canonical(*parse_event(
      "compose(repeat(9, gaussian(3)), gaussian(0.5), gaussian(inf))", Relation::kZeroOut));
  EXPECT_NEAR(gaussian_mu(mixed), std::sqrt(1 + 4), 1e-15);
}

TEST(Gaussian, AnswersTheEdges) {
  const Accountant& accountant = gaussian_accountant();
  EXPECT_EQ(accountant.epsilon(gaussians(1, 0), 0)->upper, 0);
  EXPECT_EQ(accountant.delta(gaussians(1, 0), 0)->upper, 0);
  EXPECT_TRUE(std::isinf(accountant.epsilon(gaussians(1, 1), 0)->lower));
  EXPECT_TRUE(std::isinf(accountant.epsilon(gaussians(0, 1), 0.1)->lower));
  EXPECT_EQ(accountant.delta(gaussians(0, 1), 1e9)->lower, 1);
  EXPECT_EQ(accountant.delta(gaussians(1, 1), std::numeric_limits<double>::infinity())->lower, 0);
  // delta(0) = 2 Phi(mu/2) - 1 = erf(mu / sqrt 8).
  EXPECT_EQ(accountant.epsilon(gaussians(1, 1), std::erf(1 / std::sqrt(8)) * 1.0001)->upper, 0);
  EXPECT_GT(accountant.epsilon(gaussians(1, 1), std::erf(1 / std::sqrt(8)) * 0.9999)->lower, 0);
  EXPECT_NEAR(accountant.delta(gaussians(1, 1), 0)->upper, std::erf(1 / std::sqrt(8)), 1e-11);
  for (const double z : {1e-12, 0.1, 1.0, 1e3, 1e12}) {
    for (const std::int64_t steps : {std::int64_t{1}, std::int64_t{1'000'000'000}}) {
      for (const double delta : {1e-300, 1e-6, 0.5, 0.999}) {
        const auto answer = accountant.epsilon(gaussians(z, steps), delta);
        ASSERT_TRUE(answer);
        EXPECT_LE(0, answer->lower);
        EXPECT_LE(answer->lower, answer->upper) << z << ' ' << steps << ' ' << delta;
      }
      for (const double epsilon : {0.0, 1e-4, 1.0, 1e3}) {
        const auto answer = accountant.delta(gaussians(z, steps), epsilon);
        ASSERT_TRUE(answer);
        EXPECT_LE(0, answer->lower);
        EXPECT_LE(answer->lower, answer->upper);
        EXPECT_LE(answer->upper, 1);
      }
    }
  }
}

TEST(Gaussian, RefusesWhatIsNotItsOwn) {
  const auto refusal = [](std::string_view text) {
    const auto event = *canonical(*parse_event(text, Relation::kZeroOut));
    const auto answer = gaussian_accountant().epsilon(event, 1e-6);
    EXPECT_FALSE(answer) << text;
    return answer ? std::string() : answer.error().message;
  };
  EXPECT_THAT(refusal("poisson(0.1, gaussian(1))"),
              testing::HasSubstr("poisson(0.1, gaussian(1))"));
  EXPECT_THAT(refusal("laplace(1)"), testing::HasSubstr("laplace(1) under zero-out"));
  EXPECT_FALSE(gaussian_accountant().epsilon(gaussians(1, 1), 1));
  EXPECT_FALSE(gaussian_accountant().epsilon(gaussians(1, 1), std::nan("")));
  EXPECT_FALSE(gaussian_accountant().delta(gaussians(1, 1), -1));
}

}  // namespace
}  // namespace sotto
