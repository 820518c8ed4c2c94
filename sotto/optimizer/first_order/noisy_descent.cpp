#include "sotto/optimizer/first_order/noisy_descent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/optimizer/clip_rule_option.hpp"
#include "sotto/optimizer/schedule.hpp"

namespace sotto {

NoisyDescent::NoisyDescent(DescentOptions options, Sampling sampling)
    : options_(std::move(options)), sampling_(sampling) {
  SOTTO_CHECK(options_.steps && options_.step_size && options_.clip_radius);
}

GradientQuery NoisyDescent::query(const Vector& at, double noise_multiplier) const {
  return {at, sampling_, *options_.clip_radius, noise_multiplier, clip_rule_of(options_.clip_rule)};
}

double NoisyDescent::total_multiplier(double noise_multiplier, std::int64_t steps) const {
  return noise_multiplier / (sampling_.rate * std::sqrt(static_cast<double>(steps)));
}

Plan NoisyDescent::plan(const PublicProblem& problem, double noise_multiplier) const {
  const Output output(options_, *options_.steps);
  const Vector anywhere;
  Event event =
      Event::repeat(output.steps(), event_of(query(anywhere, noise_multiplier), problem.relation));
  if (auto last =
          output.event(total_multiplier(noise_multiplier, output.steps()), problem.relation))
    event = Event::compose({std::move(event), *std::move(last)});
  return {std::move(event), output.steps() * problem.dimension + output.noise_samples()};
}

Expected<OptimizerResult> NoisyDescent::run(Oracle& oracle,
                                            double noise_multiplier,
                                            Observer& observer) const {
  const PublicProblem& problem = oracle.problem();
  const Regularizer& r = problem.regularizer;
  Output output(options_, *options_.steps);
  const std::int64_t T = output.steps();
  const StepSchedule eta(options_.schedule, *options_.step_size, *options_.steps);

  Vector w = Vector::Zero(problem.dimension);
  Vector v = Vector::Zero(problem.dimension);
  Vector gradient;
  std::string stopped = "plan complete";
  std::int64_t t = 0;
  while (t < T) {
    SOTTO_ASSIGN(const Released<Vector> g, oracle.gradient(query(w, noise_multiplier)));
    gradient = g.value();
    r.add_gradient(w, gradient);
    v = options_.momentum * v + gradient;
    w -= eta(t) * v;
    r.prox(eta(t), w);
    output.add(w);
    ++t;
    if (!observer.keep_going({t, T, eta(t - 1), gradient.norm(), &w})) {
      stopped = "stopped early";
      break;
    }
  }
  SOTTO_ASSIGN(Vector result, output.take(oracle, total_multiplier(noise_multiplier, T)));
  return OptimizerResult{std::move(result), t, stopped};
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
  SOTTO_TRY(check(static_cast<const OutputOptions&>(options), options.steps));
  SOTTO_TRY(check_clip_rule(options.clip_rule, problem));
  if (options.expected_batch &&
      (*options.expected_batch < 1 || *options.expected_batch > problem.n))
    return refuse("expected_batch",
                  *options.expected_batch,
                  fmt::format("must lie between 1 and the number of units, {}", problem.n));
  return {};
}

}  // namespace sotto
