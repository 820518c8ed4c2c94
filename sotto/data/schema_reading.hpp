#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sotto/data/schema.hpp"
#include "sotto/data/toml_reader.hpp"

namespace sotto {

/// A schema's text as far as it could be read, with all of its mistakes.
struct SchemaReading {
  struct Place {
    std::int64_t line = 0;
    std::int64_t column = 0;
  };
  Schema schema;
  std::vector<Place> places;  ///< of the schema's columns: where they are declared
  std::vector<TomlMistake> mistakes;

  static SchemaReading of(std::string_view toml);
};

}  // namespace sotto
