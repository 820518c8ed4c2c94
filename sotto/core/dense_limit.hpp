#pragma once

#include <cstdint>

#include "sotto/core/error.hpp"

namespace sotto {

/// Bytes that assembling, noising and solving with a dense d x d Hessian needs on `threads`
/// threads: a sum and a fixed-point total for each thread, the matrix, and an eigendecomposition's
/// three.
double dense_hessian_bytes(std::int64_t dimension, int threads);

/// Refuses (kUsage) a dimension whose dense Hessian would take more than half of the machine's
/// memory, and says what to use instead.
Expected<void> check_dense_hessian(std::int64_t dimension);

/// The same for the vectors that any method keeps: weights, gradients and totals, on each thread.
Expected<void> check_weights(std::int64_t dimension);

/// The same for the vectors that `products` Lanczos steps keep: a basis and its image, in the
/// method and in the noisy operator.
Expected<void> check_products(std::int64_t dimension, std::int64_t products);

}  // namespace sotto
