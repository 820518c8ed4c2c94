#pragma once

// The kernels of row_kernels.cpp, as network_kernels.hpp describes them. Only for files that are
// compiled once a processor level.

#include <cstdint>

namespace sotto::network_kernels::SOTTO_KERNEL_ARCH {

void multiply_rows(const float* const* rows,
                   std::int64_t row_count,
                   std::int64_t upcoming,
                   const float* weights,
                   std::int64_t columns,
                   std::int64_t outputs,
                   const float* bias,
                   float* out,
                   std::int64_t out_stride);

void softmax_slopes(const float* outputs, std::int64_t count, std::int64_t label, float* slopes);

}  // namespace sotto::network_kernels::SOTTO_KERNEL_ARCH
