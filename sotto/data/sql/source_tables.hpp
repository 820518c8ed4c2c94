#pragma once

#include "sotto/core/error.hpp"
#include "sotto/data/sql/database_path.hpp"

namespace sotto {

/// Whether the rows come from that table, however both are spelled, through queries and views. The
/// databases tell it.
Expected<bool> comes_from(const DatabasePath& rows, const DatabasePath& table);
/// Whether both are the same table or query, as far as that can be told.
Expected<bool> same_rows(const DatabasePath& a, const DatabasePath& b);

}  // namespace sotto
