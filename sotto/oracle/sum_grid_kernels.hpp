#pragma once

// Included by sum_grid_kernels.cpp, which is compiled once a processor level: declarations only.

#include <cstddef>
#include <cstdint>

namespace sotto::internal {

/// totals[j] += the integer nearest to values[j] · scale, or = if `first`; values[j] = 0. What is
/// beyond ± 2^61 becomes that, and a NaN 0. The same on every processor.
using ToSumGrid =
    void (*)(double* values, double scale, std::size_t count, bool first, std::int64_t* totals);

/// out[j] = the sum over `parts` arrays of totals[part][j], rounded to a double, times `step`.
using FromSumGrid = void (*)(const std::int64_t* const* totals,
                             std::size_t parts,
                             double step,
                             std::size_t count,
                             double* out);

namespace baseline {
void to_sum_grid(double* values, double scale, std::size_t count, bool first, std::int64_t* totals);
void from_sum_grid(const std::int64_t* const* totals,
                   std::size_t parts,
                   double step,
                   std::size_t count,
                   double* out);
}  // namespace baseline
namespace x86_64_v3 {
void to_sum_grid(double* values, double scale, std::size_t count, bool first, std::int64_t* totals);
void from_sum_grid(const std::int64_t* const* totals,
                   std::size_t parts,
                   double step,
                   std::size_t count,
                   double* out);
}  // namespace x86_64_v3

}  // namespace sotto::internal
