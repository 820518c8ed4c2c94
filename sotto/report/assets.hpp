#pragma once

#include <string_view>

namespace sotto {

// Files that are put into the program at build time, so that pages work offline.

std::string_view chart_js();     ///< Chart.js, minified
std::string_view page_script();  ///< assets/page.js
std::string_view page_style();   ///< assets/page.css

}  // namespace sotto
