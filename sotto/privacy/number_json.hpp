#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace sotto {

/// JSON has no infinity: an epsilon that is not finite is null.
inline nlohmann::json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

}  // namespace sotto
