#pragma once

// Included by grid_kernels.cpp, which is compiled once a processor level: declarations only.

#include <cstdint>

namespace sotto::internal {

/// sums[j] += the integer nearest to factors[k] · rows[k][j], cut to ± limit < 2^50, for every row
/// k and column j < dim. Factors are finite; rows start `stride` floats apart.
using DenseGridKernel = void (*)(const float* base,
                                 std::int64_t stride,
                                 const std::int64_t* rows,
                                 const double* factors,
                                 std::int64_t count,
                                 std::int64_t dim,
                                 double limit,
                                 std::int64_t* sums);

namespace baseline {
void add_dense_on_grid(const float* base,
                       std::int64_t stride,
                       const std::int64_t* rows,
                       const double* factors,
                       std::int64_t count,
                       std::int64_t dim,
                       double limit,
                       std::int64_t* sums);
}  // namespace baseline
namespace x86_64_v3 {
void add_dense_on_grid(const float* base,
                       std::int64_t stride,
                       const std::int64_t* rows,
                       const double* factors,
                       std::int64_t count,
                       std::int64_t dim,
                       double limit,
                       std::int64_t* sums);
}  // namespace x86_64_v3

}  // namespace sotto::internal
