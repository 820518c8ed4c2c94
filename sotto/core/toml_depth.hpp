#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sotto {

/// How many parts a key or a table's name may have; `a.b.c` has three.
constexpr std::size_t kMostKeyParts = 8;
/// How many keys and names of tables may have several parts, lists that end with a decimal among
/// them.
constexpr std::size_t kMostDottedKeys = 20'000;

/// How many tables may be elements of lists, as in `[[columns]]`.
constexpr std::size_t kMostListedTables = 100'000;

/// A place in a text; both count from 1.
struct TextPlace {
  std::size_t line = 0;
  std::size_t column = 0;  ///< in characters
};

/// Where the first key or table's name of a TOML text gets more parts than it may have, is one too
/// many with several parts, or one too many of a list. toml++ makes a table of each part and
/// destroys them recursively, so that a long name of them would end in a stack overflow, and it
/// looks for each such table among all of them, and for each list of tables among all lists. Asked
/// before toml++ is (core/toml.hpp): it takes one pass and no memory.
std::optional<TextPlace> find_deep_key(std::string_view toml);

}  // namespace sotto
