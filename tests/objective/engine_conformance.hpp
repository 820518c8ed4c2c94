#pragma once

// What every engine must satisfy, whatever its model. An engine's own test calls these for its
// tables and points.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "sotto/core/vector.hpp"
#include "sotto/objective/engine.hpp"

namespace sotto::testing {

/// Sums and norms, of gradients or (hessian) Hessians, for the units in `index` with the weights
/// that `weigh(norm)` gives, in blocks of at most `block` units.
struct EngineSum {
  std::vector<double> norms;
  std::vector<double> sum;
};

template <class Weigh>
EngineSum weighted_sum(const Engine& engine,
                       const std::vector<std::int64_t>& index,
                       std::span<const double> w,
                       bool hessian,
                       const Weigh& weigh,
                       std::int64_t block,
                       bool contiguous = false) {
  const auto p = static_cast<std::size_t>(engine.parameters());
  EngineSum result{std::vector<double>(index.size()), std::vector<double>(hessian ? p * p : p)};
  auto workspace = engine.make_workspace();
  for (std::size_t begin = 0; begin < index.size(); begin += static_cast<std::size_t>(block)) {
    const auto count = std::min<std::int64_t>(block, std::ssize(index) - std::int64_t(begin));
    Block units{index.data() + begin, 0, count};
    if (contiguous) units = {nullptr, index[begin], count};
    const std::span norms(result.norms.data() + begin, static_cast<std::size_t>(count));
    if (hessian)
      engine.evaluate_hessians(units, w, *workspace, norms);
    else
      engine.evaluate_gradients(units, w, *workspace, norms);
    std::vector<double> weights(norms.size());
    std::transform(norms.begin(), norms.end(), weights.begin(), weigh);
    if (hessian)
      engine.add_hessians(*workspace, weights, result.sum);
    else
      engine.add_gradients(*workspace, weights, result.sum);
  }
  return result;
}

inline std::vector<std::int64_t> all_units(const Engine& engine) {
  std::vector<std::int64_t> index(static_cast<std::size_t>(engine.units()));
  std::iota(index.begin(), index.end(), 0);
  return index;
}

inline std::span<const double> span_of(const Vector& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}
inline std::span<double> span_of(Vector& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}

/// Of one unit.
inline Vector gradient_of(const Engine& engine, std::int64_t unit, const Vector& w) {
  const auto one = weighted_sum(
      engine, {unit}, span_of(w), false, [](double) { return 1.0; }, 1);
  return Eigen::Map<const Vector>(one.sum.data(), static_cast<Eigen::Index>(one.sum.size()));
}

/// Frobenius norm of a symmetric matrix given by its lower triangle, or norm of a vector.
inline long double true_norm(std::span<const double> sum, std::size_t parameters) {
  long double squares = 0;
  for (std::size_t k = 0; k < sum.size(); ++k) {
    const long double x = sum[k];
    const bool diagonal = sum.size() == parameters || k / parameters == k % parameters;
    squares += (diagonal ? 1 : 2) * x * x;
  }
  return std::sqrt(squares);
}

/// The property that sensitivity rests on: one example, weighted by min(1, C / norm), adds at most
/// C; with weight 1, at most its norm. `slack` bounds how much larger than the truth a norm may be.
inline void expect_contributions_bounded(const Engine& engine,
                                         std::span<const double> w,
                                         bool hessian,
                                         double slack) {
  constexpr double kTolerance = 1e-12;
  const auto p = static_cast<std::size_t>(engine.parameters());
  for (const std::int64_t unit : all_units(engine)) {
    const auto alone = weighted_sum(
        engine, {unit}, w, hessian, [](double) { return 1.0; }, 1);
    const double norm = alone.norms[0];
    ASSERT_TRUE(std::isfinite(norm)) << unit;
    const long double truth = true_norm(alone.sum, p);
    EXPECT_LE(truth, norm) << unit;
    if (std::isfinite(slack)) {
      EXPECT_GE(truth * (1 + slack) + 1e-240L, norm) << unit;
    }
    for (const double radius : {1e-3, 1.0, 1e3}) {
      const auto clipped = weighted_sum(
          engine, {unit}, w, hessian, [&](double n) { return std::min(1.0, radius / n); }, 1);
      EXPECT_LE(true_norm(clipped.sum, p), radius * (1 + kTolerance)) << unit << " " << norm;
    }
  }
}

/// Any order of blocks and any list of units gives each unit the same norm, and the same sum up to
/// the order of additions; the same list gives the same bits, contiguous or not.
inline void expect_blocks_agree(const Engine& engine, std::span<const double> w, bool hessian) {
  const auto weigh = [](double norm) { return std::min(1.0, 0.5 / norm); };
  const auto units = all_units(engine);
  const auto whole = weighted_sum(engine, units, w, hessian, weigh, engine.units());
  const auto range = weighted_sum(engine, units, w, hessian, weigh, engine.units(), true);
  EXPECT_EQ(whole.sum, range.sum);
  EXPECT_EQ(whole.norms, range.norms);

  auto shuffled = units;
  for (std::size_t i = 0; i < shuffled.size(); ++i)
    std::swap(shuffled[i], shuffled[(i * 7919 + 13) % shuffled.size()]);
  const auto mixed = weighted_sum(engine, shuffled, w, hessian, weigh, 7);
  for (std::size_t i = 0; i < units.size(); ++i)
    EXPECT_EQ(mixed.norms[i], whole.norms[static_cast<std::size_t>(shuffled[i])]);
  for (std::size_t j = 0; j < whole.sum.size(); ++j)
    EXPECT_NEAR(mixed.sum[j], whole.sum[j], 1e-13 * static_cast<double>(units.size()));
}

}  // namespace sotto::testing
