#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sotto {

/// A line chart as data; `Page` draws it in a browser, `gnuplot_script` for print.
struct Chart {
  struct Series {
    std::string name;
    /// In the order in which they are joined. A point that is not finite, or not positive on a
    /// logarithmic axis, is a gap in the line.
    std::vector<std::pair<double, double>> points = {};
    /// Lower and upper end at each point, e.g. of a 95 % band; empty: none, otherwise as many as
    /// there are points.
    std::vector<std::pair<double, double>> band = {};
    bool dashed = false;   ///< for references: a budget, a published value
    bool markers = false;  ///< points only, not joined
  };
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  bool log_y = false;
  std::vector<Series> series = {};
  bool log_x = false;
  std::optional<double> most_y = {};  ///< no value can be larger, so no axis goes beyond it
  std::string note = {};              ///< a sentence below the title: how to read it
};

/// Whether an axis can show the value.
bool can_be_drawn(double value, bool log_axis);
/// For a logarithmic axis: the smallest range from 1, 2 or 5 times a power of ten to another that
/// holds every point. The chart has points.
std::pair<double, double> log_x_range(const Chart& chart);
std::pair<double, double> log_y_range(const Chart& chart);
/// Whether some series has a point that both axes can show.
bool has_points(const Chart& chart);

}  // namespace sotto
