#pragma once

// A coarse picture of a law, for planning only: nothing here is part of a proof. Internal to the
// PLD accountant.

#include <Eigen/Core>
#include <cmath>

#include "sotto/privacy/accountant/pld_plan.hpp"

namespace sotto::pld {

struct Cumulants {
  double value, mean, variance;
};

/// The law, sampled finely enough to plan with.
struct Nodes {
  Eigen::ArrayXd loss, log_weight;
  Eigen::Index cells = 0;  // of the density, equally wide; they come first

  Cumulants at(double t) const {
    const Eigen::ArrayXd exponent = log_weight + t * loss;
    const double top = exponent.maxCoeff();
    const Eigen::ArrayXd w = (exponent - top).exp();
    const double total = w.sum();
    const double mean = (w * loss).sum() / total;
    return {top + std::log(total), mean, (w * (loss - mean).square()).sum() / total};
  }

  /// Where the law is narrower than a lattice of this step, its barycentre should be a lattice
  /// point: otherwise the lower bound loses up to a step.
  double barycentre(double step) const;
};

Nodes sample(const CountedLaw& counted, const LossLaw::Range& range);

/// log E (1 - e^{-X}) e^{-tX} 1{X > 0} for X ~ N(0, variance), roughly.
double log_saddle_factor(double t, double variance);

}  // namespace sotto::pld
