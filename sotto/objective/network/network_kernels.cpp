#include "sotto/objective/network/network_kernels.hpp"

#include "sotto/objective/network/network_lanes.hpp"
#include "sotto/objective/network/row_kernels.hpp"

namespace sotto::network_kernels::SOTTO_KERNEL_ARCH {

extern const Kernels kKernels;

namespace {

enum class Finish { kStore, kBias, kAdd };

/// kRows rows of a product, kVectors vectors wide: all of C in registers.
template <int kRows, int kVectors, Finish kFinish>
void tile(const Product& product, std::int64_t first, const float* bias) {
  Real acc[kRows][kVectors];
  const float* in[kRows];
  for (int r = 0; r < kRows; ++r) {
    in[r] = product.in + product.row_offsets[first + r];
    for (int q = 0; q < kVectors; ++q) acc[r][q] = Real{};
  }
  const float* v = product.v;
  const std::int64_t stride = product.v_stride;
  const std::int32_t* offset = product.sum_offsets;
  const std::int32_t* const end = offset + product.sums;
  for (; offset != end; ++offset, v += stride) {
    const std::int64_t at = *offset;
    Real right[kVectors];
    for (int q = 0; q < kVectors; ++q) right[q] = load(v + kLanes * q);
    for (int r = 0; r < kRows; ++r) {
      const Real left = splat(in[r][at]);
      for (int q = 0; q < kVectors; ++q) acc[r][q] = multiply_add(left, right[q], acc[r][q]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    float* out = product.out + product.out_offsets[first + r];
    for (int q = 0; q < kVectors; ++q) {
      Real result = acc[r][q];
      if constexpr (kFinish == Finish::kBias) result += load(bias + kLanes * q);
      if constexpr (kFinish == Finish::kAdd) result += load(out + kLanes * q);
      store(out + kLanes * q, result);
    }
  }
}

using Tile = void (*)(const Product&, std::int64_t, const float*);

// As many rows as leave registers for the right factor and one broadcast: at least 8 chains keep
// two multiply-add units busy.
constexpr int kMostRows[] = {0, 8, 6, 3, 3};

template <int kVectors, Finish kFinish>
void run_tiles(const Product& product, const float* bias) {
  constexpr int kMost = kMostRows[kVectors];
  constexpr Tile kTiles[] = {nullptr,
                             tile<1, kVectors, kFinish>,
                             tile<2, kVectors, kFinish>,
                             tile<3, kVectors, kFinish>,
                             tile < kMost >= 4 ? 4 : 1,
                             kVectors,
                             kFinish >,
                             tile < kMost >= 5 ? 5 : 1,
                             kVectors,
                             kFinish >,
                             tile < kMost >= 6 ? 6 : 1,
                             kVectors,
                             kFinish >,
                             tile < kMost >= 7 ? 7 : 1,
                             kVectors,
                             kFinish >
                             , tile < kMost >= 8 ? 8 : 1, kVectors, kFinish > };
  // Tiles of nearly equal heights: one with a single row would leave the units idle.
  const std::int64_t count = (product.rows + kMost - 1) / kMost;
  std::int64_t first = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t next = product.rows * (k + 1) / count;
    kTiles[next - first](product, first, bias);
    first = next;
  }
}

template <Finish kFinish>
void run(const Product& product, const float* bias) {
  if (product.width == kPanel)
    run_tiles<kPanel / kLanes, kFinish>(product, bias);
  else
    run_tiles<kWidth / kLanes, kFinish>(product, bias);
}

void multiply(const Product& product, const float* bias) {
  if (bias)
    run<Finish::kBias>(product, bias);
  else
    run<Finish::kStore>(product, nullptr);
}

void multiply_add(const Product& product) { run<Finish::kAdd>(product, nullptr); }

double dot(const float* a, const float* b, std::int64_t count) {
  Wide acc[4] = {};
  std::int64_t j = 0;
  for (; j + 4 * kDoubles <= count; j += 4 * kDoubles)
    for (int q = 0; q < 4; ++q)
      acc[q] = multiply_add(widen(a + j + kDoubles * q), widen(b + j + kDoubles * q), acc[q]);
  double sum = total((acc[0] + acc[1]) + (acc[2] + acc[3]));
  for (; j < count; ++j) sum += static_cast<double>(a[j]) * static_cast<double>(b[j]);
  return sum;
}

double sum_squares(const float* values, std::int64_t count) { return dot(values, values, count); }

double sum_squared_differences(const float* a, const float* b, std::int64_t count) {
  Wide acc[4] = {};
  std::int64_t j = 0;
  for (; j + 4 * kDoubles <= count; j += 4 * kDoubles)
    for (int q = 0; q < 4; ++q) {
      const Wide difference = widened_difference(a + j + kDoubles * q, b + j + kDoubles * q);
      acc[q] = multiply_add(difference, difference, acc[q]);
    }
  double sum = total((acc[0] + acc[1]) + (acc[2] + acc[3]));
  for (; j < count; ++j) {
    const auto difference = static_cast<double>(a[j] - b[j]);
    sum += difference * difference;
  }
  return sum;
}

/// Up to four rows at a time, so that the sum passes through the registers once for all of them.
template <int kRows>
void add_some_rows(const float* const* rows,
                   const double* weights,
                   std::int64_t begin,
                   std::int64_t end,
                   double* sum) {
  Wide w[kRows];
  for (int k = 0; k < kRows; ++k) w[k] = splat(weights[k]);
  for (std::int64_t j = begin; j < end; j += kWidth)
    for (std::int64_t q = j; q < j + kWidth; q += kDoubles) {
      Wide acc = load(sum + q);
      for (int k = 0; k < kRows; ++k) acc = multiply_add(w[k], widen(rows[k] + q), acc);
      store(sum + q, acc);
    }
}

void add_rows(const float* const* rows,
              const double* weights,
              std::int64_t row_count,
              std::int64_t count,
              double* sum) {
  constexpr std::int64_t kPiece = 1024;  // of the sum, kept in the first-level cache
  for (std::int64_t begin = 0; begin < count; begin += kPiece) {
    const std::int64_t end = begin + kPiece < count ? begin + kPiece : count;
    std::int64_t k = 0;
    for (; k + 4 <= row_count; k += 4) add_some_rows<4>(rows + k, weights + k, begin, end, sum);
    for (; k < row_count; ++k) add_some_rows<1>(rows + k, weights + k, begin, end, sum);
  }
}

template <int kRows>
void add_some_row_pairs(const float* const* rows,
                        const double* weights,
                        const float* const* rows_before,
                        const double* difference_weights,
                        std::int64_t begin,
                        std::int64_t end,
                        double* sum) {
  Wide w[kRows], v[kRows];
  for (int k = 0; k < kRows; ++k) {
    w[k] = splat(weights[k]);
    v[k] = splat(difference_weights[k]);
  }
  for (std::int64_t q = begin; q < end; q += kDoubles) {
    Wide acc = load(sum + q);
    for (int k = 0; k < kRows; ++k)
      acc += multiply_add(
          v[k], widened_difference(rows[k] + q, rows_before[k] + q), w[k] * widen(rows[k] + q));
    store(sum + q, acc);
  }
}

void add_row_pairs(const float* const* rows,
                   const double* weights,
                   const float* const* rows_before,
                   const double* difference_weights,
                   std::int64_t row_count,
                   std::int64_t count,
                   double* sum) {
  constexpr std::int64_t kPiece = 1024;
  constexpr std::int64_t kRows = 4;
  for (std::int64_t begin = 0; begin < count; begin += kPiece) {
    const std::int64_t end = begin + kPiece < count ? begin + kPiece : count;
    std::int64_t k = 0;
    for (; k + kRows <= row_count; k += kRows)
      add_some_row_pairs<kRows>(
          rows + k, weights + k, rows_before + k, difference_weights + k, begin, end, sum);
    for (; k < row_count; ++k)
      add_some_row_pairs<1>(
          rows + k, weights + k, rows_before + k, difference_weights + k, begin, end, sum);
  }
}

template <int kRows>
void outer_tile(const double* left,
                std::int64_t left_stride,
                const double* panel,
                std::int64_t row_count,
                std::int64_t columns,
                double* sum) {
  constexpr int kVectors = kWidth / kDoubles;
  Wide acc[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int q = 0; q < kVectors; ++q) acc[r][q] = load(sum + r * columns + kDoubles * q);
  for (std::int64_t k = 0; k < row_count; ++k, left += left_stride, panel += kWidth) {
    Wide a[kVectors];
    for (int q = 0; q < kVectors; ++q) a[q] = load(panel + kDoubles * q);
    for (int r = 0; r < kRows; ++r) {
      const Wide d = splat(left[r]);
      for (int q = 0; q < kVectors; ++q) acc[r][q] = multiply_add(d, a[q], acc[r][q]);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int q = 0; q < kVectors; ++q) store(sum + r * columns + kDoubles * q, acc[r][q]);
}

void add_outer(const double* left,
               std::int64_t left_stride,
               const float* const* right,
               std::int64_t row_count,
               std::int64_t left_count,
               std::int64_t columns,
               double* sum) {
  constexpr std::int64_t kMost = kDoubles == 4 ? 6 : 2;
  using OuterTile = decltype(&outer_tile<1>);
  constexpr OuterTile kTiles[] = {nullptr,
                                  outer_tile<1>,
                                  outer_tile<2>,
                                  outer_tile<3>,
                                  outer_tile<4>,
                                  outer_tile<5>,
                                  outer_tile<6>};
  // Tiles of nearly equal heights: a low one would leave the units idle.
  const std::int64_t pieces = (left_count + kMost - 1) / kMost;
  // A column of all rows, widened once for all tiles. Rows whose length is a power of 2 would
  // otherwise meet in the same few places of the cache.
  constexpr std::int64_t kPanelRows = 128;
  alignas(64) double panel[kPanelRows * kWidth];
  for (std::int64_t begin = 0; begin < row_count; begin += kPanelRows) {
    const std::int64_t rows = row_count - begin < kPanelRows ? row_count - begin : kPanelRows;
    for (std::int64_t column = 0; column < columns; column += kWidth) {
      for (std::int64_t k = 0; k < rows; ++k) {
        const float* from = right[begin + k] + column;
        __builtin_prefetch(from + 2 * kWidth);
        for (std::int64_t q = 0; q < kWidth; q += kDoubles)
          store(panel + k * kWidth + q, widen(from + q));
      }
      std::int64_t first = 0;
      for (std::int64_t p = 0; p < pieces; ++p) {
        const std::int64_t next = left_count * (p + 1) / pieces;
        kTiles[next - first](left + begin * left_stride + first,
                             left_stride,
                             panel,
                             rows,
                             columns,
                             sum + first * columns + column);
        first = next;
      }
    }
  }
}

template <int kRows>
void outer_pair_tile(const double* left,
                     const double* more_left,
                     std::int64_t left_stride,
                     const float* const* right,
                     const float* const* more_right,
                     std::int64_t row_count,
                     std::int64_t column,
                     std::int64_t columns,
                     double* sum) {
  constexpr int kVectors = kWidth / kDoubles;
  Wide acc[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int q = 0; q < kVectors; ++q) acc[r][q] = load(sum + r * columns + column + kDoubles * q);
  for (std::int64_t k = 0; k < row_count; ++k, left += left_stride, more_left += left_stride) {
    Wide a[kVectors], b[kVectors];
    for (int q = 0; q < kVectors; ++q) {
      a[q] = widen(right[k] + column + kDoubles * q);
      b[q] = widen(more_right[k] + column + kDoubles * q);
    }
    for (int r = 0; r < kRows; ++r) {
      const Wide d = splat(left[r]);
      const Wide e = splat(more_left[r]);
      for (int q = 0; q < kVectors; ++q) acc[r][q] += multiply_add(e, b[q], d * a[q]);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int q = 0; q < kVectors; ++q) store(sum + r * columns + column + kDoubles * q, acc[r][q]);
}

void add_outer_pairs(const double* left,
                     const double* more_left,
                     std::int64_t left_stride,
                     const float* const* right,
                     const float* const* more_right,
                     std::int64_t row_count,
                     std::int64_t left_count,
                     std::int64_t columns,
                     double* sum) {
  if (row_count == 0) return;
  constexpr std::int64_t kRows = kDoubles == 4 ? 4 : 2;
  const auto tiles = [&](auto tile_of, std::int64_t rows, std::int64_t o) {
    for (; o + rows <= left_count; o += rows)
      for (std::int64_t column = 0; column < columns; column += kWidth)
        tile_of(left + o,
                more_left + o,
                left_stride,
                right,
                more_right,
                row_count,
                column,
                columns,
                sum + o * columns);
    return o;
  };
  tiles(outer_pair_tile<1>, 1, tiles(outer_pair_tile<kRows>, kRows, 0));
}

void relu(const float* in, std::int64_t count, float* out) {
  for (std::int64_t j = 0; j < count; j += kLanes) {
    const Real x = load(in + j);
    store(out + j, x > 0 ? x : Real{});
  }
}

void relu_backward(const float* out, const float* dout, std::int64_t count, float* din) {
  for (std::int64_t j = 0; j < count; j += kLanes)
    store(din + j, load(out + j) > 0 ? load(dout + j) : Real{});
}

inline Real size_of(Real x) { return (Real)((Mask)x & 0x7fffffff); }

/// e^x - 1 for -87 <= x <= 0. x = k ln 2 + r with |r| <= ln 2 / 2, and e^r - 1 by its Taylor
/// polynomial of degree 7, whose remainder is below 2e-8 of it.
inline Real exp_minus_one(Real x) {
  const Real shifted = x * 1.44269504F + 12582912.0F;  // 1.5 · 2^23: rounds to a whole number
  const Real k = shifted - 12582912.0F;
  // ln 2 in two parts; the first has so many trailing zero bits that k · it is exact.
  const Real r = (x - k * 0.693359375F) - k * -2.12194440e-4F;
  Real p = splat(1.0F / 5040);
  p = multiply_add(p, r, splat(1.0F / 720));
  p = multiply_add(p, r, splat(1.0F / 120));
  p = multiply_add(p, r, splat(1.0F / 24));
  p = multiply_add(p, r, splat(1.0F / 6));
  p = multiply_add(p, r, splat(0.5F));
  p = multiply_add(p, r * r, r);
  const Real power = (Real)(((Mask)shifted + 127) << 23);
  return multiply_add(power, p, power - 1.0F);
}

void tanh(const float* in, std::int64_t count, float* out) {
  for (std::int64_t j = 0; j < count; j += kLanes) {
    const Real x = load(in + j);
    const Real size = size_of(x);
    const Real e = exp_minus_one(-2.0F * (size < 20.0F ? size : splat(20.0F)));
    const Real result = -e / (2.0F + e);
    store(out + j, x < 0 ? -result : result);
  }
}

void sigmoid(const float* in, std::int64_t count, float* out) {
  for (std::int64_t j = 0; j < count; j += kLanes) {
    const Real x = load(in + j);
    const Real size = size_of(x);
    const Real e = 1.0F + exp_minus_one(-(size < 80.0F ? size : splat(80.0F)));
    const Real result = 1.0F / (1.0F + e);
    store(out + j, x < 0 ? e * result : result);
  }
}

/// The first pixel of the window of output pixel (y, x).
inline std::int64_t corner(const Pool& pool, std::int64_t y, std::int64_t x) {
  return (y * pool.stride_y * pool.in_width + x * pool.stride_x) * pool.channels;
}

void max_pool(const Pool& pool, const float* in, float* out) {
  for (std::int64_t y = 0; y < pool.out_height; ++y)
    for (std::int64_t x = 0; x < pool.out_width; ++x, out += pool.channels) {
      const float* window = in + corner(pool, y, x);
      for (std::int64_t c = 0; c < pool.channels; c += kLanes) {
        Real best = load(window + c);
        for (std::int64_t ky = 0; ky < pool.window_height; ++ky)
          for (std::int64_t kx = 0; kx < pool.window_width; ++kx) {
            const Real value = load(window + (ky * pool.in_width + kx) * pool.channels + c);
            best = value > best ? value : best;
          }
        store(out + c, best);
      }
    }
}

void max_pool_backward(
    const Pool& pool, const float* in, const float* out, const float* dout, float* din) {
  for (std::int64_t y = 0; y < pool.out_height; ++y)
    for (std::int64_t x = 0; x < pool.out_width; ++x, out += pool.channels, dout += pool.channels) {
      const std::int64_t window = corner(pool, y, x);
      for (std::int64_t c = 0; c < pool.channels; c += kLanes) {
        const Real best = load(out + c);
        Real slope = load(dout + c);
        for (std::int64_t ky = 0; ky < pool.window_height; ++ky)
          for (std::int64_t kx = 0; kx < pool.window_width; ++kx) {
            const std::int64_t at = window + (ky * pool.in_width + kx) * pool.channels + c;
            const Mask here = load(in + at) == best;
            store(din + at, load(din + at) + (Real)(here & (Mask)slope));
            slope = (Real)(~here & (Mask)slope);
          }
      }
    }
}

void column_sums(const float* values, std::int64_t rows, std::int64_t count, float* sums) {
  for (std::int64_t c = 0; c < count; c += kLanes) {
    Real acc{};
    for (std::int64_t r = 0; r < rows; ++r) acc += load(values + r * count + c);
    store(sums + c, acc);
  }
}

void scale_and_shift(
    const float* in, const float* scale, const float* shift, std::size_t count, float* out) {
  std::size_t j = 0;
  for (; j + kLanes <= count; j += kLanes)
    store(out + j, load(in + j) * load(scale + j) + load(shift + j));
  for (; j < count; ++j) out[j] = in[j] * scale[j] + shift[j];
}

void subtract(const float* a, const float* b, std::int64_t count, float* difference) {
  for (std::int64_t j = 0; j < count; j += kLanes) store(difference + j, load(a + j) - load(b + j));
}

}  // namespace

const Kernels kKernels = {multiply,
                          multiply_add,
                          multiply_rows,
                          softmax_slopes,
                          sum_squares,
                          dot,
                          sum_squared_differences,
                          add_rows,
                          add_row_pairs,
                          add_outer,
                          add_outer_pairs,
                          relu,
                          relu_backward,
                          tanh,
                          sigmoid,
                          max_pool,
                          max_pool_backward,
                          column_sums,
                          scale_and_shift,
                          subtract};

}  // namespace sotto::network_kernels::SOTTO_KERNEL_ARCH
