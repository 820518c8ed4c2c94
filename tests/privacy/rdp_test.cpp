#include "sotto/privacy/accountant/rdp.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "sotto/core/numbers.hpp"
#include "sotto/privacy/accountant/gaussian.hpp"
#include "sotto/privacy/accountant/rdp_fixed_size.hpp"
#include "sotto/privacy/accountant/rdp_mechanisms.hpp"
#include "tests/support/golden.hpp"

namespace sotto {
namespace {

using testing_support::golden_rows;

constexpr double kNumeric = 1e-9;
constexpr double kOracle = 1e-6;

CanonicalEvent form(std::string_view text, Relation relation = Relation::kZeroOut) {
  auto event = parse_event(text, relation);
  EXPECT_TRUE(event) << text;
  auto result = canonical(*event);
  EXPECT_TRUE(result) << text;
  return *result;
}

double epsilon(const CanonicalEvent& event, double delta) {
  const auto answer = rdp_accountant().epsilon(event, delta);
  EXPECT_TRUE(answer) << answer.error().message;
  return answer->upper;
}

TEST(Rdp, EpsilonLiesBetweenTheExactOneAndTheBestWholeOrder) {
  for (const auto& row : golden_rows("composed", "poisson")) {
    const auto event = *canonical(Event::repeat(
        row["steps"], Event::poisson(row["q"], Event::gaussian(row["z"], Relation::kAddRemove))));
    const double value = epsilon(event, row["delta"]);
    const double best = row["rdp"]["epsilon"];
    EXPECT_LE(value, best * (1 + kOracle)) << row;
    EXPECT_GE(value, row["epsilon"].get<double>() - row["error"].get<double>()) << row;
    // The same order, the same value.
    const double order = row["rdp"]["order"];
    const double at_order = renyi_curve(event, {order})[0] + std::log1p(-1 / order) -
                            std::log(row["delta"].get<double>() * order) / (order - 1);
    EXPECT_NEAR(at_order, best, kOracle * best) << row;
  }
}

TEST(Rdp, ReplaceOneIsNeverBelowTheExactEpsilon) {
  for (const auto& row : golden_rows("composed", "poisson-replace")) {
    const auto event = *canonical(Event::repeat(
        row["steps"], Event::poisson(row["q"], Event::gaussian(row["z"], Relation::kReplaceOne))));
    EXPECT_GE(epsilon(event, row["delta"]),
              row["epsilon"].get<double>() - row["error"].get<double>())
        << row;
  }
}

TEST(Rdp, FixedSizeLiesBetweenWhatDataReachAndThePublishedBound) {
  for (const Relation relation : {Relation::kReplaceOne, Relation::kZeroOut}) {
    const bool replaces = relation == Relation::kReplaceOne;
    for (const auto& row : golden_rows("composed", replaces ? "fixed-replace" : "fixed-null")) {
      const auto event = *canonical(Event::repeat(
          row["steps"],
          Event::fixed_size(row["batch"], row["population"], Event::gaussian(row["z"], relation))));
      const double value = epsilon(event, row["delta"]);
      EXPECT_GE(value, row["epsilon"].get<double>() - row["error"].get<double>()) << row;
      if (replaces) {
        EXPECT_LE(value, row["rdp"]["epsilon"].get<double>() * (1 + kOracle)) << row;
      }
    }
  }
}

// What papers printed, by the conversion of their time [Mir17] on today's curve.
TEST(Rdp, PublishedEpsilonsComeOutAgain) {
  std::vector<double> orders;
  for (int k = 11; k < 110; ++k) orders.push_back(k / 10.0);
  for (int k = 12; k < 65; ++k) orders.push_back(k);
  int reproduced = 0;
  for (const auto& row : golden_rows("composed", "published")) {
    const auto event = *canonical(Event::repeat(
        row["steps"], Event::poisson(row["q"], Event::gaussian(row["z"], Relation::kAddRemove))));
    const auto curve = renyi_curve(event, orders);
    double classic = kInfinity;
    for (std::size_t i = 0; i < orders.size(); ++i)
      classic =
          std::min(classic, curve[i] - std::log(row["delta"].get<double>()) / (orders[i] - 1));
    EXPECT_NEAR(classic, row["rdp_classic"].get<double>(), kOracle * classic) << row;
    if (!row["reproduced"]) continue;
    EXPECT_NEAR(classic, row["printed"].get<double>(), 0.00501) << "printed with two digits" << row;
    ++reproduced;
  }
  EXPECT_EQ(reproduced, 3);
}

TEST(Rdp, CurvesMatchHighPrecision) {
  const auto rows = golden_rows("rdp");
  ASSERT_GT(rows.size(), 200u);
  for (const auto& row : rows) {
    const std::string kind = row["kind"];
    const double beta = row["order"].get<double>() - 1;
    const double e = row.value("epsilon", 0.0);
    const double rate = row.value("rate", 0.0);
    const double z = row.value("z", 0.0);
    double value = 0;
    double tolerance = kNumeric;
    if (kind == "poisson") value = internal::rdp_poisson_gaussian(rate, z, beta);
    if (kind == "poisson_replace") value = internal::rdp_poisson_gaussian_replace(rate, z, beta);
    if (kind == "pure") value = internal::rdp_pure(e, beta);
    if (kind == "poisson_pure") value = internal::rdp_poisson_pure(rate, e, beta);
    if (kind == "laplace") value = internal::rdp_laplace(1 / e, beta);
    if (kind == "bounded_range") {
      value = internal::rdp_bounded_range(e, beta);
      // Where its closed form cancels, the quadratic bound stands in, from above.
      EXPECT_GE(value, row["rdp"].get<double>() * (1 - kNumeric)) << row;
      tolerance = 1e-4;
    }
    if (kind == "fixed_size") {
      value =
          internal::FixedSizeGaussian(rate, z, *parse_relation(row["relation"].get<std::string>()))
              .rdp(beta);
    }
    EXPECT_NEAR(value / row["rdp"].get<double>(), 1, tolerance) << row;
  }
}

// The moments of the mixture pairs that a fixed-size batch can produce, by brute force in the
// plane, never exceed the bound.
TEST(Rdp, FixedSizeBoundHoldsForTrianglesOfRecords) {
  const double z = 1.2;
  struct Point {
    double x, y;
  };
  const auto moment = [&](double rate, int alpha, Point b, Point c) {
    const double h = 0.1;
    double sum = 0;
    for (double x = -9; x <= 16; x += h) {
      for (double y = -9; y <= 9; y += h) {
        const auto ratio = [&](Point p) {
          return std::exp((x * p.x + y * p.y - (p.x * p.x + p.y * p.y) / 2) / (z * z));
        };
        const double density = std::exp(-(x * x + y * y) / (2 * z * z)) / (2 * M_PI * z * z);
        sum += h * h * density * std::pow(1 - rate + rate * ratio(b), alpha) *
               std::pow(1 - rate + rate * ratio(c), 1 - alpha);
      }
    }
    return std::log(sum) / (alpha - 1);
  };
  for (const double rate : {0.02, 0.3}) {
    for (const int alpha : {2, 3, 6}) {
      internal::FixedSizeGaussian replace(rate, z, Relation::kReplaceOne);
      internal::FixedSizeGaussian zero(rate, z, Relation::kZeroOut);
      const double replace_bound = replace.rdp(alpha - 1) * (1 + 1e-9);
      const double zero_bound = zero.rdp(alpha - 1) * (1 + 1e-9);
      const double s = std::sqrt(0.75);
      // |b|, |c|, |b - c| <= 1, seen from the record that fills the batch instead.
      double worst = 0;
      for (const auto& [b, c] : std::vector<std::pair<Point, Point>>{{{1, 0}, {0.5, s}},
                                                                     {{1, 0}, {0, 0}},
                                                                     {{0, 0}, {1, 0}},
                                                                     {{0.5, 0}, {-0.5, 0}},
                                                                     {{0.9, 0.1}, {0.2, -0.6}}}) {
        const double value = moment(rate, alpha, b, c);
        EXPECT_LE(value, replace_bound) << rate << ' ' << alpha;
        worst = std::max(worst, value);
      }
      // Not vacuous: within a factor of the worst of these for small rates.
      if (rate < 0.1 && alpha <= 3) {
        EXPECT_LE(replace_bound, 1.1 * worst);
      }
      // The record or its null, at distance at most 1, the other record's terms at most 2 and 1
      // away.
      for (const auto& [b, c] : std::vector<std::pair<Point, Point>>{
               {{2, 0}, {1, 0}}, {{1, 0}, {2, 0}}, {{0, 0}, {1, 0}}, {{1.2, 0.8}, {0.6, 0.2}}}) {
        EXPECT_LE(moment(rate, alpha, b, c), zero_bound) << rate << ' ' << alpha;
      }
    }
  }
}

TEST(Rdp, CurvesNeverFall) {
  for (const char* text : {"poisson(0.01, gaussian(0.7))",
                           "fixed_size(10, 1000, gaussian(1.5))",
                           "laplace(2)",
                           "exponential(0.3)",
                           "exponential(30)",
                           "sparse_vector(0.2)",
                           "poisson(0.1, laplace(1))"}) {
    std::vector<double> orders;
    for (double beta = 1e-8; beta < 1e6; beta *= 1.3) orders.push_back(1 + beta);
    const auto curve = renyi_curve(form(text), orders);
    for (std::size_t i = 1; i < curve.size(); ++i) {
      EXPECT_GE(curve[i], curve[i - 1] * (1 - 1e-6)) << text << " at " << orders[i];
    }
  }
}

TEST(Rdp, NeverBelowTheExactGaussianAndNeverAbovePureDp) {
  for (const double z : {0.2, 1.0, 30.0, 1000.0}) {
    const auto event = *canonical(Event::repeat(50, Event::gaussian(z, Relation::kZeroOut)));
    for (const double delta : {1e-2, 1e-6, 1e-12}) {
      const double exact = gaussian_accountant().epsilon(event, delta)->lower;
      EXPECT_GE(epsilon(event, delta), exact);
      EXPECT_LE(epsilon(event, delta), 1.6 * exact + 1e-3);
    }
  }
  EXPECT_NEAR(epsilon(form("repeat(3, laplace(4))"), 0), 0.75, 1e-15);
  EXPECT_LE(epsilon(form("compose(exponential(0.5), sparse_vector(0.25))"), 1e-9), 0.75);
  EXPECT_LT(epsilon(form("repeat(10000, exponential(0.01))"), 1e-6), 10);
}

TEST(Rdp, EpsilonAndDeltaAgree) {
  for (const char* text : {"repeat(1000, poisson(0.01, gaussian(1)))",
                           "repeat(100, fixed_size(10, 1000, gaussian(3)))",
                           "compose(repeat(10, exponential(0.1)), gaussian(5))"}) {
    const double e = epsilon(form(text), 1e-6);
    EXPECT_NEAR(std::log10(rdp_accountant().delta(form(text), e)->upper), -6, 1e-3) << text;
  }
}

TEST(Rdp, RefusesWhatHasNoTheorem) {
  const auto refusal = [](std::string_view text, Relation relation) {
    const auto answer = rdp_accountant().epsilon(form(text, relation), 1e-6);
    EXPECT_FALSE(answer) << text;
    return answer ? std::string() : answer.error().message;
  };
  EXPECT_THAT(refusal("fixed_size(2, 9, gaussian(1))", Relation::kAddRemove),
              testing::HasSubstr("fixed_size(2, 9, gaussian(1)) under add-remove"));
  EXPECT_THAT(refusal("fixed_size(2, 9, laplace(1))", Relation::kZeroOut),
              testing::HasSubstr("differ by a replacement"));
  EXPECT_THAT(refusal("poisson(0.1, exponential(1))", Relation::kReplaceOne),
              testing::HasSubstr("batches of one size"));
}

TEST(Rdp, ExtremesAnswer) {
  for (const Relation relation : {Relation::kZeroOut, Relation::kReplaceOne}) {
    for (const char* inner :
         {"gaussian(0.1)", "gaussian(1)", "gaussian(1e3)", "gaussian(1e-9)", "gaussian(1e250)"}) {
      for (const char* sampling : {"poisson(1e-7, ",
                                   "poisson(0.5, ",
                                   "poisson(1, ",
                                   "poisson(1e-300, ",
                                   "fixed_size(1, 10000000, ",
                                   "fixed_size(1, 2, "}) {
        for (const char* count : {"1", "1e9"}) {
          const auto event =
              form(std::string("repeat(") + count + ", " + sampling + inner + "))", relation);
          for (const double delta : {1e-300, 1e-6, 0.5}) {
            const double value = epsilon(event, delta);
            EXPECT_TRUE(value >= 0) << inner << sampling << count << delta << " -> " << value;
          }
          for (const double e : {0.0, 1e-4, 1e3}) {
            const double value = rdp_accountant().delta(event, e)->upper;
            EXPECT_TRUE(value >= 0 && value <= 1) << inner << sampling << count << e;
          }
        }
      }
    }
  }
  EXPECT_EQ(epsilon(form("non_private"), 1e-6), kInfinity);
  EXPECT_EQ(epsilon(form("compose()"), 0), 0);
  EXPECT_EQ(epsilon(form("gaussian(1)"), 0), kInfinity);
  EXPECT_TRUE(epsilon(form("poisson(0.1, exponential(1e300))"), 1e-6) > 1e299);
}

// Regroups a list of steps at random: nested compose, repeats pulled out, order shuffled.
class Grouping {
 public:
  explicit Grouping(unsigned seed) : random_(seed) {}

