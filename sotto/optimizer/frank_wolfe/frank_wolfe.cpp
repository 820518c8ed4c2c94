#include "sotto/optimizer/frank_wolfe/frank_wolfe.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "sotto/core/check.hpp"
#include "sotto/optimizer/parts/steps.hpp"

namespace sotto {
namespace {

VertexRule rule_of(const FrankWolfeOptions& options) {
  return options.selection == Selection::kNoisyMax ? VertexRule::kNoisyMax
                                                   : VertexRule::kExponential;
}

/// A regularizer's gradient on the coordinates that a path has touched; elsewhere it is 0.
class SparseGradient {
 public:
  explicit SparseGradient(const Regularizer& r) : r_(r) {}

  std::span<const std::pair<std::int64_t, double>> at(const VertexPath& w) {
    entries_.clear();
    if (r_.kind() == RegularizerKind::kNone) return entries_;
    const Regularizer everywhere = r_.on_first(Regularizer::kAll);
    const auto size = static_cast<Eigen::Index>(w.support().size());
    Vector values(size);
    for (Eigen::Index k = 0; k < size; ++k) values[k] = w.value(static_cast<std::size_t>(k));
    Vector gradient = Vector::Zero(size);
    everywhere.add_gradient(values, gradient);
    for (Eigen::Index k = 0; k < size; ++k) {
      const std::int64_t coordinate = w.support()[static_cast<std::size_t>(k)];
      if (coordinate < r_.regularized()) entries_.emplace_back(coordinate, gradient[k]);
    }
    return entries_;
  }

