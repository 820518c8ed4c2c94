#pragma once

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

namespace sotto {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The number that `text` is, all of it, in the C locale; nothing otherwise.
template <class T = double>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The same if it is finite.
inline std::optional<double> finite_in(std::string_view text) {
  const auto value = number_in<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace sotto
