#include "sotto/mechanism/lazy_operator.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <random>
#include <vector>

#include "sotto/audit/made_up_claim.hpp"
#include "sotto/mechanism/symmetric_gaussian.hpp"
#include "tests/support/receipts.hpp"
#include "tests/support/statistics.hpp"

namespace sotto {
namespace {

constexpr double kOperatorNoise = 0.8;
constexpr double kOperatorSensitivity = 3;
constexpr double kSigma = kOperatorNoise * kOperatorSensitivity;

Event operator_event() { return Event::gaussian(kOperatorNoise, Relation::kZeroOut); }

Matrix some_matrix(Eigen::Index d, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Matrix h(d, d);
  for (Eigen::Index i = 0; i < d; ++i)
    for (Eigen::Index j = 0; j <= i; ++j) h(i, j) = h(j, i) = normal(random);
  return h;
}

LazySymmetricOperator make(const Matrix& h,
                           std::int64_t products,
                           Stream& noise,
                           int* reads = nullptr,
                           double divisor = 1) {
  const std::int64_t d = h.rows();
  SymmetricProduct product = [h, reads](const Vector& v, Vector& result) {
    result = h * v;
    if (reads) ++*reads;
  };
  return LazySymmetricOperator(
      {std::move(product), MadeUpClaim::of(kOperatorSensitivity, Relation::kZeroOut)},
      testing::test_receipt(operator_event(), products * (d + 1)),
      kOperatorNoise,
      d,
      products,
      MadeUpClaim::products(0, h.norm()),
      divisor,
      noise);
}

Vector random_vector(Eigen::Index d, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  Vector v(d);
  for (double& x : v) x = normal(random);
  return v;
}

TEST(LazyOperator, IsOneSymmetricMatrixHoweverItIsAsked) {
  constexpr Eigen::Index d = 30;
  const Matrix h = some_matrix(d, 1);
  Stream noise = Stream::seeded(1, Purpose::kNoise);
  int reads = 0;
  LazySymmetricOperator op = make(h, 12, noise, &reads, 5);
  std::mt19937_64 random(2);
  std::vector<Vector> asked, answers;
  for (int k = 0; k < 10; ++k) {
    // Vectors that follow the answers, as Krylov methods ask; and repetitions.
    asked.push_back(k % 3 == 2 ? Vector(answers.back() * 7) : random_vector(d, random));
    answers.push_back(op.apply(asked.back())->value());
  }
  EXPECT_EQ(reads, 10);
  for (std::size_t i = 0; i < asked.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const double scale = asked[i].norm() * answers[j].norm();
      EXPECT_NEAR(asked[i].dot(answers[j]), asked[j].dot(answers[i]), 1e-12 * scale);
    }
  // What lies in the span costs nothing and is linear.
  const Vector mixed = 2 * asked[0] - 0.5 * asked[4] + asked[7];
  const Vector expected = 2 * answers[0] - 0.5 * answers[4] + answers[7];
  EXPECT_LE((op.apply(mixed)->value() - expected).norm(), 1e-10 * expected.norm());
  EXPECT_EQ(op.apply(Vector::Zero(d))->value(), Vector::Zero(d));
  EXPECT_EQ(reads, 10);
  EXPECT_EQ(op.products_left(), 2);
  // Not the truth: each product differs from H v by noise of about its standard deviation.
  EXPECT_GT((answers[0] - h * asked[0] / 5).norm(), 0.2 * op.sigma() * asked[0].norm());
}

TEST(LazyOperator, StopsWhenItsProductsAreUsedUp) {
  const Matrix h = some_matrix(8, 3);
  Stream noise = Stream::seeded(2, Purpose::kNoise);
  LazySymmetricOperator op = make(h, 2, noise);
  std::mt19937_64 random(4);
  const Vector a = random_vector(8, random), b = random_vector(8, random);
  ASSERT_TRUE(op.apply(a));
  ASSERT_TRUE(op.apply(b));
  const auto refused = op.apply(random_vector(8, random));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kBudget);
  EXPECT_TRUE(op.apply(a - 3 * b));
}

TEST(LazyOperator, RefusesAReceiptForLess) {
  const Matrix h = some_matrix(4, 3);
  Stream noise = Stream::seeded(2, Purpose::kNoise);
  const auto with = [&](Event bought, std::int64_t samples) {
    LazySymmetricOperator(
        {[](const Vector&, Vector&) {}, MadeUpClaim::of(kOperatorSensitivity, Relation::kZeroOut)},
        testing::test_receipt(std::move(bought), samples),
        kOperatorNoise,
        4,
        2,
        MadeUpClaim::products(0, 1),
        1,
        noise);
  };
  EXPECT_NO_THROW(with(operator_event(), 10));
  EXPECT_THROW(with(operator_event(), 9), std::logic_error);
  EXPECT_THROW(with(Event::gaussian(1, Relation::kZeroOut), 10), std::logic_error);
}

/// All of E, in the standard basis, from products with adaptively chosen vectors.
Matrix whole_noise(const Matrix& h, Stream& noise, std::mt19937_64& random) {
  const Eigen::Index d = h.rows();
  LazySymmetricOperator op = make(h, d, noise);
  Vector v = random_vector(d, random);
  for (Eigen::Index k = 0; k < d; ++k) {
    Vector answer = op.apply(v)->value();
    v = k % 2 ? answer : random_vector(d, random);
  }
  Matrix e(d, d);
  for (Eigen::Index k = 0; k < d; ++k) e.col(k) = op.apply(Vector::Unit(d, k))->value() - h.col(k);
  return e;
}

/// The law of the noise does not depend on the vectors asked: its entries are those of the dense
/// mechanism.
TEST(LazyOperator, EntriesHaveTheLawOfTheOrthogonalEnsemble) {
  constexpr Eigen::Index d = 6;
  constexpr int kDraws = 4000;
  const Matrix h = some_matrix(d, 5);
  Stream noise = Stream::seeded(3, Purpose::kNoise);
  std::mt19937_64 random(6);
  std::vector<double> diagonal, lower;
  double product = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Matrix e = whole_noise(h, noise, random);
    ASSERT_LE((e - e.transpose()).norm(), 1e-8);
    for (Eigen::Index r = 0; r < d; ++r) {
      diagonal.push_back(e(r, r));
      for (Eigen::Index c = 0; c < r; ++c) lower.push_back(e(r, c));
    }
    product += e(1, 0) * e(2, 0) / (kSigma * kSigma / 2);
  }
  const auto distance = [](const std::vector<double>& sample, double sigma) {
    return testing::kolmogorov_distance(
        sample, [sigma](double x) { return testing::normal_cdf(x / sigma); });
  };
  EXPECT_LT(distance(diagonal, kSigma), testing::kolmogorov_critical(diagonal.size()));
  EXPECT_LT(distance(lower, kSigma / std::sqrt(2.0)), testing::kolmogorov_critical(lower.size()));
  EXPECT_GT(distance(lower, kSigma), testing::kolmogorov_critical(lower.size()));
  // Different entries are uncorrelated: the mean of their product is within 5 standard errors.
  EXPECT_LT(std::abs(product / kDraws), 5 / std::sqrt(static_cast<double>(kDraws)));
}

