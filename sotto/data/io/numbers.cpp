#include "sotto/data/io/numbers.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace sotto {
namespace {

constexpr std::array<double, 23> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                            1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

const char* parse_slowly(const char* text, const char* end, double& value) {
  const auto [rest, status] = std::from_chars(text, end, value);
  if (status == std::errc::result_out_of_range) {
    value = std::strtod(std::string(text, rest).c_str(), nullptr);  // infinity or nearly zero
    return rest;
  }
  return status == std::errc() ? rest : nullptr;
}

}  // namespace

const char* parse_number(const char* text, const char* end, double& value) {
  const char* p = text;
  if (p != end && *p == '+') {
    text = ++p;
    if (p != end && *p == '-') return nullptr;
  }
  const bool negative = p != end && *p == '-';
  if (negative) ++p;

  // Up to 18 digits fit 64 bits; with at most 2^53 and a power of ten up to 22 both operands below
  // are exact, so one operation rounds correctly.
  const char* first = p;
  std::uint64_t digits = 0;
  while (p != end && is_digit(*p)) digits = digits * 10 + static_cast<std::uint64_t>(*p++ - '0');
  auto count = p - first;
  int exponent = 0;
  if (p != end && *p == '.') {
    const char* point = p++;
    while (p != end && is_digit(*p)) digits = digits * 10 + static_cast<std::uint64_t>(*p++ - '0');
    exponent = static_cast<int>(point + 1 - p);
    count += p - point - 1;
  }
  if (count == 0 || count > 18) return parse_slowly(text, end, value);
  if (p != end && (*p | 0x20) == 'e') {
    const char* q = p + 1;
    const bool down = q != end && *q == '-';
    if (q != end && (*q == '-' || *q == '+')) ++q;
    int power = 0;
    const char* first_digit = q;
    while (q != end && is_digit(*q) && q - first_digit < 4) power = power * 10 + (*q++ - '0');
    if (q == first_digit || (q != end && is_digit(*q))) return parse_slowly(text, end, value);
    exponent += down ? -power : power;
    p = q;
  }
  if (digits > (std::uint64_t{1} << 53) || exponent < -22 || exponent > 22)
    return parse_slowly(text, end, value);
  const auto mantissa = static_cast<double>(digits);
  const double magnitude = exponent < 0 ? mantissa / kPowers[static_cast<std::size_t>(-exponent)]
                                        : mantissa * kPowers[static_cast<std::size_t>(exponent)];
  value = negative ? -magnitude : magnitude;
  return p;
}

}  // namespace sotto
