#include "sotto/report/assets.hpp"

#include <cstddef>

#define SOTTO_ASSET(name, path) \
  asm(".section .rodata\n"      \
      ".global sotto_" name     \
      "_begin\n"                \
      ".global sotto_" name     \
      "_end\n"                  \
      "sotto_" name             \
      "_begin:\n"               \
      ".incbin \"" path         \
      "\"\n"                    \
      "sotto_" name             \
      "_end:\n"                 \
      ".byte 0\n"               \
      ".previous\n")

SOTTO_ASSET("chart_js", SOTTO_CHART_JS);
SOTTO_ASSET("page_js", SOTTO_REPORT_ASSETS "/page.js");
SOTTO_ASSET("page_css", SOTTO_REPORT_ASSETS "/page.css");

extern "C" {
extern const char sotto_chart_js_begin[];
extern const char sotto_chart_js_end[];
extern const char sotto_page_js_begin[];
extern const char sotto_page_js_end[];
extern const char sotto_page_css_begin[];
extern const char sotto_page_css_end[];
}

namespace sotto {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view chart_js() { return between(sotto_chart_js_begin, sotto_chart_js_end); }
std::string_view page_script() { return between(sotto_page_js_begin, sotto_page_js_end); }
std::string_view page_style() { return between(sotto_page_css_begin, sotto_page_css_end); }

}  // namespace sotto
