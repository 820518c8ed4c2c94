#pragma once

#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/data/column_facts.hpp"

namespace sotto {

/// What the database's catalogue says of the columns of a table, which `path` names as
/// DatabasePath does. Of rows none are read but those of `public_tables`: the code tables of its
/// foreign keys that somebody calls public. Fails with kUsage also where the path names a query,
/// which has no catalogue.
Expected<std::vector<ColumnFacts>> read_catalogue(const std::string& path,
                                                  const std::vector<std::string>& public_tables);

}  // namespace sotto
