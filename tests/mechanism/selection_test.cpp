// The selections: exponential mechanism and permute-and-flip (exponential.cpp,
// permute_and_flip.cpp, scores.cpp), and the wrong-direction noise that looks like them (trap T17).

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "sotto/audit/made_up_claim.hpp"
#include "sotto/mechanism/exponential.hpp"
#include "sotto/mechanism/permute_and_flip.hpp"
#include "tests/support/distinguish.hpp"
#include "tests/support/receipts.hpp"

namespace sotto {
namespace {

using testing::EventCounts;
using testing::ReceiptBook;

constexpr int kSelectionDraws = 60000;
constexpr double kSelectionEpsilon = 1;
constexpr double kSelectionSensitivity = 2;

struct Exponential {
  using Mechanism = ExponentialMechanism;
  static Event event(double epsilon) { return Event::exponential(epsilon, Relation::kZeroOut); }
  // Probabilities proportional to exp(x).
  static std::vector<double> law(const std::vector<double>& exponents) {
    std::vector<double> p;
    for (const double x : exponents) p.push_back(std::exp(x));
    const double total = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& x : p) x /= total;
    return p;
  }
};

struct Flip {
  using Mechanism = PermuteAndFlip;
  static Event event(double epsilon) { return Event::sparse_vector(epsilon, Relation::kZeroOut); }
  // Average over all orders of the probability that everybody before fails and the candidate is
  // taken.
  static std::vector<double> law(const std::vector<double>& exponents) {
    const double best = *std::max_element(exponents.begin(), exponents.end());
    std::vector<std::size_t> order(exponents.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<double> p(exponents.size());
    double orders = 0;
    do {
      double nobody = 1;
      for (const std::size_t i : order) {
        const double taken = std::exp(exponents[i] - best);
        p[i] += nobody * taken;
        nobody *= 1 - taken;
      }
      ++orders;
    } while (std::next_permutation(order.begin(), order.end()));
    for (double& x : p) x /= orders;
    return p;
  }
};

template <class Kind>
EventCounts select(const std::vector<double>& scores,
                   ScoreMotion motion,
                   std::uint64_t seed,
                   double epsilon = kSelectionEpsilon,
                   int draws = kSelectionDraws) {
  ReceiptBook receipts(Kind::event(epsilon), 1, draws);
  Stream selection = Stream::seeded(seed, Purpose::kSelection);
  const Vector values = Eigen::Map<const Vector>(scores.data(), std::ssize(scores));
  EventCounts counts{std::vector<std::int64_t>(scores.size()), draws};
  for (int i = 0; i < draws; ++i) {
    const auto chosen = Kind::Mechanism::release(
        {values, MadeUpClaim::of(kSelectionSensitivity, Relation::kZeroOut)},
        receipts.next(),
        epsilon,
        motion,
        selection);
    ++counts.hits[static_cast<std::size_t>(chosen.value())];
  }
  return counts;
}

template <class Kind>
class Selection : public ::testing::Test {};
using Kinds = ::testing::Types<Exponential, Flip>;
TYPED_TEST_SUITE(Selection, Kinds);

TYPED_TEST(Selection, FollowsItsLaw) {
  const std::vector<double> scores = {-3, 0, 1.5, 1.7, -0.2};
  for (const ScoreMotion motion : {ScoreMotion::kAny, ScoreMotion::kMonotone}) {
    const double rate =
        kSelectionEpsilon / kSelectionSensitivity / (motion == ScoreMotion::kAny ? 2 : 1);
    const EventCounts counts = select<TypeParam>(scores, motion, 1);
    const auto distance = [&](double scale) {
      std::vector<double> exponents = scores;
      for (double& x : exponents) x *= rate * scale;
      std::vector<double> expected = TypeParam::law(exponents);
      for (double& x : expected) x *= kSelectionDraws;
      return testing::chi_square(counts.hits, expected);
    };
    EXPECT_LT(distance(1), testing::chi_square_critical(4));
    EXPECT_GT(distance(1.5), testing::chi_square_critical(4));
    EXPECT_GT(distance(1 / 1.5), testing::chi_square_critical(4));
  }
}

TYPED_TEST(Selection, NeighboursAreNotToldApartBeyondEpsilon) {
  // One score down and all others up is the worst any pair; all but one up the worst monotone one.
  const EventCounts any = select<TypeParam>({2, 0, 0, 0, 0}, ScoreMotion::kAny, 2);
  const EventCounts any_neighbour = select<TypeParam>({0, 2, 2, 2, 2}, ScoreMotion::kAny, 3);
  EXPECT_LE(testing::epsilon_lower_bound(any, any_neighbour), kSelectionEpsilon);
  const EventCounts monotone = select<TypeParam>({0, 0, 0, 0, 0}, ScoreMotion::kMonotone, 4);
  const EventCounts monotone_neighbour =
      select<TypeParam>({0, 2, 2, 2, 2}, ScoreMotion::kMonotone, 5);
  EXPECT_LE(testing::epsilon_lower_bound(monotone, monotone_neighbour), kSelectionEpsilon);
  // Power: the monotone scale on scores that are not monotone is caught.
  const EventCounts wrong = select<TypeParam>({2, 0, 0, 0, 0}, ScoreMotion::kMonotone, 6);
  const EventCounts wrong_neighbour = select<TypeParam>({0, 2, 2, 2, 2}, ScoreMotion::kMonotone, 7);
  EXPECT_GT(testing::epsilon_lower_bound(wrong, wrong_neighbour), kSelectionEpsilon);
}

TYPED_TEST(Selection, EveryScoreIsHandled) {
  const double infinity = std::numeric_limits<double>::infinity();
  const EventCounts counts =
      select<TypeParam>({std::nan(""), -infinity, 1e300, infinity}, ScoreMotion::kAny, 8, 1, 2000);
  EXPECT_EQ(counts.hits[0] + counts.hits[1], 0);
  EXPECT_TRUE(testing::plausible(counts.hits[2], 2000, 0.5));  // both saturate
  const EventCounts nothing =
      select<TypeParam>({std::nan(""), std::nan("")}, ScoreMotion::kAny, 9, 1, 2000);
  EXPECT_TRUE(testing::plausible(nothing.hits[0], 2000, 0.5));
  EXPECT_EQ(select<TypeParam>({3}, ScoreMotion::kAny, 10, 1, 10).hits[0], 10);
}

TYPED_TEST(Selection, CommonOffsetsDoNotMatter) {
  const EventCounts counts = select<TypeParam>({1e9, 1e9 + 1}, ScoreMotion::kAny, 11, 1, 5000);
  EXPECT_TRUE(testing::plausible(counts.hits[1], 5000, TypeParam::law({0, 0.25})[1]));
}

TYPED_TEST(Selection, RefusesAReceiptForAnythingElse) {
  Stream selection = Stream::seeded(1, Purpose::kSelection);
  const auto release = [&](Receipt receipt) {
    TypeParam::Mechanism::release({Vector::Zero(2), MadeUpClaim::of(1, Relation::kZeroOut)},
                                  std::move(receipt),
                                  kSelectionEpsilon,
                                  ScoreMotion::kAny,
                                  selection);
  };
  EXPECT_NO_THROW(release(testing::test_receipt(TypeParam::event(kSelectionEpsilon), 1)));
  EXPECT_THROW(release(testing::test_receipt(TypeParam::event(kSelectionEpsilon / 2), 1)),
               std::logic_error);
  EXPECT_THROW(release(testing::test_receipt(TypeParam::event(kSelectionEpsilon), 0)),
               std::logic_error);
  EXPECT_THROW(release(testing::test_receipt(Event::gaussian(1, Relation::kZeroOut), 1)),
               std::logic_error);
}

// Trap T17: the published code takes argmin(loss + Exp) with scale sensitivity / epsilon. The noise
// has the wrong sign: its epsilon is (k - 1) times the claimed one. With the right sign it is
// permute-and-flip.
EventCounts noisy_argmin(const std::vector<double>& losses, double sign, std::uint64_t seed) {
  Stream stream = Stream::seeded(seed, Purpose::kSelection);
  EventCounts counts{std::vector<std::int64_t>(losses.size()), kSelectionDraws};
  for (int i = 0; i < kSelectionDraws; ++i) {
    std::size_t best = 0;
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < losses.size(); ++j) {
      const double noise = -std::log(stream.uniform()) * kSelectionSensitivity / kSelectionEpsilon;
      if (losses[j] + sign * noise < lowest) {
        lowest = losses[j] + sign * noise;
        best = j;
      }
    }
    ++counts.hits[best];
  }
  return counts;
}

TEST(WrongDirectionNoise, IsCaught) {
  const std::vector<double> losses = {0, 0, 0, 0};
  const std::vector<double> neighbour = {kSelectionSensitivity, 0, 0, 0};
  const double wrong =
      testing::epsilon_lower_bound(noisy_argmin(losses, 1, 12), noisy_argmin(neighbour, 1, 13));
  EXPECT_GT(wrong, 2.5 * kSelectionEpsilon);  // truth: 3
  EXPECT_LT(wrong, 3 * kSelectionEpsilon);
  const double right =
      testing::epsilon_lower_bound(noisy_argmin(losses, -1, 14), noisy_argmin(neighbour, -1, 15));
  EXPECT_LE(right, kSelectionEpsilon);
  const double ours = testing::epsilon_lower_bound(
      select<Flip>({0, 0, 0, 0}, ScoreMotion::kMonotone, 16),
      select<Flip>({-kSelectionSensitivity, 0, 0, 0}, ScoreMotion::kMonotone, 17));
  EXPECT_LE(ours, kSelectionEpsilon);
}

}  // namespace
}  // namespace sotto
