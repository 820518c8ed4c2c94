#include "sotto/core/directed_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace sotto {
namespace {

double read(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

/// `toward` 1 or -1. Compared as doubles: a text that is read back as the value is the value.
std::string directed(double value, int digits, int toward) {
  std::string text = fmt::format("{:.{}e}", value, digits - 1);
  if (std::isfinite(value) && (read(text) - value) * toward < 0) {
    // One unit of the last digit on.
    const std::size_t e = text.find('e');
    long exponent = std::strtol(text.c_str() + e + 1, nullptr, 10) - (digits - 1);
    std::string mantissa = text.substr(0, e);
    std::erase(mantissa, '.');
    long long units = std::strtoll(mantissa.c_str(), nullptr, 10);
    const bool shrinks = (units > 0) == (toward < 0);
    if (shrinks && std::llabs(units) == std::llround(std::pow(10, digits - 1)))
      units *= 10, --exponent;  // below 1.000 the next is 0.9999
    text = fmt::format("{}e{}", units + toward, exponent);
  }
  return fmt::format("{:.{}g}", read(text), digits);
}

}  // namespace

std::string text_up(double value, int digits) { return directed(value, digits, 1); }
std::string text_down(double value, int digits) { return directed(value, digits, -1); }

}  // namespace sotto
