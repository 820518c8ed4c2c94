#pragma once

// The inner loops of the network engine, compiled once for each processor variant
// (cmake/SottoModule.cmake, sotto_kernels). Every output number is one chain of multiply-adds in an
// order that depends only on the layer: an example's numbers are the same in any block.
//
// Activations are stored pixel by pixel with the channels innermost, padded with zeros to a
// multiple of kWidth: vectors run over channels, and a convolution needs no copy of its patches.

#include <cstdint>

namespace sotto::network_kernels {

constexpr std::int64_t kWidth = 8;  ///< floats; channels are padded to a multiple of it
constexpr std::int64_t kPanel = 16;

constexpr std::int64_t padded(std::int64_t channels) {
  return (channels + kWidth - 1) / kWidth * kWidth;
}

/// One panel of a matrix product whose left factor is addressed by the sum of two offsets:
///   C[r][c] = Σ_s in[row_offsets[r] + sum_offsets[s]] · v[s · v_stride + c],  0 <= c < width.
/// With rows = output pixels and sums = taps it is a convolution, with rows = taps and sums =
/// pixels its weight gradient, with rows = examples a fully connected layer.
struct Product {
  const float* in;
  const std::int32_t* row_offsets;
  std::int64_t rows;
  const std::int32_t* sum_offsets;
  std::int64_t sums;
  const float* v;
  std::int64_t v_stride;
  float* out;  ///< row r of C belongs at out + out_offsets[r]
  const std::int32_t* out_offsets;
  std::int64_t width;  ///< kWidth or kPanel
};

/// The pixels of a pooling layer's example; windows lie inside the input.
struct Pool {
  std::int64_t in_width;  ///< pixels a row
  std::int64_t out_height, out_width;
  std::int64_t channels;  ///< padded
  std::int64_t window_height, window_width;
  std::int64_t stride_y, stride_x;
};

struct Kernels {
  /// out = C, plus bias (null: none) in every row.
  void (*multiply)(const Product& product, const float* bias);
  /// out += C.
  void (*multiply_add)(const Product& product);

  /// out[r · out_stride + o] = bias[o] + Σ_i rows[r][i] · weights[o · columns + i] for all
  /// `outputs` columns o; `columns` a multiple of kWidth. For long rows and few outputs, where a
  /// panel of `multiply` would be mostly padding. Rows may lie anywhere; behind them the list has
  /// `upcoming` more, which are fetched meanwhile.
  void (*multiply_rows)(const float* const* rows,
                        std::int64_t row_count,
                        std::int64_t upcoming,
                        const float* weights,
                        std::int64_t columns,
                        std::int64_t outputs,
                        const float* bias,
                        float* out,
                        std::int64_t out_stride);

  /// slopes[c] = e^outputs[c] / Σ_b e^outputs[b] - (1 if c is the label, else 0), in float64 up to
  /// the last step. Both arrays are padded to kWidth; padding of slopes becomes 0.
  void (*softmax_slopes)(const float* outputs,
                         std::int64_t count,
                         std::int64_t label,
                         float* slopes);

  /// Σ values², each square exact, summed in float64.
  double (*sum_squares)(const float* values, std::int64_t count);
  /// Σ a·b, each product exact, summed in float64.
  double (*dot)(const float* a, const float* b, std::int64_t count);
  /// The sum of squares of a - b, whose entries are rounded to float32.
  double (*sum_squared_differences)(const float* a, const float* b, std::int64_t count);

  /// sum[j] += Σ_k weights[k] · rows[k][j], k = 0, 1, … one after the other; count a multiple of
  /// kWidth.
  void (*add_rows)(const float* const* rows,
                   const double* weights,
                   std::int64_t row_count,
                   std::int64_t count,
                   double* sum);
  /// The same with terms (weights[k] · a + difference_weights[k] · (a - b)), a = rows[k][j] and
  /// b = rows_before[k][j], whose difference is rounded to float32.
  void (*add_row_pairs)(const float* const* rows,
                        const double* weights,
                        const float* const* rows_before,
                        const double* difference_weights,
                        std::int64_t row_count,
                        std::int64_t count,
                        double* sum);
  /// sum[o · columns + i] += Σ_k left[k · left_stride + o] · right[k][i]; columns a multiple of
  /// kWidth.
  void (*add_outer)(const double* left,
                    std::int64_t left_stride,
                    const float* const* right,
                    std::int64_t row_count,
                    std::int64_t left_count,
                    std::int64_t columns,
                    double* sum);
  /// The same with terms (left · right + more_left · more_right).
  void (*add_outer_pairs)(const double* left,
                          const double* more_left,
                          std::int64_t left_stride,
                          const float* const* right,
                          const float* const* more_right,
                          std::int64_t row_count,
                          std::int64_t left_count,
                          std::int64_t columns,
                          double* sum);

  /// out = max(in, 0);  din = dout where out > 0, else 0. Counts are multiples of kWidth.
  void (*relu)(const float* in, std::int64_t count, float* out);
  void (*relu_backward)(const float* out, const float* dout, std::int64_t count, float* din);

  /// Relative errors below 1e-6.
  void (*tanh)(const float* in, std::int64_t count, float* out);
  void (*sigmoid)(const float* in, std::int64_t count, float* out);

  /// The largest of each window; its slope goes to the first of the largest. din must be zero.
  void (*max_pool)(const Pool& pool, const float* in, float* out);
  void (*max_pool_backward)(
      const Pool& pool, const float* in, const float* out, const float* dout, float* din);

  /// sums[c] = Σ over `rows` rows of `count` floats each.
  void (*column_sums)(const float* values, std::int64_t rows, std::int64_t count, float* sums);
  /// out = in · scale + shift, any count.
  void (*scale_and_shift)(
      const float* in, const float* scale, const float* shift, std::size_t count, float* out);
  /// difference = a - b.
  void (*subtract)(const float* a, const float* b, std::int64_t count, float* difference);
};

/// The variants that this machine can run, slowest first, for i = 0, 1, …; null past the last.
const Kernels* variant(int i);
const Kernels& fastest();

}  // namespace sotto::network_kernels
