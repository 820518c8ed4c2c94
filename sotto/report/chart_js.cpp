// The charting library, put into the program at build time so that pages work offline.

#include <string_view>

#include "sotto/report/chart_page.hpp"

asm(R"(
.section .rodata
.global sotto_chart_js_begin
.global sotto_chart_js_end
sotto_chart_js_begin:
.incbin ")" SOTTO_CHART_JS R"("
sotto_chart_js_end:
.byte 0
.previous
)");

extern "C" const char sotto_chart_js_begin[];
extern "C" const char sotto_chart_js_end[];

namespace sotto {

std::string_view chart_js() {
  return {sotto_chart_js_begin,
          static_cast<std::size_t>(sotto_chart_js_end - sotto_chart_js_begin)};
}

}  // namespace sotto
