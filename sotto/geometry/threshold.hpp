#pragma once

#include "sotto/core/vector.hpp"

namespace sotto::internal {

/// The threshold t with Σ max(a_j - t, 0) = total, total > 0:
/// what projections onto l1 balls and simplices subtract. By Michelot's method [Mic86]: passes over
/// a shrinking set, O(size) in practice. It is >= 0 if the entries are >= 0 and sum to `total` or
/// more.
double simplex_threshold(const Vector& a, double total);

/// sign(x) max(|x| - t, 0).
double shrink(double x, double t);

}  // namespace sotto::internal
