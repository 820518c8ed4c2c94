#pragma once

#include <string>

namespace sotto::deploy {

/// Where the decimal numbers begin that round to a double or to a greater one: exactly, since a
/// decimal text that is compared with it needs no conversion, in which it would be rounded.
struct DecimalEdge {
  int sign = 1;
  long point = 0;          ///< the number is sign * 0.DIGITS * 10^point
  std::string digits;      ///< the first and the last are not 0
  bool rounds_in = false;  ///< the edge itself rounds to the double
};

/// Halfway to the next smaller and to the next greater double of a finite one.
DecimalEdge edge_below(double value);
DecimalEdge edge_above(double value);

}  // namespace sotto::deploy
