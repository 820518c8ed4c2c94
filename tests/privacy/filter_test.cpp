#include "sotto/privacy/filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

constexpr Target kTarget{1, 1e-6};

Event parse(std::string_view text) { return *parse_event(text, Relation::kZeroOut); }

// The last prefix that a filter grants is within the target by its accountant, and the next step is
// beyond it (up to what splitting delta costs).
int steps_granted(Filter& filter, const Event& event) {
  int count = 0;
  while (filter.try_spend(event)) ++count;
  return count;
}

TEST(Filter, GaussianLosesNothing) {
  const auto filter = *make_filter("gaussian", kTarget);
  const Event step = parse("gaussian(60)");
  const int granted = steps_granted(*filter, step);
  const auto exact = *calibrate_count(
      [&](std::int64_t count) { return Event::repeat(count, step); }, 0, 1'000'000, kTarget);
  EXPECT_EQ(granted, exact);
  EXPECT_GT(granted, 100);
}

TEST(Filter, GaussianAddsMuSquaredOfDifferentNoise) {
  const auto filter = *make_filter("gaussian", kTarget);
  ASSERT_TRUE(filter->try_spend(parse("gaussian(10)")));
  const double after_one = filter->spent();
  ASSERT_TRUE(filter->try_spend(parse("repeat(4, gaussian(20))")));
  EXPECT_NEAR(filter->spent(), 2 * after_one, 1e-12);
  EXPECT_NEAR(filter->remaining(), 1 - filter->spent(), 1e-15);
}

TEST(Filter, ZcdpStopsWithinItsAccountant) {
  const auto filter = *make_filter("zcdp", kTarget);
  const Event step = parse("compose(gaussian(60), exponential(0.01))");
  const int granted = steps_granted(*filter, step);
  const auto count = *calibrate_count([&](std::int64_t n) { return Event::repeat(n, step); },
                                      0,
                                      1'000'000,
                                      kTarget,
                                      *find_accountant("zcdp"));
  EXPECT_EQ(granted, count);
}

TEST(Filter, RdpStopsWithinItsAccountantAndNotMuchEarlier) {
  const auto filter = *make_filter("rdp", kTarget);
  const Event step = parse("poisson(0.01, gaussian(2))");
  const int granted = steps_granted(*filter, step);
  const auto count = *calibrate_count([&](std::int64_t n) { return Event::repeat(n, step); },
                                      0,
                                      1'000'000,
                                      kTarget,
                                      *find_accountant("rdp"));
  EXPECT_LE(granted, count);
  EXPECT_GE(granted, 0.6 * static_cast<double>(count));
  // One well-chosen order loses only what the order loses.
  const auto single = *make_rdp_filter(kTarget, {22});
  EXPECT_GT(steps_granted(*single, step), granted);
  EXPECT_LE(steps_granted(**make_rdp_filter(kTarget, {22}), step), count);
}

TEST(Filter, RefusalChangesNothing) {
  for (const char* name : {"gaussian", "zcdp", "rdp"}) {
    const auto filter = *make_filter(name, kTarget);
    EXPECT_EQ(filter->name(), name);
    ASSERT_TRUE(filter->try_spend(parse("gaussian(10)"))) << name;
    const double before = filter->spent();
    EXPECT_GT(before, 0);
    for (const char* text : {"gaussian(0.1)", "non_private", "repeat(1e9, gaussian(10))"}) {
      const auto refused = filter->try_spend(parse(text));
      ASSERT_FALSE(refused) << name << text;
      EXPECT_EQ(refused.error().kind, ErrorKind::kBudget);
      EXPECT_EQ(filter->spent(), before);
    }
    EXPECT_FALSE(filter->try_spend(Event::gaussian(-1, Relation::kZeroOut)));
    EXPECT_TRUE(filter->try_spend(parse("gaussian(20)"))) << name;
  }
  EXPECT_EQ((*make_filter("gaussian", kTarget))->try_spend(parse("laplace(9)")).error().kind,
            ErrorKind::kUsage);
  EXPECT_EQ(
      (*make_filter("zcdp", kTarget))->try_spend(parse("poisson(0.1, gaussian(9))")).error().kind,
      ErrorKind::kUsage);
}

TEST(Filter, PldIsRefusedWithTheReason) {
  const auto filter = make_filter("pld", kTarget);
  ASSERT_FALSE(filter);
  EXPECT_THAT(filter.error().message, testing::HasSubstr("fixed in advance"));
  EXPECT_FALSE(make_filter("nothing", kTarget));
}

TEST(Filter, ChecksItsTarget) {
  EXPECT_FALSE(make_filter("gaussian", {0, 1e-6}));
  EXPECT_FALSE(make_filter("zcdp", {1, 0}));
  EXPECT_FALSE(make_rdp_filter(kTarget, {1}));
  const auto tiny = make_rdp_filter({0.01, 1e-9}, {2, 3});
  ASSERT_FALSE(tiny);
  EXPECT_EQ(tiny.error().kind, ErrorKind::kBudget);
}

}  // namespace
}  // namespace sotto
