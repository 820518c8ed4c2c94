// opt, opt-b, opt-ls, 2opt, 2opt-b, 2opt-ls, dp-gd-sosp
//
// Problem     find w with |grad F(w)| <= eps_g and Hessian eigenvalues >= -eps_H,
//             F(w) = (1/n) sum_i loss(w; i) + r(w), not necessarily convex
// Update      g = noisy gradient at w; if its confidence bound exceeds eps_g: w <- w - gamma g
//             else H = noisy Hessian, (lambda, p) its lowest eigenpair with p'g <= 0;
//             if lambda's confidence bound is below -eps_H: w <- w + gamma_H p, else return w
//             gamma = 1/G and gamma_H = 2|lambda|/M, or both by a line search (-ls)
//             2opt: first T' = sqrt(T) steps with 75 % of the budget without the certificate's,
//             then opt
// Privacy     each release is charged to a filter (gaussian; zcdp with line search; rdp with
//             batches), which ends the run; what the first phase leaves goes to the second
// Guarantee   (epsilon, delta)-DP; an (eps_g, eps_H)-second-order point in T = gap / min(0.4 eps_g²
//             / G, 0.3 eps_H³ / M²) steps (line search: 0.18 and 0.169) if the noise is small
//             against the tolerances
// Source      [GW23], a poster, with step sizes from its authors' script (opt family); [WCX19]
//             (dp-gd-sosp)
// Differs     noise follows the gradient's size under a filter, instead of being fixed for T
//             steps; tests by confidence bounds; constants of the loss itself (G = R²/4 for
//             logistic), not 1; the gap at w_0 from public facts, or from a charged value with a
//             one-sided bound; line search also by the exponential mechanism; Lanczos with a number
//             of products fixed in advance, whose error counts in the tests; mini-batch noise is
//             for the mean over b, sampling is Poisson, curvature steps are a batch's, and a point
//             is confirmed on the full batch before it is returned; nothing ever depends on the
//             true loss; dp-gd-sosp tests on the same gradient that it steps with
//             (docs/reference/methods/opt.md, dp-gd-sosp.md)
//
// letter  meaning                                 option
// eps_g   tolerance of the gradient               gradient_tolerance
// eps_H   tolerance of the curvature              curvature_tolerance
// G, M    Lipschitz constants                     smoothness, hessian_lipschitz
// T       most steps                              steps

#include <algorithm>
#include <cmath>
#include <vector>

#include "sotto/optimizer/parts/steps.hpp"
#include "sotto/optimizer/second_order/backtracking.hpp"
#include "sotto/optimizer/second_order/methods.hpp"
#include "sotto/optimizer/second_order/scout.hpp"

namespace sotto {
namespace {

class DescentSearch final : public Optimizer {
 public:
  explicit DescentSearch(SearchOptions options) : o_(std::move(options)) {}

  Plan plan(const PublicProblem& problem, double) const override {
    const std::int64_t d = problem.dimension;
    const std::int64_t matrix =
        o_.solver == Solver::kLanczos ? o_.test_products * (d + 1) : d * (d + 1) / 2;
    const std::int64_t hessian = o_.holds_everywhere ? 0 : matrix;
    const std::int64_t glances = o_.expected_batch ? 1 + Scout::kMostGlances : 1;
    // Most steps make one release or two, a few more; samples beyond end the run like the budget.
    return {Event::compose({}),
            (2 * most_steps(o_, least_decrease()) + 64) * (d + 1 + o_.candidates) +
                (most_steps(o_, least_decrease()) * glances + 1) * hessian,
            filter_of(o_)};
  }

