#include "sotto/report/page.hpp"

#include <fmt/format.h>

#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>

#include "sotto/core/check.hpp"
#include "sotto/core/text.hpp"
#include "sotto/core/version.hpp"
#include "sotto/report/assets.hpp"

namespace sotto {
namespace {

/// Nothing may be loaded from anywhere, whatever a text contains.
constexpr const char* kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'";

std::string_view tone_class(Tone tone) {
  switch (tone) {
    case Tone::kGood:
      return "good";
    case Tone::kWarning:
      return "warning";
    case Tone::kDanger:
      return "danger";
    case Tone::kPlain:
      break;
  }
  return "plain";
}

/// Escaped, with **…** set in bold; odd asterisks stay.
std::string bold_html(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find("**", at);
    const std::size_t close =
        open == std::string::npos ? std::string::npos : text.find("**", open + 2);
    if (close == std::string::npos) return result + escaped_html(text.substr(at));
    result += escaped_html(text.substr(at, open - at)) + "<strong>" +
              escaped_html(text.substr(open + 2, close - open - 2)) + "</strong>";
    at = close + 2;
  }
  return result;
}

/// The same, and `…` is set as code; an odd backtick stays.
std::string inline_html(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('`', at);
    const std::size_t close =
        open == std::string::npos ? std::string::npos : text.find('`', open + 1);
    if (close == std::string::npos) return result + bold_html(text.substr(at));
    result += bold_html(text.substr(at, open - at)) + "<code>" +
              escaped_html(text.substr(open + 1, close - open - 1)) + "</code>";
    at = close + 1;
  }
  return result;
}

std::string anchor_of(const std::string& text) {
  std::string anchor;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u))
      anchor += static_cast<char>(std::tolower(u));
    else if (!anchor.empty() && anchor.back() != '-')
      anchor += '-';
  }
  while (!anchor.empty() && anchor.back() == '-') anchor.pop_back();
  return anchor;
}

/// Links lead to files beside the page, to anchors or to the web; never to scripts.
bool is_harmless(const std::string& link) {
  return link.find(':') == std::string::npos || link.starts_with("https://");
}

std::string cell_html(const Cell& cell) {
  std::string html = inline_html(cell.text);
  if (!cell.link.empty()) {
    SOTTO_CHECK(is_harmless(cell.link));
    html = fmt::format("<a href=\"{}\">{}</a>", escaped_html(cell.link), html);
  }
  if (cell.tone != Tone::kPlain)
    html = fmt::format("<span class=\"{}\">{}</span>", tone_class(cell.tone), html);
  return html;
}

/// A number, or null where it is a gap.
nlohmann::json coordinate(double value, bool log) {
  return can_be_drawn(value, log) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

nlohmann::json to_json(const Chart& chart) {
  const auto point = [&](double x, double y) {
    return nlohmann::json{{"x", coordinate(x, chart.log_x)}, {"y", coordinate(y, chart.log_y)}};
  };
  nlohmann::json series = nlohmann::json::array();
  for (const auto& each : chart.series) {
    SOTTO_CHECK(each.band.empty() || each.band.size() == each.points.size());
    nlohmann::json one = {{"name", each.name},
                          {"dashed", each.dashed},
                          {"markers", each.markers},
                          {"points", nlohmann::json::array()}};
    for (const auto& [x, y] : each.points) one["points"].push_back(point(x, y));
    if (!each.band.empty()) {
      one["lower"] = nlohmann::json::array();
      one["upper"] = nlohmann::json::array();
      for (std::size_t k = 0; k < each.points.size(); ++k) {
        one["lower"].push_back(point(each.points[k].first, each.band[k].first));
        one["upper"].push_back(point(each.points[k].first, each.band[k].second));
      }
    }
    series.push_back(std::move(one));
  }
  nlohmann::json json = {{"x", chart.x_label},
                         {"y", chart.y_label},
                         {"log_x", chart.log_x},
                         {"log_y", chart.log_y},
                         {"series", std::move(series)}};
  const auto range = [&](const char* min, const char* max, std::pair<double, double> ends) {
    json[min] = ends.first;
    json[max] = ends.second;
  };
  if (chart.log_x) range("x_min", "x_max", log_x_range(chart));
  if (chart.log_y) range("y_min", "y_max", log_y_range(chart));
  if (chart.most_y) json["y_most"] = *chart.most_y;
  return json;
}

}  // namespace

