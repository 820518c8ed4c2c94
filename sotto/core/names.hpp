#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "sotto/core/error.hpp"

namespace sotto {

/// A value of an enum and its name in options, files and messages. One table of them serves both
/// directions:
///
///   inline constexpr Named<Colour> kColours[] = {{Colour::kRed, "red"}, {Colour::kBlue, "blue"}};
///   name_of(Colour::kRed, kColours);  // "red"
///   named("blue", kColours);          // Colour::kBlue; nothing for a name that it does not hold
template <class E>
struct Named {
  E value;
  std::string_view name;
};

template <class E, std::size_t N>
constexpr std::string_view name_of(E value, const Named<E> (&table)[N]) {
  for (const auto& each : table)
    if (each.value == value) return each.name;
  return {};
}

template <class E, std::size_t N>
constexpr std::optional<E> named(std::string_view name, const Named<E> (&table)[N]) {
  for (const auto& each : table)
    if (each.name == name) return each.value;
  return std::nullopt;
}

/// The same for a name in a file: an unknown one is a kBadData error about `what`.
template <class E, std::size_t N>
Expected<E> named_in_file(std::string_view what,
                          std::string_view name,
                          const Named<E> (&table)[N]) {
  if (const auto value = named(name, table)) return *value;
  std::string known;
  for (const auto& each : table) known += (known.empty() ? "" : ", ") + std::string(each.name);
  return fail(
      ErrorKind::kBadData,
      std::string(what) + " is '" + std::string(name) + "', but must be one of: " + known + ".");
}

}  // namespace sotto
