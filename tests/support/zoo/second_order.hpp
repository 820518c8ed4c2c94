#pragma once

// Broken twins of the second-order releases. A correct release is a sum of Hessians clipped to 1 in
// the Frobenius norm, with noise of the orthogonal ensemble of scale sensitivity / mu.

#include <cmath>

#include "tests/support/zoo/zoo.hpp"

namespace sotto::testing::zoo {

/// Replace-one of positive semidefinite Hessians moves the sum by sqrt(2) B; the noise is for B.
inline Case hessian_without_square_root() {
  const double s = 1 / claimed_mu();
  return {"Hessian sensitivity B instead of sqrt(2) B",
          "replace-one; B x x' in world 0, B z z' with z orthogonal to x in world 1",
          kEpsilon,
          gaussian_real(std::sqrt(2.0)),
          15000,
          gaussian_claim(kEpsilon, kDelta),
          [=](int world, Dice& dice) {
            // The two diagonal entries that differ; their difference is the best test.
            const double xx = (world == 0 ? 1 : 0) + s * dice.normal();
            const double zz = (world == 1 ? 1 : 0) + s * dice.normal();
            return zz - xx;
          }};
}

/// A triangle of noise is copied, with the off-diagonal scale s / sqrt(2) of the orthogonal
/// ensemble (whose two halves are one number) halved once more, as if both copies were independent.
inline Case triangle_with_wrong_scale() {
  const double s = 1 / claimed_mu();
  return {"copied triangle with variance s^2 / 4",
          "zero-out; the canary's Hessian is B (x z' + z x') / sqrt(2), its entries B / sqrt(2)",
          kEpsilon,
          gaussian_real(std::sqrt(2.0)),
          15000,
          gaussian_claim(kEpsilon, kDelta),
          [=](int world, Dice& dice) { return world / std::sqrt(2.0) + s / 2 * dice.normal(); }};
}

/// Trap T13: noise for a mean over n records on a mean over a batch of b. One full pass of n / b
/// batches without sampling's help (each record in exactly one of them).
inline Case noise_for_n_on_a_mean_over_b() {
  constexpr double n = 1000;
  constexpr double b = 500;
  const double s = 1 / claimed_mu() / n;  // on the mean
  return {"noise scaled by n instead of b",
          "zero-out; the canary's Hessian is B, the others 0; n = 1000, batches of 500",
          kEpsilon,
          gaussian_real(n / b),
          5000,
          gaussian_claim(kEpsilon, kDelta),
          [=](int world, Dice& dice) { return world / b + s * dice.normal(); }};
}

/// Gradient and Hessian are clipped and noised each for itself, at the price of one release: the
/// joint norm of the pair is sqrt(2).
inline Case pair_at_the_price_of_one() {
  const double s = 1 / claimed_mu();
  return {"gradient and Hessian noised separately, charged once",
          "zero-out; the canary's gradient and Hessian both have norm 1",
          kEpsilon,
          gaussian_real(std::sqrt(2.0)),
          15000,
          gaussian_claim(kEpsilon, kDelta),
          [=](int world, Dice& dice) { return 2 * world + s * (dice.normal() + dice.normal()); }};
}

/// Fresh noise in every Hessian-vector product, charged as one release.
inline Case fresh_noise_in_products() {
  constexpr int products = 8;
  const double s = 1 / claimed_mu();
  return {"fresh noise in every product",
          "zero-out; the canary's Hessian is B x x', and x is asked 8 times",
          kEpsilon,
          gaussian_real(std::sqrt(double{products})),
          3000,
          gaussian_claim(kEpsilon, kDelta),
          [=](int world, Dice& dice) {
            double sum = 0;
            for (int k = 0; k < products; ++k) sum += world + s * dice.normal();
            return sum;
          }};
}

/// Trap T14: a run that ends when the true loss rises. Which step it ended at is seen.
inline Case stop_on_the_true_loss() {
  constexpr int steps = 20;
  const double s = std::sqrt(double{steps}) / claimed_mu();
  return {"stop when the true loss rises",
          "zero-out; loss <g, w> of the canary, the others' sum to 0; in world 0 it never rises",
          kEpsilon,
          kInfinity,
          500,
          gaussian_claim(kEpsilon, kDelta),
          [=](int world, Dice& dice) {
            for (int t = 0; t < steps; ++t) {
              const double move = -(world * 1.0 + s * dice.normal());
              if (world * move > 0) return 1.0;  // stopped early
            }
            return 0.0;
          }};
}

}  // namespace sotto::testing::zoo
