// The accountants over the whole of double: never a crash, never an endless loop, never an answer
// below the exact one.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "sotto/core/numbers.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/accountant/gaussian.hpp"
#include "sotto/privacy/accountant/pld.hpp"
#include "sotto/privacy/calibrate.hpp"
#include "sotto/privacy/filter.hpp"
#include "tests/support/accountant_fuzz.hpp"
#include "tests/support/processor_time.hpp"

namespace sotto {
namespace {

constexpr double kRounding = 1e-12;

Event parsed(const std::string& text, Relation relation = Relation::kZeroOut) {
  return parse_event(text, relation).value();
}

double tightest(const std::string& text, double delta) {
  const CanonicalEvent form = canonical(parsed(text)).value();
  return (*tightest_accountant(form))->epsilon_upper(form, delta).value();
}

Interval pld(const std::string& text, double delta) {
  return pld_accountant().epsilon(*canonical(parsed(text)), delta).value();
}

TEST(Extremes, AGaussianWhoseSquareUnderflowsIsStillNoPureMechanism) {
  EXPECT_EQ(tightest("compose(gaussian(1e200), laplace(1))", 0), kInfinity);
  for (const char* name : {"pld", "rdp", "zcdp"}) {
    const auto form = *canonical(parsed("compose(gaussian(1e200), laplace(1))"));
    EXPECT_EQ((*find_accountant(name))->epsilon_upper(form, 0).value(), kInfinity) << name;
  }
  EXPECT_GT((*find_accountant("zcdp"))
                ->epsilon_upper(*canonical(parsed("repeat(1000, gaussian(1e200))")), 1e-300)
                .value(),
            0);
  // And a filter does not give it away.
  const auto filter = make_gaussian_filter({1, 1e-6}).value();
  ASSERT_TRUE(filter->try_spend(Event::gaussian(1e200, Relation::kZeroOut)));
  EXPECT_GT(filter->spent(), 0);
}

TEST(Extremes, LossesThatNoLatticeHoldsAreBoundedInClosedForm) {
  // Each of these crashed or did not end.
  const double huge = pld("compose(gaussian(1e-25), laplace(1))", 1e-5).upper;
  EXPECT_GE(huge, gaussian_epsilon(1e25, 1e-5).value);
  EXPECT_LE(huge, gaussian_epsilon(1e25, 1e-5).value * 1.001 + 1);
  EXPECT_EQ(pld("poisson(0.5, gaussian(1e-300))", 1e-5).upper, kInfinity);
  // At delta = 1e-5 the coin of rate 0.5 saves log 2 at most.
  for (const double z : {1e-25, 1e-10, 1e-4}) {
    const auto form = *canonical(Event::poisson(0.5, Event::gaussian(z, Relation::kZeroOut)));
    const double upper = pld_accountant().epsilon_upper(form, 1e-5).value();
    EXPECT_GE(upper, gaussian_epsilon(1 / z, 2e-5).value - std::log(2.0)) << z;
    EXPECT_LE(upper, gaussian_epsilon(1 / z, 1e-5).value * (1 + 1e-9)) << z;
  }
  EXPECT_GE(pld("gaussian(1e-10)", 1e-5).upper, gaussian_epsilon(1e10, 1e-5).value);
  EXPECT_LE(pld("poisson(0.01, gaussian(1e-4))", 1e-5).upper, 1.0001 * 5.005e7);
  // A coin that hardly ever falls costs nothing at this delta, however little noise there is.
  EXPECT_EQ(pld("poisson(1e-9, gaussian(1e-10))", 1e-5).upper, 0);
  EXPECT_EQ(pld("repeat(1000, poisson(1e-9, gaussian(1e-10)))", 1e-5).upper, 0);
}

TEST(Extremes, ATinyReleaseBesideAnOrdinaryOne) {
  const Interval found = pld("compose(gaussian(2), laplace(1e9))", 1e-5);
  const double alone = gaussian_epsilon(0.5, 1e-5).value;
  EXPECT_GE(found.upper, alone);
  EXPECT_LE(found.upper, alone * 1.001);
  EXPECT_LE(found.lower, alone * (1 + 1e-6));
  EXPECT_GE(found.lower, alone * 0.999);
  const auto many = *canonical(parsed("repeat(1000, poisson(0.01, gaussian(1e308)))"));
  EXPECT_LE(pld_accountant().delta(many, 0).value().upper, 1e-9);
  EXPECT_GT(pld_accountant().delta(many, 0).value().upper, 0);
}

// The exact sums of pure parts; std::fma has the sign of an exact difference.
TEST(Extremes, SumsOfPureEpsilonsAreNotRoundedDown) {
  const auto one = [](const std::string& text, double delta) {
    std::vector<std::pair<std::string, double>> answers;
    const auto form = *canonical(parsed(text));
    for (const char* name : {"zcdp", "rdp", "pld"})
      answers.emplace_back(name + (" " + text),
                           (*find_accountant(name))->epsilon_upper(form, delta).value());
    return answers;
  };
  const auto deltas = [](const std::string& text, double epsilon) {
    double least = 1;
    for (const char* name : {"zcdp", "rdp", "pld"})
      least = std::min(
          least, (*find_accountant(name))->delta(*canonical(parsed(text)), epsilon).value().upper);
    return least;
  };
  for (int k = 1; k < 20; ++k) {
    const double z = k == 1 ? 3 : 0.37 * k;
    const int count = k == 1 ? 1 : 1 + k * k % 17;
    for (const auto& [who, epsilon] : one(fmt::format("repeat({}, laplace({}))", count, z), 0))
      EXPECT_GE(std::fma(epsilon, z, -count), 0) << who;
    const double below = std::nextafter(count / z, 0);
    EXPECT_GT(deltas(fmt::format("repeat({}, laplace({}))", count, z), below), 0) << z;
    for (const auto& [who, epsilon] : one(fmt::format("repeat({}, exponential({}))", count, z), 0))
      EXPECT_LE(std::fma(count, z, -epsilon), 0) << who;
    const double a = 1 + 1 / (1.3 * k), b = 1 + 1 / (2.9 + k);
    for (const auto& [who, epsilon] :
         one(fmt::format("compose(exponential({}), sparse_vector({}))", a, b), 0))
      EXPECT_GE(epsilon, static_cast<long double>(a) + static_cast<long double>(b)) << who;
  }
  EXPECT_GT(deltas("laplace(3)", 1.0 / 3), 0) << "1/3 is a little more than its double";
  // What is exact stays so.
  EXPECT_EQ(tightest("repeat(4, laplace(8))", 0) <= 0.5 * (1 + 1e-14), true);
  EXPECT_EQ(
      (*find_accountant("rdp"))->epsilon_upper(*canonical(parsed("repeat(4, laplace(8))")), 0),
      0.5);
  EXPECT_EQ(deltas("repeat(4, laplace(8))", 0.5), 0);
}

TEST(Extremes, ALowerEndIsAlwaysFinite) {
  const auto form = *canonical(parsed("gaussian(1e-300)"));
  const Interval interval = gaussian_accountant().epsilon(form, 1e-5).value();
  EXPECT_EQ(interval.upper, kInfinity);
  EXPECT_EQ(interval.lower, std::numeric_limits<double>::max()) << "the exact value is 5e599";
}

TEST(Extremes, NestedRatesAreNotRoundedDown) {
  const double near_one = 1 - 0x1p-53;
  const Event nested =
      Event::poisson(near_one, Event::poisson(near_one, Event::gaussian(1, Relation::kZeroOut)));
  EXPECT_GE(canonical(nested)->terms.front().rate, 1 - 0x1p-52);
  const Event thirds =
      Event::poisson(1.0 / 3, Event::poisson(0.1, Event::gaussian(1, Relation::kZeroOut)));
  EXPECT_GE(std::fma(-1.0 / 3, 0.1, canonical(thirds)->terms.front().rate), 0);
}

Event golden_event(const nlohmann::json& row) {
  const std::string kind = row["kind"];
  const double z = row["z"];
  if (kind == "gaussian")
    return Event::repeat(row["count"], Event::gaussian(z, Relation::kZeroOut));
  if (kind == "laplace") return Event::poisson(row["q"], Event::laplace(z, Relation::kZeroOut));
  if (kind == "poisson-null")
    return Event::poisson(row["q"], Event::gaussian(z, Relation::kZeroOut));
  if (kind == "poisson-replace")
    return Event::poisson(row["q"], Event::gaussian(z, Relation::kReplaceOne));
  const Relation relation = kind == "fixed-null" ? Relation::kZeroOut : Relation::kReplaceOne;
  return Event::fixed_size(row["batch"], row["population"], Event::gaussian(z, relation));
}

// golden/one_release.py computes these in some hundred digits, from the definitions alone.
TEST(Extremes, NoAnswerIsBelowTheExactOne) {
  std::ifstream file(SOTTO_SOURCE_DIR "/tests/privacy/golden/one_release.json");
  ASSERT_TRUE(file);
  const auto rows = nlohmann::json::parse(file);
  ASSERT_GT(rows.size(), 300U);
  for (const auto& row : rows) {
    const double exact = row["epsilon"].is_string() ? kInfinity : row["epsilon"].get<double>();
    const auto form = canonical(golden_event(row));
    ASSERT_TRUE(form) << row;
    for (const Accountant* accountant : accountants()) {
      if (!accountant->supports(*form)) continue;
      const auto found = accountant->epsilon(*form, row["delta"]);
      if (!found) continue;  // a refusal
      EXPECT_GE(found->upper, exact * (1 - kRounding)) << accountant->name() << row;
      EXPECT_LE(found->lower, exact * (1 + kRounding)) << accountant->name() << row;
    }
  }
}

// Where the rate is next to 1, 1 - q decides: a composition costs at least each of its parts, and
// nearly as much as without sampling.
TEST(Extremes, RatesNextToOneUnderReplaceOne) {
  for (const double q : {1 - 1e-9, 1 - 1e-13, 1 - 0x1p-53}) {
    for (const double z : {0.05, 0.1, 0.5}) {
      const auto one = *canonical(Event::poisson(q, Event::gaussian(z, Relation::kReplaceOne)));
      const Interval found = pld_accountant().epsilon(one, 1e-6).value();
      const double full = gaussian_epsilon(1 / z, 1e-6).value;
      EXPECT_LE(found.lower, full * (1 + kRounding)) << q << " " << z;
      EXPECT_LE(found.upper, full * 1.001) << q << " " << z;
      EXPECT_LE(found.upper - found.lower, 2e-3 * full) << q << " " << z;
    }
  }
}

TEST(Extremes, EveryAccountantAnswersOrRefusesInTime) {
  testing_support::WildEvents wild(20261117);
  for (int i = 0; i < 80; ++i) {
    const Event event = wild.event();
    const double delta = wild.delta();
    testing_support::expect_answers(event, delta, 1 / wild.noise());
  }
}

TEST(Extremes, OrdinaryLowerBoundsSaySomething) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto power = [&](double low, double high) {
    return std::pow(10.0, low + (high - low) * uniform(random));
  };
  int zeros = 0;
  int cases = 0;
  for (int i = 0; i < 240; ++i) {
    const Relation relation = i % 2 == 0 ? Relation::kZeroOut : Relation::kReplaceOne;
    const double z = power(-0.5, 1.5);
    const auto steps = static_cast<std::int64_t>(power(0, 5));
    const auto batch = static_cast<std::int64_t>(power(0, 3.5));
    Event release = Event::gaussian(z, relation);
    if (i % 4 == 0) release = Event::poisson(static_cast<double>(batch) / 60000, release);
    if (i % 4 == 1) release = Event::fixed_size(batch, 60000, release);
    const auto form = *canonical(Event::repeat(steps, release));
    const double delta = power(-9, -4);
    const Interval found = pld_accountant().epsilon(form, delta).value();
    EXPECT_LE(found.lower, found.upper);
    if (found.upper < 1e-3) continue;  // nothing to tell
    ++cases;
    zeros += found.lower == 0;
  }
  EXPECT_GT(cases, 100);
  EXPECT_LE(100 * zeros, cases);
}

TEST(Extremes, CalibrationEndsToo) {
  for (const double epsilon : {1e-300, 1.0, 1e300}) {
    for (const double delta : {0.0, 1e-300, 1e-6}) {
      for (const char* text : {"gaussian", "poisson", "fixed"}) {
        const std::string kind = text;
        const auto family = [&](double z) {
          const Event noise = Event::gaussian(z, Relation::kReplaceOne);
          if (kind == "poisson") return Event::repeat(1000, Event::poisson(0.01, noise));
          if (kind == "fixed") return Event::repeat(10, Event::fixed_size(10, 1000, noise));
          return noise;
        };
        const testing_support::ProcessorTime time;
        const auto z = calibrate_noise(family, {epsilon, delta});
        EXPECT_LE(time.seconds(), 20) << kind << " " << epsilon << " " << delta;
        if (!z) continue;
        const auto form = *canonical(family(*z));
        EXPECT_LE((*tightest_accountant(form))->epsilon_upper(form, delta).value(), epsilon);
      }
    }
  }
}

// Exact values in 60 to 120 digits, by an independent attack: large noise-free mechanisms, where
// terms of the size of epsilon cancel.
TEST(Extremes, DeltasWhereLargeTermsCancelAreNotBelowTheExactOnes) {
  struct Row {
    const char* event;
    double epsilon;
    const char* accountant;
    double exact;
  };
  for (const Row& row : {
           Row{"gaussian(1.8041e-12)", 1.5362036453063e+23, "gaussian", 7.6200e-24},
           Row{"gaussian(1.731e-16)", 1.6686907885932345e+31, "gaussian", 4.57e-13},
           Row{"gaussian(1.2924000000000001e-17)", 2.993478240670094e+33, "gaussian", 1.447e-4},
           Row{"sparse_vector(5.213182970847931)", 5.213182970842718, "rdp", 5.18449e-12},
           Row{"sparse_vector(200.0763253173008)", 200.07632531729882, "rdp", 1.98952e-12},
           Row{"laplace(0.0019974621366330696)", 500.63527195844637, "rdp", 9.578e-13},
           Row{"laplace(8.836011964038245e-07)", 1131732.2838288445, "rdp", 1.285e-10},
           Row{"exponential(0.006081279965810563)", 0.006081279964337544, "rdp", 8.947e-23},
       }) {
    const CanonicalEvent event = *canonical(*parse_event(row.event, Relation::kZeroOut));
    const auto told = (*find_accountant(row.accountant))->delta(event, row.epsilon);
    ASSERT_TRUE(told) << row.event;
    EXPECT_GE(told->upper, row.exact) << row.event;
    EXPECT_LE(told->lower, row.exact * (1 + 1e-3)) << row.event;
  }
}

}  // namespace
}  // namespace sotto
