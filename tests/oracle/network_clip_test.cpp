// Networks behind the oracle's sums: thread independence, clipping by layers, counted clipping, and
// broken twins.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sotto/core/parallel.hpp"
#include "sotto/objective/network/engine.hpp"
#include "sotto/oracle/exact_oracle.hpp"
#include "sotto/oracle/per_example_sum.hpp"
#include "sotto/oracle/private_oracle.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/ledger.hpp"
#include "tests/objective/network_reference.hpp"

namespace sotto {
namespace {

using testing::make_spec;
using testing::random_rows;

NetworkSpec small_network() {
  return make_spec({1, 8, 8},
                   {"conv 6 3 stride 2 pad 1",
                    "relu",
                    "maxpool 2 stride 1",
                    "flatten",
                    "linear 7",
                    "tanh",
                    "linear 4"});
}

struct Fixture {
  NetworkSpec spec = small_network();
  Table table = random_rows(spec, 300, 8);
  std::unique_ptr<NetworkEngine> engine = NetworkEngine::make(table, spec).value();
  Vector w = initial_weights(spec, 1);
  Vector before = w + 0.05 * initial_weights(spec, 2);
};

TEST(NetworkClip, SumsAreTheSameForAnyNumberOfThreads) {
  const Fixture f;
  Vector one[3];
  for (int threads : {1, 2, 5}) {
    set_thread_count(threads);
    PerExampleSum sums(*f.engine);
    Vector found[3];
    sums.clipped_gradients({}, f.w, 0.7, found[0]);
    sums.clipped_gradient_pairs({}, f.w, f.before, {0.3, 0.7, 0.1, false}, found[1]);
    sums.clipped_layer_gradients({}, f.w, 0.7, found[2]);
    for (int k = 0; k < 3; ++k) {
      if (threads == 1) one[k] = found[k];
      EXPECT_EQ(found[k], one[k]) << threads;
    }
  }
  set_thread_count(0);
}

/// How far one unit moves a sum: the largest over the units of |sum over all - sum without it|.
template <class Sum>
double motion(const Fixture& f, const Sum& sum) {
  PerExampleSum sums(*f.engine);
  std::vector<std::int64_t> all(300);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  Vector whole, less;
  sum(sums, all, whole);
  double largest = 0;
  for (std::size_t leave = 0; leave < all.size(); leave += 11) {
    auto others = all;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(leave));
    sum(sums, others, less);
    largest = std::max(largest, (whole - less).norm());
  }
  return largest;
}

PerExampleSum::Batch listed(const std::vector<std::int64_t>& indices) { return {false, indices}; }

TEST(NetworkClip, OneUnitMovesASumByTheRadiusAtMost) {
  const Fixture f;
  constexpr double kRadius = 0.2;
  const double flat = motion(f, [&](PerExampleSum& sums, const auto& units, Vector& sum) {
    sums.clipped_gradients(listed(units), f.w, kRadius, sum);
  });
  EXPECT_LE(flat, kRadius * (1 + 1e-9));
  EXPECT_GE(flat, kRadius * 0.99);  // some units are clipped
  const double layers = motion(f, [&](PerExampleSum& sums, const auto& units, Vector& sum) {
    sums.clipped_layer_gradients(listed(units), f.w, kRadius, sum);
  });
  EXPECT_LE(layers, kRadius * (1 + 1e-9));
  EXPECT_GE(layers, kRadius * 0.5);
  const PairClip clip{0.3, kRadius, 0.01, false};
  const double pairs = motion(f, [&](PerExampleSum& sums, const auto& units, Vector& sum) {
    sums.clipped_gradient_pairs(listed(units), f.w, f.before, clip, sum);
  });
  EXPECT_LE(pairs, clip.reach() * (1 + 1e-9));
  EXPECT_GE(pairs, clip.reach() * 0.5);
}

// The mistake of batch-first code: norms of the whole batch's gradient instead of each unit's.
TEST(NetworkClip, ATwinThatTakesTheNormOverTheBatchIsCaught) {
  const Fixture f;
  constexpr double kRadius = 0.2;
  const double twin = motion(f, [&](PerExampleSum& sums, const auto& units, Vector& sum) {
    sums.clipped_gradients(listed(units), f.w, std::numeric_limits<double>::infinity(), sum);
    const double mean = sum.norm() / static_cast<double>(units.size());
    sum *= std::min(1.0, kRadius / mean);
  });
  EXPECT_GT(twin, 2 * kRadius);
}

// Another: the difference is clipped after averaging.
TEST(NetworkClip, ATwinThatClipsTheMeanDifferenceIsCaught) {
  const Fixture f;
  const PairClip clip{0, 1, 0.001, false};
  const double infinity = std::numeric_limits<double>::infinity();
  const double twin = motion(f, [&](PerExampleSum& sums, const auto& units, Vector& sum) {
    sums.clipped_gradient_pairs(listed(units), f.w, f.before, {0, infinity, infinity, false}, sum);
    const double mean = sum.norm() / static_cast<double>(units.size());
    sum *= std::min(1.0, 10 * clip.difference_radius / mean);
  });
  EXPECT_GT(twin, 2 * clip.reach());
}

TEST(NetworkClip, LayersAreClippedEachToItsShare) {
  const Fixture f;
  PerExampleSum sums(*f.engine);
  const std::vector<std::int64_t> unit{5};
  Vector sum;
  sums.clipped_layer_gradients(listed(unit), f.w, 1e-3, sum);
  const auto ranges = parameter_ranges(f.spec);
  int layers = 0;
  for (const auto& range : ranges) {
    if (range.count() == 0) continue;
    ++layers;
    EXPECT_NEAR(sum.segment(range.begin, range.count()).norm(), 1e-3 / std::sqrt(3.0), 1e-9);
  }
  EXPECT_EQ(layers, 3);
}

/// The fixture's rows as persons of five, and how far emptying one moves a sum.
struct PersonsFixture {
  Fixture by_row;
  std::vector<std::int64_t> owner = [] {
    std::vector<std::int64_t> result(300);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<std::int64_t>(i) / 5;
    return result;
  }();
  Table table = [this] {
    std::vector<float> values;
    for (std::int64_t i = 0; i < 300; ++i)
      values.insert(values.end(), by_row.table.row(i), by_row.table.row(i) + by_row.table.dim());
    const auto labels = by_row.table.labels();
    return TableBuilder::dense(
        300, by_row.table.dim(), values, {labels.begin(), labels.end()}, {}, owner);
  }();
  std::unique_ptr<NetworkEngine> engine = NetworkEngine::make(table, by_row.spec).value();
};

TEST(NetworkClip, OnePersonMovesASumByTheRadiusAtMost) {
  const PersonsFixture f;
  ASSERT_EQ(f.engine->units(), 60);
  constexpr double kRadius = 0.2;
  const PairClip pairs{0.3, kRadius, 0.01, false};
  const auto motions = [&](const Engine& engine, std::int64_t rows) {
    PerExampleSum sums(engine);
    std::vector<std::int64_t> all(static_cast<std::size_t>(engine.units())), others;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    std::vector<double> largest(3);
    for (std::int64_t person = 0; person < 60; person += 7) {
      others = all;
      const auto first = others.begin() + person * rows;
      others.erase(first, first + rows);
      Vector whole, less;
      const auto compare = [&](std::size_t which, const auto& add) {
        add(all, whole);
        add(others, less);
        largest[which] = std::max(largest[which], (whole - less).norm());
      };
      compare(0, [&](const auto& units, Vector& sum) {
        sums.clipped_gradients(listed(units), f.by_row.w, kRadius, sum);
      });
      compare(1, [&](const auto& units, Vector& sum) {
        sums.clipped_layer_gradients(listed(units), f.by_row.w, kRadius, sum);
      });
      compare(2, [&](const auto& units, Vector& sum) {
        sums.clipped_gradient_pairs(listed(units), f.by_row.w, f.by_row.before, pairs, sum);
      });
    }
    return largest;
  };
  const auto persons = motions(*f.engine, 1);
  EXPECT_LE(persons[0], kRadius * (1 + 1e-9));
  EXPECT_GE(persons[0], kRadius * 0.99);
  EXPECT_LE(persons[1], kRadius * (1 + 1e-9));
  EXPECT_LE(persons[2], pairs.reach() * (1 + 1e-9));
  // The twin that clips rows: a person moves its sums by far more than is claimed.
  const auto rows = motions(*f.by_row.engine, 5);
  EXPECT_GT(rows[0], 1.5 * kRadius);
  EXPECT_GT(rows[1], 1.3 * kRadius);
  EXPECT_GT(rows[2], 1.3 * pairs.reach());
}

TEST(NetworkClip, SumsOverPersonsAreTheSameForAnyNumberOfThreads) {
  const PersonsFixture f;
  Vector one, found;
  for (const int threads : {1, 2, 5}) {
    set_thread_count(threads);
    PerExampleSum sums(*f.engine);
    sums.clipped_gradients({}, f.by_row.w, 0.7, threads == 1 ? one : found);
    if (threads > 1) {
      EXPECT_EQ(found, one) << threads;
    }
  }
  set_thread_count(0);
}

/// The gradient and the count as one vector: a unit moves it by C sqrt(1 + share^2) at most, and
/// the twin that claims C for both is caught.
TEST(NetworkClip, ACountHasItsPlaceInTheSensitivity) {
  const Fixture f;
  constexpr double kRadius = 0.2;
  constexpr double kShare = 0.5;
  const double both = motion(f, [&](PerExampleSum& sums, const auto& units, Vector& sum) {
    sums.clipped_gradients(listed(units), f.w, kRadius, sum);
    sum.conservativeResize(sum.size() + 1);
    sum[sum.size() - 1] = kShare * kRadius * static_cast<double>(sums.unclipped_less_clipped());
  });
  EXPECT_LE(both, kRadius * std::sqrt(1 + kShare * kShare) * (1 + 1e-9));
  EXPECT_GT(both, 1.05 * kRadius) << "the twin's claim would hold";

  PublicProblem problem;
  problem.n = 300;
  problem.dimension = f.engine->parameters();
  problem.network = true;
  LedgerOptions options;
  options.budget.delta = 1e-6;
  options.plan = Event::gaussian(1, Relation::kZeroOut);
  options.planned_samples = problem.dimension + 1;
  Ledger ledger = Ledger::open(options).value();
  const PrivateOracle oracle(*f.engine,
                             problem,
                             ledger,
                             Stream::seeded(1, Purpose::kSampling),
                             Stream::seeded(1, Purpose::kNoise));
  GradientQuery query{f.w, Sampling::full(), kRadius, 1};
  const double alone = oracle.gradient_sigma(query);
  query.count_share = kShare;
  EXPECT_NEAR(oracle.gradient_sigma(query) / alone, std::sqrt(1 + kShare * kShare), 1e-6);
}

TEST(NetworkClip, TheCountIsExact) {
  const Fixture f;
  PublicProblem problem;
  problem.n = 300;
  problem.dimension = f.engine->parameters();
  problem.network = true;
  PerExampleSum sums(*f.engine);
  auto workspace = f.engine->make_workspace();
  double unclipped = 0;
  for (std::int64_t i = 0; i < 300; ++i) {
    std::vector<double> norm(1);
    f.engine->evaluate_gradients(
        {&i, 0, 1}, {f.w.data(), static_cast<std::size_t>(f.w.size())}, *workspace, norm);
    unclipped += norm[0] <= 2 ? 1 : 0;
  }
  ASSERT_GT(unclipped, 5);
  ASSERT_LT(unclipped, 295);
  ExactOracle exact(*f.engine, problem, Stream::seeded(1, Purpose::kSampling), true);
  GradientQuery query{f.w, Sampling::full(), 2, 1};
  query.count_share = 0.5;
  const auto answer = exact.gradient(query).value();
  ASSERT_EQ(answer.value().size(), problem.dimension + 1);
  EXPECT_NEAR(answer.value()[problem.dimension], unclipped / 300 - 0.5, 1e-12);
}

}  // namespace
}  // namespace sotto
