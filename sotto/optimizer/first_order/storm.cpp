// storm, a non-private reference.
//
// Problem     min_w F(w) = (1/n) sum_i loss(w; i) + r(w), smooth, not necessarily convex
// Update      v_t = g_B(w_t) + (1-a_t)(v_{t-1} - g_B(w_{t-1})), both on one batch B
//             w_{t+1} = w_t - eta_t (v_t + grad r(w_t))
//             eta_t = k / (u + sum_{s<=t} |v_s|^2)^(1/3);  a_{t+1} = min(1, c eta_t^2)
// Privacy     none
// Guarantee   E||grad F|| = O(T^(-1/3)) without knowing the noise's size [CO19]
// Source      [CO19] Alg. 1
// Differs     the step adds up the estimates' norms, not those of the batch gradients; Poisson
//             batches; c from the smoothness; the regularizer joins v afterwards, its rough part by
//             a prox step; the last iterate (docs/reference/methods/storm.md)

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/optimizer/first_order/methods.hpp"
#include "sotto/optimizer/first_order/recursive_descent.hpp"
#include "sotto/optimizer/parts/sampling_option.hpp"
#include "sotto/optimizer/parts/steps.hpp"

namespace sotto {
namespace {

struct StormOptions {
  std::optional<std::int64_t> steps;
  std::optional<std::int64_t> expected_batch;
  double k = 1;
  double u = 1;
  std::optional<double> c;
};

class Storm final : public Optimizer {
 public:
  Storm(StormOptions options, Sampling sampling) : options_(options), sampling_(sampling) {}

  Plan plan(const PublicProblem& problem, double noise_multiplier) const override {
    const Vector anywhere;
    const GradientQuery query{anywhere, sampling_, 1, noise_multiplier};
    return {Event::repeat(*options_.steps, event_of(query, problem.relation)),
            *options_.steps * problem.dimension};
  }

  Expected<OptimizerResult> run(Oracle& oracle,
                                double noise_multiplier,
                                Observer& observer) const override {
    const PublicProblem& problem = oracle.problem();
    constexpr double kNoClip = std::numeric_limits<double>::infinity();
    Vector w = problem.first_iterate();
    Vector before = w;
    Vector v = w;
    Vector direction;
    double a = 1;
    double squares = options_.u;
    Steps steps(observer, *options_.steps);
    SOTTO_TRY(steps.begin([&](Archive& state) {
      state("iterate", w)("before", before)("estimate", v)("mixture", a, 0, 1)(
          "squares", squares, 0, kNoClip);
    }));
    while (steps.next()) {
      SOTTO_ASSIGN(const Released<Vector> pair,
                   oracle.gradient_pair(
                       {w, before, sampling_, {a, kNoClip, kNoClip, false}, noise_multiplier}));
      v = pair.value() + (1 - a) * v;
      squares += v.squaredNorm();
      const double eta = options_.k / std::cbrt(squares);
      direction = v;
      problem.regularizer.add_gradient(w, direction);
      before = w;
      w -= eta * direction;
      problem.regularizer.prox(eta, w);
      a = std::min(1.0, *options_.c * eta * eta);
      steps.finish(eta, direction.norm(), &w);
    }
    return steps.result(w);
  }

 private:
  StormOptions options_;
  Sampling sampling_;
};

OptionTable<StormOptions> storm_options() {
  OptionTable<StormOptions> table;
  table.integer("steps", &StormOptions::steps, "number of steps T")
      .at_least(1)
      .integer(
          "expected_batch", &StormOptions::expected_batch, "expected number of units per batch")
      .number("k", &StormOptions::k, "scale of the step size")
      .positive()
      .number("u", &StormOptions::u, "what the step's sum of squares begins with")
      .positive()
      .number("c", &StormOptions::c, "the fresh gradient's weight is c eta^2")
      .positive();
  return table;
}

Expected<ConfiguredMethod> configure_storm(const GivenOptions& given, const PublicFacts& facts) {
  const auto table = storm_options();
  SOTTO_ASSIGN(const StormOptions asked, table.parse(given));
  StormOptions options = asked;
  SOTTO_TRY(check_batch("expected_batch", options.expected_batch, facts.problem));
  const auto n = static_cast<double>(facts.problem.n);
  if (!options.expected_batch)
    options.expected_batch = std::min<std::int64_t>(
        facts.problem.n, std::max<std::int64_t>(64, std::llround(std::sqrt(n))));
  const double q = static_cast<double>(*options.expected_batch) / n;
  if (!options.steps) options.steps = std::max<std::int64_t>(30, std::llround(20 / q));
  if (!options.c) options.c = 0.1 * std::max(1.0, data_smoothness(facts.problem));
  return ConfiguredMethod{std::make_unique<Storm>(options, Sampling::poisson(q)),
                          table.settings(asked, options, given)};
}

}  // namespace

std::vector<MethodInfo> storm_methods() {
  return {{.name = "storm",
           .summary = "stochastic recursive momentum: a reference for dp-srm",
           .needs = {Capability::kPairs},
           .guarantees = "NOT private",
           .is_private = false,
           .source = "[CO19]",
           .page = "storm",
           .options = storm_options().infos(),
           .configure = configure_storm}};
}

}  // namespace sotto
