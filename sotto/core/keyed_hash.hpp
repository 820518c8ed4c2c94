#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sotto {

/// SipHash-2-4 (Aumasson and Bernstein, 2012) of a text. Whoever does not know the key can't choose
/// texts that collide.
std::uint64_t keyed_hash(std::string_view text, const std::array<std::uint64_t, 2>& key);

/// The same with a key that this process drew at random: for tables of names that come from files.
/// Nothing may depend on its value but where to look.
std::uint64_t keyed_hash(std::string_view text);

/// For containers of the standard library that are looked up by string_view.
struct KeyedHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return keyed_hash(text); }
};

}  // namespace sotto
