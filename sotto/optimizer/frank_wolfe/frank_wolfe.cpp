#include "sotto/optimizer/frank_wolfe/frank_wolfe.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "sotto/core/check.hpp"

namespace sotto {
namespace {

double total_multiplier(double noise_multiplier, std::int64_t steps) {
  return noise_multiplier / std::sqrt(static_cast<double>(steps));
}

VertexRule rule_of(const FrankWolfeOptions& options) {
  return options.selection == "noisy_max" ? VertexRule::kNoisyMax : VertexRule::kExponential;
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
  if (options.step_rule == "harmonic") return 2 / (static_cast<double>(t) + 2);
  return *options.step_size;
}

double selection_epsilon(const FrankWolfeOptions& options, double noise_multiplier) {
  // Either costs 1 / (2 z²) in zCDP, as a Gaussian release with the multiplier z does.
  return (rule_of(options) == VertexRule::kExponential ? 2 : 1) / noise_multiplier;
}

Plan frank_wolfe_plan(const FrankWolfeOptions& options,
                      const GapCertifier& certificate,
                      const PublicProblem& problem,
                      double noise_multiplier,
                      Event step,
                      std::int64_t samples) {
  const Output output(options, *options.steps);
  const double total = total_multiplier(noise_multiplier, output.steps());
  Event event = Event::repeat(output.steps(), std::move(step));
  if (auto last = output.event(total, problem.relation))
    event = Event::compose({std::move(event), *std::move(last)});
  if (auto last = certificate.event(total, problem))
    event = Event::compose({std::move(event), *std::move(last)});
  return {std::move(event),
          output.steps() * samples + output.noise_samples() + certificate.noise_samples()};
}

GradientFrankWolfe::GradientFrankWolfe(FrankWolfeOptions options)
    : options_(std::move(options)), certificate_(options_) {
  SOTTO_CHECK(options_.steps && options_.step_size);
}

GradientQuery GradientFrankWolfe::query(const Vector& at, double noise_multiplier) const {
  return {at, Sampling::full(), *options_.clip_radius, noise_multiplier};
}

Plan GradientFrankWolfe::plan(const PublicProblem& problem, double noise_multiplier) const {
  const Vector anywhere;
  return frank_wolfe_plan(options_,
                          certificate_,
                          problem,
                          noise_multiplier,
                          event_of(query(anywhere, noise_multiplier), problem.relation),
                          problem.dimension);
}

Expected<OptimizerResult> GradientFrankWolfe::run(Oracle& oracle,
                                                  double noise_multiplier,
                                                  Observer& observer) const {
  const PublicProblem& problem = oracle.problem();
  Output output(options_, *options_.steps);
  const std::int64_t T = output.steps();
  SOTTO_ASSIGN(Vector w, start_point(options_.start, problem));
  Vector gradient, v;
  std::string stopped = "plan complete";
  std::int64_t t = 0;
  while (t < T) {
    SOTTO_ASSIGN(const Released<Vector> g, oracle.gradient(query(w, noise_multiplier)));
    gradient = g.value();
    problem.regularizer.add_gradient(w, gradient);
    problem.constraint->minimize_linear(gradient, v);
    const double gamma = frank_wolfe_step(options_, t);
    w += gamma * (v - w);
    output.add(w);
    ++t;
    if (!observer.keep_going({t, T, gamma, gradient.norm(), &w})) {
      stopped = "stopped early";
      break;
    }
  }
  const double total = total_multiplier(noise_multiplier, T);
  SOTTO_ASSIGN(Vector result, output.take(oracle, total));
  SOTTO_ASSIGN(auto certificate, certificate_.take(oracle, result, total));
  return OptimizerResult{std::move(result), t, stopped, {}, certificate};
}

VertexFrankWolfe::VertexFrankWolfe(FrankWolfeOptions options)
    : options_(std::move(options)), certificate_(options_) {
  SOTTO_CHECK(options_.steps && options_.step_size && options_.output != "best");
}

Plan VertexFrankWolfe::plan(const PublicProblem& problem, double noise_multiplier) const {
  const VertexPath anywhere(problem.dimension);
  const VertexQuery query{anywhere,
                          *problem.constraint,
                          *options_.clip_max,
                          selection_epsilon(options_, noise_multiplier),
                          rule_of(options_)};
  return frank_wolfe_plan(
      options_, certificate_, problem, noise_multiplier, event_of(query, problem.relation), 1);
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

  const double share = options_.output == "average" && options_.average == 0 ? 0.5
                       : options_.output == "random"                         ? 0
                                                                             : options_.average;
  const auto averaged = std::max<std::int64_t>(1, std::llround(share * static_cast<double>(T)));
  std::vector<double> sums;  // of the last iterates, by slot of the path's support
  std::int64_t counted = 0;
  SparseGradient regularizer(problem.regularizer);
  std::string stopped = "plan complete";
  std::int64_t t = 0;
  while (t < T) {
    SOTTO_ASSIGN(const Released<Vertex> v,
                 oracle.select_vertex(
                     {w, set, *options_.clip_max, epsilon, rule_of(options_), regularizer.at(w)}));
    const double gamma = frank_wolfe_step(options_, t);
    w.move(gamma, v.value());
    ++t;
    if (averaged > 1 && t > T - averaged) {
      sums.resize(w.support().size(), 0.0);
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += w.value(k);
      ++counted;
    }
    if (!observer.keep_going({t, T, gamma, 0, nullptr})) {
      stopped = "stopped early";
      break;
    }
  }
  Vector result = w.dense();
  for (std::size_t k = 0; k < sums.size(); ++k)
    result[w.support()[k]] = sums[k] / static_cast<double>(counted);
  SOTTO_ASSIGN(auto certificate,
               certificate_.take(oracle, result, total_multiplier(noise_multiplier, T)));
  return OptimizerResult{std::move(result), t, stopped, {}, certificate};
}

ListedFrankWolfe::ListedFrankWolfe(FrankWolfeOptions options)
    : options_(std::move(options)), certificate_(options_) {
  SOTTO_CHECK(options_.steps && options_.step_size);
}

Plan ListedFrankWolfe::plan(const PublicProblem& problem, double noise_multiplier) const {
  const Vector anywhere;
  const ListedVertexQuery query{anywhere,
                                *problem.constraint->vertices(),
                                *options_.clip_max,
                                selection_epsilon(options_, noise_multiplier),
                                rule_of(options_)};
  return frank_wolfe_plan(
      options_, certificate_, problem, noise_multiplier, event_of(query, problem.relation), 1);
}

Expected<OptimizerResult> ListedFrankWolfe::run(Oracle& oracle,
                                                double noise_multiplier,
                                                Observer& observer) const {
  const PublicProblem& problem = oracle.problem();
  const Matrix& vertices = *problem.constraint->vertices();
  const double epsilon = selection_epsilon(options_, noise_multiplier);
  Output output(options_, *options_.steps);
  const std::int64_t T = output.steps();
  SOTTO_ASSIGN(Vector w, start_point(options_.start, problem));
  Vector regularizer;
  std::string stopped = "plan complete";
  std::int64_t t = 0;
  while (t < T) {
    regularizer.setZero(problem.dimension);
    problem.regularizer.add_gradient(w, regularizer);
    SOTTO_ASSIGN(const Released<std::int64_t> v,
                 oracle.select_listed_vertex(
                     {w, vertices, *options_.clip_max, epsilon, rule_of(options_), &regularizer}));
    const double gamma = frank_wolfe_step(options_, t);
    w += gamma * (vertices.row(v.value()).transpose() - w);
    output.add(w);
    ++t;
    if (!observer.keep_going({t, T, gamma, 0, &w})) {
      stopped = "stopped early";
      break;
    }
  }
  const double total = total_multiplier(noise_multiplier, T);
  SOTTO_ASSIGN(Vector result, output.take(oracle, total));
  SOTTO_ASSIGN(auto certificate, certificate_.take(oracle, result, total));
  return OptimizerResult{std::move(result), t, stopped, {}, certificate};
}

}  // namespace sotto
