#include "sotto/training/public_facts.hpp"

#include "sotto/core/numbers.hpp"
#include "sotto/privacy/calibrate.hpp"
#include "sotto/privacy/filter.hpp"

namespace sotto {
namespace {

/// How noisy one full-batch release with the whole budget would be.
Expected<double> single_release_multiplier(const PublicProblem& problem,
                                           const TrainOptions& options) {
  // With the noise given by hand the budget is unknown; a run of 100 steps is taken as typical.
  if (options.noise_multiplier) return *options.noise_multiplier / 10;
  return calibrate_noise([&](double z) { return Event::gaussian(z, problem.relation); },
                         {*options.epsilon, options.delta});
}

/// What the rdp filter would charge for a sampled release: it alone knows, for at small delta only
/// its high orders count, and there a small multiplier costs far more than at order 2.
std::function<double(const Sampling&, double)> sampled_price(const PublicProblem& problem,
                                                             const TrainOptions& options) {
  if (!options.epsilon) return {};
  return [target = Target{*options.epsilon, options.delta}, relation = problem.relation](
             const Sampling& sampling, double multiplier) {
    auto filter = make_rdp_filter(target);
    if (!filter) return kInfinity;
    const Event release = sampling.applied_to(Event::gaussian(multiplier, relation));
    return (*filter)->try_spend(release) ? (*filter)->spent() : kInfinity;
  };
}

}  // namespace

Expected<PublicFacts> public_facts(const PublicProblem& problem,
                                   const TrainOptions& options,
                                   double coin) {
  PublicFacts facts{problem, 0, coin, sampled_price(problem, options)};
  SOTTO_ASSIGN(facts.single_release_multiplier, single_release_multiplier(problem, options));
  facts.epsilon = options.epsilon.value_or(0);
  facts.delta = options.delta;
  return facts;
}

}  // namespace sotto
