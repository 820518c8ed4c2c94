#pragma once

// Measures on a lattice of losses, and how a law gets onto it, from above and from below
// (pld.proof.md, sections 3 and 4). Internal to the PLD accountant.

#include <cstdint>
#include <vector>

#include "sotto/privacy/accountant/pld_pair.hpp"

namespace sotto::pld {

/// Whether an approximation may only raise or only lower every delta(epsilon).
enum class Bound { kUpper, kLower };

/// A measure on the losses origin + index * step, tilted: mass holds P(loss) e^{tilt loss -
/// log_scale}. `error` bounds what round-off did to it, as a tilted mass.
struct Measure {
  double origin = 0;
  double step = 0;
  std::vector<std::int64_t> index;  // increasing
  std::vector<double> mass;
  double log_scale = 0;
  double error = 0;

  double total() const;
};

/// `law` within `range` on the losses origin + knots * step, which cover the range's losses.
/// Upper: connect-the-dots. Lower: a mean-preserving contraction. Both second order in the knots'
/// distances. Cost: a few exponentials a knot.
Measure discretize(const LossLaw& law,
                   const LossLaw::Range& range,
                   double tilt,
                   double log_scale,
                   double origin,
                   double step,
                   const std::vector<std::int64_t>& knots,
                   Bound bound);

/// A measure on consecutive points of a lattice onto every ratio-th of them.
Measure coarsen(const Measure& fine, std::int64_t ratio, double tilt, Bound bound);

}  // namespace sotto::pld
