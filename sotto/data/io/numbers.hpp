#pragma once

#include <cmath>
#include <limits>

namespace sotto {

/// Reads a decimal number (sign, digits, point, exponent; also nan and inf, which callers refuse)
/// at `text`, correctly rounded to float64, whatever the locale. Returns where it ends, or null if
/// there is none. Too large gives infinity, too small zero.
const char* parse_number(const char* text, const char* end, double& value);

/// A blank within a line.
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// Whether a value can be stored as a finite float32.
inline bool fits_float(double value) {
  return std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max());
}

}  // namespace sotto
