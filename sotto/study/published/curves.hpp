#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/report/chart.hpp"
#include "sotto/study/published/formula.hpp"
#include "sotto/study/spec.hpp"

namespace sotto::study {

/// The chart that a paper's formulas make: nothing is run for it. kBadData names the formulas, or
/// the arguments that are missing.
Expected<Chart> formula_chart(const FormulaChartSpec& spec);

/// Name, citation and text of every formula that has curves, for pages and tests.
const std::vector<FormulaInfo>& formula_curves();

}  // namespace sotto::study
