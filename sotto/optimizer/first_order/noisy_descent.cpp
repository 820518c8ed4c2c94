#include "sotto/optimizer/first_order/noisy_descent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/optimizer/first_order/descent_direction.hpp"
#include "sotto/optimizer/parts/clip_rule_option.hpp"
#include "sotto/optimizer/parts/sampling_option.hpp"
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
  query.rule = options_.clip_rule;
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
  return {std::move(event),
          output.steps() * entries + output.noise_samples(),
          {},
          output.further_passes()};
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
    output.before_step(w);
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
  if (options.steps && options.epochs)
    return fail(ErrorKind::kUsage, "give ‘steps’ or ‘epochs’, not both.");
  SOTTO_TRY(check(static_cast<const OutputOptions&>(options), options.steps));
  SOTTO_TRY(check(options.clip_rule, problem));
  SOTTO_TRY(check(options.sampling, problem));
  return check_batch("expected_batch", options.expected_batch, problem);
}

}  // namespace sotto
