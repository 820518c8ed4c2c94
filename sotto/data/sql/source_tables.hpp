#pragma once

#include "sotto/core/error.hpp"
#include "sotto/data/sql/database_path.hpp"

namespace sotto {

/// Whether the rows come from that table, however both are spelled. SQLite tells it of queries and
/// views too.
Expected<bool> comes_from(const DatabasePath& rows, const DatabasePath& table);

}  // namespace sotto
