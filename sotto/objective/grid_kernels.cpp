#include "sotto/objective/grid_kernels.hpp"

namespace sotto::internal::SOTTO_KERNEL_ARCH {

void add_dense_on_grid(const float* base,
                       std::int64_t stride,
                       const std::int64_t* rows,
                       const double* factors,
                       std::int64_t count,
                       std::int64_t dim,
                       double limit,
                       std::int64_t* sums) {
  // Adding 1.5 · 2^52 leaves the nearest integer in the lowest digits.
  constexpr double kShift = 0x1.8p52;
  std::int64_t shift_bits;
  __builtin_memcpy(&shift_bits, &kShift, sizeof shift_bits);
  constexpr std::int64_t kTile = 1024;  // sums that stay in the first-level cache
  for (std::int64_t begin = 0; begin < dim; begin += kTile) {
    const std::int64_t width = dim - begin < kTile ? dim - begin : kTile;
    std::int64_t* const tile = sums + begin;
    for (std::int64_t k = 0; k < count; ++k) {
      const float* const row = base + rows[k] * stride + begin;
      const double factor = factors[k];
      for (std::int64_t j = 0; j < width; ++j) {
        double x = factor * static_cast<double>(row[j]);
        x = x < -limit ? -limit : x;
        x = x > limit ? limit : x;
        x += kShift;
        std::int64_t bits;
        __builtin_memcpy(&bits, &x, sizeof bits);
        tile[j] += bits - shift_bits;
      }
    }
  }
}

}  // namespace sotto::internal::SOTTO_KERNEL_ARCH
