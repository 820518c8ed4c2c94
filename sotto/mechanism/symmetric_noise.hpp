#pragma once

#include "sotto/core/vector.hpp"
#include "sotto/random/stream.hpp"

namespace sotto::internal {

/// add_rounded_gaussian on the lower triangle of a square matrix, with step `unit` on the diagonal
/// and unit / sqrt(2) (rounded up) below it; then mirrors the triangle.
void add_symmetric_noise(Matrix& matrix, double unit, Stream& noise);

}  // namespace sotto::internal