  Expected<OptimizerResult> run(Oracle& oracle, double, Observer& observer) const override {
    Scout scout(oracle, o_);
    const PublicProblem& problem = oracle.problem();
    const Sampling sampling = step_sampling(o_, problem);
    Vector w = initial_point(o_.init, o_.init_seed, problem.dimension);
    double expected_norm = first_norm(problem);
    Steps steps(observer, most_steps(o_, least_decrease()), Steps::Budget::kFilter);
    SOTTO_TRY(scout.begin(steps, w, expected_norm, least_decrease()));
    const auto first_phase =
        o_.two_phases ? static_cast<std::int64_t>(std::sqrt(static_cast<double>(steps.planned())))
                      : 0;
    const double first_share = o_.first_phase_share * (1 - o_.certificate_share) /
                               static_cast<double>(std::max<std::int64_t>(first_phase, 1));

    while (steps.next()) {
      SOTTO_ASSIGN(
          auto look,
          steps.unless_spent(
              steps.made() < first_phase
                  ? scout.slope_with(w, first_multiplier(scout, first_share, sampling), sampling)
                  : scout.look(expected_norm,
                               [&](double sigma) { return scout.slope(w, sigma, sampling); })));
      if (!look) break;
      SOTTO_ASSIGN(const auto step,
                   steps.unless_spent(next_step(oracle, scout, w, *look, sampling)));
      if (!step) break;
      if (!*step) {
        steps.end(StopReason::kPointFound);
        break;
      }
      expected_norm = std::max(look->estimate, *o_.gradient_tolerance);
      w += **step;
      steps.finish((*step)->norm(), look->norm, &w);
    }
    return scout.certified(steps.result(w));
  }

 private:
  double least_decrease() const {
    const auto least = (o_.line_search == LineSearch::kNone ? short_steps : line_searches)(
        *o_.gradient_tolerance, *o_.curvature_tolerance, *o_.smoothness, lipschitz());
    return o_.holds_everywhere ? least.gradient : std::min(least.gradient, least.curvature);
  }

  double lipschitz() const { return std::max(*o_.hessian_lipschitz, 1e-12); }

  /// Each of the first phase's releases has an equal share.
  double first_multiplier(const Scout& scout, double share, const Sampling& sampling) const {
    const double ls = o_.line_search == LineSearch::kNone ? 0 : o_.line_search_share;
    return scout.multiplier_of_share(share * (1 - ls), sampling);
  }

  /// The step away from w; nothing if w is accepted.
  Expected<std::optional<Vector>> next_step(
      Oracle& oracle, Scout& scout, const Vector& w, Look& look, const Sampling& sampling) const {
    const double eps_g = *o_.gradient_tolerance;
    if (o_.expected_batch && look.estimate <= eps_g) {
      // A saddle is left on a batch's word; a point is accepted on all rows' only.
      if (!o_.holds_everywhere && o_.curvature_steps) {
        SOTTO_ASSIGN(const CurvatureLook glance, scout.glance(w, sampling));
        if (scout.bend(glance.hessian, glance.sigma) != Scout::Bend::kNo)
          return curvature_step(oracle, scout, w, look, glance);
      }
      SOTTO_ASSIGN(look, scout.slope(w, scout.finest(), Sampling::full()));
    } else if (look.upper > eps_g || o_.expected_batch) {
      return gradient_step(oracle, scout, w, look);
    }
    if (look.upper > eps_g) return gradient_step(oracle, scout, w, look);
    if (o_.holds_everywhere) return std::nullopt;
    SOTTO_ASSIGN(const CurvatureLook curvature, scout.curvature(w, Sampling::full()));
    if (curvature.lower() >= -*o_.curvature_tolerance) return std::nullopt;
    if (!o_.curvature_steps) return gradient_step(oracle, scout, w, look);
    return curvature_step(oracle, scout, w, look, curvature);
  }

  /// Along the lowest eigenvector, downhill.
  Expected<std::optional<Vector>> curvature_step(Oracle& oracle,
                                                 Scout& scout,
                                                 const Vector& w,
                                                 const Look& look,
                                                 const CurvatureLook& curvature) const {
    Vector p = curvature.hessian.vectors.col(0);
    Eigen::Index largest = 0;
    p.cwiseAbs().maxCoeff(&largest);
    // An eigenvector's sign is its solver's whim: where the gradient does not choose, fix it.
    if (p[largest] < 0) p = -p;
    if (p.dot(look.gradient) > 0) p = -p;
    const double lambda = std::abs(curvature.hessian.values[0]);
    const double M = lipschitz();
    if (o_.line_search == LineSearch::kSparseVector)
      return backtrack(oracle, scout, w, p, along_curvature(lambda, M, o_.longest_step));
    return best_along(
        oracle, scout, w, 2 * lambda / M * p, short_steps(0, lambda, *o_.smoothness, M).curvature);
  }