std::string escaped_html(const std::string& text) {
  std::string result;
  // A name of a file could turn the order of what stands beside it round.
  for (const char c : escaped(text)) {
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
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

Page::Page(std::string title, std::string subtitle)
    : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

Page& Page::heading(const std::string& text) {
  const std::string anchor = anchor_of(text);
  sections_.emplace_back(anchor, text);
  body_ += fmt::format("<h2 id=\"{}\">{}</h2>\n", anchor, inline_html(text));
  return *this;
}

Page& Page::subheading(const std::string& text) {
  body_ += fmt::format("<h3>{}</h3>\n", inline_html(text));
  return *this;
}

Page& Page::paragraph(const std::string& text) {
  body_ += fmt::format("<p>{}</p>\n", inline_html(text));
  return *this;
}

Page& Page::list(const std::vector<std::string>& items) {
  body_ += "<ul>\n";
  for (const auto& item : items) body_ += fmt::format("<li>{}</li>\n", inline_html(item));
  body_ += "</ul>\n";
  return *this;
}

Page& Page::banner(Tone tone, const std::string& title, const std::string& text) {
  body_ += fmt::format("<div class=\"banner {}\" role=\"{}\"><strong>{}</strong><p>{}</p></div>\n",
                       tone_class(tone),
                       tone == Tone::kDanger ? "alert" : "note",
                       inline_html(title),
                       inline_html(text));
  return *this;
}

Page& Page::figures(const std::vector<Figure>& figures) {
  body_ += "<div class=\"figures\">\n";
  for (const auto& figure : figures)
    body_ += fmt::format(
        "<div class=\"figure {}\"><span class=\"label\">{}</span><span class=\"value\">{}</span>"
        "<span class=\"note\">{}</span></div>\n",
        tone_class(figure.tone),
        inline_html(figure.label),
        inline_html(figure.value),
        inline_html(figure.note));
  body_ += "</div>\n";
  return *this;
}

Page& Page::table(const std::vector<Column>& columns,
                  const Rows& rows,
                  const std::string& caption) {
  body_ += "<div class=\"scroll\" tabindex=\"0\"><table>\n";
  if (!caption.empty())
    body_ += fmt::format("<caption><span>{}</span></caption>\n", inline_html(caption));
  const auto align = [&](std::size_t k) { return columns[k].number ? " class=\"number\"" : ""; };
  body_ += "<thead><tr>";
  for (std::size_t k = 0; k < columns.size(); ++k)
    body_ += fmt::format("<th scope=\"col\"{}>{}</th>", align(k), inline_html(columns[k].name));
  body_ += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows) {
    SOTTO_CHECK(row.size() == columns.size());
    body_ += "<tr>";
    for (std::size_t k = 0; k < row.size(); ++k)
      body_ += fmt::format("<td{}>{}</td>", align(k), cell_html(row[k]));
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table></div>\n";
  return *this;
}

Page& Page::facts(const std::vector<std::pair<std::string, Cell>>& facts) {
  body_ += "<dl>\n";
  for (const auto& [label, value] : facts)
    body_ +=
        fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", inline_html(label), cell_html(value));
  body_ += "</dl>\n";
  return *this;
}

Page& Page::chart(const Chart& chart) {
  const std::string title = inline_html(chart.title);
  if (!has_points(chart)) {
    body_ +=
        fmt::format("<p class=\"missing\"><b>{}</b>: there are no values to draw.</p>\n", title);
    return *this;
  }
  std::string names;
  for (const auto& series : chart.series)
    names += (names.empty() ? "" : ", ") + (series.name.empty() ? chart.y_label : series.name);
  body_ += fmt::format("<figure class=\"chart\"><figcaption><b>{}</b>", title);
  if (!chart.note.empty()) body_ += fmt::format("<span>{}</span>", inline_html(chart.note));
  body_ += fmt::format(
      "</figcaption><div class=\"plot\"><canvas role=\"img\" "
      "aria-label=\"{}: {} over {}; {}\"></canvas></div></figure>\n",
      escaped_html(chart.title),
      escaped_html(chart.y_label),
      escaped_html(chart.x_label),
      escaped_html(names));
  charts_.push_back(
      escaped_json(to_json(chart).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
  return *this;
}

Page& Page::code(const std::string& text) {
  body_ += fmt::format("<pre tabindex=\"0\"><code>{}</code></pre>\n", escaped_html(text));
  return *this;
}

std::string Page::html() const {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"generator\" content=\"sotto {}\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<header>\n<h1>{}</h1>\n",
      kPolicy,
      kVersion,
      escaped_html(title_),
      page_style(),
      inline_html(title_));
  if (!subtitle_.empty())
    html += fmt::format("<p class=\"subtitle\">{}</p>\n", inline_html(subtitle_));
  html += "</header>\n";
  if (sections_.size() > 2) {
    html += "<nav aria-label=\"Sections\">";
    for (const auto& [anchor, text] : sections_)
      html += fmt::format("<a href=\"#{}\">{}</a>", anchor, inline_html(text));
    html += "</nav>\n";
  }
  html += "<main>\n" + body_ + "</main>\n";
  html += fmt::format(
      "<footer>Made by sotto {}. This file is complete in itself: it loads nothing from "
      "anywhere.</footer>\n",
      kVersion);
  if (!charts_.empty()) {
    html += "<noscript><p>The charts need JavaScript; all else does not.</p></noscript>\n";
    // "<" would let a text inside end the script element.
    std::string data = fmt::format("[{}]", fmt::join(charts_, ",\n"));
    for (std::size_t at = 0; (at = data.find('<', at)) != std::string::npos; at += 6)
      data.replace(at, 1, "\\u003c");
    html += fmt::format("<script type=\"application/json\" id=\"charts\">{}</script>\n", data);
    html +=
        fmt::format("<script>\n{}\n</script>\n<script>\n{}</script>\n", chart_js(), page_script());
  }
  return html + "</body>\n</html>\n";
}

}  // namespace sotto
