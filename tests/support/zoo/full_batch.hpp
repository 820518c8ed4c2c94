#pragma once

// Broken twins of full-batch methods. The clip radius is 1; every correct release would be a sum of
// clipped gradients with noise of standard deviation sqrt(T) / mu.

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>

#include "tests/support/zoo/zoo.hpp"

namespace sotto::testing::zoo {

inline constexpr int kSteps = 20;

/// T releases along the canary's direction, each shifted by `shift` in world 1; the score is the
/// log-likelihood ratio up to scale.
inline Case shifted(
    std::string name, std::string worlds, double shift, double noise_factor, std::int64_t runs) {
  const double s = noise_factor * std::sqrt(kSteps) / claimed_mu();
  return {std::move(name),
          std::move(worlds),
          kEpsilon,
          gaussian_real(shift / noise_factor),
          runs,
          gaussian_claim(kEpsilon, kDelta),
          [=](int world, Dice& dice) {
            double sum = 0;
            for (int t = 0; t < kSteps; ++t) sum += world * shift + s * dice.normal();
            return sum;
          }};
}

inline Case less_noise(double factor = 0.7, std::int64_t runs = 15000) {
  return shifted("noise x 0.7", "zero-out; the canary's gradient has norm C", 1, factor, runs);
}

inline Case halved_sensitivity() {
  return shifted("halved sensitivity",
                 "replace-one; gradients C e1 and -C e1, noise for C instead of 2C",
                 2,
                 1,
                 5000);
}

/// The mean of unclipped gradients is clipped, with noise for sensitivity C / n.
inline Case clip_after_averaging() {
  constexpr double n = 200;
  const double s = std::sqrt(kSteps) / claimed_mu() / n;
  const auto mean = [](int world) { return std::min(1.0, world * 10 / n); };
  return {"clipping after averaging",
          "zero-out; the canary's raw gradient has norm 10 C, the others 0; n = 200",
          kEpsilon,
          gaussian_real(10),
          2000,
          gaussian_claim(kEpsilon, kDelta),
          [=](int world, Dice& dice) {
            double sum = 0;
            for (int t = 0; t < kSteps; ++t) sum += mean(world) + s * dice.normal();
            return sum;
          }};
}

inline Case one_row_unclipped() {
  return shifted("clipping skipped for one row",
                 "zero-out; the unclipped row is the canary, of norm 3 C",
                 3,
                 1,
                 3000);
}

/// The same noise in every step: a difference of two answers has none.
inline Case reused_noise() {
  const double s = std::sqrt(kSteps) / claimed_mu();
  return {"noise reused across steps",
          "zero-out; the canary's gradient is C, then C/2 (the model has moved)",
          kEpsilon,
          kInfinity,
          500,
          gaussian_claim(kEpsilon, kDelta),
          [=](int world, Dice& dice) {
            const double noise = s * dice.normal();
            const double first = world * 1.0 + noise;
            const double second = world * 0.5 + noise;
            return std::abs(first - second) > 0.25 ? 1.0 : 0.0;
          }};
}

/// All iterates are private; which of them has the least true loss is not.
inline Case best_iterate() {
  const double s = std::sqrt(kSteps) / claimed_mu();
  return {"best iterate by true loss",
          "zero-out; loss <g, w>, the others' sum to 0, so in world 0 all iterates tie",
          kEpsilon,
          kInfinity,
          500,
          gaussian_claim(kEpsilon, kDelta),
          [=](int world, Dice& dice) {
            double w = 0;
            double best = kInfinity;
            int chosen = 0;
            for (int t = 0; t < kSteps; ++t) {
              w -= 0.1 * (world * 1.0 + s * dice.normal());
              const double loss = world * 1.0 * w;
              if (loss < best) {
                best = loss;
                chosen = t;
              }
            }
            return static_cast<double>(chosen > 0);
          }};
}

/// Trap T12: features are centred with the private mean before rows are clipped.
inline Case private_means() {
  constexpr int n = 200;
  constexpr double R = 1;
  constexpr double C = R / 2;  // |loss'| = 1/2 at w = 0
  const auto gradient_sum = [=](int world) {
    const double outlier = world * 5 * R;
    const double mean = outlier / n;
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      const bool canary = i == 0;
      const double x = std::clamp((canary ? outlier : 0.0) - mean, -R, R);
      const double label = canary ? -1 : 1;
      sum += -0.5 * label * x;
    }
    return sum;
  };
  const double shift = (gradient_sum(1) - gradient_sum(0)) / C;
  Case made = shifted("standardization with private means",
                      "zero-out; the canary's feature is 5 R, the others 0 with the other label",
                      shift,
                      1,
                      1500);
  return made;
}

/// Trap T17: exponential noise added where it must be subtracted; claimed Delta / lambda.
inline Case noise_against_preference() {
  constexpr int k = 5;
  constexpr double claimed = 0.5;
  return {"argmin(loss + Exp)",
          "zero-out; the canary adds Delta to the loss of the first of 5 candidates",
          claimed,
          (k - 1) * claimed,
          3000,
          plain_claim(claimed, 0),
          [](int world, Dice& dice) {
            int chosen = 0;
            double least = kInfinity;
            for (int i = 0; i < k; ++i) {
              const double noisy = (i == 0 ? world * claimed : 0.0) + dice.exponential();
              if (noisy < least) {
                least = noisy;
                chosen = i;
              }
            }
            return static_cast<double>(chosen != 0);
          }};
}

/// Trap T18: the step divides by b, b^2 = b0^2 + beta |g|^2 of the raw gradient, noise and all.
inline Case raw_adagrad_norm() {
  constexpr int d = 200;
  constexpr double ratio = 1.2;  // (b0^2 + beta C^2) / b0^2
  const double s = 1 / claimed_mu();
  // The mean's shift is left out: what the variance alone shows is a lower bound.
  const boost::math::chi_squared law(d);
  double real = 0;
  for (double x = 60; x < 220; x += 0.5) {
    const double in1 = boost::math::cdf(law, x * ratio);
    const double in0 = boost::math::cdf(law, x);
    if (in1 > kDelta) real = std::max(real, std::log((in1 - kDelta) / in0));
  }
  return {"AdaGrad-norm from the raw gradient",
          "zero-out; the canary's gradient C is the whole sum, d = 200, b^2 grows by 20 %",
          kEpsilon,
          real,
          1000,
          gaussian_claim(kEpsilon, kDelta),
          [=](int world, Dice& dice) {
            const double b = std::sqrt(world == 1 ? ratio : 1.0);
            double squares = 0;
            for (int j = 0; j < d; ++j) {
              const double step = ((j == 0 ? world : 0) + s * dice.normal()) / b;
              squares += step * step;
            }
            return -squares;
          }};
}

}  // namespace sotto::testing::zoo
