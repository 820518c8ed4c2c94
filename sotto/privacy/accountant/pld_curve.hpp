#pragma once

// delta over epsilon from a composed measure. Internal to the PLD accountant.

#include <cstdint>
#include <vector>

#include "sotto/privacy/accountant/pld_grid.hpp"

namespace sotto::pld {

/// A certified bound of delta(epsilon), exact for the measure on its lattice.
class DeltaCurve {
 public:
  /// `infinite` is the mass at infinite loss (upper bounds only).
  DeltaCurve(const Measure& measure, double tilt, double infinite, Bound bound);

  /// Says nothing: 1 from above, 0 from below.
  static DeltaCurve trivial(Bound bound);

  /// Any real epsilon; O(log size).
  double delta(double epsilon) const;
  /// Upper: an epsilon >= 0 with delta(epsilon) <= target, the least one up to round-off; infinity
  /// if there is none.
  double epsilon_above(double target) const;
  /// Lower: an epsilon in [0, start] whose delta exceeds the target, the largest one up to
  /// round-off; 0 if there is none.
  double epsilon_below(double target, double start) const;

 private:
  Bound bound_;
  double origin_, step_, tilt_, log_scale_, infinite_;
  double log_peak_;  // of max_x e^{-tx} (1 - e^{-x})
  double slack_;     // error times the peak
  double total_;     // mass and error
  double relative_;  // round-off of the sums below
  double blur_;      // round-off of the losses
  std::vector<std::int64_t> index_;
  // Sums over the knots j >= k of mass e^{-t d} (1 - e^{-d}) and of mass e^{-(t+1) d}, where d is
  // the distance of j from k.
  std::vector<double> stick_, weight_;
};

}  // namespace sotto::pld
