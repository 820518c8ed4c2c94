#pragma once

// Chooses tilt, grids and windows for a composition. Nothing here is part of a proof: a bad plan
// costs accuracy, never correctness. Internal to the PLD accountant.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "sotto/privacy/accountant/pld_pair.hpp"

namespace sotto::pld {

/// A law that is composed `count` times with itself. For upper bounds it may be cut at a coordinate
/// into its bulk and its rare large losses, which are then composed like two laws (lemma 6).
struct CountedLaw {
  enum class Piece { kWhole, kBulk, kTail };
  LossLaw law;
  std::int64_t count;
  Piece piece = Piece::kWhole;
  double cut = 0;
};

/// A stretch of the lattice that holds nearly all of a composed, tilted loss, and the exponents of
/// the Chernoff bounds that prove it.
struct Window {
  double low = 0;
  double high = 0;
  double mean = 0;
  double exponent_low = 0;
  double exponent_high = 0;
};

/// Composes `count` times on a lattice of this step, within the window.
struct Level {
  std::int64_t count;
  double step;
  Window window;
};

/// How one law gets to the last lattice: first onto origin + knots * first_step, then through the
/// inner levels.
struct LawPlan {
  LossLaw::Range range;
  double log_scale;  ///< planned log E e^{tilt L}, a scale that keeps masses near 1
  double origin;
  double first_step;
  std::vector<std::int64_t> knots;
  std::vector<Level> levels;
};

struct Plan {
  double tilt;
  double epsilon;  ///< estimates, where the tilt is right
  double log_delta;
  double last_step;
  Window window;
  std::vector<LawPlan> laws;
  double size;              ///< points of the largest lattice
  bool is_feasible = true;  ///< false if it would take more than some seconds: don't compose it
};

/// For the epsilon at `delta`, which is estimated first.
Plan plan_for_delta(const std::vector<CountedLaw>& laws, double delta);
/// The same, where epsilon is known to be near `epsilon`.
Plan plan_near(const std::vector<CountedLaw>& laws, double delta, double epsilon);
/// For the delta at `epsilon`.
Plan plan_for_epsilon(const std::vector<CountedLaw>& laws, double epsilon);

/// The same laws, cut where that makes lattices smaller at a cost that is small against the plan's
/// accuracy. For upper bounds only.
std::vector<CountedLaw> cut_tails(const std::vector<CountedLaw>& laws, const Plan& plan);

}  // namespace sotto::pld
