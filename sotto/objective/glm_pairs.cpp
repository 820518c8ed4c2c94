// Gradients at two points: a row's pair is its two slopes, so that no per-example vector exists
// here either.

#include <algorithm>
#include <cmath>

#include "sotto/core/check.hpp"
#include "sotto/objective/glm.hpp"
#include "sotto/objective/glm_scratch.hpp"

namespace sotto {

using glm_kernels::RowList;

namespace {

// A slope below this counts as 0, as in the kernels.
constexpr double kTinySlope = 1e-250;
// 16 rounding units: more than all roundings of a combination of two slopes, relative to the sum of
// their sizes, and of its norm.
constexpr double kRounding = 0x1p-49;

}  // namespace

void GlmEngine::evaluate_gradient_pairs(const Block& block,
                                        std::span<const double> w,
                                        std::span<const double> before,
                                        Workspace& workspace) const {
  SOTTO_CHECK(static_cast<std::int64_t>(w.size()) == parameters() && w.size() == before.size());
  auto& s = static_cast<Scratch&>(workspace);
  select_rows(block, s);
  s.curvatures.clear();
  const std::size_t rows = to_size(s.row_count);
  for (auto* each : {&s.predictions,
                     &s.predictions_before,
                     &s.coefficients,
                     &s.differences,
                     &s.coefficient_norms})
    each->resize(rows);
  const double* here = padded(w, s.w);
  const double* there = padded(before, s.before);
  if (table_.sparse()) {
    kernels_.sparse_predict_pair(
        {table_.offsets().data(), table_.columns().data(), table_.values().data()},
        s.list(),
        here,
        there,
        s.predictions.data(),
        s.predictions_before.data());
  } else {
    kernels_.dense_predict_pair({table_.row(0), table_.stride()},
                                s.list(),
                                here,
                                there,
                                s.predictions.data(),
                                s.predictions_before.data());
  }
  const auto slopes = [&](const std::vector<double>& predictions, std::vector<double>& result) {
    differentiate(Order::kGradient,
                  {predictions.data(), s.labels, s.row_norms, s.row_count, loss_.threshold},
                  result.data(),
                  s.coefficient_norms.data());
  };
  slopes(s.predictions, s.coefficients);
  slopes(s.predictions_before, s.differences);
  for (std::size_t i = 0; i < rows; ++i) {
    const double difference = s.coefficients[i] - s.differences[i];
    s.differences[i] = std::abs(difference) < kTinySlope ? 0 : difference;
  }
}

void GlmEngine::pair_norms(Workspace& workspace,
                           double gradient,
                           double difference,
                           std::span<double> norms) const {
  auto& s = static_cast<Scratch&>(workspace);
  SOTTO_CHECK(static_cast<std::int64_t>(norms.size()) >= s.units);
  SOTTO_CHECK(s.differences.size() == s.coefficients.size() &&
              s.coefficients.size() == to_size(s.row_count));
  const bool single_rows = s.first.empty();
  s.combined.resize(to_size(s.row_count));
  double* by_row = single_rows ? norms.data() : s.coefficient_norms.data();
  for (std::size_t i = 0; i < to_size(s.row_count); ++i) {
    // A piece that has no weight must not matter, even where it is not finite.
    const double a = gradient == 0 ? 0 : gradient * s.coefficients[i];
    const double b = difference == 0 ? 0 : difference * s.differences[i];
    s.combined[i] = a + b;
    const double size = std::abs(a + b) + kRounding * (std::abs(a) + std::abs(b));
    by_row[i] = size * s.row_norms[i] * (1 + kRounding);
  }
  if (single_rows) return;
  // unit_norm reads the coefficients of what it measures. Its triangle bound holds the roundings of
  // the combinations; the summed vector's own norm lacks them, so they are added.
  s.combined.swap(s.coefficients);
  for (std::size_t k = 0; k < to_size(s.units); ++k) {
    double rounding = 0;
    for (auto i = to_size(s.first[k]); i < to_size(s.first[k + 1]); ++i)
      rounding += kRounding * s.row_norms[i] *
                  ((gradient == 0 ? 0 : std::abs(gradient * s.combined[i])) +
                   (difference == 0 ? 0 : std::abs(difference * s.differences[i])));
    norms[k] = unit_norm(Order::kGradient, s, s.first[k], s.first[k + 1]) + 2 * rounding;
  }
  s.combined.swap(s.coefficients);
}

void GlmEngine::add_gradient_pairs(Workspace& workspace,
                                   std::span<const double> gradient,
                                   std::span<const double> difference,
                                   std::span<double> sum) const {
  auto& s = static_cast<Scratch&>(workspace);
  SOTTO_CHECK(static_cast<std::int64_t>(sum.size()) == parameters());
  SOTTO_CHECK(static_cast<std::int64_t>(std::min(gradient.size(), difference.size())) >= s.units);
  SOTTO_CHECK(s.differences.size() == s.coefficients.size() &&
              s.coefficients.size() == to_size(s.row_count));
  s.weighted_rows.resize(to_size(s.row_count));
  s.weighted_coefficients.resize(to_size(s.row_count));
  const RowList list = kernels_.weigh_pair(s.list(),
                                           s.coefficients.data(),
                                           weights_by_row(s, gradient, s.row_weights),
                                           s.differences.data(),
                                           weights_by_row(s, difference, s.more_row_weights),
                                           s.weighted_rows.data(),
                                           s.weighted_coefficients.data());
  add_weighted(s, list, sum);
}

bool GlmEngine::is_linear_within(double norm) const {
  const auto& norms = table_.norms();
  const auto& labels = table_.labels();
  const bool classes = loss_info(loss_).classification;
  return !table_.has_units() &&
         std::all_of(norms.begin(), norms.end(), [&](double each) { return each <= norm; }) &&
         std::all_of(labels.begin(), labels.end(), [&](float label) {
           return classes ? std::abs(label) == 1 : std::isfinite(label);
         });
}

}  // namespace sotto
