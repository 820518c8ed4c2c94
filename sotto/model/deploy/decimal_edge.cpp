#include "sotto/model/deploy/decimal_edge.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace sotto::deploy {
namespace {

constexpr int kMantissaBits = std::numeric_limits<double>::digits;
constexpr int kLeastExponent = std::numeric_limits<double>::min_exponent - kMantissaBits;

/// whole * 2^exponent, digit by digit: a negative power of 2 is one of 5, and of 10.
DecimalEdge decimal_of(std::uint64_t whole, int exponent) {
  std::vector<int> digits;  // the last first
  for (; whole > 0; whole /= 10) digits.push_back(static_cast<int>(whole % 10));
  for (int k = 0; k < std::abs(exponent); ++k) {
    int carry = 0;
    for (int& digit : digits) {
      carry += digit * (exponent < 0 ? 5 : 2);
      digit = carry % 10;
      carry /= 10;
    }
    if (carry > 0) digits.push_back(carry);
  }
  DecimalEdge edge;
  edge.point = static_cast<long>(digits.size()) + std::min(exponent, 0);
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit)
    edge.digits += static_cast<char>('0' + *digit);
  edge.digits.erase(edge.digits.find_last_not_of('0') + 1);
  return edge;
}

/// Halfway from a double that is not negative to the next one away from 0, or towards it.
DecimalEdge halfway(double value, bool away) {
  int exponent = 0;
  std::frexp(value, &exponent);
  exponent = value == 0 ? kLeastExponent : std::max(exponent - kMantissaBits, kLeastExponent);
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(value, -exponent));
  // Below a power of two, doubles are twice as dense.
  const bool is_dense = !away && exponent > kLeastExponent &&
                        mantissa == std::uint64_t{1} << static_cast<unsigned>(kMantissaBits - 1);
  DecimalEdge edge = is_dense
                         ? decimal_of(4 * mantissa - 1, exponent - 2)
                         : decimal_of(away ? 2 * mantissa + 1 : 2 * mantissa - 1, exponent - 1);
  edge.rounds_in = mantissa % 2 == 0;
  return edge;
}

DecimalEdge edge_of(double value, bool above) {
  const bool is_negative = value < 0 || (value == 0 && !above);
  DecimalEdge edge = halfway(std::abs(value), is_negative != above);
  if (is_negative) edge.sign = -1;
  return edge;
}

}  // namespace

DecimalEdge edge_below(double value) { return edge_of(value, false); }
DecimalEdge edge_above(double value) { return edge_of(value, true); }

}  // namespace sotto::deploy
