#include "sotto/optimizer/frank_wolfe/methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/optimizer/frank_wolfe/frank_wolfe.hpp"
#include "sotto/optimizer/parts/smooth_objective.hpp"

namespace sotto {
namespace {

/// Permute-and-flip looks at candidates one by one.
constexpr std::int64_t kMostNoisyMax = 1 << 19;
constexpr std::int64_t kMostCoordinates = 1 << 25;

OptionTable<FrankWolfeOptions> frank_wolfe_options(bool selection) {
  OptionTable<FrankWolfeOptions> table;
  table.integer("steps", &FrankWolfeOptions::steps, "number of steps T")
      .range(1, 10'000'000)
      .number("step_size", &FrankWolfeOptions::step_size, "step size gamma in (0, 1], constant")
      .range(above(0), 1)
      .choice("step_rule",
              &FrankWolfeOptions::harmonic,
              {{false, "theory"}, {true, "harmonic"}},
              "theory: constant, for nonconvex losses; harmonic: 2 / (t + 2)");
  if (selection)
    table
        .choice("selection",
                &FrankWolfeOptions::selection,
                {{Selection::kAuto, "auto"},
                 {Selection::kExponential, "exponential"},
                 {Selection::kNoisyMax, "noisy_max"},
                 {Selection::kGaussian, "gaussian"}},
                "how a vertex is chosen; auto: the exponential mechanism, or Gaussian noise on the "
                "gradient where clip_radius / clip_max is small against the dimension")
        .number("clip_max",
                &FrankWolfeOptions::clip_max,
                "per-unit gradients are scaled to entries of at most this")
        .positive();
  table
      .number("clip_radius",
              &FrankWolfeOptions::clip_radius,
              "per-unit gradients are clipped to this L2 norm C (Gaussian noise)")
      .positive()
      .choice("start",
              &FrankWolfeOptions::start,
              kStarts,
              "where to start; auto: 0 if it lies in the set, else its center (or first vertex); "
              "random: N(0, I), then the set's nearest point (not for choosing coordinates)");
  add_output_options(table);
  add_certificate_options(table);
  return table;
}

/// Exponential or Gaussian, by which makes the smaller error at equal cost in zCDP: with 2d
/// vertices clip_max · ln(2d) / √2 against clip_radius · √ln(2d).
bool exponential_is_better(double clip_radius, double clip_max, double vertices) {
  return clip_radius / clip_max > std::sqrt(std::log(std::max(vertices, 2.0)) / 2);
}

Expected<void> check_selection(const FrankWolfeOptions& options, const PublicProblem& problem) {
  if (options.selection == Selection::kGaussian) return {};
  const ConstraintSet& set = *problem.constraint;
  const bool coordinates = set.kind() == SetKind::kL1Ball || set.kind() == SetKind::kSimplex;
  if (!coordinates && set.kind() != SetKind::kPolytope)
    return fail(
        ErrorKind::kUsage,
        fmt::format("the set {} has {} vertices, too many to choose from one by one. Use "
                    "‘selection gaussian’ (dp-fw-l2), or an l1 ball, a simplex or a polytope.",
                    set.to_string(),
                    set.kind() == SetKind::kBox ? "2^d" : "infinitely many"));
  if (options.selection == Selection::kNoisyMax && problem.dimension > kMostNoisyMax)
    return fail(ErrorKind::kUsage,
                fmt::format("‘selection noisy_max’ handles up to {} dimensions, but there are {}. "
                            "Use ‘selection exponential’.",
                            kMostNoisyMax,
                            problem.dimension));
  if (coordinates && problem.dimension > kMostCoordinates)
    return fail(ErrorKind::kUsage,
                fmt::format("dp-fw-l1 handles up to {} dimensions, but there are {}.",
                            kMostCoordinates,
                            problem.dimension));
  if (coordinates && options.output == OutputKind::kBest)
    return fail(ErrorKind::kUsage,
                "‘output best’ would keep dense copies of the model. Use last, average or random.");
  if (set.kind() == SetKind::kSimplex && options.start == Start::kCenter)
    return fail(ErrorKind::kUsage,
                "on a simplex dp-fw-l1 starts at a vertex, to stay sparse. Use ‘start auto’.");
  if (coordinates && options.start == Start::kRandom)
    return fail(ErrorKind::kUsage,
                "‘start random’ would make the model dense, which dp-fw-l1 keeps sparse. Use "
                "‘start auto’, or ‘selection gaussian’.");
  return {};
}

/// How far a selection's, or a noisy gradient's, minimum may be off with the whole budget.
double single_step_error(const FrankWolfeOptions& options,
                         const TheoryFacts& theory,
                         const PublicProblem& problem) {
  const ConstraintSet& set = *problem.constraint;
  if (options.selection == Selection::kGaussian)
    return set.gaussian_width(problem.dimension) * *options.clip_radius * theory.noise / theory.n;
  const double vertices =
      set.vertices() ? static_cast<double>(set.vertices()->rows()) : 2 * theory.d;
  return set.largest_l1(problem.dimension) * *options.clip_max * theory.noise *
         std::log(std::max(vertices, 2.0)) / theory.n;
}

Expected<ConfiguredMethod> frank_wolfe(bool selection,
                                       const GivenOptions& given,
                                       const PublicFacts& facts) {
  const PublicProblem& problem = facts.problem;
  const auto table = frank_wolfe_options(selection);
  SOTTO_ASSIGN(FrankWolfeOptions asked, table.parse(given));
  if (!selection) asked.selection = Selection::kGaussian;
  asked.seed = start_seed(facts.coin);
  SOTTO_TRY(require_bounded(problem, selection ? "dp-fw-l1" : "dp-fw-l2"));
  SOTTO_TRY(check(static_cast<const OutputOptions&>(asked), asked.steps));
  SOTTO_TRY(check(static_cast<const CertificateOptions&>(asked), problem));
  SOTTO_TRY(require_smooth(problem,
                           "Frank-Wolfe steps need",
                           "An l1 ball as ‘constraint’ does its work; or use dp-pgd."));
  SOTTO_TRY(problem.constraint->check(problem.dimension));

  FrankWolfeOptions options = asked;
  const TheoryFacts theory = theory_facts(facts);
  if (!options.clip_radius) options.clip_radius = theory.clip;
  if (!options.clip_max) options.clip_max = std::min(theory.clip_max, *options.clip_radius);
  const Matrix* listed = problem.constraint->vertices();
  if (options.selection == Selection::kAuto) {
    const double vertices = listed ? static_cast<double>(listed->rows()) : 2 * theory.d;
    const bool choosable = problem.constraint->kind() == SetKind::kL1Ball ||
                           problem.constraint->kind() == SetKind::kSimplex || listed;
    options.selection =
        choosable && exponential_is_better(*options.clip_radius, *options.clip_max, vertices)
            ? Selection::kExponential
            : Selection::kGaussian;
  }
  SOTTO_TRY(check_selection(options, problem));
  const bool by_coordinates = options.selection != Selection::kGaussian && !listed;
  if (!by_coordinates ||
      (problem.constraint->kind() == SetKind::kSimplex && options.start == Start::kZero))
    SOTTO_TRY(start_point(options.start, options.seed, problem));

  const double diameter = problem.constraint->diameter(problem.dimension);
  const double diameter_l1 = 2 * problem.constraint->largest_l1(problem.dimension);
  const double curvature = std::min(theory.smoothness * diameter * diameter,
                                    theory.smoothness_l1 * diameter_l1 * diameter_l1);
  const double descent = std::sqrt(2 * theory.initial_gap * curvature);
  if (!options.steps)
    options.steps = std::llround(std::clamp(
        descent / std::max(single_step_error(options, theory, problem), 1e-12), 10.0, 5000.0));
  if (!options.step_size)
    options.step_size =
        std::min(1.0,
                 std::sqrt(2 * theory.initial_gap /
                           (std::max(curvature, 1e-300) * static_cast<double>(*options.steps))));
  fill_output(options, *options.steps, facts.coin);
  std::unique_ptr<Optimizer> optimizer;
  if (options.selection == Selection::kGaussian)
    optimizer = std::make_unique<GradientFrankWolfe>(options);
  else if (listed)
    optimizer = std::make_unique<ListedFrankWolfe>(options);
  else
    optimizer = std::make_unique<VertexFrankWolfe>(options);
  return ConfiguredMethod{std::move(optimizer), table.settings(asked, options, given)};
}

}  // namespace

std::vector<MethodInfo> frank_wolfe_methods() {
  const auto with_selection = [](bool selection) {
    return [selection](const GivenOptions& given, const PublicFacts& facts) {
      return frank_wolfe(selection, given, facts);
    };
  };
  return {{.name = "dp-fw-l2",
           .summary = "Frank-Wolfe on noisy gradients, any bounded set",
           .needs = {Capability::kGradients},
           .needs_of_problem = "a bounded constraint set, a smooth regularizer",
           .guarantees = "(epsilon, delta)-DP; gap grows with the set's Gaussian width",
           .is_private = true,
           .source = "[WX19]",
           .page = "dp-fw-l2",
           .options = frank_wolfe_options(false).infos(),
           .configure = with_selection(false),
           .constraints = true},
          {.name = "dp-fw-l1",
           .summary = "Frank-Wolfe with privately chosen vertices, for high dimension",
           .needs = {Capability::kCoordinates},
           .needs_of_problem = "an l1 ball, a simplex or a polytope",
           .guarantees = "(epsilon, delta)-DP; gap grows with the logarithm of d",
           .is_private = true,
           .source = "[WX19]",
           .page = "dp-fw-l1",
           .options = frank_wolfe_options(true).infos(),
           .configure = with_selection(true),
           .constraints = true}};
}

}  // namespace sotto
