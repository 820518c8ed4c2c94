#pragma once

#include <vector>

#include "sotto/report/page.hpp"
#include "sotto/report/reported_run.hpp"

namespace sotto {

// Parts that the reports of one and of several runs share.

/// Setting, value, origin, part (privacy, data, model, method), in this order.
Rows setting_rows(const ReportedRun& run);

/// The same as tables, one a part.
void add_settings(Page& page, const ReportedRun& run);

/// Release, how often it was planned, how often it was charged. Many kinds are cut short, with a
/// last row that says how many there are. An event that can't be read is one row of text.
Rows event_rows(const RunRecord& record);

/// Accuracy, AUC, loss and so on, as far as the record has them.
std::vector<Figure> metric_figures(const ReportedRun& run);

void add_confusion(Page& page, const ReportedRun& run);

}  // namespace sotto
