#include "sotto/optimizer/proximal/proximal_descent.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/optimizer/parts/steps.hpp"
#include "sotto/optimizer/proximal/methods.hpp"

namespace sotto {
namespace {

OptionTable<ProximalOptions> proximal_options(bool mirror) {
  OptionTable<ProximalOptions> table;
  table.integer("steps", &ProximalOptions::steps, "number of steps T")
      .range(1, 10'000'000)
      .number("step_size", &ProximalOptions::step_size, "step size gamma, constant")
      .positive()
      .number("clip_radius",
              &ProximalOptions::clip_radius,
              "per-unit gradients are clipped to this L2 norm C")
      .positive()
      .choice("start",
              &ProximalOptions::start,
              kStarts,
              "where to start; auto: 0 if it lies in the set, else the set's center; random: "
              "N(0, I), then the set's nearest point");
  if (mirror)
    table.choice("mirror",
                 &ProximalOptions::mirror,
                 kMirrorMaps,
                 "mirror map; auto: entropy on a simplex, pnorm on an l1 ball, else euclidean");
  add_output_options(table);
  add_certificate_options(table);
  return table;
}

Expected<ConfiguredMethod> proximal(bool mirror,
                                    const GivenOptions& given,
                                    const PublicFacts& facts) {
  const auto table = proximal_options(mirror);
  SOTTO_ASSIGN(ProximalOptions asked, table.parse(given));
  if (!mirror) asked.mirror = MirrorMap::kEuclidean;
  asked.seed = start_seed(facts.coin);
  SOTTO_TRY(check(static_cast<const OutputOptions&>(asked), asked.steps));
  SOTTO_TRY(check(static_cast<const CertificateOptions&>(asked), facts.problem));
  SOTTO_ASSIGN(const Vector start, start_point(asked.start, asked.seed, facts.problem));
  SOTTO_ASSIGN(const auto iterate,
               MirrorIterate::make(
                   asked.mirror, facts.problem.constraint, facts.problem.regularizer, start));

  ProximalOptions options = asked;
  const TheoryFacts theory = theory_facts(facts);
  const double L = iterate->in_l1() ? theory.smoothness_l1 : theory.smoothness;
  const double spread =
      iterate->in_l1() ? std::sqrt(2 * std::log(2 * theory.d)) : std::sqrt(theory.d);
  if (!options.clip_radius) options.clip_radius = theory.clip;
  if (!options.step_size) options.step_size = iterate->modulus() / (2 * L);
  if (!options.steps)
    options.steps =
        std::llround(std::clamp(2 * std::sqrt(L * theory.initial_gap) * theory.n /
                                    (spread * *options.clip_radius * std::max(theory.noise, 1e-9)),
                                10.0,
                                5000.0));
  fill_output(options, *options.steps, facts.coin);
  return ConfiguredMethod{std::make_unique<ProximalDescent>(options),
                          table.settings(asked, options, given)};
}

}  // namespace

ProximalDescent::ProximalDescent(ProximalOptions options)
    : options_(std::move(options)), certificate_(options_) {
  SOTTO_CHECK(options_.steps && options_.step_size && options_.clip_radius);
}

GradientQuery ProximalDescent::query(const Vector& at, double noise_multiplier) const {
  return {at, Sampling::full(), *options_.clip_radius, noise_multiplier};
}

Plan ProximalDescent::plan(const PublicProblem& problem, double noise_multiplier) const {
  const Output output(options_, *options_.steps);
  const double total = total_multiplier(noise_multiplier, output.steps());
  const Vector anywhere;
  Event event =
      Event::repeat(output.steps(), event_of(query(anywhere, noise_multiplier), problem.relation));
  if (auto last = output.event(total, problem.relation))
    event = Event::compose({std::move(event), *std::move(last)});
  if (auto last = certificate_.event(total, problem))
    event = Event::compose({std::move(event), *std::move(last)});
  return {
      std::move(event),
      output.steps() * problem.dimension + output.noise_samples() + certificate_.noise_samples(),
      {},
      output.further_passes()};
}

Expected<OptimizerResult> ProximalDescent::run(Oracle& oracle,
                                               double noise_multiplier,
                                               Observer& observer) const {
  const PublicProblem& problem = oracle.problem();
  const double gamma = *options_.step_size;
  Output output(options_, *options_.steps);
  const double total = total_multiplier(noise_multiplier, output.steps());
  SOTTO_ASSIGN(const Vector start, start_point(options_.start, options_.seed, problem));
  SOTTO_ASSIGN(
      const auto iterate,
      MirrorIterate::make(options_.mirror, problem.constraint, problem.regularizer, start));

  Vector gradient;
  Steps steps(observer, output.steps());
  SOTTO_TRY(steps.begin([&](Archive& state) { state("iterate", *iterate)("output", output); }));
  while (steps.next()) {
    output.before_step(iterate->w());
    SOTTO_ASSIGN(const auto g,
                 steps.unless_spent(oracle.gradient(query(iterate->w(), noise_multiplier))));
    if (!g) break;
    gradient = g->value();
    problem.regularizer.add_gradient(iterate->w(), gradient);
    iterate->move(gradient, gamma);
    output.add(iterate->w());
    steps.finish(gamma, gradient.norm(), &iterate->w());
  }
  SOTTO_ASSIGN(Vector result, output.take(oracle, total));
  return certificate_.certified(steps.result(std::move(result)), oracle, total);
}

std::vector<MethodInfo> proximal_methods() {
  const auto with_map = [](bool mirror) {
    return [mirror](const GivenOptions& given, const PublicFacts& facts) {
      return proximal(mirror, given, facts);
    };
  };
  return {{.name = "dp-pgd",
           .summary = "proximal gradient descent on a constraint set, full batches",
           .needs = {Capability::kGradients},
           .needs_of_problem = "sets and regularizers with a closed prox step",
           .guarantees = "(epsilon, delta)-DP; projected gradient O((d ln 1/delta)^(1/4) / (n "
                         "epsilon)^(1/2))",
           .is_private = true,
           .source = "[WX19]",
           .page = "dp-pgd",
           .options = proximal_options(false).infos(),
           .configure = with_map(false),
           .constraints = true},
          {.name = "dp-pmd",
           .summary = "mirror descent on a constraint set, full batches",
           .needs = {Capability::kGradients},
           .needs_of_problem = "an l1 ball or a simplex to gain from it",
           .guarantees = "(epsilon, delta)-DP; as dp-pgd with ln d in place of d on an l1 ball",
           .is_private = true,
           .source = "[WX19]",
           .page = "dp-pmd",
           .options = proximal_options(true).infos(),
           .configure = with_map(true),
           .constraints = true}};
}

}  // namespace sotto
