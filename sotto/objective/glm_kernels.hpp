#pragma once

// The inner loops of the GLM engine, compiled once for each processor variant
// (cmake/SottoModule.cmake, sotto_kernels). Sums run in a fixed order that depends only on the
// arguments' values, never on alignment or on how rows are grouped: a row's prediction is the same
// in any list, and every sum adds its rows one after the other.

#include <cstdint>

namespace sotto::glm_kernels {

/// Dense rows: row i starts at base + i * stride; stride is a multiple of 8.
struct DenseRows {
  const float* base;
  std::int64_t stride;
};

/// CSR rows: row i has the entries [offsets[i], offsets[i + 1]).
struct SparseRows {
  const std::int64_t* offsets;
  const std::int32_t* columns;
  const float* values;
};

/// A list of rows, by number.
struct RowList {
  const std::int64_t* rows;
  std::int64_t count;
};

/// What a loss says about a block of examples, from their predictions z = ⟨x, w⟩.
struct LossArguments {
  const double* predictions;
  const float* labels;
  const double* row_norms;
  std::int64_t count;
  double threshold;  ///< Huber, phase retrieval and Poisson only
};

/// first:  coefficients = dℓ/dz,   norms = |dℓ/dz| ‖x‖ rounded up;
/// second: coefficients = d²ℓ/dz², norms = |d²ℓ/dz²| ‖x‖² rounded up.
/// Coefficients below 1e-250 in size are flushed to zero, so that products with float32 data never
/// leave the range where rounding errors are relative.
struct LossKernels {
  void (*first)(const LossArguments& in, double* coefficients, double* norms);
  void (*second)(const LossArguments& in, double* coefficients, double* norms);
};

struct Kernels {
  /// predictions[k] = ⟨row k, w⟩; w has `stride` entries, zero behind the last column.
  void (*dense_predict)(DenseRows table, RowList list, const double* w, double* predictions);
  void (*sparse_predict)(SparseRows table, RowList list, const double* w, double* predictions);

  /// Both at two points, reading the rows once; the same numbers, to the last bit, as two calls.
  void (*dense_predict_pair)(DenseRows table,
                             RowList list,
                             const double* w,
                             const double* before,
                             double* predictions,
                             double* predictions_before);
  void (*sparse_predict_pair)(SparseRows table,
                              RowList list,
                              const double* w,
                              const double* before,
                              double* predictions,
                              double* predictions_before);

  /// sum += Σ_k coefficients[k] · row k; a dense sum has `stride` entries.
  void (*dense_add)(DenseRows table, RowList list, const double* coefficients, double* sum);
  void (*sparse_add)(SparseRows table, RowList list, const double* coefficients, double* sum);

  /// Lower triangle (row >= column) of the dim x dim row-major matrix
  /// sum += Σ_k coefficients[k] · row k · row kᵀ. The dense one needs scratch for
  /// outer_scratch(stride) numbers.
  void (*dense_add_outer)(DenseRows table,
                          RowList list,
                          const double* coefficients,
                          std::int64_t dim,
                          double* scratch,
                          double* sum);
  void (*sparse_add_outer)(
      SparseRows table, RowList list, const double* coefficients, std::int64_t dim, double* sum);

  /// The rows that add something, with coefficients = weight · slope: all of the list, or those
  /// with a coefficient other than 0, copied to `rows` and with their coefficients moved up. A
  /// weight of 0 makes a coefficient of 0, whatever the slope.
  RowList (*weigh)(RowList list,
                   const double* slopes,
                   const double* weights,
                   std::int64_t* rows,
                   double* coefficients);

  /// As weigh, with coefficients = weight · slope + other_weight · other_slope.
  RowList (*weigh_pair)(RowList list,
                        const double* slopes,
                        const double* weights,
                        const double* other_slopes,
                        const double* other_weights,
                        std::int64_t* rows,
                        double* coefficients);

  LossKernels logistic;
  LossKernels sigmoid;
  LossKernels squared;
  LossKernels huber;
  LossKernels phase_retrieval;
  LossKernels poisson;
};

/// Rows that dense_add_outer packs at a time, and the numbers that it packs them into: twice a row,
/// each padded to a whole number of tiles.
constexpr std::int64_t kOuterRows = 64;
constexpr std::int64_t outer_scratch(std::int64_t stride) { return 2 * kOuterRows * (stride + 12); }

/// The variants that this machine can run, slowest first, for i = 0, 1, …; null past the last.
const Kernels* variant(int i);
const Kernels& fastest();

}  // namespace sotto::glm_kernels
