// A method of one's own, which examples 4 and 6 train with and audit: gradient descent whose steps
// all have the same length.
//
//   w <- w - eta g / |g|,  g a noisy gradient
//
// It reaches rows through an Oracle alone. plan() states what run() will ask, both through one
// query: noise is calibrated for the plan, and the ledger refuses whatever is not in it. So a
// mistake here costs accuracy, never privacy.

#pragma once

#include "sotto/method.hpp"

namespace examples {

struct NormalizedOptions {
  std::int64_t steps = 50;
  double step_size = 0.1;
  double clip_radius = 1;
};

class NormalizedDescent final : public sotto::Optimizer {
 public:
  explicit NormalizedDescent(NormalizedOptions options) : options_(options) {}

  sotto::Plan plan(const sotto::PublicProblem& problem, double noise_multiplier) const override {
    const sotto::Vector anywhere;
    const sotto::Event step = event_of(query(anywhere, noise_multiplier), problem.relation);
    return {sotto::Event::repeat(options_.steps, step), options_.steps * problem.dimension};
  }

  sotto::Expected<sotto::OptimizerResult> run(sotto::Oracle& oracle,
                                              double noise_multiplier,
                                              sotto::Observer& observer) const override {
    const sotto::PublicProblem& problem = oracle.problem();
    sotto::Vector w = problem.first_iterate();
    sotto::Steps steps(observer, options_.steps);
    // All that the loop carries from step to step: such a run can be resumed.
    SOTTO_TRY(steps.begin([&](sotto::Archive& state) { state("iterate", w); }));
    while (steps.next()) {
      SOTTO_ASSIGN(const auto answer,
                   steps.unless_spent(oracle.gradient(query(w, noise_multiplier))));
      if (!answer) break;
      sotto::Vector g = answer->value();
      problem.regularizer.add_gradient(w, g);  // touches no data: neither clipped nor noised
      if (g.norm() > 0) w -= options_.step_size / g.norm() * g;
      steps.finish(options_.step_size, g.norm(), &w);
    }
    return steps.result(w);
  }

 private:
  sotto::GradientQuery query(const sotto::Vector& at, double noise_multiplier) const {
    return {at, sotto::Sampling::full(), options_.clip_radius, noise_multiplier};
  }

  NormalizedOptions options_;
};

/// As the registry describes its methods. What an author must decide are options and defaults, from
/// public facts alone.
inline sotto::MethodInfo normalized_descent() {
  sotto::OptionTable<NormalizedOptions> table;
  table.integer("steps", &NormalizedOptions::steps, "number of steps")
      .number("step_size", &NormalizedOptions::step_size, "length of every step")
      .number("clip_radius", &NormalizedOptions::clip_radius, "what gradients are clipped to");
  sotto::MethodInfo method;
  method.name = "normalized-descent";
  method.summary = "descent by steps of one length, full batches, Gaussian noise";
  method.options = table.infos();
  method.configure = [table](
                         const sotto::GivenOptions& given,
                         const sotto::PublicFacts&) -> sotto::Expected<sotto::ConfiguredMethod> {
    SOTTO_ASSIGN(const NormalizedOptions options, table.parse(given));
    if (!(options.steps >= 1 && options.step_size > 0 && options.clip_radius > 0))
      return sotto::fail(sotto::ErrorKind::kUsage,
                         "steps must be at least 1, step_size and clip_radius above 0.");
    return sotto::ConfiguredMethod{std::make_unique<NormalizedDescent>(options),
                                   table.settings(options, options, given)};
  };
  return method;
}

}  // namespace examples
