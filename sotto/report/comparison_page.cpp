#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sotto/core/check.hpp"
#include "sotto/privacy/seed_mark.hpp"
#include "sotto/report/privacy_words.hpp"
#include "sotto/report/run_charts.hpp"
#include "sotto/report/run_page.hpp"
#include "sotto/report/run_tables.hpp"

namespace sotto {
namespace {

/// `a` and `a` become `a (dp-gd)` and `a (dp-sgd)`, or `a (1)` and `a (2)` if that is not enough.
void tell_apart(std::vector<ReportedRun>& runs) {
  const auto repeated = [&](const std::string& label) {
    return std::count_if(
               runs.begin(), runs.end(), [&](const auto& run) { return run.label == label; }) > 1;
  };
  std::set<std::string> doubles;
  for (const auto& run : runs)
    if (repeated(run.label)) doubles.insert(run.label);
  for (auto& run : runs)
    if (doubles.contains(run.label)) run.label += " (" + run.record.method + ")";
  std::map<std::string, int> seen;
  for (const auto& run : runs) ++seen[run.label];
  std::map<std::string, int> next;
  for (auto& run : runs)
    if (seen[run.label] > 1) {
      const int number = ++next[run.label];
      run.label += fmt::format(" ({})", number);
    }
}

Cell epsilon_cell(const PrivacyStatement& privacy) {
  if (!privacy.is_private) return {"none", Tone::kDanger};
  const bool unsafe = privacy.unsafe_diagnostics || privacy.insecure_seed;
  return {rounded_up(privacy.epsilon) + (unsafe ? " (not private)" : ""),
          unsafe ? Tone::kDanger : Tone::kPlain};
}

void guarantee_table(Page& page, const std::vector<ReportedRun>& runs) {
  Rows rows;
  for (const auto& run : runs) {
    const PrivacyStatement& privacy = run.record.privacy;
    rows.push_back({Cell(run.label),
                    Cell(run.record.method),
                    epsilon_cell(privacy),
                    Cell(privacy.is_private && run.record.epsilon_lower
                             ? rounded_down(*run.record.epsilon_lower)
                             : "-"),
                    Cell(privacy.is_private ? rounded_up(privacy.delta) : "-"),
                    Cell(privacy.is_private ? std::string(to_string(privacy.neighbours)) : "-"),
                    Cell(privacy.unit),
                    Cell(privacy.is_private ? privacy.accountant : "-")});
  }
  page.table({"run",
              "method",
              {"epsilon", true},
              {"at least", true},
              {"delta", true},
              "relation",
              "unit",
              "accountant"},
             rows);
}

/// Basic composition, which holds even if later runs were chosen by looking at earlier ones.
void joint_budget(Page& page, const std::vector<ReportedRun>& runs) {
  double epsilon = 0;
  double delta = 0;
  bool comparable = true, seeded = false;
  for (const auto& run : runs) {
    const PrivacyStatement& privacy = run.record.privacy;
    if (!privacy.is_private) {
      page.banner(Tone::kWarning,
                  "All of these runs together: no guarantee",
                  "At least one of them is not private. Whoever sees all of them on the same data "
                  "learns what that one shows.");
      return;
    }
    epsilon += privacy.epsilon;
    delta += privacy.delta;
    seeded |= privacy.insecure_seed;
    comparable &= privacy.neighbours == runs[0].record.privacy.neighbours &&
                  privacy.unit == runs[0].record.privacy.unit;
  }
  if (comparable)
    page.banner(Tone::kWarning,
                fmt::format("If all {} used the same data: epsilon {}{} at delta {} together",
                            runs.size(),
                            rounded_up(epsilon),
                            seed_mark(seeded),
                            rounded_up(delta)),
                "The budgets of runs on the same data add up, also those of runs that were thrown "
                "away. The sum also holds for runs chosen after looking at earlier ones, if none "
                "was begun that took it beyond a limit set before the first. For runs that were "
                "planned together `sotto account` tells a smaller price from their journals; it is "
                "no guarantee for runs chosen after looking.");
  else
    page.banner(Tone::kWarning,
                "These guarantees can't be compared or added",
                "The runs protect different units or use different relations: the same epsilon "
                "means something else in each.");
}

void results_table(Page& page, const std::vector<ReportedRun>& runs) {
  std::vector<std::string> metrics;
  for (const char* name : {"accuracy", "auc", "rmse", "mae", "loss", "objective"})
    if (std::any_of(runs.begin(), runs.end(), [&](const auto& run) {
          return run.metric(name).has_value();
        }))
      metrics.emplace_back(name);
  std::vector<Column> columns = {"run", {"steps", true}, {"passes", true}};
  for (const auto& name : metrics)
    columns.emplace_back(name == "auc"        ? "test AUC"
                         : name == "accuracy" ? "test accuracy, %"
                                              : "test " + name,
                         true);
  Rows rows;
  for (const auto& run : runs) {
    rows.push_back(
        {Cell(run.label), Cell(with_commas(run.record.steps)), Cell(rounded(run.record.passes))});
    for (const auto& name : metrics) {
      const auto value = run.metric(name);
      rows.back().push_back(!value               ? Cell("-")
                            : name == "accuracy" ? Cell(fmt::format("{:.2f}", 100 * *value))
                                                 : Cell(rounded(*value)));
    }
  }
  page.table(columns, rows);
}

/// One row a setting, one column a run; those in which all agree are left out.
void differences(Page& page, const std::vector<ReportedRun>& runs) {
  std::vector<std::string> names;
  std::vector<std::map<std::string, std::pair<std::string, std::string>>> values(runs.size());
  for (std::size_t k = 0; k < runs.size(); ++k)
    for (const auto& row : setting_rows(runs[k])) {
      const std::string& name = row[0].text;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      values[k][name] = {row[1].text, row[2].text};
    }
  std::vector<Column> columns = {"setting"};
  for (const auto& run : runs) columns.emplace_back(run.label);
  Rows rows;
  for (const auto& name : names) {
    std::vector<Cell> row = {Cell(name)};
    std::set<std::string> different;
    for (auto& of_run : values) {
      const auto found = of_run.find(name);
      const std::string value = found == of_run.end() ? "-" : found->second.first;
      const std::string origin = found == of_run.end() ? "" : found->second.second;
      different.insert(value);
      row.emplace_back(origin.empty() || origin == "default" ? value : value + " (" + origin + ")");
    }
    if (different.size() > 1) rows.push_back(std::move(row));
  }
  if (rows.empty())
    page.paragraph("All settings are the same.");
  else
    page.table(columns, rows);
}

}  // namespace

std::string comparison_page(std::vector<ReportedRun> runs) {
  SOTTO_CHECK(!runs.empty());
  tell_apart(runs);
  Page page(fmt::format("Comparison of {} runs", runs.size()));
  for (const auto& run : runs) add_warnings(page, run, fmt::format("The run {}", run.label));
  page.heading("Privacy");
  guarantee_table(page, runs);
  joint_budget(page, runs);
  page.heading("Budget over time").chart(budget_chart(runs));
  page.heading("Released values").chart(gradient_chart(runs));
  for (const Chart& chart : {objective_chart(runs), accuracy_chart(runs)})
    if (has_points(chart)) page.chart(chart);
  page.heading("Results").paragraph("Metrics are exact numbers about public test rows.");
  results_table(page, runs);
  page.heading("Settings that differ");
  differences(page, runs);
  page.heading("How to reproduce");
  for (const auto& run : runs) {
    page.subheading(run.label);
    if (run.record.command.empty())
      page.paragraph("The record does not hold the command line.");
    else
      page.code(shell_command(run.record.command));
  }
  return page.html();
}

}  // namespace sotto
