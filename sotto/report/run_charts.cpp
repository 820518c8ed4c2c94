#include "sotto/report/run_charts.hpp"

#include <algorithm>
#include <cmath>

namespace sotto {
namespace {

/// Steps of different methods can't be compared, passes can.
template <class Point>
double place(const Point& point, bool several) {
  return several ? point.passes : static_cast<double>(point.step);
}

/// Runs of a few passes beside runs of hundreds would be squeezed into the axis.
bool differ_in_length(std::span<const ReportedRun> runs) {
  const auto passes = [](const ReportedRun& a, const ReportedRun& b) {
    return a.record.passes < b.record.passes;
  };
  const auto [least, most] = std::minmax_element(runs.begin(), runs.end(), passes);
  return most->record.passes > 8 * least->record.passes && least->record.passes > 0;
}

Chart empty_chart(std::span<const ReportedRun> runs, std::string title, std::string y) {
  Chart chart;
  chart.title = std::move(title);
  chart.x_label = runs.size() > 1 ? "passes over the data" : "step";
  chart.log_x = differ_in_length(runs);
  chart.y_label = std::move(y);
  return chart;
}

std::string name_of(std::span<const ReportedRun> runs, const ReportedRun& run, std::string alone) {
  return runs.size() > 1 ? run.label : std::move(alone);
}

/// One filter's share of its budget: its epsilon is the whole budget from the first release on.
Chart filter_chart(std::span<const ReportedRun> runs) {
  Chart chart = empty_chart(runs, "Budget used", "share of the budget");
  chart.note =
      "The run chose its releases as it went. Its filter certifies the whole budget, however "
      "little of it was used.";
  Chart::Series share{"used"};
  share.points.emplace_back(0, 0);
  for (const auto& point : runs[0].record.spending)
    share.points.emplace_back(place(point, false), point.filter_share.value_or(0));
  const double end = share.points.back().first;
  chart.series = {std::move(share), {"granted", {{0, 1}, {end, 1}}}};
  chart.series.back().dashed = true;
  return chart;
}

}  // namespace

Chart budget_chart(std::span<const ReportedRun> runs) {
  const bool several = runs.size() > 1;
  if (!several && runs[0].by_filter()) return filter_chart(runs);
  Chart chart = empty_chart(runs, "Price of the plan, step by step", "epsilon");
  chart.note =
      "What a run would cost that had been planned to end at this step. A run that was planned "
      "longer and stopped there costs its whole plan: whoever stopped it had seen what was "
      "released.";
  for (const auto& run : runs) {
    Chart::Series spent{name_of(runs, run, "planned to end here, upper bound")};
    for (const auto& point : run.record.spending) {
      if (!point.epsilon) continue;
      if (spent.points.empty()) spent.points.emplace_back(0, 0);
      spent.points.emplace_back(place(point, several), *point.epsilon);
    }
    const double budget = run.record.epsilon_budget;
    if (!several && !spent.points.empty() && std::isfinite(budget)) {
      chart.series.push_back(spent);
      chart.series.push_back({"granted", {{0, budget}, {spent.points.back().first, budget}}});
      chart.series.back().dashed = true;
      return chart;
    }
    chart.series.push_back(std::move(spent));
  }
  return chart;
}

Chart gradient_chart(std::span<const ReportedRun> runs) {
  Chart chart = empty_chart(runs, "Released gradient norms", "gradient norm");
  chart.log_y = true;
  chart.note =
      "Each is the norm of a gradient with its noise: where the line stops falling, the noise is "
      "what is left.";
  for (const auto& run : runs) {
    Chart::Series norms{name_of(runs, run, "")};
    for (const auto& point : run.record.trace)
      norms.points.emplace_back(place(point, runs.size() > 1), point.gradient_norm);
    chart.series.push_back(std::move(norms));
  }
  return chart;
}

Chart objective_chart(std::span<const ReportedRun> runs) {
  Chart chart = empty_chart(runs, "Objective on public test rows", "objective");
  chart.note = "Of the iterates, which were released; the returned model may be their average.";
  for (const auto& run : runs) {
    Chart::Series objective{name_of(runs, run, "")};
    for (const auto& point : run.record.test_curve)
      objective.points.emplace_back(place(point, runs.size() > 1), point.objective);
    chart.series.push_back(std::move(objective));
  }
  return chart;
}

Chart accuracy_chart(std::span<const ReportedRun> runs) {
  Chart chart = empty_chart(runs, "Accuracy on public test rows", "accuracy, %");
  chart.most_y = 100;
  for (const auto& run : runs) {
    Chart::Series accuracy{name_of(runs, run, "")};
    for (const auto& point : run.record.test_curve)
      if (point.accuracy)
        accuracy.points.emplace_back(place(point, runs.size() > 1), 100 * *point.accuracy);
    chart.series.push_back(std::move(accuracy));
  }
  return chart;
}

std::vector<Chart> run_charts(std::span<const ReportedRun> runs) {
  std::vector<Chart> charts = {
      budget_chart(runs), gradient_chart(runs), objective_chart(runs), accuracy_chart(runs)};
  std::erase_if(charts, [](const Chart& chart) { return !has_points(chart); });
  return charts;
}

}  // namespace sotto
