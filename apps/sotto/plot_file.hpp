#pragma once

#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/report/chart.hpp"

namespace sotto::app {

/// Fails, with the remedy, if `path` is neither .svg nor .png, can't be written, or gnuplot is not
/// there.
Expected<void> check_plot(const std::string& path);

/// Draws the charts with gnuplot. The file is written only once the whole drawing is there, and
/// atomically: whatever fails, what had the name before is kept.
Expected<void> write_plot(const std::vector<Chart>& charts, const std::string& path);

}  // namespace sotto::app
