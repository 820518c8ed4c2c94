// How opt-ls and 2opt-ls choose the length of a step, without noise.

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/geometry/trust_region.hpp"
#include "tests/support/search_problems.hpp"

namespace sotto {
namespace {

using testing::Saddle;
using testing::Small;

TEST(Opt, LineSearchesChooseAsTheyShould) {
  const Small small;
  const GivenOptions options = {
      {"gradient_tolerance", "0.01"}, {"steps", "1"}, {"longest_step", "8"}};
  const Vector g = small.gradient(Vector::Zero(3));
  const double G = small.smoothness();
  Vector best = Vector::Zero(3);
  for (const double factor : {8.0, 4.0, 2.0, 1.0}) {
    const Vector w = -factor / G * g;
    if (small.objective(w) < small.objective(best)) best = w;
  }
  GivenOptions gumbel = options;
  gumbel.emplace_back("candidates", "4");
  EXPECT_LE((small.run("opt-ls", gumbel).w - best).norm(), 1e-9);
}

// The authors' script: from b times the fall-back 0.6/G down by factors of 0.6, the first length
// with a decrease of 0.6 gamma |g|^2; the fall-back if there is none.
TEST(Opt, TheSparseVectorSearchIsTheAuthorsScripts) {
  const Small small;
  const Vector g = small.gradient(Vector::Zero(3));
  const double G = small.smoothness(), fallback = 0.6 / G;
  for (const double longest : {8.0, 20.0, 1.0}) {
    double length = fallback;
    bool searched = false;
    for (double gamma = longest * fallback; gamma > fallback && !searched; gamma *= 0.6) {
      const double decrease = small.objective(Vector::Zero(3)) - small.objective(-gamma * g);
      searched = decrease >= 0.6 * gamma * g.squaredNorm();
      if (searched) length = gamma;
    }
    EXPECT_EQ(searched, longest > 1) << "1 leaves no length above the fall-back";
    const auto result = small.run("opt-ls",
                                  {{"gradient_tolerance", "0.01"},
                                   {"steps", "1"},
                                   {"longest_step", std::to_string(longest)},
                                   {"line_search", "sparse_vector"}});
    EXPECT_LE((result.w + length * g).norm(), 1e-9) << longest;
  }
  const auto both =
      (*find_method("opt-ls"))
          ->configure({{"line_search", "sparse_vector"}, {"candidates", "4"}}, small.facts());
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().kind, ErrorKind::kUsage);
}

// Along the lowest eigenvector p of curvature -l: from 20 times 1.646 l/M down by halves, the first
// length with a decrease of 0.125 gamma^2 l.
TEST(Opt, CurvatureStepsAreSearchedToo) {
  const Saddle saddle;
  const Table table =
      TableBuilder::dense(Saddle::kRows, Saddle::kDim, saddle.rows, saddle.labels, {});
  const GlmEngine engine(table, saddle.loss);
  ExactOracle exact(engine, saddle.facts().problem, Stream::seeded(1, Purpose::kSampling));
  const SymmetricEigen H =
      symmetric_eigen(exact.hessian({Vector::Zero(4), Sampling::full(), 1, 1})->value().value);
  const double l = -H.values[0];
  ASSERT_GT(l, 0.1);
  const auto objective = [&](const Vector& w) {
    double sum = 0;
    for (std::size_t i = 0; i < Saddle::kRows; ++i) {
      double z = 0;
      for (std::size_t j = 0; j < Saddle::kDim; ++j)
        z += static_cast<double>(saddle.rows[4 * i + j]) * w[static_cast<Eigen::Index>(j)];
      const double r = z * z - static_cast<double>(saddle.labels[i]);
      sum += r * r / 4;
    }
    return sum / Saddle::kRows;
  };
  const double t2 = 1.5 * 0.65 + 3 * std::sqrt(0.65 * 0.65 / 4 - 2.0 / 36);
  double length = t2 * l / 6;
  for (double gamma = 20 * length; gamma > length; gamma *= 0.5)
    if (objective(Vector::Zero(4)) - objective(gamma * H.vectors.col(0)) >=
        0.125 * gamma * gamma * l) {
      length = gamma;
      break;
    }
  EXPECT_GT(length, 1.01 * t2 * l / 6) << "the search finds something";
  const auto result = saddle.run("opt-ls", {{"line_search", "sparse_vector"}, {"steps", "1"}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_NEAR(result->w.norm(), length, 1e-9);
}

}  // namespace
}  // namespace sotto
