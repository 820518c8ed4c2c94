#include "sotto/report/chart_page.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace sotto {
namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --text: #1b1f24; --back: #ffffff; --line: #d0d7de; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --back: #0d1117; --line: #30363d; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back);
       max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
p { overflow-wrap: anywhere; }
.chart { position: relative; height: 22rem; border: 1px solid var(--line); border-radius: 8px; padding: .5rem; }
)";

// Colours that keep apart for colour-blind readers (Okabe and Ito's palette).
constexpr const char* kScript = R"(
const colours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
const style = getComputedStyle(document.documentElement);
const text = style.getPropertyValue("--text").trim(), line = style.getPropertyValue("--line").trim();
const axis = (title, log) => ({ type: log ? "logarithmic" : "linear", grid: { color: line },
  ticks: { color: text, ...(log ? { callback: v => Number(v).toExponential() } : {}) }, title: { display: true, text: title, color: text } });
charts.forEach((chart, i) => new Chart(document.getElementById("chart" + i), {
  type: "line",
  data: { datasets: chart.series.map((s, k) => ({ label: s.name, data: s.points,
    borderColor: colours[k % colours.length], backgroundColor: colours[k % colours.length],
    borderWidth: 2, pointRadius: 0 })) },
  options: { parsing: false, animation: false, maintainAspectRatio: false,
    interaction: { mode: "nearest", intersect: false },
    plugins: { legend: { labels: { color: text } } },
    scales: { x: axis(chart.x, false), y: axis(chart.y, chart.log_y) } } }));
)";

}  // namespace

std::string chart_page(const std::string& title,
                       const std::vector<std::string>& paragraphs,
                       const std::vector<Chart>& charts) {
  std::string body = fmt::format("<h1>{}</h1>\n", escaped(title));
  for (const auto& paragraph : paragraphs) body += fmt::format("<p>{}</p>\n", escaped(paragraph));
  nlohmann::json data = nlohmann::json::array();
  for (std::size_t i = 0; i < charts.size(); ++i) {
    const Chart& chart = charts[i];
    body +=
        fmt::format("<h2>{}</h2>\n<div class=\"chart\"><canvas id=\"chart{}\"></canvas></div>\n",
                    escaped(chart.title),
                    i);
    nlohmann::json series = nlohmann::json::array();
    for (const auto& each : chart.series) {
      nlohmann::json points = nlohmann::json::array();
      for (const auto& [x, y] : each.points) points.push_back({{"x", x}, {"y", y}});
      series.push_back({{"name", each.name}, {"points", points}});
    }
    data.push_back(
        {{"x", chart.x_label}, {"y", chart.y_label}, {"log_y", chart.log_y}, {"series", series}});
  }
  // A "</script>" inside a text would end the script element.
  std::string json = data.dump();
  for (std::size_t at = 0; (at = json.find("</", at)) != std::string::npos; at += 3)
    json.replace(at, 2, "<\\/");
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n<script>{}</script></head>\n<body>\n{}"
      "<script>\nconst charts = {};\n{}</script>\n</body></html>\n",
      escaped(title),
      kStyle,
      chart_js(),
      body,
      json,
      kScript);
}

}  // namespace sotto
