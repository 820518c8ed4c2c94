#include "sotto/optimizer/first_order/noisy_descent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/optimizer/first_order/descent_direction.hpp"
#include "sotto/optimizer/parts/clip_rule_option.hpp"
#include "sotto/optimizer/parts/sampling_option.hpp"
#include "sotto/optimizer/parts/schedule.hpp"
#include "sotto/optimizer/parts/steps.hpp"
#include "sotto/oracle/api/derived_fact.hpp"

namespace sotto {

NoisyDescent::NoisyDescent(DescentOptions options, Sampling sampling)
    : options_(std::move(options)), sampling_(sampling) {
  SOTTO_CHECK(options_.steps && options_.step_size && options_.clip_radius);
}

GradientQuery NoisyDescent::query(const PublicProblem& problem,
                                  const Vector& at,
                                  double clip_radius,
                                  double noise_multiplier) const {
  GradientQuery query{at, sampling_, clip_radius, noise_multiplier};
  query.rule = clip_rule_of(options_.clip_rule);
  // The fraction of unclipped gradients is wanted to about a twentieth ([ATMR21] section 3).
  const double batch = sampling_.rate * static_cast<double>(problem.n);
  if (options_.clip_quantile)
    query.count_share = std::clamp(10 * noise_multiplier / batch, 1e-6, 0.5);
  return query;
}

double NoisyDescent::total_multiplier(double noise_multiplier, std::int64_t steps) const {
  return noise_multiplier / (sampling_.rate * std::sqrt(static_cast<double>(steps)));
}

Plan NoisyDescent::plan(const PublicProblem& problem, double noise_multiplier) const {
  const Output output(options_, *options_.steps);
  const Vector anywhere;
  const GradientQuery step = query(problem, anywhere, *options_.clip_radius, noise_multiplier);
  Event event = Event::repeat(output.steps(), event_of(step, problem.relation));
  if (auto last =
          output.event(total_multiplier(noise_multiplier, output.steps()), problem.relation))
    event = Event::compose({std::move(event), *std::move(last)});
  const std::int64_t entries = problem.dimension + (options_.clip_quantile ? 1 : 0);
  return {std::move(event), output.steps() * entries + output.noise_samples()};
}

Expected<OptimizerResult> NoisyDescent::run(Oracle& oracle,
                                            double noise_multiplier,
                                            Observer& observer) const {
  const PublicProblem& problem = oracle.problem();
  const Regularizer& r = problem.regularizer;
  Output output(options_, *options_.steps);
  const StepSchedule eta(options_.schedule, *options_.step_size, *options_.steps);

  Vector w = problem.first_iterate();
  DescentDirection direction(options_, problem.dimension);
  double C = *options_.clip_radius;
  Vector gradient;
  Steps steps(observer, output.steps());
  SOTTO_TRY(steps.begin([&](Archive& state) {
    state("iterate", w)("direction", direction)("clip radius", C, 1e-300, 1e300)("output", output);
  }));
  while (steps.next()) {
    const GradientQuery ask = query(problem, w, C, noise_multiplier);
    SOTTO_ASSIGN(const auto g, steps.unless_spent(oracle.gradient(ask)));
    if (!g) break;
    gradient = g->value().head(problem.dimension);
    if (options_.clip_quantile) {
      // The radius follows what was counted; the noise multiplier, and so the event, does not.
      const DerivedFact<double> unclipped = released_as_public(
          *g, [&](const Vector& answer) { return 0.5 + answer[problem.dimension]; });
      C *= std::exp(-options_.clip_rate * (unclipped.value() - *options_.clip_quantile));
    }
    r.add_gradient(w, gradient);
    const double step = eta(steps.made());
    w -= step * direction.next(gradient, oracle.gradient_sigma(ask));
    r.prox(step, w);
    output.add(w);
    steps.finish(step, gradient.norm(), &w);
  }
  SOTTO_ASSIGN(Vector result,
               output.take(oracle, total_multiplier(noise_multiplier, output.steps())));
  return steps.result(std::move(result));
}

Expected<void> check(const DescentOptions& options, const PublicProblem& problem) {
  const auto refuse = [](std::string_view name, auto value, std::string_view rule) {
    return fail(ErrorKind::kUsage, fmt::format("{} {}, but is {}.", dashed(name), rule, value));
  };
  if (options.steps && *options.steps < 1)
    return refuse("steps", *options.steps, "must be at least 1");
  if (options.steps && *options.steps > 100'000'000)
    return refuse("steps", *options.steps, "must be at most 100,000,000");
  if (options.epochs && !(std::isfinite(*options.epochs) && *options.epochs > 0))
    return refuse("epochs", *options.epochs, "must be finite and > 0");
  if (options.steps && options.epochs)
    return fail(ErrorKind::kUsage, "give --steps or --epochs, not both.");
  if (options.step_size && !(std::isfinite(*options.step_size) && *options.step_size > 0))
    return refuse("step_size", *options.step_size, "must be finite and > 0");
  if (options.clip_radius && !(std::isfinite(*options.clip_radius) && *options.clip_radius > 0))
    return refuse("clip_radius", *options.clip_radius, "must be finite and > 0");
  if (!(options.momentum >= 0 && options.momentum < 1))
    return refuse("momentum", options.momentum, "must lie in [0, 1)");
  if (!(options.second_moment >= 0 && options.second_moment < 1))
    return refuse("second_moment", options.second_moment, "must lie in [0, 1)");
  if (options.adam_floor && !(std::isfinite(*options.adam_floor) && *options.adam_floor > 0))
    return refuse("adam_floor", *options.adam_floor, "must be finite and > 0");
  if (options.clip_quantile && !(*options.clip_quantile > 0 && *options.clip_quantile < 1))
    return refuse("clip_quantile", *options.clip_quantile, "must lie between 0 and 1");
  if (!(options.clip_rate > 0 && options.clip_rate <= 10))
    return refuse("clip_rate", options.clip_rate, "must lie in (0, 10]");
  SOTTO_TRY(check(static_cast<const OutputOptions&>(options), options.steps));
  SOTTO_TRY(check_clip_rule(options.clip_rule, problem));
  SOTTO_TRY(check_sampling(options.sampling, problem));
  if (options.expected_batch &&
      (*options.expected_batch < 1 || *options.expected_batch > problem.n))
    return refuse("expected_batch",
                  *options.expected_batch,
                  fmt::format("must lie between 1 and the number of units, {}", problem.n));
  return {};
}

}  // namespace sotto
