#pragma once

// Self-composition by powers of the discrete Fourier transform, with every error bounded
// (pld.proof.md, section 5). Internal to the PLD accountant.

#include <cstdint>
#include <vector>

#include "sotto/privacy/accountant/pld_grid.hpp"
#include "sotto/privacy/accountant/pld_plan.hpp"

namespace sotto::pld {

/// A measure that is composed `count` times.
struct Part {
  const Measure* measure;
  std::int64_t count;
};

/// The composition of the parts (all on one lattice), dense on the window moved to their mean. What
/// wraps around the window is bounded by Chernoff's inequality and, like round-off, goes to
/// `error`.
Measure convolve(const std::vector<Part>& parts, const Window& window);

/// Chernoff's bound of log delta(epsilon) at the plan's tilt, without composing anything; what lies
/// above the laws' ranges is not in it.
double log_chernoff(const std::vector<CountedLaw>& laws, const Plan& plan, double epsilon);

/// How many points the transforms of compose() move.
double transform_points(const std::vector<CountedLaw>& laws, const Plan& plan);

/// The composition of all laws as planned: a bound of the given kind, up to its `error`.
Measure compose(const std::vector<CountedLaw>& laws, const Plan& plan, Bound bound);

}  // namespace sotto::pld
