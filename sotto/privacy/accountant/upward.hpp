#pragma once

#include <cmath>
#include <limits>

namespace sotto {

/// Sums, products and quotients of numbers >= 0 that are never below the exact ones, and equal to
/// them wherever a double is: an upper bound stays one, and a budget that is met exactly is met.
/// std::fma has the sign of the exact remainder, but for one that underflows.
inline double next_up(double x) {
  return std::nextafter(x, std::numeric_limits<double>::infinity());
}
inline double sum_up(double a, double b) {
  const double sum = a + b;
  const double larger = a < b ? b : a;
  const double smaller = a < b ? a : b;
  return smaller > sum - larger ? next_up(sum) : sum;  // the difference is exact
}
inline double product_up(double a, double b) {
  const double product = a * b;
  const bool tiny = product < 1e-290 && a > 0 && b > 0;
  return tiny || std::fma(a, b, -product) > 0 ? next_up(product) : product;
}
inline double quotient_up(double a, double b) {
  const double quotient = a / b;
  const bool tiny = quotient < 1e-290 && a > 0;
  return tiny || std::fma(quotient, b, -a) < 0 ? next_up(quotient) : quotient;
}

}  // namespace sotto
