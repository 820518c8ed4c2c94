#include "sotto/optimizer/first_order/recursive_descent.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/optimizer/parts/sampling_option.hpp"
#include "sotto/optimizer/parts/steps.hpp"

namespace sotto {
double data_smoothness(const PublicProblem& problem) {
  // Nothing bounds a network's: the number is what differences are clipped by, and was found on
  // MNIST (docs/studies/networks.md).
  if (problem.network) return 0.2 * problem.loss.largest_weight;
  const double R = std::isfinite(problem.row_norm) ? problem.row_norm : 1;
  return problem.loss.sup_abs_second() * R * R;
}

double whole_smoothness(double data_smoothness, const PublicProblem& problem) {
  return data_smoothness + std::max(0.0, problem.regularizer.curvature(problem.dimension).highest);
}

RecursiveDescent::RecursiveDescent(RecursiveOptions options, const PublicProblem& problem)
    : options_(std::move(options)),
      steps_(Output(options_, options_.steps.value()).steps()),
      smoothness_(options_.smoothness.value_or(data_smoothness(problem))),
      pair_sampling_(sampling_of(options_.sampling, options_.expected_batch.value(), problem.n)),
      anchor_sampling_(sampling_of(options_.sampling, options_.anchor_batch.value(), problem.n)) {
  SOTTO_CHECK(options_.step_size && options_.clip_radius && options_.difference_clip &&
              options_.mixture && options_.anchor_share);
  SOTTO_CHECK(!options_.theory_steps || (options_.accuracy && options_.n0));
}

std::int64_t RecursiveDescent::anchors() const {
  return options_.phase ? (steps_ + *options_.phase - 1) / *options_.phase : 1;
}

std::int64_t RecursiveDescent::pairs() const { return steps_ - anchors(); }

double RecursiveDescent::anchor_ratio() const {
  if (pairs() == 0) return 1;
  // count · rate² / multiplier² is what each kind costs, to first order; the calibration of the
  // one multiplier that is left does not rest on this.
  const double share = *options_.anchor_share;
  return anchor_sampling_.rate / pair_sampling_.rate *
         std::sqrt(static_cast<double>(anchors()) * (1 - share) /
                   (static_cast<double>(pairs()) * share));
}

double RecursiveDescent::total_multiplier(double noise_multiplier) const {
  const double cost =
      static_cast<double>(pairs()) * std::pow(pair_sampling_.rate / noise_multiplier, 2) +
      static_cast<double>(anchors()) *
          std::pow(anchor_sampling_.rate / (noise_multiplier * anchor_ratio()), 2);
  return 1 / std::sqrt(cost);
}

PairClip RecursiveDescent::pair_clip(double moved) const {
  double difference = *options_.difference_clip;
  if (options_.adaptive_bound) {
    // Never exactly 0, which no noise could hide.
    const double most = std::max(difference, 1e-300);
    const double least = std::min(1e-9 * *options_.clip_radius, most);
    difference = std::clamp(smoothness_ * moved, least, most);
  }
  return {*options_.mixture, *options_.clip_radius, difference, options_.clip_together};
}

GradientQuery RecursiveDescent::anchor_query(const Vector& at, double noise_multiplier) const {
  return {at,
          anchor_sampling_,
          *options_.clip_radius,
          noise_multiplier * anchor_ratio(),
          options_.clip_rule};
}

GradientQuery RecursiveDescent::fresh_query(const Vector& at, double noise_multiplier) const {
  return {at, pair_sampling_, *options_.clip_radius, noise_multiplier, options_.clip_rule};
}

GradientPairQuery RecursiveDescent::pair_query(const Vector& at,
                                               const Vector& before,
                                               double noise_multiplier) const {
  return {at,
          before,
          pair_sampling_,
          pair_clip((at - before).norm()),
          noise_multiplier,
          options_.clip_rule};
}

Plan RecursiveDescent::plan(const PublicProblem& problem, double noise_multiplier) const {
  const Vector anywhere = Vector::Zero(problem.dimension);
  const Event anchor = event_of(anchor_query(anywhere, noise_multiplier), problem.relation);
  const Event pair = event_of(pair_query(anywhere, anywhere, noise_multiplier), problem.relation);
  const Output output(options_, *options_.steps);
  Event event = Event::repeat(anchors(), anchor);
  if (pairs() > 0) event = Event::compose({event, Event::repeat(pairs(), pair)});
  if (auto last = output.event(total_multiplier(noise_multiplier), problem.relation))
    event = Event::compose({event, *last});
  return {std::move(event),
          steps_ * problem.dimension + output.noise_samples(),
          {},
          output.further_passes()};
}

Expected<OptimizerResult> RecursiveDescent::run(Oracle& oracle,
                                                double noise_multiplier,
                                                Observer& observer) const {
  const PublicProblem& problem = oracle.problem();
  const Regularizer& r = problem.regularizer;
  const double gamma = *options_.mixture;
  const StepSchedule schedule(options_.schedule, *options_.step_size, *options_.steps);
  const double L = whole_smoothness(smoothness_, problem);
  const auto eta = [&](std::int64_t t, double norm) {
    if (!options_.theory_steps) return schedule(t);
    const double n0 = *options_.n0;
    return std::min(*options_.accuracy / (n0 * L * std::max(norm, 1e-300)), 1 / (2 * n0 * L));
  };
  Output output(options_, *options_.steps);

  Vector w = problem.first_iterate();
  Vector before = w;
  Vector v;
  Vector direction;
  Steps steps(observer, steps_);
  SOTTO_TRY(steps.begin([&](Archive& state) {
    state("iterate", w)("before", before)("estimate", v)("output", output);
  }));
  while (steps.next()) {
    output.before_step(w);
    const std::int64_t t = steps.made();
    const bool anchor = t == 0 || (options_.phase && t % *options_.phase == 0);
    // Without recursion a pair is its fresh gradient: the same release for half the work.
    SOTTO_ASSIGN(const auto answer,
                 steps.unless_spent(
                     anchor       ? oracle.gradient(anchor_query(w, noise_multiplier))
                     : gamma == 1 ? oracle.gradient(fresh_query(w, noise_multiplier))
                                  : oracle.gradient_pair(pair_query(w, before, noise_multiplier))));
    if (!answer) break;
    if (anchor)
      v = answer->value();
    else
      v = answer->value() + (1 - gamma) * v;
    direction = v;
    r.add_gradient(w, direction);
    const double step = eta(t, direction.norm());
    before = w;
    w -= step * direction;
    r.prox(step, w);
    output.add(w);
    steps.finish(step, direction.norm(), &w);
  }
  SOTTO_ASSIGN(Vector result, output.take(oracle, total_multiplier(noise_multiplier)));
  return steps.result(std::move(result));
}

}  // namespace sotto
