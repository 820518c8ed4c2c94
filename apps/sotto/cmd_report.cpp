#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "exit_codes.hpp"
#include "plot_file.hpp"
#include "printer.hpp"
#include "sotto/audit/verify.hpp"
#include "sotto/core/file.hpp"
#include "sotto/report/reported_run.hpp"
#include "sotto/report/run_charts.hpp"
#include "sotto/report/run_page.hpp"
#include "verbs.hpp"

namespace sotto::app {
namespace {

struct ReportArguments {
  std::vector<std::string> paths;
  std::string out;
  std::string plot;
};

/// The page to write: unless told otherwise beside the record, or for a comparison in the current
/// folder. Empty with --plot alone: no page is asked for.
std::string page_of(const ReportArguments& arguments) {
  if (!arguments.out.empty() || !arguments.plot.empty()) return arguments.out;
  if (arguments.paths.size() > 1) return "comparison.html";
  return std::filesystem::path(arguments.paths.front()).replace_extension(".html").string();
}

/// A record that was changed by hand must not become a clean page.
Expected<void> verify(const std::string& path, ReportedRun& run) {
  SOTTO_ASSIGN(const nlohmann::json record, load_record(path));
  SOTTO_ASSIGN(const Verification result, verify_record(record));
  for (const auto& price : result.prices) run.prices.emplace_back(price.accountant, price.epsilon);
  for (const auto& check : result.checks)
    if (check.outcome == RecordCheck::Outcome::kContradiction)
      run.contradictions.push_back(check.name + ": " + check.detail);
  return {};
}

Expected<int> run_report(const ReportArguments& arguments) {
  const std::string out = page_of(arguments);
  if (!out.empty()) SOTTO_TRY(check_writable(out, StreamTargets::kAllowed));
  if (!arguments.plot.empty()) SOTTO_TRY(check_plot(arguments.plot));
  std::vector<ReportedRun> runs;
  bool contradicts = false;
  for (const auto& path : arguments.paths) {
    SOTTO_ASSIGN(ReportedRun run, load_run(path));
    SOTTO_TRY(verify(path, run));
    contradicts |= !run.contradictions.empty();
    runs.push_back(std::move(run));
  }
  if (!arguments.plot.empty()) {
    SOTTO_TRY(write_plot(run_charts(runs), arguments.plot));
    tell("{} written\n", arguments.plot);
  }
  if (!out.empty()) {
    SOTTO_TRY(write_file_atomically(
        out,
        runs.size() == 1 ? run_page(runs.front()) : comparison_page(std::move(runs)),
        FileAccess::kPublic,
        StreamTargets::kAllowed));
    tell("{} written\n", out);
  }
  if (contradicts) say("sotto: a record contradicts itself; the page says where.\n");
  return contradicts ? kAuditContradicts : kSuccess;
}

}  // namespace

Action add_report(Verb& app) {
  auto* verb = app.add_subcommand("report", "make a page of one run, or compare several");
  auto a = std::make_shared<ReportArguments>();
  verb->add_inputs("RECORD", a->paths, "files that `sotto train --record` wrote").required();
  verb->writes("the page", [a = a.get()] { return std::vector{page_of(*a)}; });
  verb->add_word("--out", a->out, "the page; default: RECORD.html, or comparison.html");
  verb->add_output("--plot", a->plot, "the curves alone, as .svg or .png (needs gnuplot)");
  verb->footer(R"(
One run: the privacy statement in plain words, the budget over time, released values, metrics on public rows,
settings with their origin, events, versions, and the command. Several: the same side by side, curves in one chart.
Each record is verified first; a contradiction is shown in red, with exit code 5.
The page is one file without any connection to the outside; docs/guide/reports.md describes it and the record.

  sotto train --epsilon 1 --delta 1e-6 --dim 123 --row-norm 3.74 --record run.json a9a.gz model.json
  sotto report run.json
  sotto report small.json large.json --out both.html --plot both.svg)");
  return [a] { return run_report(*a); };
}

}  // namespace sotto::app
