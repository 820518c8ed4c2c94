#include "sotto/privacy/budget.hpp"

#include <gtest/gtest.h>

#include "sotto/privacy/calibrate.hpp"

namespace sotto {
namespace {

/// A plan that calibration fits to a budget is reported within it, whatever its samplers cost.
TEST(EpsilonWithSamples, StaysWithinTheBudgetThatWasCalibratedFor) {
  constexpr std::int64_t kSamples = 7630 * 123;
  const Target budget{0.8, 1e-5};
  const auto family = [](double z) {
    return Event::repeat(7630,
                         Event::poisson(256 / 32561.0, Event::gaussian(z, Relation::kZeroOut)));
  };
  const Target ideal = *ideal_target(budget, kSamples);
  ASSERT_LT(ideal.delta, budget.delta);
  const double z = *calibrate_noise(family, ideal, nullptr);
  const auto plan = canonical(family(z));
  ASSERT_TRUE(plan);
  const Accountant& accountant = **tightest_accountant(*plan);
  const double epsilon = *epsilon_with_samples(*plan, kSamples, budget.delta, accountant);
  EXPECT_LE(epsilon, budget.epsilon);
  EXPECT_GT(epsilon, budget.epsilon * (1 - 1e-5));
  // The samplers' distance from their ideal law is in it.
  EXPECT_GT(epsilon, *accountant.epsilon_upper(*plan, budget.delta));
}

/// A large network at a large epsilon: the samplers take a twentieth of delta, and the price must
/// still not end above the budget that it was calibrated for.
TEST(Budget, AlsoWhereTheSamplersTakeALargePartOfDelta) {
  constexpr std::int64_t kSamples = 200'000'000;
  const Target budget{8, 1e-5};
  const auto ideal = ideal_target(budget, kSamples);
  ASSERT_TRUE(ideal);
  EXPECT_LT(ideal->delta, 0.96 * budget.delta);
  for (const double rate : {1.0, 0.08192}) {
    const auto family = [rate](double z) {
      return Event::repeat(366, Event::poisson(rate, Event::gaussian(z, Relation::kZeroOut)));
    };
    const auto z = calibrate_noise(family, *ideal, nullptr);
    ASSERT_TRUE(z) << z.error().message;
    const auto plan = canonical(family(*z));
    ASSERT_TRUE(plan);
    const Accountant& accountant = **tightest_accountant(*plan);
    const double epsilon = *epsilon_with_samples(*plan, kSamples, budget.delta, accountant);
    EXPECT_LE(epsilon, budget.epsilon);
    EXPECT_GT(epsilon, budget.epsilon * (1 - 1e-5));
  }
}

}  // namespace
}  // namespace sotto
