#pragma once

#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/study/document.hpp"

namespace sotto::study {

/// Prose with its measured numbers filled in. A citation is a link to a study's page whose title
/// names the cell and the measure,
///
///     [0.3470 ± 0.0024](srm-table2.md "not in the paper: auto / a9a / epsilon 0.2: objective")
///
/// (`CELL, recipe: MEASURE` for the paper's recipe, `slope: TITLE` for a fitted exponent), and its
/// text is written here, never by hand. Blanks and ends of lines are the same. kBadData names a
/// study, cell or measure that is not there.
Expected<std::string> with_citations(const std::string& text,
                                     const std::string& file,
                                     const std::vector<Reproduced>& all);

}  // namespace sotto::study
