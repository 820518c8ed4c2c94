// dp-tr, dp-tr-b, dp-str, and tr without privacy
//
// Problem     find w with |grad F(w)| <= eps_g and Hessian eigenvalues >= -eps_H,
//             F(w) = (1/n) sum_i loss(w; i) + r(w), not necessarily convex
// Update      (g, H) = noisy gradient and Hessian at w, one joint release
//             h = argmin { g'h + h'Hh/2 : |h| <= r },  w <- w + h
//             until the confidence bounds of (g, H) at w are within (eps_g, eps_H)
// Privacy     each release is charged to a filter (gaussian; rdp with batches), which ends the run
// Guarantee   (epsilon, delta)-DP; an (alpha, sqrt(M alpha))-second-order point with alpha = eps_g,
//             r = sqrt(alpha/M), in T = 6 sqrt(M) (F(w_0) - inf F) / alpha^1.5 steps if the noise
//             is small against alpha
// Source      [WX20] Alg. 1 (dp-tr), Alg. 2 (dp-str); [GW23] (dp-tr-b)
// Differs     one joint release instead of two; symmetric noise scaled like the Gaussian orthogonal
//             ensemble on Hessians with a bound of R²/4 instead of sqrt(d); noise follows the
//             gradient's size, under a filter, instead of being fixed for T steps; the stop test
//             is a confidence bound (stop = multiplier: the published one); positive
//             semidefinite, not definite, in the subproblem's condition, so that the hard case is
//             solved; dp-str takes both from one batch, priced by today's accounting
//             (the published noise lacks a factor sqrt(T)); mini-batch runs leave a saddle on a
//             batch's word, but confirm a point on the full batch before they return it; a smooth
//             regularizer is added after the noise (docs/reference/methods/dp-tr.md)
//
// letter  meaning                                 option
// eps_g   tolerance of the gradient, alpha        gradient_tolerance
// eps_H   tolerance of the curvature              curvature_tolerance
// r       trust-region radius                     radius
// M       Lipschitz constant of the Hessian       hessian_lipschitz
// T       most steps                              steps

#include <algorithm>
#include <cmath>

#include "sotto/optimizer/parts/steps.hpp"
#include "sotto/optimizer/second_order/methods.hpp"
#include "sotto/optimizer/second_order/scout.hpp"

namespace sotto {
namespace {

class TrustRegionSearch final : public Optimizer {
 public:
  explicit TrustRegionSearch(SearchOptions options) : o_(std::move(options)) {}

  Plan plan(const PublicProblem& problem, double) const override {
    const std::int64_t d = problem.dimension;
    const std::int64_t hessian =
        dense() ? d * (d + 1) / 2 : (o_.products + o_.test_products) * (d + 1);
    // Most steps make one release or two, a few more; samples beyond end the run like the budget.
    return {Event::compose({}),
            (2 * most_steps(o_, least_decrease()) + 64) * (d + hessian),
            filter_of(o_)};
  }

  Expected<OptimizerResult> run(Oracle& oracle, double, Observer& observer) const override {
    Scout scout(oracle, o_);
    const PublicProblem& problem = oracle.problem();
    const Sampling sampling = step_sampling(o_, problem);
    Vector w = initial_point(o_.init, o_.init_seed, problem.dimension);
    const double alpha = *o_.gradient_tolerance;
    double expected_norm = first_norm(problem);
    Steps steps(observer, most_steps(o_, least_decrease()), Steps::Budget::kFilter);
    SOTTO_TRY(scout.begin(steps, w, expected_norm, least_decrease()));

    while (steps.next()) {
      SOTTO_ASSIGN(auto look, steps.unless_spent(scout.look(expected_norm, [&](double sigma) {
        return dense() ? scout.joint(w, sigma, sampling) : scout.slope(w, sigma, sampling);
      })));
      if (!look) break;
      SOTTO_ASSIGN(const auto answer, steps.unless_spent(judge(scout, w, *look, sampling)));
      if (!answer) break;
      if (answer->found) {
        steps.end(StopReason::kPointFound);
        break;
      }
      expected_norm = std::max(look->estimate, alpha);
      w += answer->step;
      if (answer->found_after)
        steps.end(StopReason::kPointFound, /*is_made=*/true);
      else
        steps.finish(answer->step.norm(), look->norm, &w);
    }
    return scout.certified(steps.result(w));
  }

 private:
  double least_decrease() const {
    return std::pow(*o_.gradient_tolerance, 1.5) / (6 * std::sqrt(*o_.hessian_lipschitz));
  }

  struct Answer {
    bool found = false;        ///< the current point is accepted
    bool found_after = false;  ///< the next one is (stop = multiplier)
    Vector step;
  };

  bool dense() const { return o_.solver != Solver::kLanczos; }

