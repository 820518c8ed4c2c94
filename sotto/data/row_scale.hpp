#pragma once

#include <cstdint>

namespace sotto {

/// A row whose norm, in float64, is above its bound is multiplied by bound / norm times this; `dim`
/// counts its features, an intercept's 1 among them. The slack keeps rounding to float (2^-24
/// relative) and the norm's own rounding up from lifting the norm above the bound.
inline double shrinking(std::int64_t dim) {
  return 1 - (0x1p-22 + static_cast<double>(dim + 4) * 0x1p-52);
}

}  // namespace sotto
