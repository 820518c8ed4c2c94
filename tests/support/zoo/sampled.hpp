#pragma once

// Broken twins of methods on random batches. The clip radius is 1; every correct release would be
// the sum over a Poisson batch with noise of standard deviation z.

#include "tests/support/zoo/zoo.hpp"

namespace sotto::testing::zoo {

/// A single release whose law in both worlds is known: the score is the exact log-likelihood ratio.
inline Case one_release(std::string name,
                        std::string worlds,
                        const PoissonClaim& claim,
                        const Mixture& world0,
                        const Mixture& world1,
                        std::int64_t runs,
                        std::function<double(int, Dice&)> release) {
  return {std::move(name),
          std::move(worlds),
          kEpsilon,
          epsilon_of(world1, world0, kDelta),
          runs,
          claim.claim,
          [=](int world, Dice& dice) { return log_ratio(world1, world0, release(world, dice)); }};
}

/// Trap T26: the sum divided by the batch's real size, noise for the expected one.
inline Case realized_divisor() {
  constexpr std::int64_t n = 20;
  constexpr double q = 0.5;
  const PoissonClaim claim = poisson_claim(1, q);
  const double s = claim.noise / (q * n);
  const auto mean = [](std::int64_t others, bool canary) {
    const auto size = static_cast<double>(others + canary);
    return size == 0 ? 0.0 : (static_cast<double>(others) - (canary ? 1 : 0)) / size;
  };
  Mixture world0{{}, s}, world1{{}, s};
  double weight = std::pow(1 - q, n - 1);
  for (std::int64_t k = 0; k < n; ++k) {
    world0.parts.push_back({weight, mean(k, false)});
    world1.parts.push_back({weight * (1 - q), mean(k, false)});
    world1.parts.push_back({weight * q, mean(k, true)});
    weight *= static_cast<double>(n - 1 - k) / static_cast<double>(k + 1) * q / (1 - q);
  }
  return one_release("realized batch size as divisor",
                     "add-remove; 19 gradients C e1, the canary's is -C e1; q = 1/2",
                     claim,
                     world0,
                     world1,
                     8000,
                     [=](int world, Dice& dice) {
                       const std::int64_t others = dice.binomial(n - 1, q);
                       const bool canary = world == 1 && dice.chance(q);
                       return mean(others, canary) + s * dice.normal();
                     });
}

/// Trap T26: an empty batch is drawn again, so everybody is in a batch more often than q.
inline Case empty_redrawn() {
  constexpr std::int64_t others = 2;
  constexpr double q = 0.1;
  const PoissonClaim claim = poisson_claim(1, q);
  const double s = claim.noise;
  const double real_rate = q / (1 - std::pow(1 - q, others + 1));
  return one_release("empty batches redrawn",
                     "zero-out; two other records with gradient 0, the canary's is C e1; q = 0.1",
                     claim,
                     {{{1, 0}}, s},
                     {{{1 - real_rate, 0}, {real_rate, 1}}, s},
                     15000,
                     [=](int world, Dice& dice) {
                       bool canary = false;
                       std::int64_t size = 0;
                       do {  // the null of world 0 is drawn like any record
                         canary = dice.chance(q);
                         size = dice.binomial(others, q) + canary;
                       } while (size == 0);
                       return (world == 1 && canary ? 1.0 : 0.0) + s * dice.normal();
                     });
}

/// Trap T30: a batch of exactly b, priced as Poisson: the canary's coming in pushes another out.
inline Case fixed_size_as_poisson() {
  constexpr std::int64_t batch = 10;
  constexpr double q = 0.5;
  const PoissonClaim claim = poisson_claim(1, q);
  const double s = claim.noise;
  return one_release("fixed-size batches priced as Poisson",
                     "add-remove; 19 gradients C e1, the canary's is -C e1; b = 10 of 20",
                     claim,
                     {{{1, batch}}, s},
                     {{{1 - q, batch}, {q, batch - 2}}, s},
                     5000,
                     [=](int world, Dice& dice) {
                       const bool canary = world == 1 && dice.chance(q);
                       return static_cast<double>(canary ? batch - 2 : batch) + s * dice.normal();
                     });
}

/// Trap T30: a batch of `batch` drawn *with* replacement from n records and priced at kEpsilon as
/// drawn without: the epsilon that it really has, computed. A record may be in it several times.
/// The excess is in the tail: an audit would need some hundred thousand runs to see it.
inline double with_replacement_real(std::int64_t batch, std::int64_t n) {
  const EventFamily family = [=](double z) {
    return Event::fixed_size(batch, n, Event::gaussian(z, Relation::kReplaceOne));
  };
  const double s = 2 * calibrate_noise(family, {kEpsilon, kDelta}).value();  // sensitivity 2
  // All records have -C e1, in world 1 the canary C e1.
  Mixture world0{{{1, 0}}, s}, world1{{}, s};
  const double p = 1 / static_cast<double>(n);
  double weight = std::pow(1 - p, static_cast<double>(batch));
  for (std::int64_t k = 0; k <= batch; ++k) {
    world1.parts.push_back({weight, 2 * static_cast<double>(k)});
    weight *= static_cast<double>(batch - k) / static_cast<double>(k + 1) * p / (1 - p);
  }
  return epsilon_of(world1, world0, kDelta);
}

/// Trap T30: pairs of gradients (dp-srm) on a batch of exactly b, priced as Poisson. A unit's term
/// gamma clip_C1(gradient) + (1 - gamma) clip_C2(difference) has norm S at most.
inline Case fixed_size_pairs_as_poisson() {
  constexpr std::int64_t batch = 10;
  constexpr double q = 0.5;
  constexpr double S = 0.6 * 1 + (1 - 0.6) * 0.25;
  const PoissonClaim claim = poisson_claim(1, q);
  const double s = claim.noise * S;
  return one_release("fixed-size pairs of gradients priced as Poisson",
                     "add-remove; 19 terms S e1, the canary's is -S e1; b = 10 of 20",
                     claim,
                     {{{1, batch * S}}, s},
                     {{{1 - q, batch * S}, {q, (batch - 2) * S}}, s},
                     5000,
                     [=](int world, Dice& dice) {
                       double sum = 0;
                       const bool canary = world == 1 && dice.chance(q);
                       for (std::int64_t k = 0; k < batch; ++k) sum += canary && k == 0 ? -S : S;
                       return sum + s * dice.normal();
                     });
}

/// Trap T30: one shuffle, then the same batches in every epoch, priced as Poisson.
inline Case shuffled_as_poisson() {
  constexpr int batches = 50;
  constexpr int epochs = 10;
  const PoissonClaim claim = poisson_claim(batches * epochs, 1.0 / batches);
  const double s = claim.noise;
  // By the event that some batch's sum over the epochs is large [CGKKMSZ24].
  const double m = std::sqrt(epochs) / s;
  double real = 0;
  for (double c = 2; c < 8; c += 0.01) {
    const double in1 =
        -std::expm1(std::log(normal_cdf(c - m)) + (batches - 1) * std::log1p(-normal_cdf(-c)));
    const double in0 = -std::expm1(batches * std::log1p(-normal_cdf(-c)));
    if (in1 > kDelta) real = std::max(real, std::log((in1 - kDelta) / in0));
  }
  return {"shuffled batches priced as Poisson",
          "zero-out; the canary's gradient is C e1, the others 0; 50 batches, 10 epochs",
          kEpsilon,
          real,
          5000,
          claim.claim,
          [=](int world, Dice& dice) {
            const std::int64_t mine = dice.below(batches);
            double ratio = 0;
            for (int k = 0; k < batches; ++k) {
              double sum = 0;
              for (int e = 0; e < epochs; ++e)
                sum += (world == 1 && k == mine ? 1.0 : 0.0) + s * dice.normal();
              ratio += std::exp((2 * sum - epochs) / (2 * s * s)) / batches;
            }
            return std::log(ratio);
          }};
}

/// Trap T13: noise on the mean scaled by 1/n where the mean is over b = n/2 records.
inline Case noise_over_n() {
  constexpr int steps = 10;
  constexpr double q = 0.5;
  const PoissonClaim claim = poisson_claim(steps, q);
  const double s = claim.noise * q;
  return {"noise over n where it should be over b",
          "zero-out; the canary's gradient is C e1, the others 0; b = n / 2, 10 steps",
          kEpsilon,
          poisson_real(steps, q, s),
          6000,
          claim.claim,
          [=](int world, Dice& dice) {
            double ratio = 0;
            for (int t = 0; t < steps; ++t) {
              const double sum = (world == 1 && dice.chance(q) ? 1.0 : 0.0) + s * dice.normal();
              ratio += std::log1p(q * std::expm1((2 * sum - 1) / (2 * s * s)));
            }
            return ratio;
          }};
}

}  // namespace sotto::testing::zoo
