// The searches of [GW23], [WX20] and [WCX19] in their own form. [WX20] prints its algorithms whole.
// The poster [GW23] prints one algorithm and leaves the step sizes open: these are its authors'
// public script's (backtracking.hpp), as is the form of [WCX19]'s selection.
//
// Problem     find w with |grad F(w)| <= eps_g and Hessian eigenvalues >= -eps_H
// Update      published-opt: g noisy; |g| > eps_g: w <- w - gamma g; else H noisy, lowest eigenpair
//             (l, p), <p, g> <= 0; l < -eps_H: w <- w + 2|l|/M p; else return w. With a line search
//             both lengths are the first of a falling sequence that a sparse vector session
//             accepts. Two phases: floor(sqrt T) steps with finer noise first
//             published-tr: (g, H) noisy, h minimizes the model in a ball of radius r; return
//             w + h once the multiplier is at most sqrt(eps_g M)
//             published-gd-sosp: w <- w - g/G; return w if a second noisy gradient is below eps_g
//             and a noisy Hessian above -eps_H
// Privacy     T releases of each kind, fixed in advance; the accountant prices all of them
// Guarantee   whatever the given multipliers cost
// Source      [GW23], [WX20] Alg. 1 and 2, [WCX19]
// Differs     stops on noisy values only (public code of [GW23] also looks at the true loss); the
//             Hessian's noise has the published spectral norm, by sampling like the Gaussian
//             orthogonal ensemble instead of a copied triangle; Poisson batches

#include "sotto/study/published/search.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sotto/geometry/trust_region.hpp"
#include "sotto/optimizer/parts/steps.hpp"
#include "sotto/optimizer/second_order/backtracking.hpp"
#include "sotto/optimizer/second_order/search_options.hpp"

namespace sotto::study {
namespace {

enum class Kind { kDescent, kTrustRegion, kSelection };

struct Options {
  std::int64_t steps = 0;
  double gradient_tolerance = 0;
  double curvature_tolerance = 0;
  double gradient_noise = 1;
  double hessian_noise = 1;
  double line_search_epsilon = 0;
  bool two_phases = false;
  double smoothness = 1;
  double hessian_lipschitz = 1;
  double radius = 1;
  double clip_radius = 1;
  std::optional<std::int64_t> expected_batch;
  Init init = Init::kZero;
  std::int64_t init_seed = 1;
};

OptionTable<Options> options_table(Kind kind) {
  OptionTable<Options> table;
  table.integer("steps", &Options::steps, "T")
      .number("gradient_tolerance", &Options::gradient_tolerance, "eps_g")
      .number("curvature_tolerance", &Options::curvature_tolerance, "eps_H")
      .number("gradient_noise", &Options::gradient_noise, "multiplier of a gradient")
      .number("hessian_noise", &Options::hessian_noise, "multiplier of a Hessian")
      .number("smoothness", &Options::smoothness, "G")
      .number("hessian_lipschitz", &Options::hessian_lipschitz, "M")
      .number("clip_radius", &Options::clip_radius, "of gradients")
      .integer("expected_batch", &Options::expected_batch, "Poisson batches of this size")
      .choice("init", &Options::init, kInits, "w_0")
      .integer("init_seed", &Options::init_seed, "public seed of a normal w_0");
  if (kind == Kind::kTrustRegion) table.number("radius", &Options::radius, "r");
  if (kind == Kind::kDescent)
    table
        .number("line_search_epsilon",
                &Options::line_search_epsilon,
                "of a sparse vector session a step; 0: short steps")
        .choice("two_phases",
                &Options::two_phases,
                {{false, "no"}, {true, "yes"}},
                "floor(sqrt T) fine steps first");
  return table;
}

class PublishedSearch final : public Optimizer {
 public:
  PublishedSearch(Kind kind, Options options, const PublicProblem& problem)
      : kind_(kind), o_(std::move(options)) {
    if (o_.expected_batch)
      sampling_ = Sampling::poisson(static_cast<double>(*o_.expected_batch) /
                                    static_cast<double>(problem.n));
    hessian_clip_ = problem.loss.sup_abs_second() * problem.row_norm * problem.row_norm;
  }

