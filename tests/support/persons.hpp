#pragma once

#include <string>

namespace sotto::testing {

/// The schema of rows `x,y`: a number and who is sick, with `more` columns before them.
inline std::string sick_or_well(const std::string& more = "") {
  return "[file]\nheader = true\n" + more + R"([[column]]
name = "x"
kind = "numeric"
min = -1
max = 1
[[column]]
name = "y"
kind = "label"
positive = "sick"
negative = "well"
)";
}

/// Of rows `who,x,y`, in which persons are protected.
inline const std::string kPersons = sick_or_well("[[column]]\nname = \"who\"\nkind = \"unit\"\n");

}  // namespace sotto::testing
