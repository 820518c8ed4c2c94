#include "sotto/geometry/vertex_path.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sotto {
namespace {

TEST(VertexPath, IsTheDenseRecursion) {
  constexpr std::int64_t kDimension = 30;
  std::mt19937_64 random(4);
  VertexPath path(kDimension);
  Vector w = Vector::Zero(kDimension);
  for (int t = 0; t < 500; ++t) {
    const double step = t % 100 == 99 ? 1.0 : 2.0 / (t % 100 + 3);
    const Vertex vertex{static_cast<std::int64_t>(random() % 12), random() % 2 ? 3.0 : -3.0};
    path.move(step, vertex);
    w *= 1 - step;
    w[vertex.coordinate] += step * vertex.value;
    ASSERT_LE((path.dense() - w).norm(), 1e-12);
    ASSERT_NEAR(path.l1_norm(), w.lpNorm<1>(), 1e-12);
  }
  EXPECT_LE(path.support().size(), 12u);
  EXPECT_EQ(path.moves().size(), 500u);
}

TEST(VertexPath, ManyStepsNeverOverflow) {
  VertexPath path(4);
  for (int t = 0; t < 20000; ++t) path.move(0.5, {t % 4, 1.0});
  EXPECT_NEAR(path.dense().sum(), 1, 1e-12);
}

}  // namespace
}  // namespace sotto
