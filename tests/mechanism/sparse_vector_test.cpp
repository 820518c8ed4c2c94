#include "sotto/mechanism/sparse_vector.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sotto/audit/made_up_claim.hpp"
#include "tests/support/distinguish.hpp"
#include "tests/support/receipts.hpp"

namespace sotto {
namespace {

constexpr double kVectorEpsilon = 1;
constexpr double kVectorSensitivity = 0.5;
constexpr int kQuestions = 4;
constexpr int kVectorDraws = 30000;

Event vector_event() { return Event::sparse_vector(kVectorEpsilon, Relation::kZeroOut); }
SensitivityClaim claim() { return MadeUpClaim::of(kVectorSensitivity, Relation::kZeroOut); }

SparseVectorSession session(Receipt receipt, double threshold, Stream& noise, double scale = 1) {
  return SparseVectorSession(std::move(receipt),
                             kVectorEpsilon,
                             MadeUpClaim::of(kVectorSensitivity * scale),
                             threshold,
                             noise);
}

// Which of the queries is the first above, or none. `scale` < 1 makes the noise too small.
testing::EventCounts first_above(const std::vector<double>& queries,
                                 std::uint64_t seed,
                                 double scale = 1) {
  testing::ReceiptBook receipts(vector_event(), 1 + kQuestions, kVectorDraws);
  Stream noise = Stream::seeded(seed, Purpose::kNoise);
  testing::EventCounts counts{std::vector<std::int64_t>(queries.size() + 1), kVectorDraws};
  for (int i = 0; i < kVectorDraws; ++i) {
    SparseVectorSession asked = session(receipts.next(), 0, noise, scale);
    std::size_t first = 0;
    const SensitivityClaim scaled = MadeUpClaim::of(kVectorSensitivity * scale);
    while (first < queries.size() && !asked.is_above({queries[first], scaled}).value()) ++first;
    ++counts.hits[first];
  }
  return counts;
}

// P(nu >= rho) with nu Laplace of scale 4 L and rho of scale 2 L, shifted by x: from the closed
// form of the difference of two Laplace variables with scales a > b.
double probability_above(double x) {
  const double a = 4 * kVectorSensitivity / kVectorEpsilon,
               b = 2 * kVectorSensitivity / kVectorEpsilon;
  const auto tail = [&](double t) {  // P(nu - rho > t), t >= 0
    return (a * a * std::exp(-t / a) - b * b * std::exp(-t / b)) / (2 * (a * a - b * b));
  };
  return x >= 0 ? 1 - tail(x) : tail(-x);
}

TEST(SparseVector, OneQuestionIsAnsweredWithTheStatedNoise) {
  for (const double query : {-1.5, 0.0, 2.0}) {
    const auto counts = first_above({query}, 1);
    EXPECT_TRUE(testing::plausible(counts.hits[0], kVectorDraws, probability_above(query)))
        << query;
  }
  // Power: the same answers do not fit a query 1.5 times as far from the threshold.
  EXPECT_FALSE(
      testing::plausible(first_above({2.0}, 1).hits[0], kVectorDraws, probability_above(3)));
}

TEST(SparseVector, NeighboursAreNotToldApartBeyondEpsilon) {
  // The known worst pair: all queries move down but the last one, which moves up.
  const std::vector<double> queries = {0, 0, 0, 0};
  const std::vector<double> neighbour = {
      -kVectorSensitivity, -kVectorSensitivity, -kVectorSensitivity, kVectorSensitivity};
  EXPECT_LE(testing::epsilon_lower_bound(first_above(queries, 2), first_above(neighbour, 3)),
            kVectorEpsilon);
  // Power: with a fifth of the noise the same pair is told apart.
  EXPECT_GT(
      testing::epsilon_lower_bound(first_above(queries, 4, 0.2), first_above(neighbour, 5, 0.2)),
      kVectorEpsilon);
}

TEST(SparseVector, EndsWithTheFirstYes) {
  Stream noise = Stream::seeded(6, Purpose::kNoise);
  SparseVectorSession asked = session(testing::test_receipt(vector_event(), 5), 0, noise);
  EXPECT_EQ(asked.questions_left(), 4);
  EXPECT_FALSE(asked.is_above({-1e6, claim()}).value());
  EXPECT_EQ(asked.questions_left(), 3);
  EXPECT_TRUE(asked.is_above({1e6, claim()}).value());
  EXPECT_FALSE(asked.open());
  EXPECT_EQ(asked.questions_left(), 0);
  EXPECT_THROW(asked.is_above({-1e6, claim()}), std::logic_error);
}

TEST(SparseVector, SamplesLimitTheQuestions) {
  Stream noise = Stream::seeded(7, Purpose::kNoise);
  SparseVectorSession asked = session(testing::test_receipt(vector_event(), 2), 0, noise);
  EXPECT_FALSE(asked.is_above({-1e6, claim()}).value());
  EXPECT_THROW(asked.is_above({-1e6, claim()}), std::logic_error);
}

TEST(SparseVector, RefusesOtherClaimsAndReceipts) {
  Stream noise = Stream::seeded(8, Purpose::kNoise);
  SparseVectorSession asked = session(testing::test_receipt(vector_event(), 5), 0, noise);
  EXPECT_THROW(asked.is_above({0, MadeUpClaim::of(1, Relation::kZeroOut)}), std::logic_error);
  EXPECT_THROW(asked.is_above({0, MadeUpClaim::of(kVectorSensitivity, Relation::kReplaceOne)}),
               std::logic_error);
  EXPECT_THROW(
      asked.is_above(
          {0, MadeUpClaim::of(kVectorSensitivity, Relation::kZeroOut, Sampling::poisson(0.1))}),
      std::logic_error);
  const Event other = Event::sparse_vector(2, Relation::kZeroOut);
  EXPECT_THROW(session(testing::test_receipt(other, 5), 0, noise), std::logic_error);
  EXPECT_THROW(session(testing::test_receipt(vector_event(), 0), 0, noise), std::logic_error);
}

}  // namespace
}  // namespace sotto
