// Many kinds of releases in one event: in time, and still bounds.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "sotto/privacy/accountant/gaussian.hpp"
#include "sotto/privacy/accountant/kinds.hpp"
#include "sotto/privacy/accountant/pld.hpp"
#include "sotto/privacy/accountant/rdp.hpp"
#include "sotto/privacy/accountant/rdp_conversion.hpp"
#include "tests/support/accountant_fuzz.hpp"
#include "tests/support/processor_time.hpp"

namespace sotto {
namespace {

using testing_support::expect_answers;

constexpr double kDelta = 1e-5;

Interval pld(const Event& event) {
  return pld_accountant().epsilon(canonical(event).value(), kDelta).value();
}

using Kind = Event (*)(double share, Relation relation);

/// Strength and rate grow together with `share` in [0, 1].
const std::vector<std::pair<Kind, Relation>>& families() {
  static const std::vector<std::pair<Kind, Relation>> all = {
      {[](double x, Relation r) {
         return Event::poisson(0.01 * (1 + x), Event::gaussian(2 - x, r));
       },
       Relation::kZeroOut},
      {[](double x, Relation r) {
         return Event::poisson(0.01 * (1 + x), Event::gaussian(2 - x, r));
       },
       Relation::kReplaceOne},
      {[](double x, Relation r) {
         const auto batch = static_cast<std::int64_t>(std::lround(1000 * (1 + x)));
         return Event::fixed_size(batch, 100000, Event::gaussian(2 - x, r));
       },
       Relation::kZeroOut},
      {[](double x, Relation r) { return Event::laplace(40 - 20 * x, r); }, Relation::kZeroOut},
      {[](double x, Relation r) { return Event::exponential(0.02 * (1 + x), r); },
       Relation::kZeroOut},
      {[](double x, Relation r) {
         return Event::poisson(0.1 + 0.1 * x, Event::sparse_vector(0.1 * (1 + x), r));
       },
       Relation::kZeroOut}};
  return all;
}

// 100 kinds are merged; pairs of them, moved down or up by hand to 50 kinds, are not.
TEST(PldKinds, MergedKindsBoundWhatIsReleased) {
  constexpr int kKinds = 100;
  for (std::size_t f = 0; f < families().size(); ++f) {
    const auto& [kind, relation] = families()[f];
    std::vector<Event> all, smaller, larger;
    for (int i = 0; i < kKinds; ++i) {
      const auto one = [&](int k) {
        return Event::repeat(20, kind(static_cast<double>(k) / kKinds, relation));
      };
      all.push_back(one(i));
      smaller.push_back(one(i - i % 2));
      larger.push_back(one(i - i % 2 + 1));
    }
    const Interval found = pld(Event::compose(all));
    const Interval below = pld(Event::compose(smaller));
    const Interval above = pld(Event::compose(larger));
    EXPECT_GE(found.upper, below.lower) << f;
    EXPECT_LE(found.lower, above.upper) << f;
    EXPECT_GE(found.upper, found.lower) << f;
    EXPECT_LE(found.upper, above.upper * 1.05) << f << ": little is lost";
    EXPECT_GE(found.lower, below.lower * 0.9) << f;
  }
}

TEST(PldKinds, ManyKindsAnswerInTime) {
  // How much wider the interval may be for it.
  const std::vector<std::pair<int, double>> cases = {{100, 1.03}, {300, 1.06}, {2000, 1.15}};
  for (const auto& [kinds, ratio] : cases) {
    std::vector<Event> parts;
    for (int i = 0; i < kinds; ++i)
      parts.push_back(Event::repeat(
          1000,
          Event::poisson(0.01 + i * 1e-5, Event::gaussian(1 + 0.01 * i, Relation::kZeroOut))));
    const auto form = canonical(Event::compose(parts)).value();
    const testing_support::ProcessorTime time;
    const auto found = pld_accountant().epsilon(form, kDelta);
    EXPECT_LE(time.seconds(), 2) << kinds;
    ASSERT_TRUE(found);
    EXPECT_GT(found->lower, 0);
    EXPECT_LE(found->upper, ratio * found->lower) << kinds;
    EXPECT_LE(found->upper, rdp_accountant().epsilon_upper(form, kDelta).value()) << kinds;
  }
}

/// `kinds` different releases of a family that the Renyi accountant supports.
CanonicalEvent many(const std::pair<Kind, Relation>& family, int kinds) {
  std::vector<Event> parts;
  for (int i = 0; i < kinds; ++i) parts.push_back(family.first((i + 0.5) / kinds, family.second));
  return canonical(Event::compose(parts)).value();
}

/// The best of many orders, each with every term on its own.
double renyi_of_each(const CanonicalEvent& event) {
  std::vector<double> orders;
  for (double beta = 0.1; beta < 1000; beta *= 1.02) orders.push_back(1 + beta);
  const std::vector<double> curve = renyi_curve(event, orders);
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < orders.size(); ++i)
    best = std::min(best, internal::epsilon_at_order(orders[i] - 1, curve[i], kDelta));
  return best;
}

/// Releases, and their strengths added up.
std::pair<long double, long double> weight_of(const std::vector<Term>& terms) {
  long double releases = 0, strengths = 0;
  for (const Term& term : terms) {
    releases += static_cast<long double>(term.count);
    strengths += static_cast<long double>(term.count) * static_cast<long double>(strength(term));
  }
  return {releases, strengths};
}

// A bound from above that loses releases is none: those that a count can't hold, too.
TEST(Kinds, CountsBeyondTheLargestAreNotLost) {
  struct Case {
    int kinds;
    std::int64_t count;
  };
  constexpr std::size_t kMost = 64;
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  // Of the last ones no two fit into one count.
  for (const Case& each :
       {Case{20'000, std::int64_t{1} << 50}, Case{300, std::int64_t{1} << 60}, Case{200, kLargest}})
    for (const double spread : {1e-9, 1.0, 1e6}) {
      std::vector<Term> terms;
      for (int i = 0; i < each.kinds; ++i) {
        Term term;
        term.sampling = Term::Sampling::kPoisson;
        term.rate = 0.01;
        term.parameter = 1 + spread * i / each.kinds;
        term.count = each.count;
        terms.push_back(term);
      }
      const auto [releases, strengths] = weight_of(terms);
      ASSERT_GT(releases, static_cast<long double>(kLargest));
      const std::vector<Term> above = few_kinds(terms, kMost, KindsFrom::kAbove);
      const std::vector<Term> below = few_kinds(terms, kMost, KindsFrom::kBelow);
      EXPECT_GE(weight_of(above).first, releases) << each.kinds << ' ' << spread;
      EXPECT_GE(weight_of(above).second, strengths * (1 - 1e-15L)) << each.kinds << ' ' << spread;
      EXPECT_LE(weight_of(below).first, releases) << each.kinds << ' ' << spread;
      EXPECT_LE(weight_of(below).second, strengths * (1 + 1e-15L)) << each.kinds << ' ' << spread;
      EXPECT_LE(above.size(), each.count < kLargest ? kMost : terms.size()) << "and still few";
    }
}

TEST(RdpKinds, ManyCostNoLessThanEachOnItsOwn) {
  for (const auto& family : families()) {
    const CanonicalEvent event = many(family, 200);
    if (!rdp_accountant().supports(event)) continue;
    const double each = renyi_of_each(event);
    const double all = rdp_accountant().epsilon_upper(event, kDelta).value();
    EXPECT_GE(all, 0.9999 * each);
    EXPECT_LE(all, 1.1 * each) << "and not much more";
  }
}

TEST(RdpKinds, ManyAnswerInTime) {
  for (const auto& family : families())
    for (const int kinds : {2000, 20000}) {
      const CanonicalEvent event = many(family, kinds);
      if (!rdp_accountant().supports(event)) continue;
      const testing_support::ProcessorTime time;
      EXPECT_TRUE(rdp_accountant().epsilon_upper(event, kDelta));
      EXPECT_LE(time.seconds(), 2) << kinds;
    }
}

// They are one Gaussian, but finding that out took a time that grew with their square.
TEST(PldKinds, ManyFullBatchesAnswerInTime) {
  std::vector<Event> parts;
  for (int k = 1; k <= 20'000; ++k) parts.push_back(Event::gaussian(k, Relation::kZeroOut));
  const CanonicalEvent event = canonical(Event::compose(parts)).value();
  const testing_support::ProcessorTime time;
  const auto found = pld_accountant().epsilon(event, kDelta);
  EXPECT_LE(time.seconds(), 2);
  ASSERT_TRUE(found);
  EXPECT_GE(found->upper, gaussian_accountant().epsilon(event, kDelta)->lower);
}

TEST(PldKinds, HopelessEventsAnswerInTime) {
  std::vector<Event> parts;
  for (int i = 0; i < 64; ++i)
    parts.push_back(Event::repeat(
        static_cast<std::int64_t>(std::pow(10, 5 + i % 5)),
        Event::fixed_size(
            37 * i % 999 + 1, 1000, Event::gaussian(1 + 0.4 * i, Relation::kZeroOut))));
  expect_answers(Event::compose(parts), 1e-4, 1);
}

TEST(PldKinds, LargeLatticesOfTwoKindsAnswerInTime) {
  const auto event = parse_event(
                         "compose(repeat(3700315, fixed_size(16652, 315280, "
                         "gaussian(0.13867837710928888))), repeat(1, poisson(0.15980582710558947, "
                         "sparse_vector(4.252213559082396))))",
                         Relation::kZeroOut)
                         .value();
  expect_answers(event, kDelta, 1.2372428942549252);
}

}  // namespace
}  // namespace sotto
