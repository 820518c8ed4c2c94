#include "sotto/oracle/per_example_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "sotto/core/parallel.hpp"
#include "sotto/random/stream.hpp"
#include "tests/support/toy_engine.hpp"

namespace sotto {
namespace {

using testing::FixedGradients;

std::vector<std::vector<double>> random_gradients(int n, int d, double scale) {
  Stream stream = Stream::seeded(11, Purpose::kData);
  std::vector<std::vector<double>> gradients(static_cast<std::size_t>(n));
  for (auto& gradient : gradients)
    for (int j = 0; j < d; ++j) gradient.push_back(scale * (2 * stream.uniform() - 1));
  return gradients;
}

/// The exact clipped sum, in long double.
std::vector<long double> reference(const std::vector<std::vector<double>>& gradients,
                                   double radius) {
  std::vector<long double> sum(gradients.front().size(), 0);
  for (const auto& gradient : gradients) {
    long double square = 0;
    for (const double g : gradient) square += static_cast<long double>(g) * g;
    const long double norm = std::sqrt(square);
    const long double weight = norm > radius ? radius / norm : 1.0L;
    for (std::size_t j = 0; j < gradient.size(); ++j) sum[j] += weight * gradient[j];
  }
  return sum;
}

/// What claims add for each neighbour's rounding.
double bound(const Engine& engine, std::int64_t n, double radius) {
  return sum_geometry({engine.parameters(), false}, SumKind::kVector, 1)
      .rounding_error(n, radius, engine.parameters());
}

TEST(PerExampleSum, EqualsTheExactClippedSumWithinItsOwnBound) {
  const auto gradients = random_gradients(1000, 5, 3);
  const FixedGradients engine(gradients);
  PerExampleSum sums(engine);
  for (const double radius : {0.1, 1.0, 2.5, 100.0}) {
    Vector sum;
    sums.clipped_gradients({}, Vector::Zero(5), radius, sum);
    const auto exact = reference(gradients, radius);
    long double square = 0;
    for (Eigen::Index j = 0; j < 5; ++j) {
      const long double difference = sum[j] - exact[static_cast<std::size_t>(j)];
      square += difference * difference;
    }
    // The engine's norms and the clip rule shrink by up to 2e-14 of the radius; the rest is
    // rounding.
    EXPECT_LE(std::sqrt(square), bound(engine, 1000, radius) + 1000 * radius * 2e-14) << radius;
  }
}

TEST(PerExampleSum, IsBitIdenticalForAnyNumberOfThreads) {
  const FixedGradients engine(random_gradients(5000, 9, 1e3), 16);
  Vector once;
  for (const int threads : {1, 2, 3, 7}) {
    set_thread_count(threads);
    PerExampleSum sums(engine);
    Vector sum;
    sums.clipped_gradients({}, Vector::Zero(9), 1.7, sum);
    if (once.size() == 0) once = sum;
    EXPECT_EQ(once, sum) << threads << " threads";
  }
  set_thread_count(0);
}

// An engine's blocks are for its cache. Were a block's sum rounded on its own, they would show.
TEST(PerExampleSum, IsBitIdenticalForAnyBlockSizeOfTheEngine) {
  const auto gradients = random_gradients(5000, 9, 1e3);
  std::vector<std::int64_t> some;
  for (std::int64_t i = 0; i < 5000; i += 1 + i % 3) some.push_back(i);
  for (const PerExampleSum::Batch& batch :
       {PerExampleSum::Batch{}, PerExampleSum::Batch{false, some, 700}}) {
    Vector once;
    for (const std::int64_t block : {1, 7, 100, 128, 129, 4096}) {
      const FixedGradients engine(gradients, block);
      Vector sum;
      PerExampleSum(engine).clipped_gradients(batch, Vector::Zero(9), 1.7, sum);
      if (once.size() == 0) once = sum;
      EXPECT_EQ(once, sum) << "blocks of " << block;
    }
  }
}

// Ranges can be summed anywhere: integers add up to the whole, to the last bit.
TEST(PerExampleSum, RangesAddUpToTheWhole) {
  const std::int64_t n = 700;
  const FixedGradients engine(random_gradients(static_cast<int>(n), 4, 10));
  std::vector<std::int64_t> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  const std::int64_t range = sum_geometry({4, false}, SumKind::kVector, 1).range;
  Vector whole;
  PerExampleSum(engine).clipped_gradients({}, Vector::Zero(4), 2, whole);
  Eigen::Matrix<long double, 4, 1> parts = Eigen::Matrix<long double, 4, 1>::Zero();
  for (std::int64_t begin = 0; begin < n; begin += range) {
    Vector part;
    const auto count = static_cast<std::size_t>(std::min(range, n - begin));
    PerExampleSum(engine).clipped_gradients(
        {false, std::span(all).subspan(static_cast<std::size_t>(begin), count), range},
        Vector::Zero(4),
        2,
        part);
    parts += part.cast<long double>();  // exact: multiples of 2^-48, far below 2^15
  }
  EXPECT_EQ(Vector(parts.cast<double>()), whole);
}

// What a null leaves behind is what a unit leaves that was never there.
TEST(PerExampleSum, ANullAddsNothing) {
  struct WithNull final : FixedGradients {
    using FixedGradients::FixedGradients;
    std::vector<std::uint8_t> marks;
    std::span<const std::uint8_t> null_units() const override { return marks; }
  };
  const auto gradients = random_gradients(300, 4, 10);
  WithNull engine(gradients);
  engine.marks.assign(300, 0);
  engine.marks[17] = 1;
  std::vector<std::int64_t> others;
  for (std::int64_t i = 0; i < 300; ++i)
    if (i != 17) others.push_back(i);
  const FixedGradients plain(gradients);
  PerExampleSum with(engine), without(plain);
  Vector sum, rest;
  with.clipped_gradients({}, Vector::Zero(4), 2, sum);
  without.clipped_gradients({false, others}, Vector::Zero(4), 2, rest);
  EXPECT_EQ(with.unclipped_less_clipped(), without.unclipped_less_clipped());
  EXPECT_NEAR((sum - rest).norm(), 0, bound(engine, 300, 2) * 2);
  EXPECT_NEAR(with.clipped_losses({}, Vector::Zero(4), 2),
              without.clipped_losses({false, others}, Vector::Zero(4), 2),
              1e-12);
  with.clipped_gradient_pairs({}, Vector::Zero(4), Vector::Zero(4), {0.5, 1, 1, false}, sum);
  without.clipped_gradient_pairs(
      {false, others}, Vector::Zero(4), Vector::Zero(4), {0.5, 1, 1, false}, rest);
  EXPECT_NEAR((sum - rest).norm(), 0, bound(engine, 300, 2) * 2);
}

TEST(PerExampleSum, NoExampleMovesTheSumByMoreThanTheRadius) {
  auto gradients = random_gradients(50, 4, 1e6);
  gradients[7] = {1e300, -1e300, 0, 1};
  gradients[8] = {std::numeric_limits<double>::infinity(), 0, 0, 0};
  gradients[9] = {std::nan(""), 1, 1, 1};
  const FixedGradients engine(gradients);
  PerExampleSum sums(engine);
  Vector all;
  sums.clipped_gradients({}, Vector::Zero(4), 0.5, all);
  EXPECT_TRUE(all.allFinite());
  for (std::size_t left_out = 0; left_out < gradients.size(); ++left_out) {
    std::vector<std::int64_t> others;
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (i != left_out) others.push_back(static_cast<std::int64_t>(i));
    Vector without;
    sums.clipped_gradients({false, others}, Vector::Zero(4), 0.5, without);
    EXPECT_LE((all - without).norm(), 0.5 + 2 * bound(engine, 50, 0.5)) << left_out;
  }
}

TEST(PerExampleSum, ABatchIsTheSumOverItsIndices) {
  const auto gradients = random_gradients(40, 3, 1);
  const FixedGradients engine(gradients);
  PerExampleSum sums(engine);
  const std::vector<std::int64_t> indices = {3, 5, 8, 13, 21, 34};
  std::vector<std::vector<double>> chosen;
  for (const auto i : indices) chosen.push_back(gradients[static_cast<std::size_t>(i)]);
  Vector sum;
  sums.clipped_gradients({false, indices}, Vector::Zero(3), 10, sum);
  const auto exact = reference(chosen, 10);
  for (Eigen::Index j = 0; j < 3; ++j)
    EXPECT_NEAR(sum[j], static_cast<double>(exact[static_cast<std::size_t>(j)]), 1e-13);
  sums.clipped_gradients({false, {}}, Vector::Zero(3), 10, sum);
  EXPECT_EQ(sum, Vector::Zero(3)) << "an empty batch sums to nothing";
}

// 1,024 units have room in 64 bits, one more makes a thread go on in 128: the same numbers.
TEST(PerExampleSum, SmallAndLargeBatchesAreSummedAlike) {
  auto gradients = random_gradients(1024, 7, 3);
  const FixedGradients small(gradients, 1);
  gradients.resize(1025, std::vector<double>(7, 0.0));
  const FixedGradients large(gradients, 1);
  for (const double radius : {1e-3, 1.0, 2.0}) {
    Vector narrow, wide;
    PerExampleSum(small).clipped_gradients({}, Vector::Zero(7), radius, narrow);
    PerExampleSum(large).clipped_gradients({}, Vector::Zero(7), radius, wide);
    EXPECT_EQ(narrow, wide) << radius;
  }
}

TEST(PerExampleSum, LossesAreClippedToTheirRange) {
  const double nan = std::nan("");
  const FixedGradients engine({{0.5}, {-1.0}, {7.0}, {nan}});
  PerExampleSum sums(engine);
  EXPECT_NEAR(sums.clipped_losses({}, Vector::Zero(1), 2), 0.5 + 0 + 2 + 0, 1e-13);
}

TEST(PerExampleSum, UnclippedSumsSurviveAnyScale) {
  const FixedGradients engine(random_gradients(300, 2, 1e12));
  PerExampleSum sums(engine);
  Vector sum;
  const double infinity = std::numeric_limits<double>::infinity();
  sums.clipped_gradients({}, Vector::Zero(2), infinity, sum);
  const auto exact = reference(random_gradients(300, 2, 1e12), infinity);
  for (Eigen::Index j = 0; j < 2; ++j)
    EXPECT_NEAR(sum[j], static_cast<double>(exact[static_cast<std::size_t>(j)]), 1e-1);
}

}  // namespace
}  // namespace sotto
