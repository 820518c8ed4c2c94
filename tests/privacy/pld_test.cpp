#include "sotto/privacy/accountant/pld.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "sotto/core/numbers.hpp"
#include "sotto/privacy/accountant/gaussian.hpp"
#include "tests/support/golden.hpp"

namespace sotto {
namespace {

using testing_support::golden_rows;

constexpr double kExact = 1e-12;

double normal_tail(double x) { return 0.5 * std::erfc(x / std::numbers::sqrt2); }

Event poisson_gaussian(double rate, double z, std::int64_t steps, Relation relation) {
  return Event::repeat(steps, Event::poisson(rate, Event::gaussian(z, relation)));
}

Interval epsilon(const Event& event, double delta) {
  return pld_accountant().epsilon(canonical(event).value(), delta).value();
}

Interval delta_at(const Event& event, double epsilon) {
  return pld_accountant().delta(canonical(event).value(), epsilon).value();
}

double upper(const Event& event, double delta) {
  return pld_accountant().epsilon_upper(canonical(event).value(), delta).value();
}

TEST(Pld, ContainsTheExactGaussianInAThousandCases) {
  std::mt19937_64 random(20240917);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < 1000; ++i) {
    const double z = std::pow(10, -1 + 4 * uniform(random));
    const auto steps = static_cast<std::int64_t>(std::pow(10, 6 * uniform(random)));
    const double delta = std::pow(10, -0.5 - 13.5 * uniform(random));
    const double exact = gaussian_epsilon(std::sqrt(static_cast<double>(steps)) / z, delta).value;
    const Interval found =
        epsilon(Event::repeat(steps, Event::gaussian(z, Relation::kZeroOut)), delta);
    ASSERT_LE(found.lower, exact * (1 + kExact) + 1e-15) << z << " " << steps << " " << delta;
    ASSERT_GE(found.upper, exact * (1 - kExact)) << z << " " << steps << " " << delta;
    // Tight, except where epsilon is nearly 0 on the scale of the loss.
    if (exact > 0.01 / z * std::sqrt(static_cast<double>(steps))) {
      ASSERT_LE(found.upper - found.lower, 1e-3 * exact) << z << " " << steps << " " << delta;
    }
  }
}

TEST(Pld, SampledGaussianAtRateNearlyOneIsNearTheGaussian) {
  // Not merged into one Gaussian: composed on the lattice; rate 1 - 1e-9 differs by about 1e-9.
  for (const double delta : {1e-5, 1e-10, 1e-30}) {
    const double exact = gaussian_epsilon(std::sqrt(1000.0) / 20, delta).value;
    const Interval found =
        epsilon(poisson_gaussian(1 - 1e-9, 20, 1000, Relation::kAddRemove), delta);
    EXPECT_LE(found.lower, exact * (1 + 1e-6));
    EXPECT_GE(found.upper, exact * (1 - 1e-6));
    EXPECT_LT(found.upper - found.lower, 1e-3 * exact);
  }
}

TEST(Pld, OnePoissonStepHasAClosedForm) {
  for (const double z : {0.5, 1.0, 5.0}) {
    for (const double q : {1e-3, 0.1, 0.7}) {
      for (const double eps : {0.01, 0.2, 1.0}) {
        // Removal: the set where the loss exceeds eps is a half-line above x.
        const auto stick = [&](double x, double sign) {
          const double mixture = (1 - q) * normal_tail(x / z) + q * normal_tail((x - 1) / z);
          const double other = normal_tail(x / z);
          return sign > 0 ? mixture - std::exp(eps) * other
                          : (1 - other) - std::exp(eps) * (1 - mixture);
        };
        const double x = z * z * std::log1p(std::expm1(eps) / q) + 0.5;
        double exact = stick(x, 1);
        const double ratio = std::expm1(-eps) / q;
        if (ratio > -1) exact = std::max(exact, stick(z * z * std::log1p(ratio) + 0.5, -1));
        const Interval found = delta_at(poisson_gaussian(q, z, 1, Relation::kZeroOut), eps);
        const double noise = 1e-15;
        EXPECT_LE(found.lower, exact * (1 + 1e-9) + noise) << z << " " << q << " " << eps;
        EXPECT_GE(found.upper, exact * (1 - 1e-9) - noise) << z << " " << q << " " << eps;
        EXPECT_LE(found.upper - found.lower, 0.02 * exact + noise) << z << " " << q << " " << eps;
      }
    }
  }
}

void expect_holds(const Event& event, const nlohmann::json& row) {
  const double exact = row["epsilon"];
  const double error = row["error"];
  const Interval found = epsilon(event, row["delta"]);
  EXPECT_LE(found.lower, exact + error) << row;
  EXPECT_GE(found.upper, exact - error) << row;
  EXPECT_LE(found.upper, std::max(exact * (1 + 1e-3), exact + 1e-4)) << row;
  EXPECT_NEAR(upper(event, row["delta"]), found.upper, 1e-4 * found.upper) << row;
}

// golden/composed.py integrates in the complex plane; there is no lattice in it.
TEST(Pld, HoldsTheExactEpsilonOfManySteps) {
  for (const char* kind : {"poisson", "published"})
    for (const auto& row : golden_rows("composed", kind))
      for (const Relation relation : {Relation::kAddRemove, Relation::kZeroOut})
        expect_holds(poisson_gaussian(row["q"], row["z"], row["steps"], relation), row);
  for (const auto& row : golden_rows("composed", "poisson-replace")) {
    const Event event = poisson_gaussian(row["q"], row["z"], row["steps"], Relation::kReplaceOne);
    expect_holds(event, row);
    const Interval found = epsilon(event, row["delta"]);
    EXPECT_LE(found.upper - found.lower, 2e-3 * found.upper) << row;
  }
}

TEST(Pld, NeverAboveWhatWasPublished) {
  for (const auto& row : golden_rows("composed", "published"))
    EXPECT_LE(
        upper(poisson_gaussian(row["q"], row["z"], row["steps"], Relation::kZeroOut), row["delta"]),
        row["printed"].get<double>())
        << row;
}

// What some data really reach; the answer may be above it, since one pair covers all data.
TEST(Pld, FixedSizeIsNeverBelowWhatDataReach) {
  for (const Relation relation : {Relation::kReplaceOne, Relation::kZeroOut})
    for (const auto& row : golden_rows(
             "composed", relation == Relation::kReplaceOne ? "fixed-replace" : "fixed-null")) {
      const Event event = Event::repeat(
          row["steps"],
          Event::fixed_size(row["batch"], row["population"], Event::gaussian(row["z"], relation)));
      EXPECT_GE(epsilon(event, row["delta"]).upper,
                row["epsilon"].get<double>() - row["error"].get<double>())
          << row;
    }
}

TEST(Pld, RandomizedResponseComposesBinomially) {
  // k copies of the epsilon-DP pair: the loss is (2j - k) epsilon with binomial weights [KOV15].
  const double eps0 = 0.1;
  const int k = 200;
  const Event event = Event::repeat(k, Event::sparse_vector(eps0, Relation::kReplaceOne));
  for (const double eps : {0.0, 1.0, 3.0, 7.0}) {
    double exact = 0;
    const double p = 1 / (1 + std::exp(-eps0));
    for (int j = 0; j <= k; ++j) {
      const double loss = (2 * j - k) * eps0;
      if (loss <= eps) continue;
      const double log_weight = std::lgamma(k + 1.0) - std::lgamma(j + 1.0) -
                                std::lgamma(k - j + 1.0) + j * std::log(p) +
                                (k - j) * std::log1p(-p);
      exact += std::exp(log_weight) * -std::expm1(eps - loss);
    }
    const Interval found = delta_at(event, eps);
    EXPECT_LE(found.lower, exact * (1 + 1e-10));
    EXPECT_GE(found.upper, exact * (1 - 1e-10));
    EXPECT_LE(found.upper - found.lower, 1e-3 * exact) << eps;
  }
  EXPECT_NEAR(epsilon(event, 0).upper, k * eps0, 1e-9);
  EXPECT_NEAR(epsilon(event, 0).lower, k * eps0, 1e-9);
}

TEST(Pld, SingleLaplaceAndSelectionHaveClosedForms) {
  const double eps0 = 1.5;
  for (const double eps : {0.0, 0.3, 1.2}) {
    const double laplace = -std::expm1((eps - eps0) / 2);
    const Interval a = delta_at(Event::laplace(1 / eps0, Relation::kZeroOut), eps);
    EXPECT_LE(a.lower, laplace * (1 + 1e-10));
    EXPECT_GE(a.upper, laplace * (1 - 1e-10));
    EXPECT_LE(a.upper - a.lower, 3e-3 * laplace);
    // The worst bounded-range pair [DDR20]: largest over t of the two-point pairs with losses t, t
    // - eps0.
    double worst = 0;
    for (int i = 0; i <= 100000; ++i) {
      const double t = eps0 * i / 100000;
      const double p = (std::exp(eps0) - std::exp(t)) / std::expm1(eps0);
      worst = std::max(worst, p * -std::expm1(eps - t));
    }
    const Interval b = delta_at(Event::exponential(eps0, Relation::kZeroOut), eps);
    EXPECT_LE(b.lower, worst * (1 + 1e-8));
    EXPECT_GE(b.upper, worst * (1 - 1e-8));
    EXPECT_LE(b.upper - b.lower, 3e-3 * worst);
  }
}

TEST(Pld, SampledPureMechanismMatchesTheTwoPointPair) {
  // Poisson sampling of randomized response, removal: losses log(1 + q (e^{+-eps} - 1)).
  const double q = 0.2, eps0 = 1;
  const Interval found =
      delta_at(Event::poisson(q, Event::sparse_vector(eps0, Relation::kAddRemove)), 0.1);
  const double p = q / (1 + std::exp(-eps0)) + (1 - q) / (1 + std::exp(eps0));
  const double exact = p - std::exp(0.1) / (1 + std::exp(eps0));
  EXPECT_LE(found.lower, exact * (1 + 1e-10));
  EXPECT_GE(found.upper, exact * (1 - 1e-10));
  EXPECT_LE(found.upper - found.lower, 1e-3 * exact);
}

TEST(Pld, MixturesLieBetweenTheirPartsAndSimpleComposition) {
  const Relation relation = Relation::kZeroOut;
  const Event sampled = poisson_gaussian(0.01, 1, 500, relation);
  const Event full = Event::repeat(4, Event::gaussian(5, relation));
  const Event select = Event::repeat(10, Event::exponential(0.05, relation));
  const Event once = Event::sparse_vector(0.2, relation);
  const Event all = Event::compose({sampled, full, select, once});
  const Interval found = epsilon(all, 1e-6);
  EXPECT_LT(found.upper - found.lower, 5e-3 * found.upper);
  for (const Event& part : {sampled, full, select, once})
    EXPECT_GE(found.upper, epsilon(part, 1e-6).lower);
  double simple = 0;
  for (const Event& part : {sampled, full, select, once}) simple += upper(part, 2.5e-7);
  EXPECT_LE(found.lower, simple);
  EXPECT_LT(found.upper, simple);
}

TEST(Pld, DeltaAndEpsilonAreInverse) {
  const Event event = poisson_gaussian(0.02, 1.2, 3000, Relation::kZeroOut);
  for (const double delta : {1e-3, 1e-6, 1e-12, 1e-40}) {
    const Interval eps = epsilon(event, delta);
    EXPECT_GE(delta_at(event, eps.lower).upper, delta * (1 - 1e-9));
    EXPECT_LE(delta_at(event, eps.upper).lower, delta * (1 + 1e-9));
    EXPECT_LT(eps.upper - eps.lower, 1e-3 * eps.upper);
  }
}

TEST(Pld, ExtremesAreFiniteOrderedAndMonotone) {
  for (const double q : {1e-7, 1e-2, 1.0}) {
    for (const double z : {0.1, 1.0, 1e3}) {
      double previous = 0;
      for (const std::int64_t steps : {1, 1000, 1000000000}) {
        double larger = kInfinity;
        for (const double delta : {1e-300, 1e-10}) {
          const Interval found =
              epsilon(poisson_gaussian(q, z, steps, Relation::kAddRemove), delta);
          EXPECT_TRUE(std::isfinite(found.upper)) << q << " " << z << " " << steps << " " << delta;
          EXPECT_LE(0, found.lower);
          EXPECT_LE(found.lower, found.upper) << q << " " << z << " " << steps << " " << delta;
          EXPECT_LE(found.lower, larger);
          larger = found.upper;
        }
        EXPECT_LE(previous * (1 - 1e-3), larger);
        previous = larger;
      }
    }
  }
}

TEST(Pld, TrivialAndInfiniteAnswers) {
  const Relation relation = Relation::kZeroOut;
  EXPECT_EQ(epsilon(Event::non_private(relation), 1e-5).upper, kInfinity);
  EXPECT_EQ(delta_at(Event::non_private(relation), 3).lower, 1);
  EXPECT_EQ(epsilon(Event::gaussian(1, relation), 0).upper, kInfinity);
  EXPECT_EQ(epsilon(poisson_gaussian(1e-5, 1, 1, relation), 1e-5).upper, 0);
  EXPECT_EQ(delta_at(Event::sparse_vector(0.5, relation), 0.6).upper, 0);
}

TEST(Pld, RefusesByName) {
  const auto refused = [](const Event& event) {
    const auto answer = pld_accountant().supports(canonical(event).value());
    return answer ? std::string() : answer.error().message;
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(refused(Event::fixed_size(10, 100, Event::gaussian(1, Relation::kAddRemove))),
              ::testing::AllOf(HasSubstr("fixed_size(10, 100"), HasSubstr("poisson")));
  EXPECT_THAT(refused(Event::poisson(0.1, Event::laplace(1, Relation::kReplaceOne))),
              ::testing::AllOf(HasSubstr("laplace"), HasSubstr("replace-one")));
  EXPECT_EQ(refused(Event::poisson(0.1, Event::laplace(1, Relation::kAddRemove))), "");
  const CanonicalEvent gaussian = canonical(Event::gaussian(1, Relation::kZeroOut)).value();
  EXPECT_FALSE(pld_accountant().epsilon(gaussian, -1));
  EXPECT_FALSE(pld_accountant().epsilon(gaussian, 1e-310));
  EXPECT_FALSE(pld_accountant().delta(gaussian, -1));
}

TEST(Pld, CurveAndTradeOffOfAGaussian) {
  const double mu = 1;
  const auto loss =
      ComposedLoss::compose(canonical(Event::gaussian(1 / mu, Relation::kZeroOut)).value(), 6);
  ASSERT_TRUE(loss);
  for (const double eps : {0.0, 0.5, 2.0, 4.5, 6.0}) {
    const double exact = std::exp(gaussian_log_delta(mu, eps));
    const Interval found = loss->delta(eps);
    EXPECT_LE(found.lower, exact * (1 + kExact)) << eps;
    EXPECT_GE(found.upper, exact * (1 - kExact)) << eps;
    EXPECT_LE(found.upper - found.lower, 1e-2 * exact) << eps;
  }
  // Type II error of the best test at the threshold x: P(N(mu, 1) < x), with level P(N(0, 1) > x).
  for (const double x : {-1.0, 0.0, 0.5, 1.5, 3.0}) {
    const double beta = normal_tail(mu - x);
    EXPECT_LE(loss->trade_off(normal_tail(x)), beta * (1 + 1e-9));
    EXPECT_GE(loss->trade_off(normal_tail(x)), beta - 1e-3);
  }
}

}  // namespace
}  // namespace sotto
