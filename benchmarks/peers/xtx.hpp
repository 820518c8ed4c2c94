#pragma once

#include <cstdint>

namespace sotto::bench {

/// Eigen's plain product Xᵀ X of a dense row-major matrix, single-threaded, compiled for the
/// build machine: the peer of Hessian assembly. `out` is dim x dim.
void plain_xtx_float(const float* x, std::int64_t rows, std::int64_t dim, float* out);
void plain_xtx_double(const double* x, std::int64_t rows, std::int64_t dim, double* out);

}  // namespace sotto::bench
