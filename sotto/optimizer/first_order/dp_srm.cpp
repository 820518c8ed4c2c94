// dp-srm: recursive_descent.hpp with one anchor and a fresh gradient mixed into every difference.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/option_names.hpp"
#include "sotto/optimizer/first_order/methods.hpp"
#include "sotto/optimizer/first_order/recursive_options.hpp"
#include "sotto/optimizer/first_order/recursive_theory.hpp"
#include "sotto/optimizer/second_order/search_options.hpp"

namespace sotto {
namespace {

OptionTable<RecursiveOptions> srm_options() {
  using O = RecursiveOptions;
  OptionTable<O> table;
  table.number("mixture", &O::mixture, "weight gamma of the fresh gradient in (0, 1]")
      .range(above(0), 1)
      .choice(
          "clipping",
          &O::clip_together,
          {{false, "separate"}, {true, "together"}},
          "clip gradient and difference separately, or their combination once, to the same bound")
      .choice("parameters",
              &O::parameters,
              {{Parameters::kRule, "rule"},
               {Parameters::kTheory, "theory"},
               {Parameters::kCorollary, "corollary"}},
              "what settings left open follow: Sotto's rule; theory: Theorem 5.4 of the paper, its "
              "constants taken as 1; corollary: the same with the batches of Corollary 5.3")
      .choice("step_rule",
              &O::theory_steps,
              {{false, "schedule"}, {true, "theory"}},
              "theory: min(accuracy / (n0 L |v|), 1 / (2 n0 L)), the paper's rule, instead of a "
              "schedule")
      .number("accuracy", &O::accuracy, "zeta of the theory's steps")
      .positive()
      .number("n0", &O::n0, "n_0 of the theory's steps; auto: L gap / C1^2")
      .positive()
      .number("gap", &O::gap, "bound on F(w_0) - inf F, for n0; auto: by algebra, if it has one")
      .positive();
  add_recursive_options(table);
  return table;
}

tl::unexpected<Error> must_be_given(std::string_view name, std::string_view what) {
  return fail(ErrorKind::kUsage,
              fmt::format("the theory's parameters need {}, and no public fact bounds it here. "
                          "Give {}.",
                          what,
                          marked(name)));
}

/// The constants of the theory: C1 for G, so that clipping makes it true.
Expected<RecursionFacts> theory_facts(const RecursiveOptions& options, const PublicFacts& facts) {
  const PublicProblem& problem = facts.problem;
  const bool bounded = !problem.network && std::isfinite(problem.row_norm);
  RecursionFacts theory{static_cast<double>(problem.n),
                        static_cast<double>(problem.dimension),
                        facts.epsilon,
                        facts.delta};
  theory.G =
      options.clip_radius.value_or(bounded ? problem.row_norm * problem.loss.sup_first : HUGE_VAL);
  if (!std::isfinite(theory.G)) return must_be_given("clip_radius", "a bound on a unit's gradient");
  const double data = options.smoothness.value_or(bounded ? data_smoothness(problem) : HUGE_VAL);
  theory.L = whole_smoothness(data, problem);
  if (!std::isfinite(theory.L))
    return must_be_given("smoothness", "a bound on how fast a unit's gradient changes");
  const auto gap =
      options.gap || !bounded ? options.gap : public_gap(problem, problem.first_iterate());
  if (!gap) return must_be_given("gap", "a bound on F(w_0) - inf F");
  theory.gap = *gap;
  return theory;
}

std::int64_t whole(double value, std::int64_t most) {
  return value < static_cast<double>(most) ? std::max<std::int64_t>(1, std::llround(value)) : most;
}

/// Fills what is open as the paper's algorithm and its theorem have it.
Expected<Setting> fill_by_theory(RecursiveOptions& options, const PublicFacts& facts) {
  if (facts.epsilon == 0)
    return fail(ErrorKind::kUsage,
                "‘parameters theory’ follows from the budget. Give ‘epsilon’ and ‘delta’ instead "
                "of ‘noise_multiplier’.");
  SOTTO_ASSIGN(const RecursionFacts theory, theory_facts(options, facts));
  const bool corollary = options.parameters == Parameters::kCorollary;
  const TheoryParameters p = corollary ? corollary_parameters(theory) : theorem_parameters(theory);
  const std::int64_t n = facts.problem.n;
  options.clip_radius = theory.G;
  if (!options.steps) options.steps = whole(p.steps, 100'000'000);
  if (!options.accuracy) options.accuracy = p.accuracy;
  if (!options.n0) options.n0 = p.n0;
  if (!options.anchor_batch) options.anchor_batch = whole(p.anchor_batch, n);
  if (!options.expected_batch) options.expected_batch = whole(p.batch, n);
  if (!options.mixture) options.mixture = std::min(1.0, p.mixture);
  // No step is longer than zeta / (n_0 L), so that no difference is clipped to this.
  if (!options.difference_clip) options.difference_clip = *options.accuracy / *options.n0;
  const auto missed = unmet(p, theory, corollary);
  return Setting{"theory",
                 missed.empty()
                     ? "its conditions hold, with all constants 1"
                     : fmt::format("does not apply, it needs {}", fmt::join(missed, ", ")),
                 Origin::kRule};
}

Expected<ConfiguredMethod> configure_srm(const GivenOptions& given, const PublicFacts& facts) {
  const auto table = srm_options();
  SOTTO_ASSIGN(const RecursiveOptions asked, table.parse(given));
  const PublicProblem& problem = facts.problem;
  RecursiveOptions options = asked;
  std::vector<Setting> notes;
  if (options.parameters != Parameters::kRule) {
    const auto open = [&](std::string_view name) {
      return std::none_of(
          given.begin(), given.end(), [&](const auto& each) { return each.first == name; });
    };
    if (open("step_rule")) options.theory_steps = true;
    if (open("difference_bound")) options.adaptive_bound = false;
    if (open("sampling")) options.sampling = Sampling::Kind::kFixedSize;
    if (open("output")) options.output = OutputKind::kRandomBefore;
  }
  SOTTO_TRY(check(options, problem));
  if (options.parameters != Parameters::kRule) {
    SOTTO_ASSIGN(Setting note, fill_by_theory(options, facts));
    notes.push_back(std::move(note));
  }
  fill_recursive(options, facts, 1, 6);
  fill_output(options, *options.steps, facts.coin);
  if (!options.mixture) options.mixture = 0.6;
  // As printed, the noise of all releases of equal batches has one multiplier: each gets its part.
  const auto made = static_cast<double>(Output(options, *options.steps).steps());
  if (!options.anchor_share)
    options.anchor_share = options.parameters == Parameters::kRule ? 0.05 : 1 / std::max(2.0, made);
  if (options.theory_steps) {
    if (!options.accuracy) options.accuracy = 0.05;
    if (!options.n0) {
      SOTTO_ASSIGN(const RecursionFacts theory, theory_facts(options, facts));
      options.n0 = theory_n0(theory.L, theory.gap, theory.G);
    }
  }
  auto settings = table.settings(asked, options, given);
  settings.insert(settings.end(), notes.begin(), notes.end());
  return ConfiguredMethod{std::make_unique<RecursiveDescent>(options, problem),
                          std::move(settings)};
}

}  // namespace

std::vector<MethodInfo> srm_methods() {
  return {{.name = "dp-srm",
           .summary = "recursive momentum: gradients corrected by differences",
           .needs = {Capability::kPairs},
           .guarantees =
               "(epsilon, delta)-DP; gradient norm O((sqrt(d ln 1/delta) / (n epsilon))^(2/3))",
           .is_private = true,
           .source = "[WJEG23]",
           .page = "dp-srm",
           .options = srm_options().infos(),
           .configure = configure_srm}};
}

}  // namespace sotto
