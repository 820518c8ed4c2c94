#include "sotto/report/chart.hpp"

#include <algorithm>
#include <cmath>

namespace sotto {

bool can_be_drawn(double value, bool log_axis) {
  return std::isfinite(value) && !(log_axis && value <= 0);
}

bool has_points(const Chart& chart) {
  const auto drawn = [&](const std::pair<double, double>& point) {
    return can_be_drawn(point.first, chart.log_x) && can_be_drawn(point.second, chart.log_y);
  };
  return std::any_of(chart.series.begin(), chart.series.end(), [&](const auto& series) {
    return std::any_of(series.points.begin(), series.points.end(), drawn);
  });
}

}  // namespace sotto
