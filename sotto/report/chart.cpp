#include "sotto/report/chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sotto {
namespace {

/// Of positive numbers.
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;

  void add(double value) {
    if (!can_be_drawn(value, /*log_axis=*/true)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }

  std::pair<double, double> rounded() const {
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
};

}  // namespace

bool can_be_drawn(double value, bool log_axis) {
  return std::isfinite(value) && !(log_axis && value <= 0);
}

std::pair<double, double> log_x_range(const Chart& chart) {
  Extent extent;
  for (const auto& series : chart.series)
    for (const auto& [x, y] : series.points)
      if (can_be_drawn(y, chart.log_y)) extent.add(x);
  return extent.rounded();
}

std::pair<double, double> log_y_range(const Chart& chart) {
  Extent extent;
  for (const auto& series : chart.series) {
    for (const auto& [x, y] : series.points)
      if (can_be_drawn(x, chart.log_x)) extent.add(y);
    for (const auto& [lower, upper] : series.band) {
      extent.add(lower);
      extent.add(upper);
    }
  }
  return extent.rounded();
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
