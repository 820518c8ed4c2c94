#include "sotto/report/chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sotto {

bool can_be_drawn(double value, bool log_axis) {
  return std::isfinite(value) && !(log_axis && value <= 0);
}

std::pair<double, double> log_range(const Chart& chart) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const auto& series : chart.series) {
    for (const auto& [x, y] : series.points)
      if (can_be_drawn(x, chart.log_x) && can_be_drawn(y, true)) {
        low = std::min(low, y);
        high = std::max(high, y);
      }
    for (const auto& [lower, upper] : series.band) {
      if (can_be_drawn(lower, true)) low = std::min(low, lower);
      if (can_be_drawn(upper, true)) high = std::max(high, upper);
    }
  }
  const double below = std::pow(10, std::floor(std::log10(low)));
  const double above = std::pow(10, std::floor(std::log10(high)));
  // A number that is a round one itself stays, whatever its last bit is.
  const double start = low >= 4.999999 * below ? 5 : low >= 1.999999 * below ? 2 : 1;
  const double end = high <= 1.000001 * above   ? 1
                     : high <= 2.000001 * above ? 2
                     : high <= 5.000001 * above ? 5
                                                : 10;
  if (start * below < end * above) return {start * below, end * above};
  return {start * below / 2, end * above * 2};
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
