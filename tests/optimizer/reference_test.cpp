// Without noise and with full participation every method equals a plainly written one to 1e-12.
// Here: storm, AdaGrad steps, rrpsgd, the theory's step rule, the outputs. The others are in
// noisy_descent_test.cpp (dp-gd, dp-sgd), recursive_descent_test.cpp (dp-srm, private-spiderboost)
// and adaptive_test.cpp (dp-agd, adp-sgd).

#include <gtest/gtest.h>

#include <cmath>

#include "sotto/oracle/exact_oracle.hpp"
#include "tests/support/small_glm.hpp"

namespace sotto {
namespace {

using testing::SmallGlm;

constexpr double kExactReference = 1e-12;

/// Ends of a run without noise.
OptimizerResult run(const SmallGlm& small,
                    const std::string& method,
                    const GivenOptions& options,
                    bool clips = false) {
  const auto configured = (*find_method(method))->configure(options, small.facts());
  EXPECT_TRUE(configured) << configured.error().message;
  ExactOracle oracle(
      small.engine(), small.facts().problem, Stream::seeded(1, Purpose::kSampling), clips);
  NoObserver observer;
  return *configured->optimizer->run(oracle, /*noise_multiplier=*/0, observer);
}

Vector clipped_to(const Vector& v, double radius) {
  return v * std::min(1.0, radius / std::max(v.norm(), 1e-300));
}

TEST(Reference, Storm) {
  const SmallGlm small(LossKind::kLogistic);
  const auto result =
      run(small,
          "storm",
          {{"steps", "40"}, {"expected_batch", "4"}, {"k", "0.8"}, {"u", "0.3"}, {"c", "0.7"}});
  Vector w = small.origin(), before = w, v = w;
  double a = 1, sum = 0.3, least = 1;
  for (int t = 0; t < 40; ++t) {
    v = small.data_gradient(w) + (1 - a) * (v - small.data_gradient(before));
    sum += v.squaredNorm();
    const double eta = 0.8 / std::cbrt(sum);
    before = w;
    w = w - eta * (v + small.regularizer_gradient(w));
    a = std::min(1.0, 0.7 * eta * eta);
    least = std::min(least, a);
  }
  EXPECT_LE((result.w - w).norm(), kExactReference);
  EXPECT_LT(least, 0.9) << "old estimates were used";
}

TEST(Reference, AdagradNorm) {
  const SmallGlm small(LossKind::kLogistic);
  for (const char* noise : {"matched", "adaptive", "constant"}) {
    const auto result = run(small,
                            "adp-sgd",
                            {{"steps", "40"},
                             {"expected_batch", "4"},
                             {"step_rule", "adagrad"},
                             {"noise", noise},
                             {"first_multiplier", "1e-150"},
                             {"step_size", "2"},
                             {"offset", "0.5"},
                             {"beta", "3"},
                             {"nu", "0.1"}});
    Vector w = small.origin();
    double square = 0.5;
    int by_gradient = 0, least_growth = 0;
    for (int t = 0; t < 40; ++t) {
      const Vector g = small.data_gradient(w);
      (3 * g.squaredNorm() > 0.1 ? by_gradient : least_growth) += 1;
      square += std::max(3 * g.squaredNorm(), 0.1);
      w = w - 2 / std::sqrt(square) * (g + small.regularizer_gradient(w));
    }
    EXPECT_LE((result.w - w).norm(), kExactReference) << noise;
    EXPECT_GT(by_gradient, 2);
    EXPECT_GT(least_growth, 2) << "both branches were tested";
  }
}

TEST(Reference, Rrpsgd) {
  const SmallGlm small(LossKind::kLogistic);
  const auto result = run(small,
                          "rrpsgd",
                          {{"steps", "50"},
                           {"drawn_steps", "17"},
                           {"expected_batch", "4"},
                           {"schedule", "inverse_sqrt"},
                           {"clip_radius", "0.5"},
                           {"step_size", "0.9"}},
                          /*clips=*/true);
  Vector w = small.origin();
  for (int t = 1; t <= 17; ++t) {
    Vector mean = small.origin();
    for (std::int64_t i = 0; i < 4; ++i) mean += clipped_to(small.gradient(i, w), 0.5) / 4;
    w = w - 0.9 / std::sqrt(t) * (mean + small.regularizer_gradient(w));
  }
  EXPECT_LE((result.w - w).norm(), kExactReference);
}

TEST(Reference, TheStepRuleOfTheTheory) {
  const SmallGlm small(LossKind::kLogistic);
  const auto result = run(small,
                          "dp-srm",
                          {{"steps", "60"},
                           {"expected_batch", "4"},
                           {"mixture", "0.3"},
                           {"step_rule", "theory"},
                           {"accuracy", "0.1"},
                           {"n0", "1.5"},
                           {"average", "0"}});
  const double L = 2.3 * 2.3 / 4 + 0.1;  // the regularizer's curvature
  const double n0 = 1.5;
  Vector w = small.origin(), before = w, v = small.data_gradient(w);
  int short_steps = 0, long_steps = 0;
  for (int t = 0; t < 60; ++t) {
    if (t > 0)
      v = 0.3 * small.data_gradient(w) +
          0.7 * (small.data_gradient(w) - small.data_gradient(before)) + 0.7 * v;
    const Vector direction = v + small.regularizer_gradient(w);
    const double eta = std::min(0.1 / (n0 * L * direction.norm()), 1 / (2 * n0 * L));
    (eta < 1 / (2 * n0 * L) ? short_steps : long_steps) += 1;
    before = w;
    w = w - eta * direction;
  }
  EXPECT_LE((result.w - w).norm(), kExactReference);
  EXPECT_GT(short_steps, 2);
  EXPECT_GT(long_steps, 2) << "both branches were tested";
}

TEST(Reference, Outputs) {
  const SmallGlm small(LossKind::kLogistic);
  // Steps so long that the objective goes up and down: the best iterate is not the last.
  const auto with = [&](GivenOptions more) {
    GivenOptions options = {{"steps", "12"},
                            {"step_size", "6"},
                            {"momentum", "0.9"},
                            {"schedule", "constant"},
                            {"loss_clip", "100"}};
    options.insert(options.end(), more.begin(), more.end());
    return run(small, "dp-gd", options).w;
  };
  std::vector<Vector> iterates;
  Vector w = small.origin(), v = w;
  for (int t = 0; t < 12; ++t) {
    v = 0.9 * v + small.full_gradient(w);
    w -= 6 * v;
    iterates.push_back(w);
  }
  EXPECT_LE((with({{"output", "last"}}) - iterates[11]).norm(), kExactReference);
  EXPECT_LE((with({{"output", "random"}, {"drawn_steps", "5"}}) - iterates[4]).norm(),
            kExactReference);
  const auto before = [&](const char* step) {
    return with({{"output", "random_before"}, {"drawn_steps", step}});
  };
  EXPECT_LE((before("5") - iterates[3]).norm(), kExactReference) << "where the fifth step is taken";
  EXPECT_EQ(before("1"), small.origin()) << "the start is one of them";
  EXPECT_LE((with({{"output", "average"}, {"average", "0.25"}}) -
             (iterates[9] + iterates[10] + iterates[11]) / 3)
                .norm(),
            kExactReference);
  // Four evenly spaced candidates: after 3, 6, 9 and 12 steps. The regularizer counts too.
  std::size_t best = 2;
  for (const std::size_t k : {5, 8, 11})
    if (small.objective(iterates[k]) < small.objective(iterates[best])) best = k;
  ASSERT_NE(best, 11u);
  EXPECT_LE((with({{"output", "best"}, {"candidates", "4"}}) - iterates[best]).norm(),
            kExactReference);
}

}  // namespace
}  // namespace sotto
