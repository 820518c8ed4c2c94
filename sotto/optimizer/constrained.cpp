#include "sotto/optimizer/constrained.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numbers>

namespace sotto {

TheoryFacts theory_facts(const PublicFacts& facts) {
  const PublicProblem& problem = facts.problem;
  // Either bound on rows follows from the other; without both, rows are taken to have norm 1.
  const double longest = std::min(
      problem.row_norm, problem.row_max * std::sqrt(static_cast<double>(problem.dimension)));
  const double R = std::isfinite(longest) ? longest : 1;
  const double entries = std::min(R, problem.row_max);
  const double curvature = std::max(0.0, problem.regularizer.curvature(problem.dimension).highest);
  TheoryFacts result;
  result.n = static_cast<double>(problem.n);
  result.d = static_cast<double>(problem.dimension);
  // The loss at 0, where it has a bound; losses are never negative.
  result.initial_gap = problem.loss.kind == LossKind::kLogistic  ? std::numbers::ln2
                       : problem.loss.kind == LossKind::kSigmoid ? 0.5
                                                                 : 1;
  result.smoothness = problem.loss.sup_abs_second() * R * R + curvature;
  // ‖x‖_∞ bounds |⟨x, v⟩| / ‖v‖₁, and ‖v‖₂ <= ‖v‖₁ the regularizer's part.
  result.smoothness_l1 = problem.loss.sup_abs_second() * entries * entries + curvature;
  result.clip = 1.1 * R * problem.loss.typical_first;
  result.clip_max = 1.1 * entries * problem.loss.typical_first;
  result.noise = sum_sensitivity(problem.relation, 1) * facts.single_release_multiplier;
  return result;
}

Expected<void> check(const CertificateOptions& options, const PublicProblem& problem) {
  if (!(options.certificate_share >= 0 && options.certificate_share < 1))
    return fail(ErrorKind::kUsage,
                fmt::format("--certificate-share must lie in [0, 1), but is {}.",
                            options.certificate_share));
  if (!(options.certificate_confidence > 0.5 && options.certificate_confidence < 1))
    return fail(ErrorKind::kUsage,
                fmt::format("--certificate-confidence must lie between 0.5 and 1, but is {}.",
                            options.certificate_confidence));
  if (options.certificate_share > 0) return require_bounded(problem, "the certificate");
  return {};
}

double GapCertifier::multiplier(double total_multiplier) const {
  const double share = options_.certificate_share;
  return total_multiplier * std::sqrt((1 - share) / share);
}

std::optional<Event> GapCertifier::event(double total_multiplier,
                                         const PublicProblem& problem) const {
  if (options_.certificate_share == 0) return std::nullopt;
  const Vector anywhere;
  return event_of(
      GapQuery{anywhere, *problem.constraint, in_max_norm_, clip_, multiplier(total_multiplier)},
      problem.relation);
}

Expected<std::optional<GapCertificate>> GapCertifier::take(Oracle& oracle,
                                                           const Vector& w,
                                                           double total_multiplier) const {
  if (options_.certificate_share == 0) return std::nullopt;
  const PublicProblem& problem = oracle.problem();
  Vector gradient = Vector::Zero(problem.dimension);
  problem.regularizer.add_gradient(w, gradient);
  SOTTO_ASSIGN(
      const Released<NoisyGap> gap,
      oracle.gap(
          {w, *problem.constraint, in_max_norm_, clip_, multiplier(total_multiplier), &gradient}));
  const double tail = (1 - options_.certificate_confidence) / 2;
  const double quantile =
      boost::math::quantile(boost::math::complement(boost::math::normal(), tail));
  return GapCertificate{
      gap.value().value, quantile * gap.value().deviation, options_.certificate_confidence};
}

Expected<Vector> start_point(const std::string& word, const PublicProblem& problem) {
  Vector zero = Vector::Zero(problem.dimension);
  if (!problem.constraint) return zero;
  const ConstraintSet& set = *problem.constraint;
  SOTTO_TRY(set.check(problem.dimension));
  if (word != "center" && set.contains(zero)) return zero;
  if (word == "zero")
    return fail(ErrorKind::kUsage,
                fmt::format("the start 0 lies outside the set {}. Use --start center or auto.",
                            set.to_string()));
  return set.center(problem.dimension);
}

Expected<void> require_bounded(const PublicProblem& problem, const std::string& method) {
  if (problem.constraint && problem.constraint->bounded()) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("{} needs a bounded set, but {}. Set --constraint, for example l1:10.",
                          method,
                          problem.constraint ? problem.constraint->to_string() + " is not"
                                             : std::string("no constraint is given")));
}

Expected<void> require_positive(std::string_view name, const std::optional<double>& value) {
  if (!value || (std::isfinite(*value) && *value > 0)) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("{} must be finite and > 0, but is {}.", dashed(name), *value));
}

Expected<void> require_steps(const std::optional<std::int64_t>& steps) {
  if (!steps || (*steps >= 1 && *steps <= 10'000'000)) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("--steps must lie between 1 and 10,000,000, but is {}.", *steps));
}

}  // namespace sotto