  Event group(std::vector<Event> parts) {
    std::shuffle(parts.begin(), parts.end(), random_);
    while (parts.size() > 1) {
      const std::size_t take = 2 + random_() % 3;
      std::vector<Event> some;
      for (std::size_t i = 0; i < take && !parts.empty(); ++i) {
        some.push_back(parts.back());
        parts.pop_back();
      }
      Event one = Event::compose(std::move(some));
      if (random_() % 3 == 0) one = Event::repeat(1, std::move(one));
      if (random_() % 3 == 0) one = Event::poisson(1, std::move(one));
      parts.insert(parts.begin(), std::move(one));
    }
    return parts.front();
  }

  std::mt19937& random() { return random_; }

 private:
  std::mt19937 random_;
};

TEST(Property, GroupingDoesNotChangeEpsilon) {
  Grouping grouping(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int trial = 0; trial < 25; ++trial) {
    const auto any = [&] { return uniform(grouping.random()); };
    std::vector<Event> split;
    std::vector<Event> whole;
    for (int kind = 0; kind < 4; ++kind) {
      const int repeats = 1 + static_cast<int>(9 * any());
      const double z = 0.5 + 4 * any();
      Event step = Event::gaussian(z, Relation::kZeroOut);
      if (kind == 1) step = Event::poisson(0.2 * any(), std::move(step));
      if (kind == 2) step = Event::exponential(any(), Relation::kZeroOut);
      if (kind == 3) {
        step = Event::poisson(0.3,
                              Event::compose({Event::gaussian(z, Relation::kZeroOut),
                                              Event::gaussian(z + 1, Relation::kZeroOut)}));
      }
      whole.push_back(Event::repeat(repeats, step));
      for (int i = 0; i < repeats; ++i) split.push_back(step);
    }
    const double one = epsilon(*canonical(Event::compose(whole)), 1e-6);
    for (int i = 0; i < 4; ++i) {
      EXPECT_NEAR(epsilon(*canonical(grouping.group(split)), 1e-6) / one, 1, 1e-9);
    }
    // For every accountant that prices it.
    const auto a = *canonical(Event::compose(whole));
    const auto b = *canonical(grouping.group(split));
    for (const Accountant* accountant : accountants()) {
      if (!accountant->supports(a)) continue;
      EXPECT_NEAR(
          *accountant->epsilon_upper(b, 1e-6) / *accountant->epsilon_upper(a, 1e-6), 1, 1e-9)
          << accountant->name();
    }
  }
}

TEST(Rdp, AnUpperBoundOnDeltaNeverUnderflowsToZero) {
  const auto event =
      *canonical(Event::repeat(1000, Event::poisson(0.01, Event::gaussian(1, Relation::kZeroOut))));
  EXPECT_GT(rdp_accountant().delta(event, 1000)->upper, 0);
}

}  // namespace
}  // namespace sotto
