#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/data/column_facts.hpp"

namespace sotto {

/// What whoever wants a draft has said, beside the facts.
struct DraftChoices {
  std::string label;                  ///< what is to be predicted; empty: not said
  std::vector<std::string> positive;  ///< spellings of its positive class
  std::string person;                 ///< the column that names the person; empty: not said
  std::set<std::string> ignored;
  std::set<std::string> log;  ///< counts and amounts: scale = "log1p"
  char separator = ',';
};

/// Whether the facts and choices say all that a schema must say of a column.
bool is_described(const ColumnFacts& facts, const DraftChoices& choices);

/// One line of an answer about a column: `0..120` (a number, with ` log` behind it a count),
/// `2010-01-01..2020-12-31` (a date), `yes, no` or `codes 1..30` (a category), `-` (ignored),
/// `person`. Empty changes nothing. kUsage: it is none of these.
Expected<void> answer(std::string_view line, ColumnFacts& facts, DraftChoices& choices);

/// The TOML text of a schema, in groups of columns that are alike. What nobody has said is a
/// question ("TODO: …") that Schema::parse refuses; what a name suggests is a comment. kUsage: the
/// label or the person is no column.
Expected<std::string> draft_schema(const std::vector<ColumnFacts>& columns,
                                   const DraftChoices& choices);

/// Number of questions in a draft.
int open_questions(std::string_view draft);

}  // namespace sotto
