#pragma once

// Broken twins of the variance-reduced and adaptive first-order methods.

#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>

#include "tests/support/zoo/zoo.hpp"

namespace sotto::testing::zoo {

inline constexpr int kReleases = 20;

/// Both gradients of a pair are clipped to C1 = 1 and subtracted, but the noise is for C2.
inline Case difference_not_clipped() {
  constexpr double gamma = 0.3;
  constexpr double reach = gamma * 1 + (1 - gamma) * 0.25;
  const double s = reach * std::sqrt(kReleases) / claimed_mu();
  // The canary's gradient is C1 and 0 by turns, as the model moves to and fro.
  const auto shift = [](int t) { return t % 2 == 0 ? gamma + (1 - gamma) : -(1 - gamma); };
  double squares = 0;
  for (int t = 0; t < kReleases; ++t) squares += shift(t) * shift(t);
  return {
      "C2 not enforced on the difference",
      "zero-out; the canary's gradient has norm C1 at every other step and 0 between, C2 = C1 / 4",
      kEpsilon,
      gaussian_real(std::sqrt(squares / kReleases) / reach),
      5000,
      gaussian_claim(kEpsilon, kDelta),
      [=](int world, Dice& dice) {
        double sum = 0;
        for (int t = 0; t < kReleases; ++t)
          sum += shift(t) * (world * shift(t) + s * dice.normal());
        return sum;
      }};
}

/// The difference's sensitivity is the largest difference in the data instead of a public bound.
inline Case noise_from_the_data() {
  constexpr int d = 200;
  constexpr double ratio =
      1.2;  // of variances: the canary's difference is 9.5 % longer than all others
  const double s = 1 / claimed_mu();
  // The mean's shift is left out: what the variance alone shows is a lower bound.
  const boost::math::chi_squared law(d);
  double real = 0;
  for (double x = 180; x < 400; x += 0.5) {
    const double in1 = boost::math::cdf(boost::math::complement(law, x / ratio));
    const double in0 = boost::math::cdf(boost::math::complement(law, x));
    if (in1 > kDelta) real = std::max(real, std::log((in1 - kDelta) / in0));
  }
  return {"difference noise from a data-dependent bound",
          "zero-out; the canary has the longest difference, d = 200",
          kEpsilon,
          real,
          1000,
          gaussian_claim(kEpsilon, kDelta),
          [=](int world, Dice& dice) {
            const double deviation = s * std::sqrt(world == 1 ? ratio : 1.0);
            double squares = 0;
            for (int j = 0; j < d; ++j) {
              const double noise = deviation * dice.normal();
              squares += noise * noise;
            }
            return squares;
          }};
}

/// Trap T5: T steps are budgeted, T + 1 releases are made (T = 1: the anchor and one difference).
inline Case one_release_too_many() {
  const double s = 1 / claimed_mu();
  return {"budget for T, T + 1 releases",
          "zero-out; the canary's terms have norm C in both releases, T = 1",
          kEpsilon,
          gaussian_real(std::sqrt(2.0)),
          15000,
          gaussian_claim(kEpsilon, kDelta),
          [=](int world, Dice& dice) { return 2 * world + s * dice.normal() + s * dice.normal(); }};
}

/// The gradient is noisy, but which step is taken along it is decided by the true loss.
inline Case step_by_true_loss() {
  const double s = std::sqrt(kReleases) / claimed_mu();
  return {"step chosen by the true loss",
          "zero-out; loss <g, w> of the canary, the others' sum to 0; steps 0 and 1",
          kEpsilon,
          kInfinity,
          500,
          gaussian_claim(kEpsilon, kDelta),
          [=](int world, Dice& dice) {
            int moved = 0;
            for (int t = 0; t < kReleases; ++t) {
              const double direction = world * 1.0 + s * dice.normal();
              // In world 0 no step helps; in world 1 every step along a positive direction does.
              moved += world * direction > 0;
            }
            return static_cast<double>(moved > 0);
          }};
}

}  // namespace sotto::testing::zoo
