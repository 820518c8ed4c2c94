#pragma once

// Falsification of privacy claims: a mechanism is run many times on two neighbouring inputs, and
// what an observer can tell apart bounds its epsilon from below.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/support/statistics.hpp"

namespace sotto::testing {

/// How often each of some events happened in `trials` runs. The events may overlap (half-lines) or
/// not (outcomes of a selection).
struct EventCounts {
  std::vector<std::int64_t> hits;
  std::int64_t trials = 0;
};

/// The largest epsilon that two runs refute at `delta`: a mechanism that is (epsilon, delta)-DP
/// gets an answer above its epsilon with probability at most alpha (Clopper-Pearson bounds on every
/// event's two probabilities, in both directions, with Bonferroni's correction; exact).
inline double epsilon_lower_bound(const EventCounts& a,
                                  const EventCounts& b,
                                  double delta = 0,
                                  double alpha = kFalseAlarm) {
  const double each = alpha / (4 * static_cast<double>(a.hits.size()));
  double bound = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < a.hits.size(); ++i) {
    const auto one_way =
        [&](std::int64_t high, std::int64_t nh, std::int64_t low, std::int64_t nl) {
          const double excess = probability_lower(high, nh, each) - delta;
          if (excess > 0)
            bound = std::max(bound, std::log(excess / probability_upper(low, nl, each)));
        };
    one_way(a.hits[i], a.trials, b.hits[i], b.trials);
    one_way(b.hits[i], b.trials, a.hits[i], a.trials);
  }
  return bound;
}

}  // namespace sotto::testing
