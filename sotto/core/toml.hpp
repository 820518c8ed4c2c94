#pragma once

// The one door for TOML text: nobody else calls toml::parse (tests/core/bare_files_test.cpp). For
// files of modules that link toml++; everything that needs no toml++ is in core/toml_depth.

#include <fmt/format.h>
#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "sotto/core/toml_depth.hpp"

namespace sotto {

/// Why a text is no TOML that is read, and where. What kind of error that is, its reader knows.
struct TomlFault {
  toml::source_region where;
  std::string description;  ///< without a full stop

  /// "run.toml:3:7: " and the description.
  std::string told_of(std::string_view name) const {
    return fmt::format("{}:{}:{}: {}", name, where.begin.line, where.begin.column, description);
  }
};

/// `name` is what the tables' places call the text.
inline tl::expected<toml::table, TomlFault> read_toml(std::string_view text,
                                                      std::string_view name) {
  if (const auto deep = find_deep_key(text)) {
    const toml::source_position place{static_cast<toml::source_index>(deep->line),
                                      static_cast<toml::source_index>(deep->column)};
    return tl::unexpected<TomlFault>(
        TomlFault{toml::source_region{place, place, nullptr},
                  fmt::format("a key has more than {} parts joined by dots, there are more than {} "
                              "keys of several parts, or more than {} tables in lists, and no file "
                              "of settings has that many: shorten it",
                              kMostKeyParts,
                              kMostDottedKeys,
                              kMostListedTables)});
  }
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    return tl::unexpected<TomlFault>(TomlFault{error.source(), std::string(error.description())});
  }
}

}  // namespace sotto
