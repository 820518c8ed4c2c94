#pragma once

// Broken twins of the Frank–Wolfe methods: T selections among the two vertices ±e_1 of an interval,
// each claimed to be the exponential mechanism with its share of (1, 1e-5).

#include <boost/math/distributions/binomial.hpp>
#include <cmath>

#include "sotto/privacy/calibrate.hpp"
#include "tests/support/zoo/zoo.hpp"

namespace sotto::testing::zoo {

inline constexpr int kSelections = 20;

/// A claim of (1, 1e-5) for T selections, and the epsilon that each may have.
struct SelectionClaim {
  double epsilon = 0;
  std::shared_ptr<const Claim> claim;
};
inline SelectionClaim selection_claim() {
  const EventFamily family = [](double z) {
    return Event::repeat(kSelections, Event::exponential(2 / z, Relation::kZeroOut));
  };
  const double z = calibrate_noise(family, {kEpsilon, kDelta}).value();
  return {2 / z, event_claim(kEpsilon, kDelta, family, z).value()};
}

/// The exact epsilon of T coins of probability p against T fair ones, at kDelta: the number of
/// heads is sufficient.
inline double epsilon_of_coins(double p) {
  const boost::math::binomial fair(kSelections, 0.5);
  const boost::math::binomial biased(kSelections, p);
  const auto delta_at = [&](const auto& a, const auto& b, double e) {
    double sum = 0;
    for (int k = 0; k <= kSelections; ++k)
      sum += std::max(0.0, boost::math::pdf(a, k) - std::exp(e) * boost::math::pdf(b, k));
    return sum;
  };
  double low = 0;
  double high = 100;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    const bool meets =
        delta_at(fair, biased, middle) <= kDelta && delta_at(biased, fair, middle) <= kDelta;
    (meets ? high : low) = middle;
  }
  return high;
}

/// The canary's gradient is `size` times the clip radius of entries, along e_1, and all others'
/// cancel; the exponent believes in a sensitivity of `believed` times the right one.
inline Case biased_selection(
    std::string name, std::string worlds, double size, double believed, std::int64_t runs) {
  const SelectionClaim claimed = selection_claim();
  // Scores ± size, exponent epsilon score / (2 believed): log-odds epsilon size / believed.
  const double p = 1 / (1 + std::exp(-claimed.epsilon * size / believed));
  return {std::move(name),
          std::move(worlds),
          kEpsilon,
          epsilon_of_coins(p),
          runs,
          claimed.claim,
          [=](int world, Dice& dice) {
            double heads = 0;
            for (int t = 0; t < kSelections; ++t) heads += dice.chance(world == 1 ? p : 0.5);
            return heads;
          }};
}

inline Case halved_score_sensitivity() {
  return biased_selection(
      "score sensitivity halved",
      "zero-out; the canary's gradient is C_max e_1, the exponent is for C_max / 2",
      1,
      0.5,
      6000);
}

inline Case entries_not_clipped() {
  return biased_selection("clipping of entries skipped",
                          "zero-out; the canary's gradient is 3 C_max e_1 and is not clipped",
                          3,
                          1,
                          3000);
}

/// Trap T24: all iterates are private; which of them has the least true gap is not.
inline Case best_iterate_by_gap() {
  const SelectionClaim claimed = selection_claim();
  const double p = 1 / (1 + std::exp(-claimed.epsilon));
  return {"best iterate by true Frank-Wolfe gap",
          "zero-out; without the canary the gradient is 0, all gaps tie and the first is returned",
          kEpsilon,
          kInfinity,
          500,
          claimed.claim,
          [=](int world, Dice& dice) {
            double w = 0;
            double least = kInfinity;
            int chosen = 0;
            for (int t = 0; t < kSelections; ++t) {
              const double vertex = dice.chance(world == 1 ? p : 0.5) ? 1.0 : -1.0;
              w += 0.3 * (vertex - w);
              const double gradient = world * -1.0;  // the canary pulls towards +e_1
              const double gap = w * gradient + std::abs(gradient);  // over [-1, 1]
              if (gap < least) {
                least = gap;
                chosen = t;
              }
            }
            return static_cast<double>(chosen > 0);
          }};
}

/// What the library does instead: nothing to see.
inline Case correct_selection(std::int64_t runs) {
  return biased_selection("correct", "zero-out; the canary's gradient is C_max e_1", 1, 1, runs);
}

}  // namespace sotto::testing::zoo
