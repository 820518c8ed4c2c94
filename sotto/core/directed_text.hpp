#pragma once

#include <string>

namespace sotto {

/// A number to so many significant digits (1 to 15), as short as {:g}, and never below it, or never
/// above: what is printed of a bound must still be one. A number that has no more digits keeps
/// them.
std::string text_up(double value, int digits = 6);
std::string text_down(double value, int digits = 6);

}  // namespace sotto
