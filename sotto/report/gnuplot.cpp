#include "sotto/report/gnuplot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sotto {
namespace {

constexpr int kWidth = 560;
constexpr int kHeight = 340;   ///< without the key
constexpr int kLine = 20;      ///< of the key
constexpr int kAxisLines = 4;  ///< below a chart's frame, before the key
// As on pages: colours that keep apart for colour-blind readers.
constexpr std::array<const char*, 8> kColours = {
    "#0072b2", "#d55e00", "#007a5a", "#b5479b", "#8a6100", "#3b8fc4", "#5b5bd6", "#4d4d4d"};

/// A gnuplot string: nothing but a single quote is special inside single quotes.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'')
      result += "''";
    else
      result += c == '\n' ? ' ' : c;
  }
  return result + "'";
}

std::string number(double value, bool log) {
  return can_be_drawn(value, log) ? fmt::format("{:.9g}", value) : "NaN";
}

void add_data(std::string& script, const Chart& chart, std::size_t k, std::size_t s) {
  const auto& series = chart.series[s];
  script += fmt::format("$data_{}_{} << END\n", k, s);
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const auto& [x, y] = series.points[i];
    script += number(x, chart.log_x) + " " + number(y, chart.log_y);
    if (!series.band.empty())
      script += " " + number(series.band[i].first, chart.log_y) + " " +
                number(series.band[i].second, chart.log_y);
    script += "\n";
  }
  script += "END\n";
}

/// The key below a chart: two columns where the names are short. Its lines need room of their own,
/// or they run over the axis.
struct Key {
  int columns = 1;
  int lines = 0;
};

Key key_of(const Chart& chart) {
  int names = 0;
  std::size_t longest = 0;
  for (const auto& series : chart.series)
    if (!series.points.empty() && !series.name.empty()) {
      ++names;
      longest = std::max(longest, series.name.size());
    }
  const int columns = longest <= 26 ? 2 : 1;
  return {columns, (names + columns - 1) / columns};
}

void add_plot(std::string& script, const Chart& chart, std::size_t k) {
  const Key key = key_of(chart);
  script += fmt::format(
      "set key bmargin center vertical maxrows {} maxcols {} samplen 2\nset bmargin {}\n",
      std::max(1, key.lines),
      key.columns,
      kAxisLines + key.lines);
  script +=
      fmt::format("set title {} noenhanced\nset xlabel {} noenhanced\nset ylabel {} noenhanced\n",
                  quoted(chart.title),
                  quoted(chart.x_label),
                  quoted(chart.y_label));
  const auto scale = [&](const char* axis, bool log, const auto& range_of) {
    if (!log) {
      script += fmt::format("unset logscale {0}\nset {0}range [*:*]\n", axis);
      return;
    }
    const auto [low, high] = range_of(chart);
    script += fmt::format("set logscale {0}\nset {0}range [{1:g}:{2:g}]\n", axis, low, high);
  };
  scale("x", chart.log_x, log_x_range);
  scale("y", chart.log_y, log_y_range);
  std::string plots;
  const auto add = [&](const std::string& text) {
    plots += (plots.empty() ? "" : ", \\\n  ") + text;
  };
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const auto& series = chart.series[s];
    if (series.points.empty()) continue;
    const char* colour = kColours[s % kColours.size()];
    if (!series.band.empty())
      add(
          fmt::format("$data_{}_{} using 1:3:4 with filledcurves fill solid 0.2 noborder lc rgb "
                      "'{}' notitle",
                      k,
                      s,
                      colour));
    const std::string style = series.markers
                                  ? "with points pt 7"
                                  : fmt::format("with lines lw 2 dt {}", series.dashed ? 2 : 1);
    add(fmt::format(
        "$data_{}_{} using 1:2 {} lc rgb '{}' {}",
        k,
        s,
        style,
        colour,
        series.name.empty() ? "notitle" : "title " + quoted(series.name) + " noenhanced"));
  }
  script += "plot " + plots + "\n";
}

}  // namespace

Expected<void> check_plot_path(const std::string& output) {
  if (output.ends_with(".svg") || output.ends_with(".png")) return {};
  return fail(ErrorKind::kUsage,
              fmt::format("‘plot’ draws .svg and .png files, but was given '{}'. Change the "
                          "extension.",
                          output));
}

bool is_whole_drawing(std::string_view bytes, const std::string& output) {
  constexpr std::string_view kLastChunk = {"IEND\xae\x42\x60\x82", 8};
  if (output.ends_with(".png")) return bytes.ends_with(kLastChunk);
  while (bytes.ends_with('\n')) bytes.remove_suffix(1);
  return bytes.ends_with("</svg>");
}

Expected<std::string> gnuplot_script(const std::vector<Chart>& charts, const std::string& output) {
  SOTTO_TRY(check_plot_path(output));
  std::vector<Chart> drawn;
  for (const auto& chart : charts)
    if (has_points(chart)) drawn.push_back(chart);
  if (drawn.empty())
    return fail(ErrorKind::kUsage,
                "there is nothing to plot: the run records hold no curves. `sotto train ‘record’` "
                "writes them.");
  const int columns = drawn.size() > 1 ? 2 : 1;
  const int rows = (static_cast<int>(drawn.size()) + columns - 1) / columns;
  int key_lines = 0;
  for (const auto& chart : drawn) key_lines = std::max(key_lines, key_of(chart).lines);
  const bool svg = output.ends_with(".svg");
  const int scale = svg ? 1 : 2;
  std::string script = fmt::format(
      "set encoding utf8\nset terminal {} size {},{} font 'sans,{}' {}\n"
      "set border 3 lc rgb '#5b6570'\nset tics nomirror textcolor rgb '#1c2126'\n"
      "set grid lc rgb '#dfe3e7' lt 1\nset format '%g'\n",
      svg ? "svg" : "pngcairo",
      scale * columns * kWidth,
      scale * rows * (kHeight + kLine * key_lines),
      svg ? 13 : 20,
      svg ? "background '#ffffff'" : "linewidth 2");
  for (std::size_t k = 0; k < drawn.size(); ++k)
    for (std::size_t s = 0; s < drawn[k].series.size(); ++s) add_data(script, drawn[k], k, s);
  if (drawn.size() > 1) script += fmt::format("set multiplot layout {},{}\n", rows, columns);
  for (std::size_t k = 0; k < drawn.size(); ++k) add_plot(script, drawn[k], k);
  if (drawn.size() > 1) script += "unset multiplot\n";
  return script + "unset output\n";
}

}  // namespace sotto
