// Only mechanisms can say that a value has been released.
#include "sotto/release/released.hpp"

double forge(const sotto::Released<double>& honest) {
#ifdef LEAK
  return sotto::Released<double>(sotto::ReleaseKey{}, 1.0, honest.event()).value();
#else
  return honest.value();
#endif
}
