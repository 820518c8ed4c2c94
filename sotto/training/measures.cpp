#include "sotto/training/measures.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sotto/core/check.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/geometry/constrained_prox.hpp"
#include "sotto/oracle/per_example_sum.hpp"

namespace sotto {
namespace {

Vector data_gradient(PerExampleSum& sums, double n, const Vector& w) {
  Vector gradient;
  sums.clipped_gradients({}, w, kInfinity, gradient);
  return gradient / n;
}

/// 1/(2L), the theory's step of dp-pgd.
double theory_step(const PublicProblem& problem) {
  const double R = std::isfinite(problem.row_norm) ? problem.row_norm : 1;
  const double L = problem.loss.sup_abs_second() * R * R +
                   std::max(0.0, problem.regularizer.curvature(problem.dimension).highest);
  return 1 / (2 * L);
}

}  // namespace

Diagnostics true_values(const Engine& engine, const PublicProblem& problem, const Vector& w) {
  PerExampleSum sums(engine);
  const auto n = static_cast<double>(problem.n);
  Vector gradient = data_gradient(sums, n, w);
  problem.regularizer.add_gradient(w, gradient);
  Diagnostics result;
  result.objective = sums.clipped_losses({}, w, kInfinity) / n + problem.regularizer.value(w);
  result.gradient_norm = gradient.norm();
  if (problem.constraint || !problem.regularizer.smooth())
    if (const auto prox = ConstrainedProx::make(problem.constraint, problem.regularizer))
      result.projected_gradient_norm =
          prox->projected_gradient(w, gradient, theory_step(problem)).norm();
  if (problem.constraint && problem.constraint->bounded() && problem.regularizer.smooth())
    result.frank_wolfe_gap = problem.constraint->gap(w, gradient);
  return result;
}

PopulationGradient population_gradient(const Engine& engine,
                                       const PublicProblem& problem,
                                       const Vector& w) {
  const std::int64_t m = engine.units();  // public rows: held out
  SOTTO_CHECK(m >= 2);
  PerExampleSum sums(engine);
  Vector gradient = data_gradient(sums, static_cast<double>(m), w);
  double squares = 0;
  const auto workspace = engine.make_workspace();
  std::vector<double> norms(static_cast<std::size_t>(engine.block_size()));
  for (std::int64_t begin = 0; begin < m; begin += engine.block_size()) {
    Block block;
    block.begin = begin;
    block.count = std::min(engine.block_size(), m - begin);
    engine.evaluate_gradients(
        block, {w.data(), static_cast<std::size_t>(w.size())}, *workspace, norms);
    for (std::int64_t k = 0; k < block.count; ++k)
      squares += norms[static_cast<std::size_t>(k)] * norms[static_cast<std::size_t>(k)];
  }
  const auto count = static_cast<double>(m);
  const double variance = std::max(0.0, squares / count - gradient.squaredNorm());
  PopulationGradient result;
  result.rows = m;
  result.standard_error = std::sqrt(variance / (count - 1));
  problem.regularizer.add_gradient(w, gradient);
  result.norm = gradient.norm();
  return result;
}

}  // namespace sotto
