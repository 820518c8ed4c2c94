// Gradients of linear models as integers, by coordinate, from predictions that the caller keeps.

#include <algorithm>
#include <bit>
#include <cmath>

#include "sotto/core/check.hpp"
#include "sotto/core/processor.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/objective/glm_scratch.hpp"
#include "sotto/objective/grid_kernels.hpp"

namespace sotto {
namespace {

/// The integer nearest to x, |x| < 2^51: adding 1.5 · 2^52 leaves it in the lowest digits.
inline std::int64_t nearest(double x) {
  constexpr double kShift = 0x1.8p52;
  return std::bit_cast<std::int64_t>(x + kShift) - std::bit_cast<std::int64_t>(kShift);
}

internal::DenseGridKernel dense_kernel() {
#ifdef SOTTO_HAS_X86_64_V3
  if (runs_x86_64_v3()) return internal::x86_64_v3::add_dense_on_grid;
#endif
  return internal::baseline::add_dense_on_grid;
}

/// Whether `wanted` is among the numbers; the loop has no exit, so that it is vectorized.
bool occurs(const std::int32_t* numbers, std::int64_t count, std::int32_t wanted) {
  std::int32_t hits = 0;
  for (std::int64_t k = 0; k < count; ++k) hits |= numbers[k] == wanted ? 1 : 0;
  return hits != 0;
}

}  // namespace

const std::vector<double>& GlmEngine::row_maxima() const {
  std::call_once(maxima_computed_, [this] {
    row_maxima_.resize(to_size(table_.rows()));
    for (std::int64_t i = 0; i < table_.rows(); ++i) {
      const float* values =
          table_.sparse() ? table_.values().data() + table_.offsets()[to_size(i)] : table_.row(i);
      const std::int64_t count =
          table_.sparse() ? table_.offsets()[to_size(i + 1)] - table_.offsets()[to_size(i)]
                          : table_.dim();
      float largest = 0;
      for (std::int64_t k = 0; k < count; ++k) largest = std::max(largest, std::fabs(values[k]));
      row_maxima_[to_size(i)] = static_cast<double>(largest);
    }
  });
  return row_maxima_;
}

void GlmEngine::evaluate_predictions(const Block& block,
                                     std::span<const double> w,
                                     Workspace& workspace,
                                     std::span<double> predictions) const {
  SOTTO_CHECK(offers().has(Capability::kPredictions) && !block.index);
  auto& s = static_cast<Scratch&>(workspace);
  predict(block, w, s);
  std::copy(s.predictions.begin(), s.predictions.end(), predictions.begin());
}

void GlmEngine::move_predictions(const Block& block,
                                 double shrink,
                                 std::int64_t coordinate,
                                 double step,
                                 std::span<double> predictions) const {
  SOTTO_CHECK(offers().has(Capability::kPredictions) && !block.index);
  const auto count = to_size(block.count);
  if (!table_.sparse()) {
    for (std::size_t k = 0; k < count; ++k) {
      const float x = table_.row(block.begin + static_cast<std::int64_t>(k))[coordinate];
      predictions[k] = shrink * predictions[k] + step * static_cast<double>(x);
    }
    return;
  }
  for (std::size_t k = 0; k < count; ++k) predictions[k] *= shrink;
  // Most rows don't have the column. Groups of rows are searched at once, as a stream.
  constexpr std::int64_t kGroup = 16;
  const std::int64_t* offsets = table_.offsets().data();
  const std::int32_t* columns = table_.columns().data();
  const auto wanted = static_cast<std::int32_t>(coordinate);
  const std::int64_t end = block.begin + block.count;
  for (std::int64_t group = block.begin; group < end; group += kGroup) {
    const std::int64_t last = std::min(group + kGroup, end);
    if (!occurs(columns + offsets[group], offsets[last] - offsets[group], wanted)) continue;
    for (std::int64_t i = group; i < last; ++i) {
      const std::int32_t* at =
          std::lower_bound(columns + offsets[i], columns + offsets[i + 1], wanted);
      if (at == columns + offsets[i + 1] || *at != wanted) continue;
      predictions[to_size(i - block.begin)] +=
          step * static_cast<double>(table_.values()[to_size(at - columns)]);
    }
  }
}

void GlmEngine::evaluate_max_norms(const Block& block,
                                   std::span<const double> predictions,
                                   Workspace& workspace,
                                   std::span<double> norms) const {
  SOTTO_CHECK(offers().has(Capability::kPredictions) && !block.index);
  auto& s = static_cast<Scratch&>(workspace);
  select_rows(block, s);
  s.coefficients.resize(to_size(s.row_count));
  // Slopes are multiplied by whatever norm of the rows is given.
  differentiate(Order::kGradient,
                {predictions.data(),
                 s.labels,
                 row_maxima().data() + block.begin,
                 s.row_count,
                 loss_.threshold},
                s.coefficients.data(),
                norms.data());
}

void GlmEngine::add_on_grid(Workspace& workspace,
                            std::span<const double> weights,
                            double scale,
                            std::int64_t limit,
                            std::span<std::int64_t> sums) const {
  SOTTO_CHECK(offers().has(Capability::kPredictions) &&
              static_cast<std::int64_t>(sums.size()) == parameters());
  SOTTO_CHECK(limit < std::int64_t{1} << 50);
  auto& s = static_cast<Scratch&>(workspace);
  SOTTO_CHECK(static_cast<std::int64_t>(s.coefficients.size()) == s.row_count);
  const auto most = static_cast<double>(limit);
  s.weighted_rows.clear();
  s.weighted_coefficients.clear();
  for (std::int64_t k = 0; k < s.row_count; ++k) {
    const double factor = scale * weights[to_size(k)] * s.coefficients[to_size(k)];
    if (weights[to_size(k)] == 0 || factor == 0 || !std::isfinite(factor)) continue;
    s.weighted_rows.push_back(s.rows[to_size(k)]);
    s.weighted_coefficients.push_back(factor);
  }
  const std::size_t count = s.weighted_rows.size();
  if (!table_.sparse()) {
    dense_kernel()(table_.row(0),
                   table_.stride(),
                   s.weighted_rows.data(),
                   s.weighted_coefficients.data(),
                   static_cast<std::int64_t>(count),
                   table_.dim(),
                   most,
                   sums.data());
    return;
  }
  const std::int32_t* columns = table_.columns().data();
  const float* values = table_.values().data();
  for (std::size_t k = 0; k < count; ++k) {
    const double factor = s.weighted_coefficients[k];
    const std::int64_t end = table_.offsets()[to_size(s.weighted_rows[k] + 1)];
    for (std::int64_t e = table_.offsets()[to_size(s.weighted_rows[k])]; e < end; ++e) {
      const double x = factor * static_cast<double>(values[e]);
      sums[static_cast<std::size_t>(columns[e])] += nearest(std::min(std::max(x, -most), most));
    }
  }
}

}  // namespace sotto