  Plan plan(const PublicProblem& problem, double z) const override {
    const Vector anywhere;
    const std::int64_t d = problem.dimension;
    std::vector<Event> parts;
    const auto add = [&](std::int64_t steps, double factor) {
      const std::int64_t gradients = kind_ == Kind::kSelection ? 2 * steps : steps;
      parts.push_back(Event::repeat(
          gradients, event_of(gradient_query(anywhere, z * factor), problem.relation)));
      parts.push_back(
          Event::repeat(steps, event_of(hessian_query(anywhere, z * factor), problem.relation)));
      if (o_.line_search_epsilon > 0)
        parts.push_back(Event::repeat(
            steps, Event::sparse_vector(o_.line_search_epsilon / factor, problem.relation)));
    };
    if (first_steps() > 0) add(first_steps(), first_factor());
    add(o_.steps, 1);
    return {Event::compose(std::move(parts)),
            (o_.steps + first_steps()) * (2 * d + d * (d + 1) / 2 + kMostCandidates + 1)};
  }

  Expected<OptimizerResult> run(Oracle& oracle, double z, Observer& observer) const override {
    Vector w = initial_point(o_.init, o_.init_seed, oracle.problem().dimension);
    Steps steps(observer, first_steps() + o_.steps);
    SOTTO_TRY(steps.begin([&](Archive& state) { state("iterate", w); }));
    while (steps.next()) {
      const double factor = steps.made() < first_steps() ? first_factor() : 1;
      SOTTO_ASSIGN(const Released<Vector> released, oracle.gradient(gradient_query(w, z * factor)));
      Vector g = released.value();
      oracle.problem().regularizer.add_gradient(w, g);
      bool found = false;
      std::optional<Vector> step;
      if (kind_ == Kind::kTrustRegion) {
        SOTTO_ASSIGN(step, trust_region_step(oracle, w, g, z * factor, found));
      } else if (kind_ == Kind::kSelection) {
        SOTTO_ASSIGN(step, selection_step(oracle, w, g, z * factor));
      } else {
        SOTTO_ASSIGN(step, descent_step(oracle, w, g, z * factor, factor));
      }
      if (step) w += *step;
      if (!step || found)
        steps.end(StopReason::kPointFound, /*is_made=*/step.has_value());
      else
        steps.finish(step->norm(), g.norm(), &w);
    }
    return steps.result(w);
  }

 private:
  // Of the authors' script, like the rest of the line search (backtracking.hpp).
  static constexpr double kLongest = 20;
  static constexpr std::int64_t kMostCandidates = 8;

  GradientQuery gradient_query(const Vector& w, double factor) const {
    return {w, sampling_, o_.clip_radius, o_.gradient_noise * factor, ClipRule::kFlat};
  }
  HessianQuery hessian_query(const Vector& w, double factor) const {
    return {w, sampling_, hessian_clip_, o_.hessian_noise * factor, ClipRule::kFlat};
  }

  std::int64_t first_steps() const {
    return o_.two_phases ? static_cast<std::int64_t>(std::sqrt(o_.steps)) : 0;
  }
  /// Noise for three quarters of rho over sqrt(T) steps, against one quarter over T.
  double first_factor() const {
    return std::sqrt(static_cast<double>(first_steps()) / (3 * static_cast<double>(o_.steps)));
  }

  Expected<SymmetricEigen> hessian(Oracle& oracle, const Vector& w, double factor) const {
    SOTTO_ASSIGN(Released<NoisyHessian> released, oracle.hessian(hessian_query(w, factor)));
    Matrix H = std::move(released).value().value;
    Vector diagonal = H.diagonal();
    oracle.problem().regularizer.add_hessian_diagonal(w, diagonal);
    H.diagonal() = diagonal;
    return symmetric_eigen(H);
  }

  Expected<std::optional<Vector>> descent_step(
      Oracle& oracle, const Vector& w, const Vector& g, double factor, double phase) const {
    if (g.norm() > o_.gradient_tolerance) {
      if (o_.line_search_epsilon == 0) return std::optional<Vector>(-g / o_.smoothness);
      return line_search(oracle, w, -g, along_gradient(g.norm(), o_.smoothness, kLongest), phase);
    }
    SOTTO_ASSIGN(const SymmetricEigen H, hessian(oracle, w, factor));
    if (H.values[0] >= -o_.curvature_tolerance) return std::optional<Vector>();
    Vector p = H.vectors.col(0);
    if (p.dot(g) > 0) p = -p;
    const double lambda = -H.values[0];
    if (o_.line_search_epsilon == 0)
      return std::optional<Vector>(2 * lambda / o_.hessian_lipschitz * p);
    return line_search(
        oracle, w, p, along_curvature(lambda, o_.hessian_lipschitz, kLongest), phase);
  }

