#include "sotto/privacy/calibrate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sotto/privacy/accountant/gaussian.hpp"

namespace sotto {
namespace {

constexpr Relation kZero = Relation::kZeroOut;
constexpr double kTight = 1e-6;

EventFamily steps(std::int64_t count) {
  return [count](double z) { return Event::repeat(count, Event::gaussian(z, kZero)); };
}

double epsilon_of(const Event& event, double delta) {
  const auto form = *canonical(event);
  return *(*tightest_accountant(form))->epsilon_upper(form, delta);
}

TEST(Calibrate, FindsTheNoiseOfTheExactFormula) {
  for (const double epsilon : {1e-4, 0.1, 1.0, 8.0, 1e3}) {
    for (const double delta : {1e-300, 1e-10, 1e-5, 1e-2}) {
      for (const std::int64_t count : {std::int64_t{1}, std::int64_t{1'000'000'000}}) {
        const auto z = calibrate_noise(steps(count), {epsilon, delta});
        ASSERT_TRUE(z) << z.error().message;
        const double exact =
            std::sqrt(static_cast<double>(count)) / gaussian_largest_mu(epsilon, delta);
        EXPECT_GE(*z / exact, 1 - 1e-10);
        EXPECT_LE(*z / exact, 1 + 1.1 * kTight) << epsilon << ' ' << delta << ' ' << count;
        EXPECT_LE(epsilon_of(steps(count)(*z), delta), epsilon);
      }
    }
  }
}

TEST(Calibrate, NeedsFewCalls) {
  int calls = 0;
  const auto counting = [&](double z) {
    ++calls;
    return steps(1000)(z);
  };
  ASSERT_TRUE(calibrate_noise(counting, {0.7, 1e-6}));
  EXPECT_LE(calls, 14);
}

TEST(Calibrate, TargetOutOfReachIsABudgetError) {
  const auto fixed_part = calibrate_noise(
      [](double z) {
        return Event::compose({Event::gaussian(z, kZero), Event::gaussian(1, kZero)});
      },
      {0.5, 1e-6});
  ASSERT_FALSE(fixed_part);
  EXPECT_EQ(fixed_part.error().kind, ErrorKind::kBudget);
  EXPECT_THAT(fixed_part.error().message, testing::HasSubstr("already cost epsilon"));
  const auto no_delta = calibrate_noise(steps(1), {1, 0});
  ASSERT_FALSE(no_delta);
  EXPECT_EQ(no_delta.error().kind, ErrorKind::kBudget);
  const auto leak = calibrate_noise([](double) { return Event::non_private(kZero); }, {1, 1e-6});
  ASSERT_FALSE(leak);
  EXPECT_EQ(leak.error().kind, ErrorKind::kBudget);
}

TEST(Calibrate, RefusesBadTargets) {
  for (const Target target : {Target{0, 1e-6},
                              Target{-1, 1e-6},
                              Target{std::nan(""), 1e-6},
                              Target{std::numeric_limits<double>::infinity(), 1e-6},
                              Target{1, 1},
                              Target{1, -1}}) {
    const auto z = calibrate_noise(steps(1), target);
    ASSERT_FALSE(z);
    EXPECT_EQ(z.error().kind, ErrorKind::kUsage);
  }
}

TEST(Calibrate, PassesOnTheFamilysErrors) {
  EXPECT_FALSE(calibrate_noise([](double) { return Event::gaussian(-1, kZero); }, {1, 1e-6}));
  EXPECT_FALSE(calibrate_noise(
      [](double z) { return Event::laplace(z, kZero); }, {1, 1e-6}, &gaussian_accountant()));
}

TEST(Calibrate, CountIsTheLargestThatFits) {
  const Target target{1, 1e-5};
  const auto family = [](std::int64_t count) {
    return Event::repeat(count, Event::gaussian(100, kZero));
  };
  const auto count = calibrate_count(family, 0, 1'000'000'000, target);
  ASSERT_TRUE(count);
  EXPECT_LE(epsilon_of(family(*count), target.delta), target.epsilon);
  EXPECT_GT(epsilon_of(family(*count + 1), target.delta), target.epsilon);
  EXPECT_EQ(*calibrate_count(family, 1, 10, target), 10);
  const auto none = calibrate_count(family, 100'000, 200'000, target);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kBudget);
}

TEST(Calibrate, ParameterInEitherDirection) {
  const Target target{1, 1e-5};
  const double mu = gaussian_largest_mu(1, 1e-5);
  const auto z = calibrate_parameter(steps(1), 0.01, 100, Privacy::kGrowsWithParameter, target);
  ASSERT_TRUE(z);
  EXPECT_NEAR(*z * mu, 1, 1.1 * kTight);
  const auto inverse = calibrate_parameter([](double x) { return Event::gaussian(1 / x, kZero); },
                                           0.01,
                                           100,
                                           Privacy::kShrinksWithParameter,
                                           target);
  ASSERT_TRUE(inverse);
  EXPECT_NEAR(*inverse / mu, 1, 1.1 * kTight);
  EXPECT_EQ(*calibrate_parameter(steps(1), 50, 100, Privacy::kGrowsWithParameter, target), 50);
  EXPECT_FALSE(calibrate_parameter(steps(1), 0.1, 1, Privacy::kGrowsWithParameter, target));
}

}  // namespace
}  // namespace sotto
