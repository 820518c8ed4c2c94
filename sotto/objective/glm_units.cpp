// Units of several rows. Their norms: computed, then rounded up by a bound on the error. Their
// sums: a unit's rows are added up first and their sum is added once, so that a sum over units has
// as many additions as units, however many rows a person has (oracle/per_example_sum.proof.md).

#include <algorithm>
#include <cmath>
#include <utility>

#include "sotto/objective/glm.hpp"
#include "sotto/objective/glm_scratch.hpp"

namespace sotto {

using glm_kernels::RowList;

namespace {

// Twice the rounding unit: (terms + 8) kUlp bounds the relative error of a sum of `terms` products
// and of what is done to it before it is reported.
constexpr double kUlp = 0x1p-52;

// Below this, squares come near the smallest numbers, where errors are no longer relative.
constexpr double kTinyNorm = 1e-140;

}  // namespace

/// body(rows, coefficients) for each of the block's units that has rows in the list: its rows.
template <class Body>
void GlmEngine::for_each_unit(const Scratch& s, RowList list, const Body& body) const {
  std::int64_t next = 0;
  for (std::size_t k = 0; k < to_size(s.units) && next < list.count; ++k) {
    if (s.first[k] == s.first[k + 1]) continue;
    // A unit's rows are consecutive, in the table and in the list.
    const std::int64_t least = s.rows[to_size(s.first[k])];
    const std::int64_t last = s.rows[to_size(s.first[k + 1] - 1)];
    const std::int64_t begin = next;
    while (next < list.count && list.rows[next] >= least && list.rows[next] <= last) ++next;
    if (next > begin)
      body(RowList{list.rows + begin, next - begin}, s.weighted_coefficients.data() + begin);
  }
}

void GlmEngine::add_units(Scratch& s, RowList list, std::span<double> sum) const {
  s.vector.resize(to_size(width_), 0.0);
  for_each_unit(s, list, [&](RowList rows, const double* coefficients) {
    add_rows(rows, coefficients, s.vector.data());
    const auto hand_over = [&](std::size_t j) {
      sum[j] += s.vector[j];
      s.vector[j] = 0;
    };
    if (!table_.sparse()) {
      for (std::size_t j = 0; j < sum.size(); ++j) hand_over(j);
      return;
    }
    // A column that several rows have is handed over with the first; then it adds 0.
    for (std::int64_t i = 0; i < rows.count; ++i) {
      const std::size_t row = to_size(rows.rows[i]);
      for (auto e = table_.offsets()[row]; e < table_.offsets()[row + 1]; ++e)
        hand_over(to_size(table_.columns()[to_size(e)]));
    }
  });
}

void GlmEngine::add_unit_hessians(Scratch& s, RowList list, std::span<double> sum) const {
  const std::size_t dim = to_size(table_.dim());
  s.matrix.assign(dim * dim, 0.0);
  for_each_unit(s, list, [&](RowList rows, const double* coefficients) {
    if (rows.count == 1) {
      add_outer(rows, coefficients, s, sum.data());
      return;
    }
    add_outer(rows, coefficients, s, s.matrix.data());
    for (std::size_t i = 0; i < dim; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        sum[i * dim + j] += std::exchange(s.matrix[i * dim + j], 0.0);
  });
}

/// The norm of the sum over the block's rows [begin, end).
double GlmEngine::unit_norm(Order order, Scratch& s, std::int64_t begin, std::int64_t end) const {
  double bound = 0;  // triangle inequality
  for (std::int64_t i = begin; i < end; ++i) bound += s.coefficient_norms[to_size(i)];
  if (end - begin <= 1 || !std::isfinite(bound)) return bound;
  bound *= 1 + static_cast<double>(end - begin) * kUlp;
  if (bound < kTinyNorm) return bound;

  const RowList list{s.rows.data() + begin, end - begin};
  const double* coefficients =
      (order == Order::kGradient ? s.coefficients : s.curvatures).data() + begin;
  if (order == Order::kGradient)
    return std::min(bound, unit_gradient_norm(s, list, coefficients, bound));
  if (list.count <= table_.dim())
    return std::min(bound, unit_hessian_norm_by_rows(s, list, coefficients, bound));
  return std::min(bound, unit_hessian_norm_by_columns(s, list, coefficients, bound));
}

double GlmEngine::unit_gradient_norm(Scratch& s,
                                     RowList list,
                                     const double* coefficients,
                                     double bound) const {
  s.vector.resize(to_size(width_), 0.0);
  add_rows(list, coefficients, s.vector.data());
  double squares = 0;
  double terms;
  const auto take = [&](double& entry) {
    squares += entry * entry;
    entry = 0;
  };
  if (table_.sparse()) {
    std::int64_t entries = 0;
    for (std::int64_t i = 0; i < list.count; ++i) {
      const std::size_t row = to_size(list.rows[i]);
      for (auto e = table_.offsets()[row]; e < table_.offsets()[row + 1]; ++e, ++entries)
        take(s.vector[to_size(table_.columns()[to_size(e)])]);
    }
    terms = static_cast<double>(entries);
  } else {
    for (double& entry : s.vector) take(entry);
    terms = static_cast<double>(width_);
  }
  // The computed sum is within (rows + 8) kUlp · bound of what add_gradients adds for this unit.
  const double rows = static_cast<double>(list.count);
  return std::sqrt(squares) * (1 + (terms + 8) * kUlp) + (rows + 8) * kUlp * bound;
}

/// From the Gram matrix of the rows.
double GlmEngine::unit_hessian_norm_by_rows(Scratch& s,
                                            RowList list,
                                            const double* a,
                                            double bound) const {
  s.vector.resize(to_size(width_), 0.0);
  s.products.resize(to_size(list.count));
  double squares = 0;
  for (std::int64_t i = 0; i < list.count; ++i) {
    // Column i from the diagonal on: ⟨x_i, x_j⟩ as predictions at w = x_i.
    const RowList row{list.rows + i, 1};
    const RowList rest{list.rows + i, list.count - i};
    constexpr double kOne = 1;
    constexpr double kMinusOne = -1;
    add_rows(row, &kOne, s.vector.data());
    predict_rows(rest, s.vector.data(), s.products.data());
    add_rows(row, &kMinusOne, s.vector.data());  // back to exact zeros
    double column = 0;
    for (std::int64_t j = 1; j < rest.count; ++j)
      column += a[i + j] * s.products[to_size(j)] * s.products[to_size(j)];
    squares += a[i] * (a[i] * s.products[0] * s.products[0] + 2 * column);
  }
  const double terms = 2 * static_cast<double>(table_.dim() + list.count);
  const double error = (terms + 8) * kUlp * bound * bound;
  return std::sqrt(std::max(squares, 0.0) + error) * (1 + 8 * kUlp);
}

/// From the summed matrix: cheaper for more rows than columns.
double GlmEngine::unit_hessian_norm_by_columns(Scratch& s,
                                               RowList list,
                                               const double* a,
                                               double bound) const {
  const std::int64_t dim = table_.dim();
  s.matrix.assign(to_size(dim * dim), 0.0);
  add_outer(list, a, s, s.matrix.data());
  double squares = 0;
  for (std::int64_t i = 0; i < dim; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      const double entry = s.matrix[to_size(i * dim + j)];
      squares += (i == j ? 1 : 2) * entry * entry;
    }
  const double rows = static_cast<double>(list.count);
  const double terms = static_cast<double>(dim) * static_cast<double>(dim);
  return std::sqrt(squares) * (1 + (terms + 8) * kUlp) + (rows + 8) * kUlp * bound;
}

}  // namespace sotto