  /// Is w accepted? If not, the step that leads away from it.
  Expected<Answer> judge(Scout& scout,
                         const Vector& w,
                         Look& look,
                         const Sampling& sampling) const {
    Answer answer;
    const double eps_g = *o_.gradient_tolerance;
    // A saddle (or worse) needs no finer look to be left.
    bool flat = !o_.stop_by_multiplier && scout.bend(look) == Scout::Bend::kNo;
    if (flat && o_.expected_batch && look.estimate <= eps_g) {
      // A batch's gradient is not the data's: confirm on all rows.
      SOTTO_ASSIGN(const Look whole, scout.slope(w, scout.finest(), Sampling::full()));
      look.gradient = whole.gradient;
      flat = whole.upper <= eps_g;
    } else {
      flat = flat && !o_.expected_batch && look.upper <= eps_g;
    }
    if (flat && o_.holds_everywhere) {
      answer.found = true;
      return answer;
    }
    if (!dense()) return without_matrix(scout, w, look, flat ? Sampling::full() : sampling, flat);
    SymmetricEigen H = look.eigen ? *std::move(look.eigen) : symmetric_eigen(*look.hessian);
    if (flat) {
      SOTTO_ASSIGN(CurvatureLook precise, scout.curvature(w, Sampling::full()));
      if (precise.lower() >= -*o_.curvature_tolerance) {
        answer.found = true;
        return answer;
      }
      H = std::move(precise.hessian);
    }
    TrustRegionStep step = solve_trust_region(H, look.gradient, *o_.radius);
    answer.found_after =
        o_.stop_by_multiplier && step.multiplier <= std::sqrt(eps_g * *o_.hessian_lipschitz);
    answer.step = std::move(step.step);
    return answer;
  }

  /// The same through a noisy operator: nothing of size d x d.
  Expected<Answer> without_matrix(
      Scout& scout, const Vector& w, const Look& look, const Sampling& sampling, bool flat) const {
    SOTTO_ASSIGN(const std::optional<TrustRegionStep> step,
                 scout.operator_step(w, look, *o_.radius, sampling, flat));
    Answer answer;
    answer.found = !step;
    if (!step) return answer;
    answer.found_after =
        o_.stop_by_multiplier &&
        step->multiplier <= std::sqrt(*o_.gradient_tolerance * *o_.hessian_lipschitz);
    answer.step = step->step;
    return answer;
  }

  SearchOptions o_;
};

constexpr std::int64_t kStochastic = 12;  ///< dp-str's batch is n over this

/// `divisor`: the batch is n over this; 0 for full batches.
OptionTable<SearchOptions> options_table(std::int64_t divisor) {
  OptionTable<SearchOptions> table;
  add_search_options(table);
  add_trust_region_options(table);
  if (divisor > 0) add_batch_option(table);
  if (divisor == kStochastic) add_sample_size_options(table);
  return table;
}

auto configure(std::int64_t divisor) {
  return
      [divisor](const GivenOptions& given, const PublicFacts& facts) -> Expected<ConfiguredMethod> {
        const auto table = options_table(divisor);
        SOTTO_ASSIGN(const SearchOptions asked, table.parse(given));
        SOTTO_TRY(check(asked, facts.problem));
        SearchOptions options = asked;
        options.line_search = LineSearch::kNone;
        if (divisor > 0 && !options.expected_batch)
          options.expected_batch = std::max<std::int64_t>(1, facts.problem.n / divisor);
        SOTTO_ASSIGN(options, with_search_defaults(options, facts));
        if (options.theory_sizes) options.expected_batch = theorem4_batch(options, facts.problem);
        SOTTO_TRY(check_hessian_size(options, facts.problem));
        auto settings = table.settings(asked, options, given);
        settings.push_back(second_order_condition(options));
        return ConfiguredMethod{std::make_unique<TrustRegionSearch>(options), std::move(settings)};
      };
}

}  // namespace

std::vector<MethodInfo> trust_region_methods() {
  const auto method = [](std::string name,
                         std::string summary,
                         std::string source,
                         std::int64_t divisor,
                         bool is_private) {
    return MethodInfo{.name = std::move(name),
                      .summary = std::move(summary),
                      .needs = {Capability::kGradients, Capability::kHessians},
                      .needs_of_problem = "a smooth regularizer",
                      .guarantees = is_private ? "(epsilon, delta)-DP by a filter; second-order "
                                                 "points, with a certificate"
                                               : "NOT private",
                      .is_private = is_private,
                      .source = std::move(source),
                      .page = "dp-tr",
                      .options = options_table(divisor).infos(),
                      .configure = configure(divisor)};
  };
  return {method("dp-tr",
                 "trust region, full batches, joint noisy gradient and Hessian",
                 "[WX20]",
                 0,
                 true),
          method("dp-tr-b", "trust region on small random batches", "[GW23]", 50, true),
          method("dp-str", "trust region on large random batches", "[WX20]", kStochastic, true),
          method("tr", "dp-tr without clipping and noise: a reference", "", 0, false)};
}

}  // namespace sotto