  /// The longest of the search's lengths with enough decrease.
  Expected<std::optional<Vector>> line_search(Oracle& oracle,
                                              const Vector& w,
                                              const Vector& direction,
                                              const Backtracking& search,
                                              double phase) const {
    const Regularizer& regularizer = oracle.problem().regularizer;
    std::vector<Vector> candidates;
    std::vector<double> needed;
    for (std::size_t k = 0; k < search.lengths.size(); ++k) {
      candidates.push_back(w + search.lengths[k] * direction);
      needed.push_back(search.needed[k] + regularizer.value(candidates[k]) - regularizer.value(w));
    }
    SOTTO_ASSIGN(const Released<std::int64_t> first,
                 oracle.first_decrease(
                     {w, candidates, needed, o_.clip_radius, o_.line_search_epsilon / phase}));
    const std::int64_t chosen = first.value();
    return std::optional<Vector>(
        (chosen < 0 ? search.fallback : search.lengths[static_cast<std::size_t>(chosen)]) *
        direction);
  }

  Expected<std::optional<Vector>> trust_region_step(
      Oracle& oracle, const Vector& w, const Vector& g, double factor, bool& found) const {
    SOTTO_ASSIGN(const SymmetricEigen H, hessian(oracle, w, factor));
    TrustRegionStep step = solve_trust_region(H, g, o_.radius);
    found = step.multiplier <= std::sqrt(o_.gradient_tolerance * o_.hessian_lipschitz);
    return std::optional<Vector>(std::move(step.step));
  }

  Expected<std::optional<Vector>> selection_step(Oracle& oracle,
                                                 const Vector& w,
                                                 const Vector& g,
                                                 double factor) const {
    SOTTO_ASSIGN(const Released<Vector> released, oracle.gradient(gradient_query(w, factor)));
    Vector test = released.value();
    oracle.problem().regularizer.add_gradient(w, test);
    if (test.norm() <= o_.gradient_tolerance) {
      SOTTO_ASSIGN(const SymmetricEigen H, hessian(oracle, w, factor));
      if (H.values[0] >= -o_.curvature_tolerance) return std::optional<Vector>();
    }
    return std::optional<Vector>(-g / o_.smoothness);
  }

  Kind kind_;
  Options o_;
  Sampling sampling_ = Sampling::full();
  double hessian_clip_ = 0;
};

auto configure(Kind kind) {
  return [kind](const GivenOptions& given, const PublicFacts& facts) -> Expected<ConfiguredMethod> {
    const auto table = options_table(kind);
    SOTTO_ASSIGN(const Options options, table.parse(given));
    if (options.steps < 1 || !(options.gradient_tolerance > 0) ||
        !(options.curvature_tolerance > 0))
      return fail(ErrorKind::kUsage,
                  "a published search needs steps, gradient_tolerance and curvature_tolerance.");
    return ConfiguredMethod{std::make_unique<PublishedSearch>(kind, options, facts.problem),
                            table.settings(options, options, given)};
  };
}

MethodInfo info(std::string name, std::string summary, std::string source, Kind kind) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .needs = {Capability::kGradients, Capability::kHessians},
          .guarantees = "what its noise costs",
          .is_private = true,
          .source = std::move(source),
          .page = "",
          .options = options_table(kind).infos(),
          .configure = configure(kind)};
}

}  // namespace

const MethodInfo* find_published(std::string_view name) {
  static const std::vector<MethodInfo> all = {
      info("published-opt",
           "gradient and curvature steps, the authors' form",
           "[GW23]",
           Kind::kDescent),
      info("published-tr", "trust region, as printed", "[WX20]", Kind::kTrustRegion),
      info("published-gd-sosp",
           "descent with selection, the authors' form",
           "[WCX19]",
           Kind::kSelection)};
  for (const auto& each : all)
    if (each.name == name) return &each;
  return nullptr;
}

}  // namespace sotto::study
