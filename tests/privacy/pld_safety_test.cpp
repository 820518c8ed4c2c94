// The upper bound must never be below the truth, also where the truth sits at the very end of a
// law's support, where one part dwarfs the others, and where numbers leave the range of doubles.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "sotto/privacy/accountant/gaussian.hpp"
#include "sotto/privacy/accountant/pld.hpp"

namespace sotto {
namespace {

constexpr Relation kSafety = Relation::kZeroOut;
constexpr double kDeltas[] = {0.1, 1e-2, 1e-4, 1e-6, 1e-9, 1e-12, 1e-15};
constexpr double kStrengths[] = {0.01, 0.1, 0.5, 1, 3, 10};

/// Exact epsilons of single releases, by inverting their closed-form delta(epsilon).
double laplace_epsilon(double e0, double delta) {  // delta = 1 - e^{(a - e0)/2}
  return std::max(0.0, e0 + 2 * std::log1p(-delta));
}
double selection_epsilon(double e0,
                         double delta) {  // delta = (e^{e0/2} - e^{a/2})^2 / (e^{e0} - 1)
  const double root = std::exp(e0 / 2) - std::sqrt(delta * std::expm1(e0));
  return root <= 1 ? 0 : 2 * std::log(root);
}
double pure_epsilon(double e0, double delta) {  // delta = (e^{e0} - e^a) / (1 + e^{e0})
  const double power = std::exp(e0) - delta * (1 + std::exp(e0));
  return power <= 1 ? 0 : std::log(power);
}

Interval epsilon_of(const Event& event, double delta) {
  const auto interval = pld_accountant().epsilon(*canonical(event), delta);
  EXPECT_TRUE(interval);
  return *interval;
}

void expect_contains(const Interval& interval, double exact, const std::string& what) {
  constexpr double kRounding = 1e-12;
  EXPECT_GE(interval.upper, exact * (1 - kRounding)) << what;
  EXPECT_LE(interval.lower, exact * (1 + kRounding)) << what;
  EXPECT_LE(interval.upper, std::max(exact * 1.001, exact + 1e-4)) << what;
}

TEST(PldSafety, SingleReleasesAtEveryDelta) {
  for (const double e0 : kStrengths)
    for (const double delta : kDeltas) {
      const std::string at = " " + std::to_string(e0) + " at delta " + std::to_string(delta);
      expect_contains(epsilon_of(Event::laplace(1 / e0, kSafety), delta),
                      laplace_epsilon(e0, delta),
                      "laplace" + at);
      expect_contains(epsilon_of(Event::exponential(e0, kSafety), delta),
                      selection_epsilon(e0, delta),
                      "exponential" + at);
      expect_contains(epsilon_of(Event::sparse_vector(e0, kSafety), delta),
                      pure_epsilon(e0, delta),
                      "sparse_vector" + at);
    }
}

TEST(PldSafety, ACompositionCostsAtLeastAsMuchAsEachPart) {
  std::mt19937_64 random(7);
  const auto pick = [&](int count) {
    return static_cast<int>(random() % static_cast<unsigned>(count));
  };
  for (int round = 0; round < 300; ++round) {
    const double delta = kDeltas[pick(7)];
    double least = 0;
    std::vector<Event> parts;
    for (int k = 1 + pick(3); k >= 0; --k) {
      const double e0 = kStrengths[pick(6)];
      switch (pick(4)) {
        case 0: {
          const double z =
              std::pow(10.0, pick(6) - 1);  // 0.1 … 1e4: far weaker than its neighbours, too
          parts.push_back(Event::gaussian(z, kSafety));
          least = std::max(least, gaussian_epsilon(1 / z, delta).value);
          break;
        }
        case 1:
          parts.push_back(Event::laplace(1 / e0, kSafety));
          least = std::max(least, laplace_epsilon(e0, delta));
          break;
        case 2:
          parts.push_back(Event::exponential(e0, kSafety));
          least = std::max(least, selection_epsilon(e0, delta));
          break;
        default:
          parts.push_back(Event::sparse_vector(e0, kSafety));
          least = std::max(least, pure_epsilon(e0, delta));
      }
    }
    const Event all = Event::compose(parts);
    const Interval interval = epsilon_of(all, delta);
    EXPECT_GE(interval.upper, least * (1 - 1e-12)) << to_string(all) << " at delta " << delta;
    EXPECT_LE(interval.lower, interval.upper);
    EXPECT_FALSE(std::isnan(interval.upper));
  }
}

TEST(PldSafety, ASpoiledMeasureBoundsNothing) {
  pld::Measure measure;
  measure.index = {0, 1};
  measure.mass = {0.5, std::numeric_limits<double>::quiet_NaN()};
  measure.origin = 0;
  measure.step = 0.1;
  EXPECT_EQ(pld::DeltaCurve(measure, 1, 0, pld::Bound::kUpper).delta(0.05), 1);
  EXPECT_EQ(pld::DeltaCurve(measure, 1, 0, pld::Bound::kLower).delta(0.05), 0);
}

}  // namespace
}  // namespace sotto
