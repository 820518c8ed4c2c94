#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sotto {

struct Chart {
  struct Series {
    std::string name;
    std::vector<std::pair<double, double>> points;
  };
  std::string title;
  std::string x_label;
  std::string y_label;
  bool log_y = false;
  std::vector<Series> series;
};

/// One self-contained HTML page: text, then charts; light and dark; nothing is fetched from
/// anywhere. Texts are escaped.
std::string chart_page(const std::string& title,
                       const std::vector<std::string>& paragraphs,
                       const std::vector<Chart>& charts);

/// The text of Chart.js, as inlined into pages.
std::string_view chart_js();

}  // namespace sotto
