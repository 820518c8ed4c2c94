#pragma once

// Dominating pairs, each as the law of its privacy loss. Internal to the PLD accountant.

#include <cmath>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/privacy/event.hpp"

namespace sotto::pld {

/// log(1 - q + q e^b), accurate near b = 0 and free of overflow.
inline double log_mixture(double q, double b) {
  return b > 30 ? b + std::log(q + (1 - q) * std::exp(-b)) : std::log1p(q * std::expm1(b));
}

/// Which way a record changes between the two neighbours; Poisson sampling under zero-out and
/// add-remove has a different pair for each, and both must be composed.
enum class Direction { kRemove, kAdd };

/// The law of the loss L = log dP/dQ under P of one dominating pair (P, Q), as an increasing
/// function of a coordinate b: a density on an interval of b, plus atoms. For unsampled mechanisms
/// b is the loss itself; Poisson sampling only bends it (pld.proof.md, section 2).
class LossLaw {
 public:
  struct Atom {
    double loss;
    double mass;
  };
  /// What is left of the law within [low, high] of the coordinate; at most `above` of P's mass lies
  /// above and at most `below` below.
  struct Range {
    double low, high, below, above;
  };

  static LossLaw gaussian(double mu);
  static LossLaw laplace(double epsilon);
  /// Dominates every epsilon-bounded-range mechanism.
  static LossLaw bounded_range(double epsilon);
  /// Randomized response: dominates every epsilon-DP mechanism.
  static LossLaw pure(double epsilon);
  /// Poisson sampling of `base` (an unsampled, symmetric law), where a record is there or not.
  static LossLaw poisson(double rate, const LossLaw& base, Direction direction);
  /// Poisson sampling of a Gaussian under replace-one: shifts of +-1/2 sensitivity.
  static LossLaw poisson_replace(double rate, double noise_multiplier);

  double loss(double b) const;
  /// Of P at b, given loss(b).
  double log_density(double b, double loss_at_b) const;
  /// The b with loss(b) = l, or an infinity if l is out of reach.
  double inverse(double l) const;
  bool has_density() const { return has_density_; }
  const std::vector<Atom>& atoms() const { return atoms_; }
  /// Cuts tails of P-mass at most e^{log_below} and e^{log_above} off.
  Range range(double log_below, double log_above) const;
  /// A bound of the rate at which density and loss change at b: quadrature panels are short against
  /// its inverse.
  double roughness(double b, bool density_only = false) const;
  /// sup L, possibly infinite.
  double max_loss() const;

 private:
  enum class Form { kPlain, kRemove, kAdd, kReplace };
  Form form_ = Form::kPlain;
  bool gaussian_ = false;
  bool has_density_ = true;
  double rate_ = 1;
  double sigma_ = 0;         // of the coordinate, for Gaussians
  double log_constant_ = 0;  // of the density
  double epsilon_ = 0;       // half-width of the support, otherwise
  double log_odds_ = 0;      // replace-one: log((1 - q) / q) + sigma^2 / 2
  std::vector<Atom> atoms_;
};

/// The pair of one term. Refuses by name what has no theorem here.
Expected<LossLaw> loss_law(const Term& term, Relation relation, Direction direction);

}  // namespace sotto::pld