  Expected<std::optional<Vector>> gradient_step(Oracle& oracle,
                                                Scout& scout,
                                                const Vector& w,
                                                const Look& look) const {
    const double G = *o_.smoothness;
    if (o_.line_search == LineSearch::kSparseVector)
      return backtrack(
          oracle, scout, w, -look.gradient, along_gradient(look.norm, G, o_.longest_step));
    const double norm = std::max(look.estimate, look.norm / 4);
    return best_along(oracle, scout, w, -look.gradient / G, norm * norm / (2 * G));
  }

  /// What a line search may cost: its share of the step's budget, in zCDP.
  double line_search_rho(const Scout& scout) const {
    return scout.last_rho() * o_.line_search_share / (1 - o_.line_search_share);
  }
  /// A bound on the slope of one unit's loss.
  double steepest(const Scout& scout) const {
    const PublicProblem& problem = scout.problem();
    return std::min(*o_.clip_radius,
                    scout.bounded() ? problem.row_norm * problem.loss.sup_first : 1e300);
  }

  /// The longest of the search's lengths at which F falls enough, by the sparse vector technique;
  /// its fall-back if there is none.
  Expected<std::optional<Vector>> backtrack(Oracle& oracle,
                                            Scout& scout,
                                            const Vector& w,
                                            const Vector& direction,
                                            const Backtracking& search) const {
    const double rho = line_search_rho(scout), epsilon = std::sqrt(2 * rho);
    if (search.lengths.empty() || direction.norm() == 0 || epsilon < 0x1p-19)
      return search.fallback * direction;
    const Regularizer& regularizer = oracle.problem().regularizer;
    std::vector<Vector> candidates;
    std::vector<double> needed;
    for (std::size_t k = 0; k < search.lengths.size(); ++k) {
      candidates.push_back(w + search.lengths[k] * direction);
      // The data's part must fall by what is wanted of F less what the regularizer gives.
      needed.push_back(search.needed[k] + regularizer.value(candidates[k]) - regularizer.value(w));
    }
    SOTTO_TRY(scout.spend_rho(rho));
    SOTTO_ASSIGN(const Released<std::int64_t> first,
                 oracle.first_decrease({w, candidates, needed, steepest(scout), epsilon}));
    const std::int64_t chosen = first.value();
    return (chosen < 0 ? search.fallback : search.lengths[static_cast<std::size_t>(chosen)]) *
           direction;
  }

  /// `shortest`, or the best of its multiples by the exponential mechanism. `decrease` is about
  /// what the shortest step gains.
  Expected<std::optional<Vector>> best_along(Oracle& oracle,
                                             Scout& scout,
                                             const Vector& w,
                                             const Vector& shortest,
                                             double decrease) const {
    if (o_.line_search == LineSearch::kNone || shortest.norm() == 0) return shortest;
    const PublicProblem& problem = oracle.problem();
    const double rho = line_search_rho(scout), epsilon = std::sqrt(8 * rho);
    const double slope = steepest(scout);
    double longest = o_.longest_step;
    if (o_.single_release > 0) {
      // Noise grows with the longest candidate: none so long that it drowns the shortest's gain.
      const double unit = 2 * sum_sensitivity(problem.relation, slope * shortest.norm()) /
                          (epsilon * static_cast<double>(problem.n));
      longest = std::min(longest, decrease / unit);
    }
    if (longest < 1.5 || epsilon < 0x1p-19) return shortest;
    std::vector<Vector> candidates;
    std::vector<double> regularizer;
    for (std::int64_t k = 0; k < o_.candidates; ++k) {
      const double factor =
          std::pow(longest, 1 - static_cast<double>(k) / static_cast<double>(o_.candidates - 1));
      candidates.push_back(w + factor * shortest);
      regularizer.push_back(problem.regularizer.value(candidates.back()));
    }
    SOTTO_TRY(scout.spend_rho(rho));
    const double clip = slope * longest * shortest.norm();
    SOTTO_ASSIGN(const Released<std::int64_t> best,
                 oracle.select({candidates, clip, epsilon, regularizer, ClipRule::kFlat, &w}));
    return candidates[static_cast<std::size_t>(best.value())] - w;
  }