 private:
  const Regularizer& r_;
  std::vector<std::pair<std::int64_t, double>> entries_;
};

}  // namespace

double frank_wolfe_step(const FrankWolfeOptions& options, std::int64_t t) {
  if (options.harmonic) return 2 / (static_cast<double>(t) + 2);
  return *options.step_size;
}

double selection_epsilon(const FrankWolfeOptions& options, double noise_multiplier) {
  // Either costs 1 / (2 z²) in zCDP, as a Gaussian release with the multiplier z does.
  return (rule_of(options) == VertexRule::kExponential ? 2 : 1) / noise_multiplier;
}

FrankWolfe::FrankWolfe(FrankWolfeOptions options)
    : options_(std::move(options)), certificate_(options_) {
  SOTTO_CHECK(options_.steps && options_.step_size);
}

Plan FrankWolfe::plan_of(Event step,
                         std::int64_t samples,
                         const PublicProblem& problem,
                         double noise_multiplier) const {
  const Output output(options_, *options_.steps);
  const double total = total_multiplier(noise_multiplier, output.steps());
  Event event = Event::repeat(output.steps(), std::move(step));
  if (auto last = output.event(total, problem.relation))
    event = Event::compose({std::move(event), *std::move(last)});
  if (auto last = certificate_.event(total, problem))
    event = Event::compose({std::move(event), *std::move(last)});
  return {std::move(event),
          output.steps() * samples + output.noise_samples() + certificate_.noise_samples(),
          {},
          output.further_passes()};
}

Expected<OptimizerResult> FrankWolfe::walk(Oracle& oracle,
                                           double noise_multiplier,
                                           Observer& observer,
                                           const Towards& towards) const {
  Output output(options_, *options_.steps);
  SOTTO_ASSIGN(Vector w, start_point(options_.start, options_.seed, oracle.problem()));
  Vector v;
  Steps steps(observer, output.steps());
  SOTTO_TRY(steps.begin([&](Archive& state) { state("iterate", w)("output", output); }));
  while (steps.next()) {
    output.before_step(w);
    SOTTO_ASSIGN(const auto norm, steps.unless_spent(towards(w, v)));
    if (!norm) break;
    const double gamma = frank_wolfe_step(options_, steps.made());
    w += gamma * (v - w);
    output.add(w);
    steps.finish(gamma, *norm, &w);
  }
  const double total = total_multiplier(noise_multiplier, output.steps());
  SOTTO_ASSIGN(Vector result, output.take(oracle, total));
  return certificate_.certified(steps.result(std::move(result)), oracle, total);
}

GradientQuery GradientFrankWolfe::query(const Vector& at, double noise_multiplier) const {
  return {at, Sampling::full(), *options_.clip_radius, noise_multiplier};
}

Plan GradientFrankWolfe::plan(const PublicProblem& problem, double noise_multiplier) const {
  const Vector anywhere;
  return plan_of(event_of(query(anywhere, noise_multiplier), problem.relation),
                 problem.dimension,
                 problem,
                 noise_multiplier);
}

Expected<OptimizerResult> GradientFrankWolfe::run(Oracle& oracle,
                                                  double noise_multiplier,
                                                  Observer& observer) const {
  const PublicProblem& problem = oracle.problem();
  Vector gradient;
  return walk(
      oracle, noise_multiplier, observer, [&](const Vector& w, Vector& v) -> Expected<double> {
        SOTTO_ASSIGN(const Released<Vector> g, oracle.gradient(query(w, noise_multiplier)));
        gradient = g.value();
        problem.regularizer.add_gradient(w, gradient);
        problem.constraint->minimize_linear(gradient, v);
        return gradient.norm();
      });
}

VertexFrankWolfe::VertexFrankWolfe(FrankWolfeOptions options) : FrankWolfe(std::move(options)) {
  SOTTO_CHECK(options_.output != OutputKind::kBest);
}

Plan VertexFrankWolfe::plan(const PublicProblem& problem, double noise_multiplier) const {
  const VertexPath anywhere(problem.dimension);
  const VertexQuery query{anywhere,
                          *problem.constraint,
                          *options_.clip_max,
                          selection_epsilon(options_, noise_multiplier),
                          rule_of(options_)};
  return plan_of(event_of(query, problem.relation), 1, problem, noise_multiplier);
}

Expected<OptimizerResult> VertexFrankWolfe::run(Oracle& oracle,
                                                double noise_multiplier,
                                                Observer& observer) const {
  const PublicProblem& problem = oracle.problem();
  const ConstraintSet& set = *problem.constraint;
  const double epsilon = selection_epsilon(options_, noise_multiplier);
  const std::int64_t T = Output(options_, *options_.steps).steps();
  VertexPath w(problem.dimension);
  // A simplex does not contain 0: its first vertex is the start.
  if (set.kind() == SetKind::kSimplex) w.move(1, {0, set.largest_l1(problem.dimension)});

  const double share = options_.output == OutputKind::kAverage && options_.average == 0 ? 0.5
                       : is_drawn(options_.output)                                      ? 0
                                                   : options_.average;
  const auto averaged = std::max<std::int64_t>(1, std::llround(share * static_cast<double>(T)));
  std::vector<double> sums;  // of the last iterates, by slot of the path's support
  std::int64_t counted = 0;
  SparseGradient regularizer(problem.regularizer);
  Steps steps(observer, T);
  SOTTO_TRY(steps.begin([&](Archive& state) {
    state("path", w);
    state("sums", sums, w.support().size())("summed", counted, 0, T);
  }));
  while (steps.next()) {
    SOTTO_ASSIGN(const auto v,
                 steps.unless_spent(oracle.select_vertex(
                     {w, set, *options_.clip_max, epsilon, rule_of(options_), regularizer.at(w)})));
    if (!v) break;
    const double gamma = frank_wolfe_step(options_, steps.made());
    // The model is the path before its last move.
    const bool ends_here = options_.output == OutputKind::kRandomBefore && steps.made() + 1 == T;
    if (!ends_here) w.move(gamma, v->value());
    if (averaged > 1 && steps.made() >= T - averaged) {
      sums.resize(w.support().size(), 0.0);
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += w.value(k);
      ++counted;
    }
    steps.finish(gamma, 0, nullptr);
  }
  Vector result = w.dense();
  for (std::size_t k = 0; k < sums.size(); ++k)
    result[w.support()[k]] = sums[k] / static_cast<double>(counted);
  return certificate_.certified(
      steps.result(std::move(result)), oracle, total_multiplier(noise_multiplier, T));
}

Plan ListedFrankWolfe::plan(const PublicProblem& problem, double noise_multiplier) const {
  const Vector anywhere;
  const ListedVertexQuery query{anywhere,
                                *problem.constraint->vertices(),
                                *options_.clip_max,
                                selection_epsilon(options_, noise_multiplier),
                                rule_of(options_)};
  return plan_of(event_of(query, problem.relation), 1, problem, noise_multiplier);
}

Expected<OptimizerResult> ListedFrankWolfe::run(Oracle& oracle,
                                                double noise_multiplier,
                                                Observer& observer) const {
  const PublicProblem& problem = oracle.problem();
  const Matrix& vertices = *problem.constraint->vertices();
  const double epsilon = selection_epsilon(options_, noise_multiplier);
  Vector regularizer;
  return walk(
      oracle, noise_multiplier, observer, [&](const Vector& w, Vector& v) -> Expected<double> {
        regularizer.setZero(problem.dimension);
        problem.regularizer.add_gradient(w, regularizer);
        SOTTO_ASSIGN(
            const Released<std::int64_t> chosen,
            oracle.select_listed_vertex(
                {w, vertices, *options_.clip_max, epsilon, rule_of(options_), &regularizer}));
        v = vertices.row(chosen.value()).transpose();
        return 0.0;
      });
}

}  // namespace sotto
