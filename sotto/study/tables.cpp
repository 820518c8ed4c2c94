#include "sotto/study/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sotto/study/published/curves.hpp"
#include "sotto/study/published/formula.hpp"

namespace sotto::study {
namespace {

std::string number(double value) { return fmt::format("{:.6g}", value); }

/// Three digits that are never below the bound.
std::string rounded_up(double epsilon) {
  if (!std::isfinite(epsilon)) return "no bound";
  const double scale = std::pow(10.0, 2 - std::floor(std::log10(std::max(epsilon, 1e-12))));
  return number(std::ceil(epsilon * scale * (1 - 1e-12)) / scale);
}

bool spends_more(const CellSpec& cell, const ArmResult& arm) {
  return cell.epsilon && arm.is_private && arm.epsilon > *cell.epsilon * 1.0001;
}

std::string printed_text(const std::string& measure, const Printed& printed) {
  std::string text = number(printed.value);
  if (measure == "missed") return printed.value > 0 ? "×" : "reached";
  if (printed.deviation) text += " ± " + number(*printed.deviation);
  return text;
}

std::string label_of(const StudySpec& spec, const CellSpec& cell) {
  std::string label = cell.row;
  if (cell.epsilon) label += fmt::format(", ε\u00a0=\u00a0{}", number(*cell.epsilon));
  if (cell.x) label += fmt::format(", {}\u00a0=\u00a0{}", spec.x_label, number(*cell.x));
  return label;
}

Line line_of(const StudySpec& spec,
             const CellSpec& cell,
             const ArmResult& arm,
             const std::string& what) {
  Line line{label_of(spec, cell), what, epsilon_text(arm), spends_more(cell, arm), {}};
  if (!arm.missing.empty()) {
    line.what += ": " + arm.missing;
    line.values.assign(spec.columns.size(), "");
    return line;
  }
  for (const auto& column : spec.columns) {
    const auto found = arm.measures.find(column);
    line.values.push_back(
        found == arm.measures.end() ? "–" : value_text(column, found->second, arm.runs));
  }
  return line;
}

Panel& panel_of(std::vector<Panel>& panels, const StudySpec& spec, const CellSpec& cell) {
  std::string title = cell.group;
  if (spec.data.size() > 1) title += (title.empty() ? "" : ", ") + cell.data;
  for (auto& panel : panels)
    if (panel.title == title) return panel;
  Panel panel{title, {}, {}};
  for (const auto& column : spec.columns) panel.columns.push_back(find_measure(column)->title);
  return panels.emplace_back(std::move(panel));
}

std::string arm_title(Way way, const CellSpec& cell, const ArmResult& arm) {
  return way == Way::kRecipe ? cell.row + ", its recipe"
                             : fmt::format("{}, Sotto: {}", cell.row, arm.method);
}

double x_of(const CurvePoint& point, Axis axis) {
  if (axis == Axis::kSteps) return point.steps;
  if (axis == Axis::kPasses) return point.passes;
  const auto value = point.values.find("seconds");
  return value == point.values.end() ? 0 : value->second.mean;
}

/// Curves hold errors; the accuracy is what is left.
std::optional<Statistic> on_curve(const CurvePoint& point, const std::string& measure) {
  const auto value = point.values.find(measure == "accuracy" ? "error" : measure);
  if (value == point.values.end()) return std::nullopt;
  const auto& [mean, half] = value->second;
  return Statistic{measure == "accuracy" ? 100 - mean : mean, half};
}

/// A curve of every cell that the chart asks for.
void add_curves(const ChartSpec& spec,
                const std::string& x_label,
                const CellSpec& cell,
                const CellResult& result,
                Chart& chart) {
  for (const Way way : spec.arms) {
    const ArmResult* arm = result.run(way);
    if (!arm || arm->curve.empty()) continue;
    Chart::Series series;
    series.name = arm_title(way, cell, *arm);
    // What a chart does not fix is in the names of its curves.
    if (!spec.epsilon && cell.epsilon) series.name += fmt::format(", ε = {}", *cell.epsilon);
    if (!spec.epsilon && cell.x) series.name += fmt::format(", {} = {}", x_label, *cell.x);
    series.dashed = way == Way::kRecipe;
    for (const auto& point : arm->curve) {
      const auto value = on_curve(point, spec.y);
      if (!value) continue;
      const auto& [mean, half] = *value;
      series.points.emplace_back(x_of(point, spec.x), mean);
      series.band.emplace_back(mean - half, mean + half);
    }
    chart.series.push_back(std::move(series));
  }
}

/// A point of a series that runs through cells.
void add_point(const ChartSpec& spec,
               const CellSpec& cell,
               const CellResult& result,
               Chart& chart) {
  const auto x = cell.at(spec.x);
  if (!x) return;
  const auto series_named = [&](const std::string& name) -> Chart::Series& {
    for (auto& each : chart.series)
      if (each.name == name) return each;
    return chart.series.emplace_back(Chart::Series{.name = name});
  };
  if (const auto printed = cell.printed.find(spec.y); printed != cell.printed.end()) {
    Chart::Series& series = series_named(cell.row + ", printed");
    series.points.emplace_back(*x, printed->second.value);
    series.markers = true;
  }
  for (const Way way : spec.arms) {
    const ArmResult* arm = result.run(way);
    if (!arm) continue;
    const auto value = arm->measures.find(spec.y);
    if (value == arm->measures.end()) continue;
    Chart::Series& series = series_named(arm_title(way, cell, *arm));
    series.points.emplace_back(*x, value->second.mean);
    series.dashed = way == Way::kRecipe;
  }
}

}  // namespace

std::string origin_of(const StudySpec& spec) {
  return spec.paper.empty() ? spec.shows : fmt::format("[{}], {}", spec.paper, spec.shows);
}

std::string title_of(const PaperSpec& paper) {
  return paper.key.empty() ? paper.title : fmt::format("{} [{}]", paper.title, paper.key);
}

std::string value_text(const std::string& measure, const Statistic& value, int runs) {
  std::string text = shown(measure, value.mean);
  const bool spread = find_measure(measure)->spread;
  if (runs > 1 && spread) {
    const bool rounding = value.deviation <= 1e-9 * std::abs(value.mean);
    text += " ± " + shown(measure, rounding ? 0 : value.deviation);
  }
  return text;
}

std::string epsilon_text(const ArmResult& arm) {
  if (!arm.missing.empty()) return "";
  return arm.is_private ? rounded_up(arm.epsilon) : "not private";
}

std::vector<Panel> panels_of(const StudySpec& spec, const Results& results) {
  std::vector<Panel> panels;
  for (const auto& cell : spec.cells) {
    const CellResult* result = results.find(key_of(cell));
    if (!result && results.quick) continue;
    Panel& panel = panel_of(panels, spec, cell);
    if (!cell.printed.empty() || !cell.printed_words.empty()) {
      Line line{label_of(spec, cell),
                "printed",
                cell.epsilon ? number(*cell.epsilon) + " stated" : "",
                false,
                {}};
      if (!cell.printed_words.empty()) line.what += ": " + cell.printed_words;
      for (const auto& column : spec.columns) {
        const auto found = cell.printed.find(column);
        line.values.push_back(found == cell.printed.end() ? ""
                                                          : printed_text(column, found->second));
      }
      panel.lines.push_back(std::move(line));
    }
    if (!result) continue;
    if (result->recipe) {
      std::string what = "its recipe";
      if (!cell.note.empty()) what += " (" + cell.note + ")";
      if (const auto code = result->recipe->epsilon_of_code)
        what += fmt::format("; its public code would spend {}", rounded_up(*code));
      panel.lines.push_back(line_of(spec, cell, *result->recipe, what));
    }
    if (result->best)
      panel.lines.push_back(
          line_of(spec,
                  cell,
                  *result->best,
                  result->best->missing.empty() ? "Sotto: " + result->best->method : "Sotto"));
  }
  return panels;
}

std::vector<std::pair<double, double>> slope_points(const SlopeSpec& slope,
                                                    const StudySpec& spec,
                                                    const Results& results) {
  std::vector<std::pair<double, double>> points;
  for (const auto& cell : spec.cells) {
    if (cell.group != slope.group || cell.row != slope.row) continue;
    const CellResult* result = results.find(key_of(cell));
    const ArmResult* arm = result ? result->run(Way::kBest) : nullptr;
    const auto x = cell.at(slope.against);
    if (!arm || !x || !arm->measures.contains(slope.measure)) continue;
    points.emplace_back(*x, arm->measures.at(slope.measure).mean);
  }
  return points;
}

std::vector<SlopeLine> slopes_of(const StudySpec& spec, const Results& results) {
  std::vector<SlopeLine> lines;
  for (const auto& slope : spec.slopes) {
    const auto exponent = fitted_exponent(slope_points(slope, spec, results));
    lines.push_back(
        {slope.title,
         exponent ? fmt::format("{:+.2f} ± {:.2f}", exponent->value, exponent->error) : "–",
         fmt::format("{:+.2f}", slope.theory)});
  }
  return lines;
}

std::vector<Chart> charts_of(const StudySpec& spec, const Results& results) {
  std::vector<Chart> charts;
  for (const auto& each : spec.charts) {
    Chart chart;
    chart.title = each.title;
    chart.x_label = each.x_label;
    chart.y_label = find_measure(each.y)->title;
    chart.log_x = each.log_x;
    chart.log_y = each.log_y;
    const bool curves = is_of_curves(each.x);
    if (curves) chart.note = "Mean and 95 % band of the runs.";
    for (const auto& cell : spec.cells) {
      if (!each.group.empty() && cell.group != (each.group == "-" ? "" : each.group)) continue;
      if (!each.data.empty() && cell.data != each.data) continue;
      if (each.epsilon && cell.epsilon != each.epsilon) continue;
      const CellResult* result = results.find(key_of(cell));
      if (!result) continue;
      if (curves)
        add_curves(each, spec.x_label, cell, *result, chart);
      else
        add_point(each, cell, *result, chart);
    }
    if (!chart.series.empty()) charts.push_back(std::move(chart));
  }
  for (const auto& each : spec.formula_charts)
    if (auto chart = formula_chart(each)) charts.push_back(*std::move(chart));
  return charts;
}

std::vector<Comparison> comparisons_of(const StudySpec& spec, const Results& results) {
  std::vector<Comparison> all;
  for (const auto& cell : spec.cells) {
    const CellResult* result = results.find(key_of(cell));
    for (const auto& printed_value : cell.printed) {
      const std::string& measure = printed_value.first;
      Comparison each;
      each.reproduction = spec.name;
      each.cell = label_of(spec, cell);
      if (!cell.group.empty()) each.cell = cell.group + ": " + each.cell;
      each.measure = find_measure(measure)->title;
      each.printed = printed_text(measure, printed_value.second);
      const auto fill = [&](Way way, std::string& value, std::string& epsilon) {
        const ArmResult* arm = result ? result->run(way) : nullptr;
        if (!arm || !arm->measures.contains(measure)) return;
        value = value_text(measure, arm->measures.at(measure), arm->runs);
        epsilon = epsilon_text(*arm);
      };
      fill(Way::kRecipe, each.recipe, each.recipe_epsilon);
      fill(Way::kBest, each.best, each.best_epsilon);
      all.push_back(std::move(each));
    }
  }
  return all;
}

std::string provenance(const Results& results) {
  if (results.cells.empty())
    return fmt::format("Drawn from formulas: nothing is run. Made by `{}`, version {}.",
                       results.command,
                       results.version);
  std::set<int> runs;
  for (const auto& cell : results.cells)
    for (const Way way : {Way::kRecipe, Way::kBest})
      if (const ArmResult* arm = cell.run(way)) runs.insert(arm->runs);
  std::string counts = "no";
  if (!runs.empty())
    counts = *runs.begin() == *runs.rbegin()
                 ? std::to_string(*runs.begin())
                 : fmt::format("{} to {}", *runs.begin(), *runs.rbegin());
  return fmt::format(
      "{}Mean ± standard deviation of {} runs. Made by `{}`, version {}, on {}.",
      results.quick ? "QUICK: fewer cells, rows and runs than a full reproduction. " : "",
      counts,
      results.command,
      results.version,
      results.machine);
}

std::vector<std::string> formulas_of(const StudySpec& spec) {
  std::set<std::string> used;
  for (const auto& cell : spec.cells)
    if (cell.recipe && !cell.recipe->noise.empty()) used.insert(cell.recipe->noise);
  std::vector<std::string> result;
  for (const auto& formula : published_formulas())
    if (used.contains(formula.name))
      result.push_back(fmt::format("{}: {} {}", formula.name, formula.text, formula.source));
  std::set<std::string> drawn;
  for (const auto& chart : spec.formula_charts) drawn.insert(chart.formula);
  for (const auto& formula : formula_curves())
    if (drawn.contains(formula.name))
      result.push_back(fmt::format("{}: {} {}", formula.name, formula.text, formula.source));
  return result;
}

}  // namespace sotto::study
