#pragma once

#include <vector>

#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/accountant/pld_curve.hpp"

namespace sotto {

/// Privacy loss distributions: composes dominating pairs exactly, up to a discretization that is
/// bounded on both sides (pld.proof.md). Supports full-batch Gaussian, Laplace, bounded-range
/// selection and sparse vector, Poisson sampling of these under zero-out and add-remove (of the
/// Gaussian under replace-one too), and fixed-size batches of these under replace-one (of the
/// Gaussian under zero-out too), in any mixture. Intervals are about 1e-4 of epsilon wide, but for
/// several fixed-size batches, where no data are known to attain the upper end; a query takes
/// milliseconds, up to 1e9 steps. delta is 0 or at least 1e-300. Losses beyond the lattices (noise
/// multipliers below 1/60 where sampled, below 1e-4 otherwise) are bounded in closed form, with
/// the lower end 0.
const Accountant& pld_accountant();

/// delta over epsilon for one event, composed once and then cheap to ask.
class ComposedLoss {
 public:
  /// Tight for epsilons in [0, largest_epsilon], valid for all. Takes some ten compositions.
  static Expected<ComposedLoss> compose(const CanonicalEvent& event, double largest_epsilon);

  /// epsilon >= 0. Both ends are certified.
  Interval delta(double epsilon) const;
  /// The smallest type II error that a test of type I error `alpha` in [0, 1] may reach, from
  /// below: the event is f-DP for this f [DRS22], the convex conjugate of delta's upper bound.
  double trade_off(double alpha) const;

 private:
  struct Direction {
    std::vector<pld::DeltaCurve> upper, lower;
  };
  bool private_ = true;
  std::vector<Direction> directions_;
  std::vector<std::pair<double, double>>
      lines_;  // (epsilon, delta upper) that define the trade-off
};

}  // namespace sotto