/// Two-sample Kolmogorov-Smirnov: the smallest eigenvalue of H + E by Lanczos-like exhaustion of a
/// lazy operator, against the dense mechanism.
TEST(LazyOperator, SmallestEigenvalueHasTheLawOfTheDenseMechanism) {
  constexpr Eigen::Index d = 8;
  constexpr int kDraws = 4000;
  const Matrix h = some_matrix(d, 7);
  Stream noise = Stream::seeded(4, Purpose::kNoise);
  std::mt19937_64 random(8);
  const auto smallest = [](const Matrix& m) {
    return Eigen::SelfAdjointEigenSolver<Matrix>(m, Eigen::EigenvaluesOnly).eigenvalues()[0];
  };
  testing::ReceiptBook receipts(operator_event(), symmetric_coordinates(d), kDraws);
  std::vector<double> lazy, dense, wrong;
  for (int i = 0; i < kDraws; ++i) {
    const Matrix e = whole_noise(h, noise, random);
    lazy.push_back(smallest(h + e));
    wrong.push_back(smallest(h + 1.1 * e));
    dense.push_back(smallest(SymmetricGaussianMechanism::release(
                                 {h, MadeUpClaim::of(kOperatorSensitivity, Relation::kZeroOut)},
                                 receipts.next(),
                                 kOperatorNoise,
                                 noise)
                                 .value()));
  }
  const auto empirical = [&](std::vector<double> sample) {
    std::sort(dense.begin(), dense.end());
    return testing::kolmogorov_distance(std::move(sample), [&](double x) {
      return static_cast<double>(std::upper_bound(dense.begin(), dense.end(), x) - dense.begin()) /
             static_cast<double>(dense.size());
    });
  };
  // Both empirical laws are within the one-sample bound of the truth at half the level.
  const double critical = 2 * testing::kolmogorov_critical(kDraws, testing::kFalseAlarm / 2);
  EXPECT_LT(empirical(lazy), critical);
  EXPECT_GT(empirical(wrong), critical);  // noise 10 % too large
}

/// A broken twin: fresh noise in each product. Asking one vector many times averages it away, and
/// the operator is not symmetric; the lazy one answers the same number each time.
TEST(LazyOperator, FreshNoiseInEachProductWouldBeSeen) {
  const Matrix h = some_matrix(20, 9);
  Stream noise = Stream::seeded(5, Purpose::kNoise);
  LazySymmetricOperator op = make(h, 20, noise);
  std::mt19937_64 random(10);
  const Vector v = random_vector(20, random).normalized();
  const Vector first = op.apply(v)->value();
  const Vector again = op.apply(v)->value();
  EXPECT_LE((first - again).norm(), 1e-12);
  const auto fresh = [&] {
    LazySymmetricOperator other = make(h, 20, noise);
    return other.apply(v)->value();
  };
  EXPECT_GT((fresh() - fresh()).norm(), 1);
}

}  // namespace
}  // namespace sotto
