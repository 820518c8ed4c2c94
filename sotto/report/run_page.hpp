#pragma once

#include <span>
#include <string>
#include <vector>

#include "sotto/report/page.hpp"
#include "sotto/report/reported_run.hpp"

namespace sotto {

/// The report of one run (HTML), for a reader who decides about its release: the privacy statement
/// in plain words, the budget over time, released values, certificate, metrics on public rows,
/// settings with their origin, events, versions, and how to reproduce it.
std::string run_page(const ReportedRun& run);

/// Several runs beside each other, their curves in the same charts. At least one run; labels are
/// made different where they are not.
std::string comparison_page(std::vector<ReportedRun> runs);

/// Banners for whatever makes a run not private; part of both pages. `who` begins the sentences,
/// e.g. `This run`.
void add_warnings(Page& page, const ReportedRun& run, const std::string& who);

/// A command line that a shell reads back as these words, with `sotto` in front.
std::string shell_command(const std::vector<std::string>& arguments);

}  // namespace sotto
