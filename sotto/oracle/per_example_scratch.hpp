#pragma once

// Private to the files that implement PerExampleSum.

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sotto/core/parallel.hpp"
#include "sotto/objective/engine.hpp"
#include "sotto/oracle/per_example_sum.hpp"
#include "sotto/oracle/sum_grid_kernels.hpp"

namespace sotto {

__extension__ typedef __int128 Int128;

/// The grid is 2^-50 of the clip radius (rounded up to a power of 2).
inline constexpr int kSumGridBits = 50;

/// Rounded as the processor does; std::llrint, for which compilers make a call.
inline std::int64_t to_nearest(double x) {
#ifdef __SSE2__
  return _mm_cvtsd_si64(_mm_set_sd(x));
#else
  return std::llrint(x);
#endif
}

/// value * scale, rounded; saturates far outside anything a clipped sum can reach. NaN becomes 0.
inline Int128 to_sum_grid(double value, double scale) {
  const double scaled = value * scale;
  if (std::abs(scaled) < 0x1p62) return static_cast<Int128>(to_nearest(scaled));
  if (!(std::abs(scaled) < 0x1p125))
    return std::isnan(scaled) ? 0 : (scaled > 0 ? Int128{1} << 125 : -(Int128{1} << 125));
  return static_cast<Int128>(scaled);
}

inline double sum_grid_scale(double radius) {
  if (!std::isfinite(radius)) return std::ldexp(1.0, kSumGridBits);
  int exponent = 0;
  std::frexp(radius, &exponent);  // radius <= 2^exponent
  return std::ldexp(1.0, kSumGridBits - exponent);
}

/// Up to so many units a clipped sum has room in 64 bits: 2^50 steps for each.
inline constexpr std::int64_t kNarrowUnits = 1024;

struct SumGridKernels {
  internal::ToSumGrid to = internal::baseline::to_sum_grid;
  internal::FromSumGrid from = internal::baseline::from_sum_grid;
};
const SumGridKernels& sum_grid_kernels();

/// One thread's memory.
struct PerExampleSum::Scratch {
  std::unique_ptr<Engine::Workspace> workspace;
  std::vector<double> norms;
  std::vector<double> weights;
  std::vector<double> more_weights;
  std::vector<double> block_sum;  ///< zero between blocks
  std::vector<Int128> total;
  std::vector<std::int64_t> narrow_total;  ///< in the place of `total`, if `narrow`
  bool narrow = false;
  bool empty = true;  ///< narrow_total is yet to be written
  bool touched = false;
  std::int64_t balance = 0;  ///< units whose gradient was not clipped less those whose was
  // Hessians: made when first needed. The lower triangle of the sum as a d x d matrix, and packed.
  std::vector<double> matrix_sum;
  std::vector<Int128> matrix_total;
  bool matrix_touched = false;

  void count(std::span<const double> block_norms, double radius) {
    for (const double norm : block_norms) balance += norm <= radius ? 1 : -1;
  }

  void add_block_sum(double scale) {
    if (narrow) {
      sum_grid_kernels().to(block_sum.data(), scale, block_sum.size(), empty, narrow_total.data());
      empty = false;
      return;
    }
    for (std::size_t j = 0; j < block_sum.size(); ++j)
      total[j] += to_sum_grid(std::exchange(block_sum[j], 0.0), scale);
  }
};

/// Small batches are cut into this many blocks, so that threads have something to share...
inline constexpr std::int64_t kLeastBlocks = 4;
/// ...or into half as many or one, where a block would have fewer units than this.
inline constexpr std::int64_t kLeastShared = 48;

inline std::int64_t shared_block_size(std::int64_t count) {
  std::int64_t blocks = kLeastBlocks;
  while (blocks > 1 && count < blocks * kLeastShared) blocks /= 2;
  return std::max<std::int64_t>(1, (count + blocks - 1) / blocks);
}

template <class BlockBody>
void PerExampleSum::for_each_block(const Batch& batch, const BlockBody& body, std::int64_t group) {
  const std::int64_t count = units_in(batch);
  std::int64_t size = engine_.block_size();
  if (group == 1) size = std::min(size, shared_block_size(count));
  const std::int64_t blocks = (count + size - 1) / size;
  parallel_for((blocks + group - 1) / group, [&](std::int64_t task, int worker) {
    Scratch& mine = scratch(worker);
    const std::int64_t last = std::min((task + 1) * group, blocks) - 1;
    for (std::int64_t k = task * group; k <= last; ++k) {
      const std::int64_t begin = k * size;
      Block block;
      block.count = std::min(size, count - begin);
      if (batch.all)
        block.begin = begin;
      else
        block.index = batch.indices.data() + begin;
      body(block, mine, k == last);
    }
  });
}

}  // namespace sotto
