#include "sotto/objective/glm_kernels.hpp"

#ifdef __AVX__
#include <immintrin.h>
#endif

#include "sotto/loss/loss.hpp"
#include "sotto/objective/vector_exp.hpp"

namespace sotto::glm_kernels::SOTTO_KERNEL_ARCH {

extern const Kernels kKernels;

namespace {

// Compiler vectors as wide as a register: AVX, else SSE2 or NEON.
#ifdef __AVX__
constexpr int kLanes = 4;
#else
constexpr int kLanes = 2;
#endif
typedef double Real __attribute__((vector_size(8 * kLanes)));
typedef long long Integer __attribute__((vector_size(8 * kLanes)));

inline Real load(const double* p) {
  Real v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}

inline void store(double* p, Real v) { __builtin_memcpy(p, &v, sizeof(v)); }

/// kLanes floats as doubles.
inline Real widen(const float* p) {
#ifdef __AVX__
  return _mm256_cvtps_pd(_mm_loadu_ps(p));
#else
  return Real{static_cast<double>(p[0]), static_cast<double>(p[1])};
#endif
}

inline Real splat(double a) { return Real{} + a; }

inline double total(Real a) {
#ifdef __AVX__
  return (a[0] + a[1]) + (a[2] + a[3]);
#else
  return a[0] + a[1];
#endif
}

struct VectorMath {
  using Real = SOTTO_KERNEL_ARCH::Real;

  static Real abs(Real x) { return (Real)((Integer)x & 0x7fffffffffffffff); }

