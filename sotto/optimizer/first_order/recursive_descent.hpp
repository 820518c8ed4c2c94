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

// Descent on a gradient estimate that is corrected from step to step: what dp-srm and
// private-spiderboost share.
//
// Problem     min_w F(w) = (1/n) sum_i loss(w; i) + r(w), smooth, not necessarily convex
// Update      anchor (first step of a phase):  v_t = mean_B0 clip_C1(g_i(w_t)) + noise
//             else, on one batch B:            v_t = mean_B c_i + (1-gamma) v_{t-1} + noise,
//             c_i = gamma clip_C1(g_i(w_t)) + (1-gamma) clip_C2(g_i(w_t) - g_i(w_{t-1})),
//             g_i = grad loss_i;  w_{t+1} = prox_{eta_t r}(w_t - eta_t (v_t + grad r(w_t)))
// Privacy     A anchors gaussian(z a) and T - A pairs poisson(q, gaussian(z)), or fixed_size(b, n,
//             gaussian(z)), the paper's own batches; a is public
// Guarantee   E||grad F(w_R)|| = O((sqrt(G L D d ln 1/delta) / (n epsilon))^(2/3))
// Source      [WJEG23] Alg. 1 (one phase, gamma > 0); [ABGGMU23] Alg. 1 (phases, gamma = 0)
// Differs     T releases for T steps are made and counted; the difference's radius follows the
//             public step, min(L1 ||w_t - w_{t-1}||, C2), so that nothing is clipped by it; Poisson
//             batches, and the anchor a full one with its own share of the budget; one global
//             multiplier is solved numerically; the regularizer is neither clipped nor noised;
//             constant steps unless step_rule says otherwise; a tail average, or a random iterate
//             that is drawn first; private-spiderboost's phases are T/40 steps
//             (docs/reference/methods/dp-srm.md, private-spiderboost.md)
//
// letter  meaning                                option
// T       steps, and releases                    steps
// C1, C2  radii of gradient and difference       clip_radius, difference_clip, difference_bound,
//                                                clip_rule
// gamma   weight of the fresh gradient           mixture
// q       batch / n of a pair                    expected_batch, sampling
// a       from the anchors' share of the budget  anchor_share, anchor_batch
// eta_t   step size                              step_size, schedule; or step_rule, accuracy, n0

/// What settings left open follow: Sotto's rule, or the paper's Theorem 5.4 with its own batches or
/// those of Corollary 5.3.
enum class Parameters { kRule, kTheory, kCorollary };

struct RecursiveOptions : OutputOptions {
  RecursiveOptions() { average = 0.3; }
  std::optional<std::int64_t> steps;
  std::optional<double> step_size;
  Schedule schedule = Schedule::kConstant;
  bool theory_steps = false;       ///< min(zeta / (n0 L |v|), 1 / (2 n0 L)) instead of the schedule
  std::optional<double> accuracy;  ///< zeta of the theory's step
  std::optional<double> n0;        ///< of the theory's step
  std::optional<double> gap;       ///< D_F, for n0 and the theory's parameters
  Parameters parameters = Parameters::kRule;
  std::optional<double> clip_radius;
  std::optional<double> difference_clip;
  std::optional<double> smoothness;
  bool adaptive_bound = true;  ///< of differences: what the last step allows, at most C2
  ClipRule clip_rule = ClipRule::kFlat;
  bool clip_together = false;  ///< gradient and difference in one, to the same bound
  std::optional<double> mixture;
  std::optional<std::int64_t> expected_batch;
  std::optional<std::int64_t> anchor_batch;
  Sampling::Kind sampling = Sampling::Kind::kPoisson;
  std::optional<double> anchor_share;
  std::optional<std::int64_t> phase;  ///< steps of a phase; none: one phase
};

class RecursiveDescent final : public Optimizer {
 public:
  /// All optional fields but `phase` and `gap` must be filled, `accuracy` and `n0` for the theory's
  /// steps only.
  RecursiveDescent(RecursiveOptions options, const PublicProblem& problem);

  Plan plan(const PublicProblem& problem, double noise_multiplier) const override;
  Expected<OptimizerResult> run(Oracle& oracle,
                                double noise_multiplier,
                                Observer& observer) const override;

 private:
  std::int64_t anchors() const;
  std::int64_t pairs() const;
  /// An anchor's multiplier over a pair's.
  double anchor_ratio() const;
  /// The multiplier of one full-batch release that costs about as much as all releases together.
  double total_multiplier(double noise_multiplier) const;
  PairClip pair_clip(double moved) const;
  GradientQuery anchor_query(const Vector& at, double noise_multiplier) const;
  GradientQuery fresh_query(const Vector& at, double noise_multiplier) const;
  GradientPairQuery pair_query(const Vector& at,
                               const Vector& before,
                               double noise_multiplier) const;

  RecursiveOptions options_;
  std::int64_t steps_;  ///< that are made: fewer than options_.steps for a random output
  double smoothness_;
  Sampling pair_sampling_;
  Sampling anchor_sampling_;
};

/// R² sup|phi''|: by how much a unit's gradient can change for a step of length 1.
double data_smoothness(const PublicProblem& problem);
/// The same of its loss with the regularizer, given that of the data part.
double whole_smoothness(double data_smoothness, const PublicProblem& problem);

}  // namespace sotto
