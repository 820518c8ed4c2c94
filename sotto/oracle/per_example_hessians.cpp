// Sums of clipped Hessians: dense, together with gradients, and as products with a vector.

#include <algorithm>
#include <cmath>

#include "sotto/core/check.hpp"
#include "sotto/oracle/clip_rule.hpp"
#include "sotto/oracle/per_example_scratch.hpp"

namespace sotto {
void PerExampleSum::prepare_matrices() {
  const auto d = static_cast<std::size_t>(engine_.parameters());
  for (auto& each : scratch_) {
    each->matrix_sum.assign(d * d, 0.0);
    each->matrix_total.assign(d * (d + 1) / 2, Int128{0});
    each->matrix_touched = false;
  }
}

void PerExampleSum::add_matrix(Scratch& mine, double scale) const {
  const auto d = static_cast<std::size_t>(engine_.parameters());
  Int128* total = mine.matrix_total.data();
  for (std::size_t i = 0; i < d; ++i) {
    double* row = mine.matrix_sum.data() + i * d;
    for (std::size_t j = 0; j <= i; ++j) *total++ += to_sum_grid(row[j], scale);
    std::fill(row, row + i + 1, 0.0);
  }
  mine.matrix_touched = true;
}

void PerExampleSum::collect_matrix(double scale, Matrix& sum) const {
  const Eigen::Index d = engine_.parameters();
  sum.resize(d, d);
  std::size_t k = 0;
  for (Eigen::Index i = 0; i < d; ++i)
    for (Eigen::Index j = 0; j <= i; ++j, ++k) {
      Int128 total = 0;
      for (const auto& each : scratch_)
        if (each->matrix_touched) total += each->matrix_total[k];
      sum(i, j) = sum(j, i) = static_cast<double>(total) / scale;
    }
}

void PerExampleSum::clipped_hessians(const Batch& batch,
                                     const Vector& w,
                                     double radius,
                                     Matrix& sum) {
  SOTTO_CHECK(w.size() == engine_.parameters());
  prepare(thread_count(), sum_grid_scale(radius));
  prepare_matrices();
  const auto add_block = [&](const Block& block, Scratch& mine) {
    const auto count = static_cast<std::size_t>(block.count);
    const std::span<double> norms(mine.norms.data(), count);
    const std::span<double> weights(mine.weights.data(), count);
    engine_.evaluate_hessians(block, as_span(w), *mine.workspace, norms);
    silence_nulls(block, norms);
    clip_weights(norms, radius, weights);
    engine_.add_hessians(*mine.workspace, weights, mine.matrix_sum);
  };
  for_each_piece(batch, SumKind::kMatrix, add_block, [&](Scratch& mine, std::int64_t) {
    add_matrix(mine, scale_);
  });
  collect_matrix(scale_, sum);
}

void PerExampleSum::clipped_pairs(const Batch& batch,
                                  const Vector& w,
                                  double radius,
                                  double hessian_scale,
                                  Vector& gradient,
                                  Matrix& hessian) {
  SOTTO_CHECK(w.size() == engine_.parameters() && hessian_scale > 0);
  prepare(thread_count(), sum_grid_scale(radius));
  prepare_matrices();
  const double matrix_scale = sum_grid_scale(radius * hessian_scale);
  const bool narrow = std::isfinite(radius);
  const auto add_block = [&](const Block& block, Scratch& mine) {
    const auto count = static_cast<std::size_t>(block.count);
    const std::span<double> norms(mine.norms.data(), count);
    const std::span<double> weights(mine.weights.data(), count);
    const std::span<double> hessian_norms(mine.more_weights.data(), count);
    engine_.evaluate_gradients_and_hessians(
        block, as_span(w), *mine.workspace, norms, hessian_norms);
    for (std::size_t k = 0; k < count; ++k) {
      const double part = hessian_norms[k] / hessian_scale;
      // Rounded up, as both norms are; squares of tiny ones would be 0.
      norms[k] = std::hypot(norms[k], part) * (1 + 0x1p-49);
    }
    silence_nulls(block, norms);
    clip_weights(norms, radius, weights);
    engine_.add_gradients(*mine.workspace, weights, mine.piece_sum);
    engine_.add_hessians(*mine.workspace, weights, mine.matrix_sum);
  };
  for_each_piece(batch, SumKind::kMatrix, add_block, [&](Scratch& mine, std::int64_t units) {
    mine.add_piece(scale_, units, narrow);
    add_matrix(mine, matrix_scale);
  });
  collect(gradient);
  collect_matrix(matrix_scale, hessian);
}

void PerExampleSum::clipped_hessian_products(
    const Batch& batch, const Vector& w, double radius, const Vector& v, Vector& sum) {
  SOTTO_CHECK(w.size() == engine_.parameters() && v.size() == w.size());
  const auto add_block = [&](const Block& block, Scratch& mine) {
    const auto count = static_cast<std::size_t>(block.count);
    const std::span<double> norms(mine.norms.data(), count);
    const std::span<double> weights(mine.weights.data(), count);
    engine_.evaluate_hessians(block, as_span(w), *mine.workspace, norms);
    silence_nulls(block, norms);
    clip_weights(norms, radius, weights);
    engine_.add_hessian_products(*mine.workspace, weights, as_span(v), mine.piece_sum);
  };
  sum_vectors(batch, radius, add_block, sum);
}

}  // namespace sotto
