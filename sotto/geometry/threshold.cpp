#include "sotto/geometry/threshold.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sotto/core/check.hpp"

namespace sotto::internal {

double simplex_threshold(const Vector& a, double total) {
  SOTTO_CHECK(a.size() > 0 && total > 0);
  std::vector<double> active(a.begin(), a.end());
  while (true) {
    double sum = 0;
    for (const double x : active) sum += x;
    const double t = (sum - total) / static_cast<double>(active.size());
    const std::size_t before = active.size();
    std::erase_if(active, [t](double x) { return x <= t; });
    // The largest entry exceeds the mean of what must remain, unless all are equal up to rounding.
    if (active.size() == before || active.empty()) return t;
  }
}

double shrink(double x, double t) { return std::copysign(std::max(std::fabs(x) - t, 0.0), x); }

}  // namespace sotto::internal
