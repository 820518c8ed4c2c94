#pragma once

// A broken twin of the searches for second-order points.

#include "tests/support/zoo/zoo.hpp"

namespace sotto::testing::zoo {

/// Trap T14: steps are noisy, but the run stops when the true loss has risen.
inline Case stop_on_true_loss() {
  constexpr int kSteps = 20;
  const double s = std::sqrt(kSteps) / claimed_mu();
  return {"stop on the true loss",
          "zero-out; loss <g, w> of the canary, the others' sum to 0; the number of steps is seen",
          kEpsilon,
          kInfinity,
          500,
          gaussian_claim(kEpsilon, kDelta),
          [=](int world, Dice& dice) {
            for (int t = 0; t < kSteps; ++t) {
              const double gradient = world * 1.0 + s * dice.normal();
              // w <- w - gradient; in world 0 the true loss is the same everywhere.
              const double rise = world * -gradient;
              if (rise > 0) return static_cast<double>(kSteps - t);
            }
            return 0.0;
          }};
}

}  // namespace sotto::testing::zoo
