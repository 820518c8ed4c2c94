#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sotto {

/// How many parts a key or a table's name may have; `a.b.c` has three.
constexpr std::size_t kMostKeyParts = 64;

/// A place in a text; both count from 1.
struct TextPlace {
  std::size_t line = 0;
  std::size_t column = 0;  ///< in characters
};

/// Where the first key or table's name of a TOML text gets more parts than it may have. toml++
/// makes a table of each part and destroys them recursively, so that a long name of them would end
/// in a stack overflow. Asked before toml++ is (core/toml.hpp): it takes one pass and no memory.
std::optional<TextPlace> find_deep_key(std::string_view toml);

}  // namespace sotto
