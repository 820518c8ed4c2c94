#include "sotto/data/synthetic_linear.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace sotto {
namespace {

TEST(SyntheticLinear, DenseRowsHaveNormOneAndFollowTheTruth) {
  const LinearData data = make_dense_linear(2000, 40, 5, 0, 0.05);
  EXPECT_EQ(data.table.rows(), 2000);
  int agree = 0;
  for (std::int64_t i = 0; i < 2000; ++i) {
    double square = 0;
    double score = 0;
    for (std::size_t j = 0; j < 40; ++j)
      square += static_cast<double>(data.table.row(i)[j]) * data.table.row(i)[j];
    for (std::size_t k = 0; k < data.relevant.size(); ++k)
      score += data.weights[k] * data.table.row(i)[data.relevant[k]];
    EXPECT_NEAR(square, 1, 1e-5);
    EXPECT_LE(data.table.norms()[static_cast<std::size_t>(i)], 1.0);
    agree += (score > 0) == (data.table.labels()[static_cast<std::size_t>(i)] > 0);
  }
  // Binomial(2000, 0.95): six standard deviations.
  EXPECT_NEAR(agree, 1900, 6 * std::sqrt(2000 * 0.05 * 0.95));
}

TEST(SyntheticLinear, PartsAndSeedsHaveRowsOfTheirOwn) {
  const LinearData a = make_dense_linear(10, 4, 5, 0);
  const LinearData again = make_dense_linear(10, 4, 5, 0);
  const LinearData b = make_dense_linear(10, 4, 5, 1);
  const LinearData c = make_dense_linear(10, 4, 6, 0);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.table.row(0)[0], again.table.row(0)[0]);
  EXPECT_NE(a.table.row(0)[0], b.table.row(0)[0]);
  EXPECT_NE(a.table.row(0)[0], c.table.row(0)[0]);
}

TEST(SyntheticLinear, SignRows) {
  const LinearData data = make_sign_rows(500, 70, 7, 1);
  EXPECT_EQ(data.relevant.size(), 7u);
  for (std::int64_t i = 0; i < 500; ++i) {
    double score = 0;
    for (std::size_t k = 0; k < 7; ++k)
      score += data.weights[k] * data.table.row(i)[data.relevant[k]];
    EXPECT_EQ(score > 0, data.table.labels()[static_cast<std::size_t>(i)] > 0);
    for (std::int64_t j = 0; j < 70; ++j) EXPECT_EQ(std::fabs(data.table.row(i)[j]), 1.0F);
  }
}

TEST(SyntheticLinear, SparseRowsHaveTheAskedShape) {
  const LinearData data = make_sparse_linear({4000, 10000, 10, 0.3, 40, 1}, 2);
  EXPECT_EQ(data.table.rows(), 4000);
  EXPECT_TRUE(std::is_sorted(data.relevant.begin(), data.relevant.end()));
  double present = 0;
  for (std::int64_t i = 0; i < 4000; ++i) {
    const auto begin = data.table.offsets()[static_cast<std::size_t>(i)];
    const auto end = data.table.offsets()[static_cast<std::size_t>(i + 1)];
    int relevant = 0;
    for (auto k = begin; k < end; ++k) {
      if (k > begin) {
        EXPECT_LT(data.table.columns()[static_cast<std::size_t>(k - 1)],
                  data.table.columns()[static_cast<std::size_t>(k)]);
      }
      relevant += std::binary_search(data.relevant.begin(),
                                     data.relevant.end(),
                                     data.table.columns()[static_cast<std::size_t>(k)]);
    }
    EXPECT_EQ(end - begin - relevant, 40);
    present += relevant;
  }
  // Binomial(40000, 0.3): six standard deviations.
  EXPECT_NEAR(present, 12000, 6 * std::sqrt(40000 * 0.3 * 0.7));
}

}  // namespace
}  // namespace sotto