  SearchOptions o_;
};

struct Kind {
  const char* name;
  const char* summary;
  bool two_phases = false;
  bool batches = false;
  bool line_search = false;
  bool curvature_steps = true;
};

OptionTable<SearchOptions> options_table(const Kind& kind) {
  OptionTable<SearchOptions> table;
  add_search_options(table);
  add_solver_option(table);
  if (kind.batches) add_batch_option(table);
  if (kind.line_search) add_line_search_options(table);
  if (kind.two_phases)
    table
        .number("first_phase_share",
                &SearchOptions::first_phase_share,
                "of the budget, for the first sqrt(T) steps; what they leave goes to the others")
        .range(kLeastShare, below(1));
  return table;
}

auto configure(const Kind& kind) {
  return [kind](const GivenOptions& given, const PublicFacts& facts) -> Expected<ConfiguredMethod> {
    const auto table = options_table(kind);
    SOTTO_ASSIGN(const SearchOptions asked, table.parse(given));
    SOTTO_TRY(check(asked, facts.problem));
    for (const auto& [name, text] : given)
      if (name == "candidates" && asked.line_search == LineSearch::kSparseVector)
        return fail(ErrorKind::kUsage,
                    "‘candidates’ goes with ‘line_search gumbel’. The sparse vector's step lengths "
                    "fall from ‘longest_step’ by a fixed factor.");
    SearchOptions options = asked;
    if (!kind.line_search) options.line_search = LineSearch::kNone;
    options.two_phases = kind.two_phases;
    options.curvature_steps = kind.curvature_steps;
    if (kind.batches && !options.expected_batch)
      options.expected_batch = std::max<std::int64_t>(1, facts.problem.n / 50);
    SOTTO_ASSIGN(options, with_search_defaults(options, facts));
    if (!options.holds_everywhere) SOTTO_TRY(check_hessian_size(options, facts.problem));
    auto settings = table.settings(asked, options, given);
    settings.push_back(second_order_condition(options));
    return ConfiguredMethod{std::make_unique<DescentSearch>(options), std::move(settings)};
  };
}

}  // namespace

std::vector<MethodInfo> descent_search_methods() {
  std::vector<MethodInfo> methods;
  for (const Kind& kind : {
           Kind{"opt", "gradient and curvature steps, full batches"},
           Kind{.name = "opt-b", .summary = "opt on random batches", .batches = true},
           Kind{.name = "opt-ls", .summary = "opt with private line search", .line_search = true},
           Kind{.name = "2opt", .summary = "opt, a precise short phase first", .two_phases = true},
           Kind{.name = "2opt-b",
           .summary = "2opt on random batches",
           .two_phases = true,
           .batches = true},
           Kind{.name = "2opt-ls",
           .summary = "2opt with private line search",
           .two_phases = true,
           .line_search = true},
           Kind{.name = "dp-gd-sosp",
           .summary = "gradient descent until a noisy test finds a second-order point",
           .curvature_steps = false},
       })
    methods.push_back(
        {.name = kind.name,
         .summary = kind.summary,
         .needs =
             kind.line_search
                 ? Capabilities{Capability::kGradients, Capability::kHessians, Capability::kLosses}
                 : Capabilities{Capability::kGradients, Capability::kHessians},
         .needs_of_problem = "a smooth regularizer",
         .guarantees = "(epsilon, delta)-DP by a filter; second-order points, with a "
                       "certificate",
         .is_private = true,
         .source = kind.curvature_steps ? "[GW23]" : "[WCX19]",
         .page = kind.curvature_steps ? "opt" : "dp-gd-sosp",
         .options = options_table(kind).infos(),
         .configure = configure(kind)});
  return methods;
}

}  // namespace sotto
