#pragma once

#include <span>
#include <vector>

#include "sotto/report/chart.hpp"
#include "sotto/report/reported_run.hpp"

namespace sotto {

// Charts of one run over its steps, or of several over their passes through the data. Released
// values and public facts only; times are not drawn (docs/background/privacy_model.md).

/// The epsilon of a plan that ends at each step, beside the budget; for one run under a filter the
/// share of it that was used.
Chart budget_chart(std::span<const ReportedRun> runs);
Chart gradient_chart(std::span<const ReportedRun> runs);
/// On public test rows, at the iterates.
Chart objective_chart(std::span<const ReportedRun> runs);
Chart accuracy_chart(std::span<const ReportedRun> runs);

/// Those of the four that have something to draw.
std::vector<Chart> run_charts(std::span<const ReportedRun> runs);

}  // namespace sotto
