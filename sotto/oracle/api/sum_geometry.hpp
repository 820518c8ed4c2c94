#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sotto/oracle/api/public_problem.hpp"

namespace sotto {

/// What decides how a sum over units is cut: public numbers, nothing of the rows. The same for
/// whoever computes the sum and whoever bounds its rounding error, so that the bound, the noise
/// and the noise's grid say nothing about a row (oracle/per_example_sum.proof.md).
struct SumShape {
  std::int64_t dimension = 0;  ///< parameters of the model
  bool network = false;
};

inline SumShape sum_shape(const PublicProblem& problem) {
  return {problem.dimension, problem.network};
}

enum class SumKind { kVector, kMatrix };

/// Range k of a sum holds the units k · range … (k + 1) · range - 1. At most `piece` members of a
/// batch that lie in one range are added in float64, in the order of their numbers; what comes out
/// is rounded to a grid and added as integers. Hence a sum's bits depend neither on threads nor on
/// who summed which ranges.
struct SumGeometry {
  std::int64_t range = 1;
  std::int64_t piece = 1;

  /// Bound on the distance (L2) between the computed sum of vectors with `entries` entries and the
  /// exact one, for any data set of at most n units whose terms are at most `radius` long.
  double rounding_error(std::int64_t n, double radius, std::int64_t entries) const;
};

/// How many members of a batch a range is made for. Vectors: to hand a sum over costs its
/// dimension, and a row of a sparse table far less than that; but small batches should still have
/// ranges for several threads.
inline std::int64_t members_per_range(const SumShape& shape, SumKind kind) {
  if (kind == SumKind::kMatrix) return 1024;
  if (shape.network) return 64;
  return std::clamp<std::int64_t>(shape.dimension / 32, 128, 1 << 15);
}

/// For batches that expect a share `rate` of the units; 1: all of them.
inline SumGeometry sum_geometry(const SumShape& shape, SumKind kind, double rate) {
  constexpr double kLongestRange = 0x1p40;
  const std::int64_t members = members_per_range(shape, kind);
  const double range = std::ceil(static_cast<double>(members) / rate);
  return {range < kLongestRange ? static_cast<std::int64_t>(range) : std::int64_t{1} << 40,
          2 * members};
}

/// A piece's sum is rounded to 2^-50 of the clip radius (rounded up to a power of 2).
inline constexpr int kSumGridBits = 50;

/// Steps of the sums' grid per 1.
inline double sum_grid_scale(double radius) {
  if (!std::isfinite(radius)) return std::ldexp(1.0, kSumGridBits);
  int exponent = 0;
  std::frexp(radius, &exponent);  // radius <= 2^exponent
  return std::ldexp(1.0, kSumGridBits - exponent);
}

inline double SumGeometry::rounding_error(std::int64_t n,
                                          double radius,
                                          std::int64_t entries) const {
  constexpr double u = std::numeric_limits<double>::epsilon() / 2;
  const auto longest = static_cast<double>(piece);
  const auto count = static_cast<double>(n);
  const double pieces =
      std::floor(count / longest) + std::floor(count / static_cast<double>(range)) + 1;
  const double d = std::sqrt(static_cast<double>(entries));
  const double gamma = (longest + 2) * u / (1 - (longest + 2) * u);
  const double in_pieces = gamma * count * radius;
  const double on_grid = pieces * d * 0.5 / sum_grid_scale(radius);
  const double back_to_double = u * (count * radius + in_pieces + on_grid);
  return in_pieces + on_grid + back_to_double;
}

}  // namespace sotto
