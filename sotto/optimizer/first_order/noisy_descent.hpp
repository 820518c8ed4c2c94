#pragma once

#include <cstdint>
#include <optional>

#include "sotto/core/error.hpp"
#include "sotto/optimizer/optimizer.hpp"
#include "sotto/optimizer/option_table.hpp"
#include "sotto/optimizer/parts/output.hpp"
#include "sotto/optimizer/parts/schedule.hpp"
#include "sotto/optimizer/registry.hpp"

namespace sotto {

// Gradient descent on noisy gradients: what dp-gd (full batches) and dp-sgd (random ones) share.
//
// Problem     min_w F(w) = (1/n) sum_i loss(w; i) + r(w), not necessarily convex
// Update      g_t = (sum_{i in B} clip_C(grad loss_i(w_t)) + noise) / (expected |B|)
//             v_t = momentum v_{t-1} + g_t + grad r(w_t)
//             w_{t+1} = prox_{eta_t r}(w_t - eta_t v_t)
// Privacy     repeat(T, gaussian(z)), or repeat(T, poisson(q, gaussian(z))) for dp-sgd
// Guarantee   E||grad F(w_R)|| = O((d ln 1/delta)^(1/4) / (n epsilon)^(1/2)) for uniform R
//             update adam, adam_bc: v_t by Adam's rule, for adam_bc with the noise's own share
//             taken out of its second moment
//             clip_quantile: C follows a quantile of the gradients' norms, counted privately
// Source      [WYX17] section 4; [ACGMMTZ16] Alg. 1; [KB15]; [TSL24]; [ATMR21]
// Differs     exact accounting instead of the papers' formulas; clipping enforces what they
//             assume; momentum, step schedule and tail average are post-processing; the
//             regularizer is neither clipped nor noised, its rough part a prox step; the output is
//             the last iterate or the tail average (both free), a random one, whose number is
//             drawn first so that only the steps up to it are paid for, or the best of some
//             (charged); T from a horizon (docs/reference/methods/dp-gd.md,
//             dp-sgd.md)
//
// letter  meaning                        option
// T       number of steps                steps
// C       clip radius                    clip_radius
// eta_t   step size                      step_size, schedule
// q       expected batch / n             expected_batch
// z       noise / sensitivity            found by calibration, or noise_multiplier

/// Heavy-ball momentum, Adam, or Adam with the noise's variance taken out of the second moment.
enum class Update { kMomentum, kAdam, kCorrectedAdam };

struct DescentOptions : OutputOptions {
  std::optional<std::int64_t> steps;
  std::optional<double> epochs;
  std::optional<double> step_size;
  std::optional<double> clip_radius;
  std::optional<double> clip_quantile;
  double clip_rate = 0.2;
  double momentum = 0.9;
  Update update = Update::kMomentum;
  double second_moment = 0.999;
  std::optional<double> adam_floor;
  Schedule schedule = Schedule::kLinear;
  ClipRule clip_rule = ClipRule::kFlat;
  std::optional<std::int64_t> expected_batch;  ///< none: full batches
  Sampling::Kind sampling = Sampling::Kind::kPoisson;
};

class NoisyDescent final : public Optimizer {
 public:
  /// All optional fields that the method uses must be filled.
  NoisyDescent(DescentOptions options, Sampling sampling);

  Plan plan(const PublicProblem& problem, double noise_multiplier) const override;
  Expected<OptimizerResult> run(Oracle& oracle,
                                double noise_multiplier,
                                Observer& observer) const override;

 private:
  GradientQuery query(const PublicProblem& problem,
                      const Vector& at,
                      double clip_radius,
                      double noise_multiplier) const;
  /// The multiplier of one full-batch release that costs about as much as all steps together.
  double total_multiplier(double noise_multiplier, std::int64_t steps) const;

  DescentOptions options_;
  Sampling sampling_;
};

/// Refuses settings that don't go together or don't fit the problem, with the remedy.
Expected<void> check(const DescentOptions& options, const PublicProblem& problem);

/// How long to run, from public facts: the rule is derived in descent_defaults.cpp.
struct Horizon {
  double smoothness;  ///< L, a bound on the objective's
  double length;      ///< h, the sum of step sizes (over 1 - momentum)
};
Horizon horizon_of(const PublicFacts& facts, double clip_radius);

/// The clip radius for gradients that the user left open: 1.1 times the largest norm at w = 0.
double default_clip_radius(const PublicProblem& problem);

/// Fills what the user left open, from public facts only; the rule is described in
/// docs/reference/methods/dp-gd.md.
DescentOptions with_defaults(DescentOptions options, const PublicFacts& facts);

}  // namespace sotto
