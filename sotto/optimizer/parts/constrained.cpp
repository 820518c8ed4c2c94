#include "sotto/optimizer/parts/constrained.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numbers>

#include "sotto/geometry/krylov_space.hpp"
#include "sotto/loss/slope_bound.hpp"
#include "sotto/optimizer/parts/smooth_objective.hpp"
#include "sotto/optimizer/parts/steps.hpp"

namespace sotto {
namespace {

/// What is declared about rows; either bound follows from the other. Infinite if nothing is.
double longest_row(const PublicProblem& problem) {
  return std::min(problem.row_norm,
                  problem.row_max * std::sqrt(static_cast<double>(problem.dimension)));
}
double largest_entry(const PublicProblem& problem) {
  return std::min(problem.row_norm, problem.row_max);
}

/// Rows are kept as float32: an entry at the declared bound may lie a rounding above it.
constexpr double kStored = 1 + 1e-6;

/// The query whose clipping no row reaches, in the norm in which it asks for less noise.
GapQuery objective_gap(const Vector& w, const PublicProblem& problem, double multiplier) {
  const double R = kStored * longest_row(problem);
  const double A = kStored * largest_entry(problem);
  const double margin = std::min(R * w.norm(), A * w.lpNorm<1>());  // of any row, at most
  GapQuery euclidean{w, *problem.constraint, false, 0, multiplier};
  GapQuery by_entries{w, *problem.constraint, true, 0, multiplier};
  euclidean.clip = gradient_bound(problem.loss, R, margin / R);
  by_entries.clip = gradient_bound(problem.loss, A, margin / A);
  const bool entries_are_better =
      by_entries.clip * reach_of(by_entries) < euclidean.clip * reach_of(euclidean);
  return entries_are_better ? by_entries : euclidean;
}

Expected<void> require_certifiable(const PublicProblem& problem) {
  const auto refuse = [](std::string_view why, std::string_view remedy) {
    return fail(ErrorKind::kUsage,
                fmt::format("a certificate is about the objective, so that no gradient may be "
                            "clipped in it, but {}. {}, or leave out ‘certificate_share’.",
                            why,
                            remedy));
  };
  if (!problem.linear_rows)
    return refuse("nothing bounds the gradient of a unit that is not one row of a linear model",
                  "Protect rows instead of persons");
  if (!std::isfinite(longest_row(problem)))
    return refuse("no bound on rows is declared", "Declare ‘row_norm’ or ‘row_max’");
  if (!std::isfinite(gradient_bound(problem.loss, 1, 1)))
    return refuse("the slope of this loss has no bound", "Use ‘loss huber’");
  return require_smooth(problem,
                        "the Frank-Wolfe gap belongs to",
                        "Use a smooth one (an l1 ball as ‘constraint’ does the work of l1), or "
                        "leave out ‘certificate_share’.");
}

}  // namespace

TheoryFacts theory_facts(const PublicFacts& facts) {
  const PublicProblem& problem = facts.problem;
  // Without a declared bound rows are taken to have norm 1.
  const double longest = longest_row(problem);
  const double R = std::isfinite(longest) ? longest : 1;
  const double entries = std::min(R, largest_entry(problem));
  const double curvature = std::max(0.0, problem.regularizer.curvature(problem.dimension).highest);
  TheoryFacts result;
  result.n = static_cast<double>(problem.n);
  result.d = static_cast<double>(problem.dimension);
  // The loss at 0, where it has a bound; losses are never negative.
  result.initial_gap =
      problem.loss.largest_weight * (problem.loss.kind == LossKind::kLogistic  ? std::numbers::ln2
                                     : problem.loss.kind == LossKind::kSigmoid ? 0.5
                                                                               : 1);
  result.smoothness = problem.loss.sup_abs_second() * R * R + curvature;
  // ‖x‖_∞ bounds |⟨x, v⟩| / ‖v‖₁, and ‖v‖₂ <= ‖v‖₁ the regularizer's part.
  result.smoothness_l1 = problem.loss.sup_abs_second() * entries * entries + curvature;
  result.clip = 1.1 * R * problem.loss.typical_first;
  result.clip_max = 1.1 * entries * problem.loss.typical_first;
  result.noise = sum_sensitivity(problem.relation, 1) * facts.single_release_multiplier;
  return result;
}

Expected<void> check(const CertificateOptions& options, const PublicProblem& problem) {
  if (options.certificate_share == 0) return {};
  SOTTO_TRY(require_bounded(problem, "the certificate"));
  return require_certifiable(problem);
}

double GapCertifier::multiplier(double total_multiplier) const {
  const double share = options_.certificate_share;
  return total_multiplier * std::sqrt((1 - share) / share);
}

std::optional<Event> GapCertifier::event(double total_multiplier,
                                         const PublicProblem& problem) const {
  if (options_.certificate_share == 0) return std::nullopt;
  const Vector anywhere;  // the event depends on the multiplier alone
  return event_of(GapQuery{.at = anywhere,
                           .set = *problem.constraint,
                           .noise_multiplier = multiplier(total_multiplier)},
                  problem.relation);
}

Expected<OptimizerResult> GapCertifier::certified(OptimizerResult result,
                                                  Oracle& oracle,
                                                  double total_multiplier) const {
  if (options_.certificate_share == 0) return result;
  const PublicProblem& problem = oracle.problem();
  Vector regularizer = Vector::Zero(problem.dimension);
  problem.regularizer.add_gradient(result.w, regularizer);
  GapQuery query = objective_gap(result.w, problem, multiplier(total_multiplier));
  query.public_part = &regularizer;
  SOTTO_ASSIGN(const auto gap, unless_spent(oracle.gap(query)));
  if (!gap) return result;
  // The noise is on the gap itself, one normal number, whatever the set.
  const double tail = (1 - options_.certificate_confidence) / 2;
  const double quantile =
      boost::math::quantile(boost::math::complement(boost::math::normal(), tail));
  result.gap = GapCertificate{
      gap->value().value, quantile * gap->value().deviation, options_.certificate_confidence};
  return result;
}

double total_multiplier(double noise_multiplier, std::int64_t steps) {
  return noise_multiplier / std::sqrt(static_cast<double>(steps));
}

std::uint64_t start_seed(double coin) {
  // Scrambled: the same coin draws which iterate is the model.
  return static_cast<std::uint64_t>(coin * 0x1p53) * 0xd1342543de82ef95U;
}

Expected<Vector> start_point(Start start, std::uint64_t seed, const PublicProblem& problem) {
  if (problem.constraint) SOTTO_TRY(problem.constraint->check(problem.dimension));
  if (start == Start::kRandom) {
    Vector w = public_normals(problem.dimension, seed);
    if (problem.constraint) problem.constraint->project(w);
    return w;
  }
  Vector zero = Vector::Zero(problem.dimension);
  if (!problem.constraint) return zero;
  const ConstraintSet& set = *problem.constraint;
  if (start != Start::kCenter && set.contains(zero)) return zero;
  if (start == Start::kZero)
    return fail(ErrorKind::kUsage,
                fmt::format("the start 0 lies outside the set {}. Use ‘start center’ or auto.",
                            set.to_string()));
  return set.center(problem.dimension);
}

Expected<void> require_bounded(const PublicProblem& problem, const std::string& method) {
  if (problem.constraint && problem.constraint->bounded()) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("{} needs a bounded set, but {}. Set ‘constraint’, for example l1:10.",
                          method,
                          problem.constraint ? problem.constraint->to_string() + " is not"
                                             : std::string("no constraint is given")));
}

}  // namespace sotto
