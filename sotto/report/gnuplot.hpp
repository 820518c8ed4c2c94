#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/report/chart.hpp"

namespace sotto {

/// A script for gnuplot 5 that draws the charts, in two columns if there are several, on its
/// standard output, for the file `output`. Its extension says how: .svg or .png, others are usage
/// errors; so is a list without charts. Texts are taken literally.
Expected<std::string> gnuplot_script(const std::vector<Chart>& charts, const std::string& output);

/// Whether these bytes, to be the file `output`, have the end that a whole drawing has.
bool is_whole_drawing(std::string_view bytes, const std::string& output);

/// The check of the extension alone, to be made before a run starts.
Expected<void> check_plot_path(const std::string& output);

}  // namespace sotto
