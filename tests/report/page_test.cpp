#include "sotto/report/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "sotto/core/numbers.hpp"
#include "sotto/report/assets.hpp"

namespace sotto {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const std::string kHostile = "<script>alert('x')</script> & \"quoted\"";

/// The page without the inlined library, which has its own angle brackets.
std::string own_part(const Page& page) {
  std::string html = page.html();
  const std::string library(chart_js());
  const std::size_t at = html.find(library);
  return at == std::string::npos ? html : html.erase(at, library.size());
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++found;
  return found;
}

nlohmann::json chart_data(const Page& page) {
  const std::string html = page.html();
  const std::string open = "id=\"charts\">";
  const std::size_t begin = html.find(open) + open.size();
  return nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

TEST(Page, EscapesEveryText) {
  Page page(kHostile, kHostile);
  page.heading(kHostile)
      .subheading(kHostile)
      .paragraph(kHostile)
      .list({kHostile})
      .banner(Tone::kDanger, kHostile, kHostile)
      .figures({{kHostile, kHostile, kHostile}})
      .table({kHostile}, {{kHostile}}, kHostile)
      .facts({{kHostile, kHostile}})
      .code(kHostile)
      .chart({.title = kHostile,
              .x_label = kHostile,
              .y_label = kHostile,
              .series = {{.name = kHostile, .points = {{1, 2}}}},
              .note = kHostile});
  const std::string html = own_part(page);
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(html, Not(HasSubstr("alert('x')</script>")));
  EXPECT_THAT(html,
              HasSubstr("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;quoted"));
  EXPECT_EQ(chart_data(page)[0]["series"][0]["name"], kHostile) << "the data survive";
}

TEST(Page, SetsBackticksAsCode) {
  const std::string html = Page("t").paragraph("run `a < b` and ` alone").html();
  EXPECT_THAT(html, HasSubstr("run <code>a &lt; b</code> and ` alone"));
}

TEST(Page, ForbidsEveryRequestAndNamesNoOtherFile) {
  Page page("t");
  page.chart({"c", "x", "y", false, {{"s", {{1, 2}}}}});
  const std::string html = own_part(page);
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  for (const char* fetch : {"src=\"", "@import", "url(", "<link", "fetch(", "http://"})
    EXPECT_THAT(html, Not(HasSubstr(fetch)));
}

TEST(Page, InlinesTheLibraryOnlyWhereThereIsAChart) {
  Page page("t");
  page.paragraph("words");
  EXPECT_LT(page.html().size(), 20'000u);
  page.chart({"c", "x", "y", false, {{"s", {{1, 2}}}}});
  EXPECT_THAT(page.html(), HasSubstr(std::string(chart_js())));
}

TEST(Page, PutsGapsWhereNothingCanBeDrawn) {
  Page page("t");
  page.chart({"c", "x", "y", true, {{"s", {{0, 1}, {1, 0}, {2, kNaN}, {3, kInfinity}, {4, 5}}}}});
  const auto points = chart_data(page)[0]["series"][0]["points"];
  ASSERT_EQ(points.size(), 5u);
  EXPECT_EQ(points[0]["y"], 1);
  for (const std::size_t gap : {1u, 2u, 3u}) EXPECT_TRUE(points[gap]["y"].is_null()) << gap;
  EXPECT_EQ(points[4]["y"], 5);
}

TEST(Page, SaysSoWhereAChartHasNoValues) {
  Page page("t");
  page.chart({"Gradient norms", "x", "y", true, {{"s", {{0, 0}, {1, kNaN}}}, {"t"}}});
  EXPECT_THAT(page.html(),
              AllOf(HasSubstr("<b>Gradient norms</b>: there are no values to draw."),
                    Not(HasSubstr("<canvas"))));
}

TEST(Page, DrawsBandsAndReferences) {
  Page page("t");
  Chart chart{"c", "x", "y", false, {{"mean", {{1, 2}, {2, 3}}, {{1, 3}, {2, 4}}}, {"budget"}}};
  chart.series[1].points = {{1, 4}, {2, 4}};
  chart.series[1].dashed = true;
  page.chart(chart);
  const auto series = chart_data(page)[0]["series"];
  EXPECT_EQ(series[0]["lower"][1], nlohmann::json({{"x", 2}, {"y", 2}}));
  EXPECT_EQ(series[0]["upper"][1], nlohmann::json({{"x", 2}, {"y", 4}}));
  EXPECT_FALSE(series[1].contains("lower"));
  EXPECT_EQ(series[1]["dashed"], true);
}

TEST(Page, HasAnchorsAndANavigation) {
  Page page("t");
  page.heading("Budget over time").heading("Settings & origins").heading("Events");
  const std::string html = page.html();
  EXPECT_THAT(html, HasSubstr("<h2 id=\"budget-over-time\">"));
  EXPECT_THAT(html, HasSubstr("<h2 id=\"settings-origins\">Settings &amp; origins</h2>"));
  EXPECT_EQ(count(html, "<a href=\"#"), 3u);
}

TEST(Page, MarksCellsAndRefusesLinksToScripts) {
  Page page("t");
  page.table({"what", {"value", true}},
             {{"claimed", {"1.2", Tone::kDanger}}, {{"other", Tone::kPlain, "other.html"}, "2"}});
  EXPECT_THAT(page.html(), HasSubstr("<td class=\"number\"><span class=\"danger\">1.2</span>"));
  EXPECT_THAT(page.html(), HasSubstr("<a href=\"other.html\">other</a>"));
  EXPECT_THROW(page.facts({{"x", {"y", Tone::kPlain, "javascript:alert(1)"}}}), std::logic_error);
  EXPECT_THROW(page.table({"one"}, {{"1", "2"}}), std::logic_error) << "a cell too many";
}

}  // namespace
}  // namespace sotto
