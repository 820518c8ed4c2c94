#pragma once

#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/data/column_facts.hpp"
#include "sotto/data/schema_draft.hpp"

namespace sotto::app {

/// Asks on standard error about what a draft does not know, and reads answers from standard input,
/// a line each: the label, the person, and each column that is not described. Ends where the
/// answers do; what was not answered stays a question of the draft.
Expected<void> ask_about(std::vector<ColumnFacts>& columns, DraftChoices& choices);

}  // namespace sotto::app
