#pragma once

#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/data/column_facts.hpp"

namespace sotto {

/// What a dictionary of data says about its columns (docs/reference/schema.md): a CSV file with the
/// headings column, type, min, max, values, description, or, where the name ends in .toml, a
/// [[column]] for each. It is a public document, whose mistakes are quoted. kBadData lists all of
/// them. The bounds of a date are days since 1970-01-01.
Expected<std::vector<ColumnFacts>> read_dictionary(const std::string& path);
/// `name` stands for the path.
Expected<std::vector<ColumnFacts>> parse_dictionary(const std::string& text,
                                                    const std::string& name);

}  // namespace sotto
