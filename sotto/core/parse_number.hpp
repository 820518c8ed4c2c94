#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace sotto::internal {

/// The finite number that `text` is, all of it, in the C locale; nothing otherwise.
inline std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

}  // namespace sotto::internal
