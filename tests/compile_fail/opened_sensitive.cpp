// Only a mechanism can look into a value that was computed from rows.
#include <utility>

#include "sotto/release/sensitive.hpp"

double look(sotto::Sensitive<double> value) {
#ifdef LEAK
  return std::move(value).open(sotto::ReleaseKey{});
#else
  return value.claim().sensitivity();
#endif
}
