#pragma once

#include <cmath>

namespace sotto {

/// The losses of loss.hpp for single numbers.
struct ScalarMath {
  using Real = double;
  static double exp(double x) { return std::exp(x); }
  static double log(double x) { return std::log(x); }
  static double log1p(double x) { return std::log1p(x); }
  static double abs(double x) { return std::fabs(x); }
};

}  // namespace sotto
