// Linear layers from long inputs to few outputs, and the softmax head.

#include "sotto/objective/network/row_kernels.hpp"

#include "sotto/objective/network/network_lanes.hpp"
#include "sotto/objective/vector_exp.hpp"

namespace sotto::network_kernels::SOTTO_KERNEL_ARCH {
namespace {

/// The totals of kCount vectors, each by the same tree whatever stands beside it.
template <int kCount>
inline void totals(const Real* vectors, float* sums) {
#ifdef __AVX__
  for (int k = 0; k < kCount; k += 4) {
    const auto vector = [&](int i) { return i < kCount ? vectors[i] : Real{}; };
    const __m256 pairs = _mm256_hadd_ps(_mm256_hadd_ps(vector(k), vector(k + 1)),
                                        _mm256_hadd_ps(vector(k + 2), vector(k + 3)));
    float four[4];
    _mm_storeu_ps(four, _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1)));
    for (int i = 0; i < 4 && k + i < kCount; ++i) sums[k + i] = four[i];
  }
#else
  for (int k = 0; k < kCount; ++k) {
    sums[k] = 0;
    for (int i = 0; i < kLanes; ++i) sums[k] += vectors[k][i];  // NOLINT: lanes are set
  }
#endif
}

/// Keeps the compiler from loading a vector once for each use: loads would be the bottleneck.
inline Real in_register(Real v) {
#ifdef __AVX__
  asm("" : "+x"(v));
#endif
  return v;
}

/// kRows rows by kOutputs outputs: all sums in registers, vectors run along the rows. Meanwhile the
/// memory is asked for the row at `next`.
template <int kRows, int kOutputs>
void row_tile(const float* const* rows,
              const float* next,
              const float* weights,
              std::int64_t columns,
              const float* bias,
              float* out,
              std::int64_t out_stride) {
  Real acc[kRows][kOutputs];
  for (int r = 0; r < kRows; ++r)
    for (int o = 0; o < kOutputs; ++o) acc[r][o] = Real{};
  for (std::int64_t j = 0; j < columns; j += kLanes) {
    __builtin_prefetch(next + j);
    Real x[kRows];
    for (int r = 0; r < kRows; ++r) x[r] = load(rows[r] + j);
    for (int o = 0; o < kOutputs; ++o) {
      const Real w = in_register(load(weights + o * columns + j));
      for (int r = 0; r < kRows; ++r) acc[r][o] = multiply_add(x[r], w, acc[r][o]);
    }
  }
  float sums[kRows * kOutputs];
  totals<kRows * kOutputs>(&acc[0][0], sums);
  for (int r = 0; r < kRows; ++r)
    for (int o = 0; o < kOutputs; ++o) out[r * out_stride + o] = sums[r * kOutputs + o] + bias[o];
}

using RowTile = void (*)(const float* const*,
                         const float*,
                         const float*,
                         std::int64_t,
                         const float*,
                         float*,
                         std::int64_t);

template <int kRows>
constexpr RowTile kRowTiles[] = {nullptr,
                                 row_tile<kRows, 1>,
                                 row_tile<kRows, 2>,
                                 row_tile<kRows, 3>,
                                 row_tile<kRows, 4>,
                                 row_tile<kRows, 5>};

/// kDoubles outputs from `first` on; behind the last one what adds nothing to a sum of
/// exponentials.
inline Wide some_outputs(const float* outputs, std::int64_t count, std::int64_t first) {
  const Wide x = widen(outputs + first);
  if (first + kDoubles <= count) return x;
  WideMask index{};
  for (int q = 0; q < kDoubles; ++q) index[q] = first + q;
  return index < count ? x : splat(-__builtin_inf());
}

}  // namespace

void multiply_rows(const float* const* rows,
                   std::int64_t row_count,
                   std::int64_t upcoming,
                   const float* weights,
                   std::int64_t columns,
                   std::int64_t outputs,
                   const float* bias,
                   float* out,
                   std::int64_t out_stride) {
  // Some outputs' weights stay in the first-level cache while all rows pass, and every tile asks
  // for its share of the rows to come.
  constexpr std::int64_t kMost = 5;
  const std::int64_t pieces = (outputs + kMost - 1) / kMost;
  const std::int64_t tiles = pieces * ((row_count + 1) / 2);
  std::int64_t first = 0;
  std::int64_t tile = 0;
  for (std::int64_t k = 0; k < pieces; ++k) {
    const std::int64_t next = outputs * (k + 1) / pieces;
    for (std::int64_t r = 0; r < row_count; r += 2, ++tile) {
      const bool two = r + 2 <= row_count;
      const auto& of_height = two ? kRowTiles<2> : kRowTiles<1>;
      const std::int64_t fetched = upcoming > 0 ? row_count + tile * upcoming / tiles : r;
      of_height[next - first](rows + r,
                              rows[fetched],
                              weights + first * columns,
                              columns,
                              bias + first,
                              out + r * out_stride + first,
                              out_stride);
    }
    first = next;
  }
}

void softmax_slopes(const float* outputs, std::int64_t count, std::int64_t label, float* slopes) {
  Wide most = splat(-__builtin_inf());
  for (std::int64_t c = 0; c < count; c += kDoubles) {
    const Wide x = some_outputs(outputs, count, c);
    most = x > most ? x : most;
  }
  double largest = most[0];
  for (int q = 1; q < kDoubles; ++q) largest = most[q] > largest ? most[q] : largest;
  const auto exponentials = [&](std::int64_t c) {
    return internal::exp_of_nonpositive<Wide, WideMask>(some_outputs(outputs, count, c) - largest);
  };
  constexpr std::int64_t kKept = 16;  // classes whose exponentials are computed once
  Wide kept[kKept / kDoubles];
  Wide sums{};
  for (std::int64_t c = 0; c < count; c += kDoubles) {
    const Wide e = exponentials(c);
    if (c < kKept) kept[c / kDoubles] = e;
    sums += e;
  }
  const Wide scale = splat(1 / total(sums));
  for (std::int64_t c = 0; c < count; c += kDoubles) {
    const Wide e = (c < kKept ? kept[c / kDoubles] : exponentials(c)) * scale;
    typedef float Half __attribute__((vector_size(4 * kDoubles)));
    const Half half = __builtin_convertvector(e, Half);
    __builtin_memcpy(slopes + c, &half, sizeof half);
  }
  const std::int64_t place = label / kDoubles * kDoubles;
  const double own = (place < kKept ? kept[place / kDoubles] : exponentials(place))[label - place];
  slopes[label] = static_cast<float>(own * scale[0] - 1);
}

}  // namespace sotto::network_kernels::SOTTO_KERNEL_ARCH