  static Real exp(Real x) { return internal::exp_of_nonpositive<Real, Integer>(x); }
};

template <class Loss>
Loss make_loss(double threshold) {
  if constexpr (requires(Loss loss) { loss.threshold; })
    return {threshold};
  else
    return {};
}

// 1 + 16 ulp / 2: more than all roundings between the true norm and what is reported or added.
constexpr double kRoundUp = 1 + 0x1p-49;

template <class Loss, int kOrder>
void evaluate_lanes(const Loss& loss,
                    const double* predictions,
                    Real labels,
                    const double* row_norms,
                    double* coefficients,
                    double* norms) {
  const Real z = load(predictions);
  Real a = kOrder == 1 ? loss_slope(loss, z, labels) : loss_curvature(loss, z, labels);
  const Real size = VectorMath::abs(a);
  a = size < 1e-250 ? Real{} : a;
  Real x = load(row_norms);
  if (kOrder == 2) x *= x;
  store(coefficients, a);
  store(norms, VectorMath::abs(a) * x * kRoundUp);
}

template <class Loss, int kOrder>
void evaluate(const LossArguments& in, double* coefficients, double* norms) {
  const auto loss = make_loss<Loss>(in.threshold);
  std::int64_t k = 0;
  for (; k + kLanes <= in.count; k += kLanes)
    evaluate_lanes<Loss, kOrder>(loss,
                                 in.predictions + k,
                                 widen(in.labels + k),
                                 in.row_norms + k,
                                 coefficients + k,
                                 norms + k);
  if (k == in.count) return;
  double z[kLanes] = {}, row_norms[kLanes] = {}, last_coefficients[kLanes], last_norms[kLanes];
  float labels[kLanes] = {};
  for (std::int64_t q = k; q < in.count; ++q) {
    z[q - k] = in.predictions[q];
    labels[q - k] = in.labels[q];
    row_norms[q - k] = in.row_norms[q];
  }
  evaluate_lanes<Loss, kOrder>(loss, z, widen(labels), row_norms, last_coefficients, last_norms);
  for (std::int64_t q = k; q < in.count; ++q) {
    coefficients[q] = last_coefficients[q - k];
    norms[q] = last_norms[q - k];
  }
}

/// Asks the memory for four rows of the list.
inline void prefetch_rows(DenseRows table, RowList list, std::int64_t begin) {
  const std::int64_t end = begin + 4 < list.count ? begin + 4 : list.count;
  for (std::int64_t k = begin; k < end; ++k) {
    const float* x = table.base + list.rows[k] * table.stride;
    for (std::int64_t j = 0; j < table.stride; j += 16) __builtin_prefetch(x + j);
  }
}

/// Four rows at a time, so that w is read once for all of them.
void dense_predict(DenseRows table, RowList list, const double* w, double* predictions) {
  // The processor's own prefetching works for long rows, but follows short ones badly and listed
  // ones not at all: ask for the rows that come some kilobytes later.
  const bool short_rows = table.stride <= 512;
  const std::int64_t ahead = 4 + 2048 / (table.stride + 8);
  for (std::int64_t k = 0; k < list.count; k += 4) {
    const std::int64_t last = list.count - 1 - k;
    const float* x0 = table.base + list.rows[k] * table.stride;
    const float* x1 = table.base + list.rows[k + (last < 1 ? last : 1)] * table.stride;
    const float* x2 = table.base + list.rows[k + (last < 2 ? last : 2)] * table.stride;
    const float* x3 = table.base + list.rows[k + (last < 3 ? last : 3)] * table.stride;
    if (short_rows) prefetch_rows(table, list, k + ahead);
    Real a0{}, a1{}, a2{}, a3{}, b0{}, b1{}, b2{}, b3{};
    for (std::int64_t j = 0; j < table.stride; j += 2 * kLanes) {
      const Real u = load(w + j);
      const Real v = load(w + j + kLanes);
      a0 += widen(x0 + j) * u;
      a1 += widen(x1 + j) * u;
      a2 += widen(x2 + j) * u;
      a3 += widen(x3 + j) * u;
      b0 += widen(x0 + j + kLanes) * v;
      b1 += widen(x1 + j + kLanes) * v;
      b2 += widen(x2 + j + kLanes) * v;
      b3 += widen(x3 + j + kLanes) * v;
    }
    predictions[k] = total(a0 + b0);
    if (last >= 1) predictions[k + 1] = total(a1 + b1);
    if (last >= 2) predictions[k + 2] = total(a2 + b2);
    if (last >= 3) predictions[k + 3] = total(a3 + b3);
  }
}

/// Two rows at a time; each sum in the order of dense_predict.
void dense_predict_pair(DenseRows table,
                        RowList list,
                        const double* w,
                        const double* before,
                        double* predictions,
                        double* predictions_before) {
  const bool short_rows = table.stride <= 512;
  const std::int64_t ahead = 4 + 2048 / (table.stride + 8);
  for (std::int64_t k = 0; k < list.count; k += 2) {
    const bool two = k + 1 < list.count;
    const float* x0 = table.base + list.rows[k] * table.stride;
    const float* x1 = table.base + list.rows[k + two] * table.stride;
    if (short_rows && k % 4 == 0) prefetch_rows(table, list, k + ahead);
    Real a0{}, a1{}, b0{}, b1{}, c0{}, c1{}, d0{}, d1{};
    for (std::int64_t j = 0; j < table.stride; j += 2 * kLanes) {
      const Real y0 = widen(x0 + j);
      const Real y1 = widen(x1 + j);
      const Real u = load(w + j);
      const Real v = load(before + j);
      a0 += y0 * u;
      a1 += y1 * u;
      c0 += y0 * v;
      c1 += y1 * v;
      const Real z0 = widen(x0 + j + kLanes);
      const Real z1 = widen(x1 + j + kLanes);
      const Real s = load(w + j + kLanes);
      const Real t = load(before + j + kLanes);
      b0 += z0 * s;
      b1 += z1 * s;
      d0 += z0 * t;
      d1 += z1 * t;
    }
    predictions[k] = total(a0 + b0);
    predictions_before[k] = total(c0 + d0);
    if (two) {
      predictions[k + 1] = total(a1 + b1);
      predictions_before[k + 1] = total(c1 + d1);
    }
  }
}

/// The sum's first kVectors vectors stay in registers while all rows pass.
template <int kVectors>
void dense_add_panel(DenseRows table, RowList list, const double* coefficients, double* sum) {
  Real acc[kVectors];
  for (int q = 0; q < kVectors; ++q) acc[q] = load(sum + kLanes * q);
  for (std::int64_t k = 0; k < list.count; ++k) {
    const float* x = table.base + list.rows[k] * table.stride;
    const Real c = splat(coefficients[k]);
    for (int q = 0; q < kVectors; ++q) acc[q] += c * widen(x + kLanes * q);
  }
  for (int q = 0; q < kVectors; ++q) store(sum + kLanes * q, acc[q]);
}

void dense_add(DenseRows table, RowList list, const double* coefficients, double* sum) {
  std::int64_t left = table.stride / kLanes;  // even
  while (left > 0) {
    const std::int64_t vectors = left < 8 ? left : 8;
    switch (vectors) {
      case 2:
        dense_add_panel<2>(table, list, coefficients, sum);
        break;
      case 4:
        dense_add_panel<4>(table, list, coefficients, sum);
        break;
      case 6:
        dense_add_panel<6>(table, list, coefficients, sum);
        break;
      default:
        dense_add_panel<8>(table, list, coefficients, sum);
    }
    table.base += kLanes * vectors;
    sum += kLanes * vectors;
    left -= vectors;
  }
}

void sparse_predict(SparseRows table, RowList list, const double* w, double* predictions) {
  for (std::int64_t k = 0; k < list.count; ++k) {
    std::int64_t e = table.offsets[list.rows[k]];
    const std::int64_t end = table.offsets[list.rows[k] + 1];
    Real acc{};
    for (; e + kLanes <= end; e += kLanes) {
      const std::int32_t* c = table.columns + e;
#ifdef __AVX__
      acc += widen(table.values + e) * Real{w[c[0]], w[c[1]], w[c[2]], w[c[3]]};
#else
      acc += widen(table.values + e) * Real{w[c[0]], w[c[1]]};
#endif
    }
    double a = total(acc);
    for (; e < end; ++e) a += static_cast<double>(table.values[e]) * w[table.columns[e]];
    predictions[k] = a;
  }
}

/// Each row's entries are read once; each sum in the order of sparse_predict. Rows of a list lie
/// anywhere, so the memory is asked for those that come a few rows later.
void sparse_predict_pair(SparseRows table,
                         RowList list,
                         const double* w,
                         const double* before,
                         double* predictions,
                         double* predictions_before) {
  constexpr std::int64_t kAhead = 8;
  for (std::int64_t k = 0; k < list.count; ++k) {
    if (k + 2 * kAhead < list.count) {
      __builtin_prefetch(table.offsets + list.rows[k + 2 * kAhead]);
      const std::int64_t next = table.offsets[list.rows[k + kAhead]];
      __builtin_prefetch(table.columns + next);
      __builtin_prefetch(table.values + next);
    }
    std::int64_t e = table.offsets[list.rows[k]];
    const std::int64_t end = table.offsets[list.rows[k] + 1];
    Real acc{};
    Real acc_before{};
    for (; e + kLanes <= end; e += kLanes) {
      const std::int32_t* c = table.columns + e;
      const Real x = widen(table.values + e);
#ifdef __AVX__
      acc += x * Real{w[c[0]], w[c[1]], w[c[2]], w[c[3]]};
      acc_before += x * Real{before[c[0]], before[c[1]], before[c[2]], before[c[3]]};
#else
      acc += x * Real{w[c[0]], w[c[1]]};
      acc_before += x * Real{before[c[0]], before[c[1]]};
#endif
    }
    double a = total(acc);
    double b = total(acc_before);
    for (; e < end; ++e) {
      const double x = static_cast<double>(table.values[e]);
      a += x * w[table.columns[e]];
      b += x * before[table.columns[e]];
    }
    predictions[k] = a;
    predictions_before[k] = b;
  }
}

void sparse_add(SparseRows table, RowList list, const double* coefficients, double* sum) {
  for (std::int64_t k = 0; k < list.count; ++k) {
    const double c = coefficients[k];
    const std::int64_t end = table.offsets[list.rows[k] + 1];
    for (std::int64_t e = table.offsets[list.rows[k]]; e < end; ++e)
      sum[table.columns[e]] += c * static_cast<double>(table.values[e]);
  }
}

// Tiles of Σ_k c_k x_k x_kᵀ: kTileRows rows by kTileVectors vectors of columns. 12 sums, 3 columns
// and 1 row entry fill the 16 registers.
constexpr std::int64_t kTileRows = 4;
constexpr std::int64_t kTileVectors = 3;
constexpr std::int64_t kTileColumns = kTileVectors * kLanes;

/// The tile at (r, s): `left` holds kTileRows entries c_k x_k for each k, `right` kTileColumns of
/// x_k.
inline void outer_tile(const double* left,
                       const double* right,
                       std::int64_t count,
                       std::int64_t r,
                       std::int64_t s,
                       std::int64_t dim,
                       double* sum) {
  Real acc[kTileRows][kTileVectors] = {};
  for (std::int64_t k = 0; k < count; ++k) {
    Real columns[kTileVectors];
    for (int v = 0; v < kTileVectors; ++v) columns[v] = load(right + v * kLanes);
    for (int q = 0; q < kTileRows; ++q) {
      const Real row = splat(left[q]);
      for (int v = 0; v < kTileVectors; ++v) acc[q][v] += row * columns[v];
    }
    left += kTileRows;
    right += kTileColumns;
  }
  for (std::int64_t q = 0; q < kTileRows && r + q < dim; ++q) {
    double* target = sum + (r + q) * dim + s;
    const std::int64_t wanted = r + q - s + 1;  // columns up to the diagonal
    if (wanted >= kTileColumns) {
      for (int v = 0; v < kTileVectors; ++v)
        store(target + v * kLanes, load(target + v * kLanes) + acc[q][v]);
      continue;
    }
    double tile[kTileColumns];
    for (int v = 0; v < kTileVectors; ++v) store(tile + v * kLanes, acc[q][v]);
    for (std::int64_t p = 0; p < wanted; ++p) target[p] += tile[p];
  }
}

/// Rows as panels of `width` columns, panel after panel, each row's entries together: what a tile
/// reads is contiguous. Times `coefficients`, if given; zero behind the last column.
template <std::int64_t kWidth>
void pack_rows(DenseRows table,
               const std::int64_t* rows,
               std::int64_t count,
               const double* coefficients,
               std::int64_t dim,
               double* out) {
  for (std::int64_t s = 0; s < dim; s += kWidth)
    for (std::int64_t k = 0; k < count; ++k) {
      const float* x = table.base + rows[k] * table.stride + s;
      const Real c = splat(coefficients ? coefficients[k] : 1);
      for (std::int64_t j = 0; j < kWidth; j += kLanes)
        store(out + j, s + j < table.stride ? c * widen(x + j) : Real{});
      out += kWidth;
    }
}

void dense_add_outer(DenseRows table,
                     RowList list,
                     const double* coefficients,
                     std::int64_t dim,
                     double* scratch,
                     double* sum) {
  static_assert(kTileRows % kLanes == 0 && kTileColumns <= 12);
  double* left = scratch;
  double* right = scratch + kOuterRows * (table.stride + kTileRows);
  for (std::int64_t begin = 0; begin < list.count; begin += kOuterRows) {
    const std::int64_t rest = list.count - begin;
    const std::int64_t count = rest < kOuterRows ? rest : kOuterRows;
    pack_rows<kTileRows>(table, list.rows + begin, count, coefficients + begin, dim, left);
    pack_rows<kTileColumns>(table, list.rows + begin, count, nullptr, dim, right);
    for (std::int64_t s = 0; s < dim; s += kTileColumns)
      for (std::int64_t r = s / kTileRows * kTileRows; r < dim; r += kTileRows)
        outer_tile(left + r * count, right + s * count, count, r, s, dim, sum);
  }
}

void sparse_add_outer(
    SparseRows table, RowList list, const double* coefficients, std::int64_t dim, double* sum) {
  for (std::int64_t k = 0; k < list.count; ++k) {
    const std::int64_t begin = table.offsets[list.rows[k]];
    const std::int64_t end = table.offsets[list.rows[k] + 1];
    for (std::int64_t e = begin; e < end; ++e) {
      const double left = coefficients[k] * static_cast<double>(table.values[e]);
      double* target = sum + table.columns[e] * dim;
      for (std::int64_t f = begin; f <= e; ++f)
        target[table.columns[f]] += left * static_cast<double>(table.values[f]);
    }
  }
}

/// The rows with a coefficient other than 0, moved up.
RowList without_zeros(RowList list, std::int64_t* rows, double* coefficients) {
  std::int64_t n = 0;
  for (std::int64_t k = 0; k < list.count; ++k) {
    const double c = coefficients[k];
    rows[n] = list.rows[k];
    coefficients[n] = c;
    n += c != 0;
  }
  return {rows, n};
}

RowList weigh(RowList list,
              const double* slopes,
              const double* weights,
              std::int64_t* rows,
              double* coefficients) {
  bool all = true;
  for (std::int64_t k = 0; k < list.count; ++k) {
    const double product = weights[k] * slopes[k];
    const double c = weights[k] == 0 ? 0 : product;
    coefficients[k] = c;
    all &= c != 0;
  }
  return all ? list : without_zeros(list, rows, coefficients);
}

RowList weigh_pair(RowList list,
                   const double* slopes,
                   const double* weights,
                   const double* other_slopes,
                   const double* other_weights,
                   std::int64_t* rows,
                   double* coefficients) {
  bool all = true;
  for (std::int64_t k = 0; k < list.count; ++k) {
    const double product = weights[k] * slopes[k];
    const double other = other_weights[k] * other_slopes[k];
    const double c = (weights[k] == 0 ? 0 : product) + (other_weights[k] == 0 ? 0 : other);
    coefficients[k] = c;
    all &= c != 0;
  }
  return all ? list : without_zeros(list, rows, coefficients);
}

template <template <class> class Loss>
constexpr LossKernels loss_kernels() {
  return {evaluate<Loss<VectorMath>, 1>, evaluate<Loss<VectorMath>, 2>};
}

}  // namespace

const Kernels kKernels = {
    dense_predict,
    sparse_predict,
    dense_predict_pair,
    sparse_predict_pair,
    dense_add,
    sparse_add,
    dense_add_outer,
    sparse_add_outer,
    weigh,
    weigh_pair,
    loss_kernels<LogisticLoss>(),
    loss_kernels<SigmoidLoss>(),
    loss_kernels<SquaredLoss>(),
    loss_kernels<HuberLoss>(),
    loss_kernels<PhaseRetrievalLoss>(),
    loss_kernels<PoissonLoss>(),
};

}  // namespace sotto::glm_kernels::SOTTO_KERNEL_ARCH
