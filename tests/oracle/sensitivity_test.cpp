// Sensitivities that follow the public iterate (ClipRule::kGlm): adversarial neighbours under every
// relation, the noise that is really added, and what goes wrong with less.

#include "sotto/oracle/api/sensitivity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "sotto/data/table.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/oracle/claims/claims.hpp"
#include "sotto/oracle/per_example_sum.hpp"
#include "sotto/oracle/private_oracle.hpp"
#include "sotto/privacy/accountant/pld.hpp"

namespace sotto {
namespace {

constexpr double kR = 1.5;

PublicProblem problem_of(Relation relation, std::int64_t n, std::int64_t dimension, double R) {
  PublicProblem problem;
  problem.n = n;
  problem.dimension = dimension;
  problem.row_norm = R;
  problem.relation = relation;
  problem.linear_rows = true;
  return problem;
}

/// One record's term in a sum of contributions, written plainly (gradient_pair_test.cpp holds the
/// library to it).
Vector term(const Vector& row, const Vector& w, const Vector& before, const PairClip& c) {
  const auto clip = [](const Vector& v, double radius) -> Vector {
    return v * std::min(1.0, radius / std::max(v.norm(), 1e-300));
  };
  const Vector g = -1 / (1 + std::exp(row.dot(w))) * row;
  const Vector d = g + 1 / (1 + std::exp(row.dot(before))) * row;
  if (c.together) return clip(c.mixture * g + (1 - c.mixture) * d, c.reach());
  return c.mixture * clip(g, c.radius) + (1 - c.mixture) * clip(d, c.difference_radius);
}

/// The largest value of `badness` over two rows of norm at most R: random starts, then each
/// improved by random moves.
double worst_rows(const std::function<double(const Vector&, const Vector&)>& badness) {
  std::mt19937_64 random(12);
  std::normal_distribution<double> normal;
  const auto moved = [&](const Vector& x, double by) -> Vector {
    Vector y = x;
    for (double& each : y) each += by * normal(random);
    return y * std::min(1.0, kR / y.norm());
  };
  double worst = 0;
  for (int start = 0; start < 12; ++start) {
    Vector u = moved(Vector::Zero(3), 10);
    Vector v = start % 3 == 0 ? Vector(-u) : moved(Vector::Zero(3), 10);
    double reached = badness(u, v);
    for (int k = 0; k < 250; ++k) {
      const double by = kR * std::pow(0.98, k);
      const Vector a = moved(u, by), b = moved(v, by);
      const double here = badness(a, b);
      if (here <= reached) continue;
      reached = here;
      u = a;
      v = b;
    }
    worst = std::max(worst, reached);
  }
  return worst;
}

struct PairCase {
  double mixture, radius, difference_radius;
  bool together;
};

TEST(Sensitivity, AdversarialNeighboursStayWithinThePairBounds) {
  double tightest_radius = 0, tightest_diameter = 0;
  for (const PairCase& c : {PairCase{0, 9, 9, false},
                            {0.3, 9, 9, false},
                            {0.3, 0.6, 0.05, false},
                            {1, 0.6, 9, false},
                            {0.3, 9, 9, true},
                            {0.3, 0.3, 0.02, true}})
    for (const double scale : {0.0, 0.8, 3.0}) {
      const Vector w = Eigen::Vector3d(scale + 0.1, 0.05, 0);
      const Vector before = Eigen::Vector3d(scale, 0, 0);
      const PairClip clip{c.mixture, c.radius, c.difference_radius, c.together};
      const GradientPairQuery query{w, before, Sampling::full(), clip, 1, ClipRule::kGlm};
      const PairBounds bounds = bounds_of(query, problem_of(Relation::kReplaceOne, 5, 3, kR));
      EXPECT_LE(bounds.diameter, 2 * bounds.radius);
      EXPECT_LE(bounds.radius, clip.reach());
      EXPECT_DOUBLE_EQ(bounds.radius, bounds.clip.reach());
      const double longest = worst_rows([&](const Vector& u, const Vector&) {
        const Vector mine = term(u, w, before, bounds.clip);
        EXPECT_LE((mine - term(u, w, before, clip)).norm(), 1e-9) << "clips nothing more";
        return mine.norm();
      });
      const double widest = worst_rows([&](const Vector& u, const Vector& v) {
        return (term(u, w, before, bounds.clip) - term(v, w, before, bounds.clip)).norm();
      });
      EXPECT_LE(longest, bounds.radius * (1 + 1e-12)) << c.mixture << c.together << scale;
      EXPECT_LE(widest, bounds.diameter * (1 + 1e-12)) << c.mixture << c.together << scale;
      tightest_radius = std::max(tightest_radius, longest / bounds.radius);
      tightest_diameter = std::max(tightest_diameter, widest / bounds.diameter);
    }
  // The twins: bounds a few percent smaller are broken by these neighbours.
  EXPECT_GT(tightest_radius, 0.97);
  EXPECT_GT(tightest_diameter, 0.97);
}

TEST(Sensitivity, AdversarialNeighboursStayWithinTheGradientBounds) {
  for (const double length : {0.0, 0.8, 3.0}) {
    const Vector w = Eigen::Vector3d(length, 0, 0);
    const GradientQuery query{w, Sampling::full(), 9, 1, ClipRule::kGlm};
    const TermBounds bounds = bounds_of(query, problem_of(Relation::kReplaceOne, 5, 3, kR));
    const PairClip gradient_alone{1, bounds.radius, 1, false};
    const double widest = worst_rows([&](const Vector& u, const Vector& v) {
      return (term(u, w, w, gradient_alone) - term(v, w, w, gradient_alone)).norm();
    });
    EXPECT_LE(widest, bounds.diameter);
    EXPECT_GT(widest, 0.95 * bounds.diameter) << length;
  }
}

TEST(Sensitivity, ADifferenceOnAFullBatchCostsNoMoreUnderReplaceOne) {
  const Vector w = Eigen::Vector3d(0.1, 0.2, 0);
  const Vector before = Eigen::Vector3d(0.1, 0.19, 0);
  const GradientPairQuery query{w, before, Sampling::full(), {0, 9, 9, false}, 1, ClipRule::kGlm};
  const auto sensitivity = [&](Relation relation, const Sampling& sampling) {
    return bounds_of(query, problem_of(relation, 5, 3, kR)).sensitivity(relation, sampling);
  };
  const double zero_out = sensitivity(Relation::kZeroOut, Sampling::full());
  EXPECT_NEAR(zero_out, kR * kR / 4 * 0.01, 1e-7);
  EXPECT_NEAR(sensitivity(Relation::kReplaceOne, Sampling::full()) / zero_out, 1, 1e-4);
  EXPECT_NEAR(sensitivity(Relation::kReplaceOne, Sampling::poisson(0.1)) / zero_out, 2, 1e-6);
  EXPECT_NEAR(sensitivity(Relation::kReplaceOne, Sampling::fixed_size(1, 5)) / zero_out, 1, 1e-4);
}

TEST(Sensitivity, FlatRulesAndOtherModelsFollowTheRadii) {
  const Vector w = Eigen::Vector3d(0.1, 0.2, 0);
  PublicProblem problem = problem_of(Relation::kReplaceOne, 5, 3, kR);
  const PairClip clip{0.5, 9, 3, false};
  EXPECT_EQ(bounds_of(GradientPairQuery{w, w, {}, clip, 1}, problem).diameter, 12);
  EXPECT_EQ(bounds_of(GradientQuery{w, {}, 9, 1}, problem).diameter, 18);
  EXPECT_EQ(bounds_of(LossQuery{w, {}, 9, 1}, problem).diameter, 9);
  problem.linear_rows = false;  // units of several rows, or no declared norm
  EXPECT_EQ(bounds_of(GradientPairQuery{w, w, {}, clip, 1, ClipRule::kGlm}, problem).radius, 6);
  EXPECT_EQ(bounds_of(GradientQuery{w, {}, 9, 1, ClipRule::kGlm}, problem).radius, 9);
  EXPECT_EQ(bounds_of(LossQuery{w, {}, 9, 1, ClipRule::kGlm}, problem).radius, 9);
}

TEST(Sensitivity, LossesAtZeroTellNothing) {
  const Vector zero = Vector::Zero(3);
  const Vector far = Eigen::Vector3d(2, 0, 0);
  const PublicProblem problem = problem_of(Relation::kReplaceOne, 5, 3, kR);
  EXPECT_LE(bounds_of(LossQuery{zero, {}, 9, 1, ClipRule::kGlm}, problem).diameter, 1e-9);
  EXPECT_LE(bounds_of(LossQuery{zero, {}, 9, 1, ClipRule::kGlm}, problem).radius, 1e-9);
  EXPECT_NEAR(
      bounds_of(LossQuery{zero, {}, 9, 1, ClipRule::kGlm}, problem).floor, std::log(2), 1e-9);
  const std::vector<Vector> both = {zero, far};
  const TermBounds selection = bounds_of(SelectionQuery{both, 9, 1, {}, ClipRule::kGlm}, problem);
  EXPECT_NEAR(selection.diameter, 2 * kR, 1e-6);
  EXPECT_NEAR(selection.radius, 2 * kR, 1e-6);
}

/// The deviation of `queries` answers of 50 coordinates each, on rows that are all zero.
double measured_noise(Relation relation, const Sampling& sampling) {
  constexpr int kQueries = 4000;
  const std::vector<float> zeros(10 * 50, 0);
  const Table table = TableBuilder::dense(10, 50, zeros, std::vector<float>(10, 1.0F), {});
  const GlmEngine engine(table, {});
  LedgerOptions granted;
  granted.budget.delta = 1e-5;
  granted.plan = Event::repeat(kQueries, sampling.applied_to(Event::gaussian(3, relation)));
  granted.planned_samples = 50 * kQueries;
  Ledger ledger = *Ledger::open(granted);
  PrivateOracle oracle(engine,
                       problem_of(relation, 10, 50, 4),
                       ledger,
                       Stream::seeded(1, Purpose::kSampling),
                       Stream::seeded(2, Purpose::kNoise));
  const Vector before = Vector::Zero(50);
  const Vector w = 0.1 * Vector::Unit(50, 0);
  double square = 0;
  for (int k = 0; k < kQueries; ++k)
    square +=
        oracle.gradient_pair({w, before, sampling, {0.25, 100, 100, false}, 3, ClipRule::kGlm})
            ->value()
            .squaredNorm();
  return std::sqrt(square / (50.0 * kQueries)) * sampling.rate * 10 / 3;
}

TEST(Sensitivity, PairNoiseFollowsThePoints) {
  // By the proof note, with R = 4, W = 0.4, W' = 0: B1 = 4 σ(0.4), B2 = 4 min(tanh(0.1),
  // σ(0.4) - 1/2), D1 = 4.08 (0.25 % wide: the search's gap and this number's), D2 = 0.4.
  const double sigma = 1 / (1 + std::exp(-0.4));
  const double radius = 0.25 * 4 * sigma + 0.75 * 4 * (sigma - 0.5);
  // 200,000 numbers: 1 % is six standard errors of the deviation, false alarm below 1e-8. The power
  // twin is the flat rule's reach.
  EXPECT_NEAR(measured_noise(Relation::kZeroOut, Sampling::full()) / radius, 1, 0.01);
  EXPECT_NEAR(
      measured_noise(Relation::kReplaceOne, Sampling::poisson(0.5)) / (2 * radius), 1, 0.01);
  const double diameter =
      0.25 * gradient_diameter(loss_info({}), 4, 0.1) + 0.75 * std::min(0.4, 8 * (sigma - 0.5));
  EXPECT_NEAR(measured_noise(Relation::kReplaceOne, Sampling::full()) / diameter, 1, 0.01);
  EXPECT_LT(diameter, 0.9 * 2 * radius) << "not the same number";
}

/// delta at epsilon 1 of (1-q) N(0, s^2) + q N(a, s^2) against the same with b, by quadrature.
double real_delta(double a, double b, double s, double q) {
  const auto mixture = [&](double x, double mean) {
    const auto normal = [&](double at) {
      return std::exp(-0.5 * (x - at) * (x - at) / (s * s)) / (s * std::sqrt(2 * M_PI));
    };
    return (1 - q) * normal(0) + q * normal(mean);
  };
  const double step = 1e-4 * s;
  double one = 0, other = 0;
  for (double x = -20 * s; x < 20 * s; x += step) {
    const double p = mixture(x, a), r = mixture(x, b);
    one += std::max(0.0, p - std::exp(1.0) * r) * step;
    other += std::max(0.0, r - std::exp(1.0) * p) * step;
  }
  return std::max(one, other);
}

TEST(Sensitivity, TheDiameterIsNotEnoughForAPoissonBatchUnderReplaceOne) {
  const double q = 0.1, z = 1;
  const Event event = Event::poisson(q, Event::gaussian(z, Relation::kReplaceOne));
  const double charged = pld_accountant().delta(*canonical(event), 1)->upper;
  // Rows ±R w/|w| of norm 1 at |w| = 1, and noise of the claimed sensitivity, once the diameter of
  // all gradients (the broken twin) and once what the library claims.
  const Vector w = Vector::Unit(3, 0);
  const PublicProblem problem = problem_of(Relation::kReplaceOne, 5, 3, 1);
  const TermBounds bounds =
      bounds_of(GradientQuery{w, Sampling::poisson(q), 9, z, ClipRule::kGlm}, problem);
  const double a = 1 / (1 + std::exp(-1.0));
  EXPECT_GT(real_delta(a, a - 1, z * bounds.diameter, q), 100 * charged);
  const double claimed = bounds.sensitivity(Relation::kReplaceOne, Sampling::poisson(q));
  EXPECT_LE(real_delta(a, a - 1, z * claimed, q), charged);
  // Losses in [0, 1]: one record has 1, the other 0.
  EXPECT_GT(real_delta(1, 0, z * 1, q), 100 * charged);
  const TermBounds losses = bounds_of(LossQuery{w, Sampling::poisson(q), 1, z}, problem);
  EXPECT_LE(
      real_delta(1, 0, z * losses.sensitivity(Relation::kReplaceOne, Sampling::poisson(q)), q),
      charged);
}

// A null adds nothing; a record adds at least its floor, unless that is taken off first.
TEST(Sensitivity, ANullIsNoFartherFromARecordThanTwoRecordsAre) {
  const Table with = TableBuilder::dense(3, 1, std::vector<float>{1, -1, 1}, {1, -1, 1}, {});
  const Table without = TableBuilder::dense(2, 1, std::vector<float>{1, -1}, {1, -1}, {});
  const GlmEngine record(with, {}), null(without, {});  // a null's sum is that of the others
  for (const Relation relation : {Relation::kZeroOut, Relation::kReplaceOne}) {
    const PublicProblem problem = problem_of(relation, 3, 1, 1);
    for (const double length : {0.0, 0.1, 3.0}) {
      const Vector w = Vector::Constant(1, length);
      const LossQuery query{w, Sampling::full(), 50, 1, ClipRule::kGlm};
      const TermBounds bounds = bounds_of(query, problem);
      const double claimed = Claims(problem).of(query).sensitivity();
      const auto moved = [&](double floor) {
        return std::abs(PerExampleSum(record).clipped_losses({}, w, bounds.radius, floor) -
                        PerExampleSum(null).clipped_losses({}, w, bounds.radius, floor));
      };
      EXPECT_LE(moved(bounds.floor), claimed) << length;
      if (length == 0.1) {
        // The twin: losses as they are, in the same range.
        const auto whole = [&](const GlmEngine& engine) {
          return PerExampleSum(engine).clipped_losses({}, w, 50, 0);
        };
        EXPECT_GT(std::abs(whole(record) - whole(null)), 2 * claimed);
      }
    }
  }
}

// A residual is rounded by its label, which has no bound: differences of slopes are then off by a
// whole ulp of it, in any direction that clipping leaves.
TEST(Sensitivity, DifferencesOfResidualsAreAsFarApartAsClippingLeavesThem) {
  for (const LossSpec& loss : {LossSpec{LossKind::kSquared}, LossSpec{LossKind::kHuber, 1e15}})
    for (const double label : {1.0, 1e7, 1e9, 1e12})
      for (const double moved : {1e-4, 1e-7, 1e-9})
        for (const bool together : {false, true}) {
          PublicProblem problem = problem_of(Relation::kReplaceOne, 1, 2, 1);
          problem.loss = loss_info(loss);
          const Vector before{{0.3, 0.0}};
          const Vector w{{0.3 + moved, 0.0}};
          const GradientPairQuery query{w,
                                        before,
                                        Sampling::full(),
                                        PairClip{together ? 0.01 : 0.0, 1, 1, together},
                                        1,
                                        ClipRule::kGlm};
          const double claim = Claims(problem).of(query).sensitivity();
          const PairBounds bounds = bounds_of(query, problem);
          double widest = 0;
          for (int k = 0; k < 60; ++k) {
            const double angle = std::numbers::pi / 2 - 0.005 * k;
            const auto sum = [&](double side) {
              TableBuilder::Options options;
              options.row_norm = 1;
              const std::vector<float> row = {
                  static_cast<float>(std::cos(angle)),
                  static_cast<float>(0.999999 * side * std::sin(angle))};
              const std::vector<float> labels = {static_cast<float>(label * (1 + 0.005 * k))};
              const Table table = TableBuilder::dense(1, 2, row, labels, options);
              const GlmEngine engine(table, loss);
              PerExampleSum sums(engine);
              Vector result;
              sums.clipped_gradient_pairs({}, w, before, bounds.clip, result);
              return result;
            };
            widest = std::max(widest, (sum(1) - sum(-1)).norm());
          }
          EXPECT_LE(widest, claim) << to_string(loss) << " " << label << " " << moved << together;
        }
}

}  // namespace
}  // namespace sotto
