#pragma once

// Private to the files that implement PerExampleSum.

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "sotto/core/parallel.hpp"
#include "sotto/objective/engine.hpp"
#include "sotto/oracle/api/sum_geometry.hpp"
#include "sotto/oracle/per_example_sum.hpp"
#include "sotto/oracle/sum_grid_kernels.hpp"

namespace sotto {

__extension__ typedef __int128 Int128;

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

/// Up to so many units a thread's clipped sum has room in 64 bits: 2^50 steps for each.
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
  std::vector<double> piece_sum;  ///< zero between pieces
  double loss_sum = 0;            ///< likewise
  std::vector<Int128> total;
  bool wide = false;  ///< `total` holds something
  std::vector<std::int64_t> narrow_total;
  std::int64_t narrow_units = 0;  ///< whose sum is in narrow_total; 0: it is yet to be written
  bool touched = false;
  std::int64_t balance = 0;  ///< units whose gradient was not clipped less those whose was
  // Hessians: made when first needed. The lower triangle of the sum as a d x d matrix, and packed.
  std::vector<double> matrix_sum;
  std::vector<Int128> matrix_total;
  bool matrix_touched = false;

  void count(std::span<const double> block_norms, double radius) {
    for (const double norm : block_norms) balance += norm <= radius ? 1 : (norm > radius ? -1 : 0);
  }

  void widen() {
    if (!wide) std::fill(total.begin(), total.end(), Int128{0});
    wide = true;
    if (narrow_units == 0) return;
    for (std::size_t j = 0; j < narrow_total.size(); ++j) total[j] += narrow_total[j];
    narrow_units = 0;
  }

  /// Hands the sum over a piece of so many units to the totals. `narrow`: its entries are of
  /// clipped terms, so that 64 bits are enough for a while.
  void add_piece(double scale, std::int64_t units, bool narrow) {
    if (narrow && units <= kNarrowUnits) {
      if (narrow_units + units > kNarrowUnits) widen();
      narrow_total.resize(piece_sum.size());
      sum_grid_kernels().to(
          piece_sum.data(), scale, piece_sum.size(), narrow_units == 0, narrow_total.data());
      narrow_units += units;
      return;
    }
    widen();
    for (std::size_t j = 0; j < piece_sum.size(); ++j)
      total[j] += to_sum_grid(std::exchange(piece_sum[j], 0.0), scale);
  }
};

template <class BlockBody, class PieceBody>
void PerExampleSum::for_each_piece(const Batch& batch,
                                   SumKind kind,
                                   const BlockBody& add_block,
                                   const PieceBody& hand_over) {
  const SumGeometry full = sum_geometry(shape_, kind, 1);
  const std::int64_t range = batch.range > 0 ? batch.range : full.range;
  pieces_.clear();
  const auto cut = [&](std::int64_t begin, std::int64_t end) {
    for (; begin < end; begin += full.piece)
      pieces_.push_back({begin, std::min(full.piece, end - begin)});
  };
  if (batch.all) {
    const std::int64_t units = engine_.units();
    for (std::int64_t begin = 0; begin < units; begin += range)
      cut(begin, std::min(begin + range, units));
  } else {
    const auto count = static_cast<std::int64_t>(batch.indices.size());
    for (std::int64_t begin = 0, end = 0; begin < count; begin = end) {
      const std::int64_t limit =
          (batch.indices[static_cast<std::size_t>(begin)] / range + 1) * range;
      while (end < count && batch.indices[static_cast<std::size_t>(end)] < limit) ++end;
      cut(begin, end);
    }
  }
  // How an engine cuts a piece into blocks of its own decides nothing but how fast it is.
  const std::int64_t size = engine_.block_size();
  parallel_for(std::ssize(pieces_), [&](std::int64_t task, int worker) {
    const Piece& piece = pieces_[static_cast<std::size_t>(task)];
    Scratch& mine = scratch(worker);
    for (std::int64_t done = 0; done < piece.count; done += size) {
      Block block;
      block.count = std::min(size, piece.count - done);
      if (batch.all)
        block.begin = piece.begin + done;
      else
        block.index = batch.indices.data() + piece.begin + done;
      add_block(block, mine);
    }
    hand_over(mine, piece.count);
  });
}

template <class BlockBody>
void PerExampleSum::sum_vectors(const Batch& batch,
                                double radius,
                                const BlockBody& add_block,
                                Vector& sum) {
  prepare(thread_count(), sum_grid_scale(radius));
  const bool narrow = std::isfinite(radius);
  for_each_piece(batch, SumKind::kVector, add_block, [&](Scratch& mine, std::int64_t units) {
    mine.add_piece(scale_, units, narrow);
  });
  collect(sum);
}

}  // namespace sotto
