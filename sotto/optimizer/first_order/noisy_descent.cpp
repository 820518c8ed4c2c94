#include "sotto/optimizer/first_order/noisy_descent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/optimizer/schedule.hpp"
#include "sotto/optimizer/tail_average.hpp"

namespace sotto {

NoisyDescent::NoisyDescent(DescentOptions options, Sampling sampling)
    : options_(std::move(options)), sampling_(sampling) {
  SOTTO_CHECK(options_.steps && options_.step_size && options_.clip_radius);
}

Plan NoisyDescent::plan(const PublicProblem& problem, double noise_multiplier) const {
  const Vector anywhere;
  const GradientQuery query{anywhere, sampling_, *options_.clip_radius, noise_multiplier};
  return {Event::repeat(*options_.steps, event_of(query, problem.relation)),
          *options_.steps * problem.dimension};
}

Expected<OptimizerResult> NoisyDescent::run(Oracle& oracle,
                                            double noise_multiplier,
                                            Observer& observer) const {
  const PublicProblem& problem = oracle.problem();
  const Regularizer& r = problem.regularizer;
  const std::int64_t T = *options_.steps;
  const StepSchedule eta(options_.schedule, *options_.step_size, T);
  TailAverage average(options_.average, T);

  Vector w = Vector::Zero(problem.dimension);
  Vector v = Vector::Zero(problem.dimension);
  Vector gradient;
  for (std::int64_t t = 0; t < T; ++t) {
    SOTTO_ASSIGN(const Released<Vector> g,
                 oracle.gradient({w, sampling_, *options_.clip_radius, noise_multiplier}));
    gradient = g.value();
    r.add_gradient(w, gradient);
    v = options_.momentum * v + gradient;
    w -= eta(t) * v;
    r.prox(eta(t), w);
    average.add(w);
    if (!observer.keep_going({t + 1, T, eta(t), gradient.norm(), &w}))
      return OptimizerResult{average.value(), t + 1, "stopped early"};
  }
  return OptimizerResult{average.value(), T, "plan complete"};
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
  if (!(options.average >= 0 && options.average <= 1))
    return refuse(
        "average", options.average, "must lie in [0, 1], the share of last steps averaged");
  if (options.expected_batch &&
      (*options.expected_batch < 1 || *options.expected_batch > problem.n))
    return refuse("expected_batch",
                  *options.expected_batch,
                  fmt::format("must lie between 1 and the number of units, {}", problem.n));
  return {};
}

}  // namespace sotto
