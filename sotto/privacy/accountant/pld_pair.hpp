#pragma once

// Dominating pairs, each as the law of its privacy loss. Internal to the PLD accountant.

#include <cmath>
#include <cstdint>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/privacy/event.hpp"

namespace sotto::pld {

/// The probability that a batch holds the record, and that it does not. Both are kept: near 1 the
/// difference 1 - q has lost what decides the losses.
struct Rate {
  double in = 1;
  double out = 0;

  static Rate poisson(double q) { return {q, 1 - q}; }
  static Rate fixed_size(std::int64_t batch, std::int64_t population) {
    const auto n = static_cast<double>(population);
    return {static_cast<double>(batch) / n, static_cast<double>(population - batch) / n};
  }
};

/// log(1 - q + q e^b), accurate near b = 0 and near q = 1, free of overflow.
inline double log_mixture(const Rate& q, double b) {
  if (b > 30) return b + std::log(q.in + q.out * std::exp(-b));
  const double rise = q.in * std::expm1(b);
  return rise > -0.5 ? std::log1p(rise) : std::log(q.out + q.in * std::exp(b));
}

/// Which way a record changes between the two neighbours; sampling under zero-out and add-remove
/// has a different pair for each, and both must be composed.
enum class Direction { kRemove, kAdd };

/// The law of the loss L = log dP/dQ under P of one dominating pair (P, Q), as an increasing
/// function of a coordinate b: a density on an interval of b, plus atoms. For unsampled mechanisms
/// b is the loss itself; sampling only bends it (pld.proof.md, section 2).
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
  static LossLaw poisson(const Rate& rate, const LossLaw& base, Direction direction);
  /// Poisson sampling of a Gaussian under replace-one: shifts of +-1/2 sensitivity.
  static LossLaw poisson_replace(const Rate& rate, double noise_multiplier);
  /// A batch of fixed size under replace-one: the larger of both orders' curves at every loss, an
  /// atom at 0 where they meet. `base` is unsampled and symmetric.
  static LossLaw fixed_size_replace(const Rate& rate, const LossLaw& base);
  /// A batch of fixed size of a Gaussian under zero-out: above 0 the record, another record and
  /// the null stand at 1, -1 and 0, below 0 the other record stands where the record does; the
  /// reverse for kAdd.
  static LossLaw fixed_size_null(const Rate& rate, double noise_multiplier, Direction direction);
  /// The record, all others and the null at 1, -1 and 0, where only outputs of positive loss are
  /// told apart: a lower bound of the former for kRemove.
  static LossLaw three_points(const Rate& rate, double noise_multiplier);

  double loss(double b) const;
  /// Of P at b, given loss(b).
  double log_density(double b, double loss_at_b) const;
  /// The b with loss(b) = l, or an infinity if l is out of reach.
  double inverse(double l) const;
  bool has_density() const { return has_density_; }
  /// Whether density and loss are smooth on both sides of b = 0 only.
  bool has_kink() const { return form_ >= Form::kFixedReplace; }
  /// In the order of their losses.
  const std::vector<Atom>& atoms() const { return atoms_; }
  LossLaw without_atoms() const;
  /// Deviation or half-width of the coordinate b.
  double scale() const { return gaussian_ ? sigma_ : epsilon_; }
  /// Whether the lattices can hold it: losses neither so large that they would take too many
  /// panels, nor so small that squares underflow. Others are bounded in closed form.
  bool fits_lattice() const;
  /// Cuts tails of P-mass at most e^{log_below} and e^{log_above} off.
  Range range(double log_below, double log_above) const;
  /// A bound of the rate at which density and loss change at b: quadrature panels are short against
  /// its inverse.
  double roughness(double b, bool density_only = false) const;
  /// sup L, possibly infinite.
  double max_loss() const;

 private:
  enum class Form {
    kPlain,
    kRemove,
    kAdd,
    kReplace,
    kFixedReplace,
    kFixedRemove,
    kFixedAdd,
    kThreePoints
  };
  LossLaw sampled(Form form, const Rate& rate) const;
  void add_atom_at_zero(double mass);
  Rate posterior(double b) const;
  double normal(double b, double mean) const;
  double log_normals(double b, double mean_out, double mean_in) const;
  Form form_ = Form::kPlain;
  bool gaussian_ = false;
  bool has_density_ = true;
  Rate rate_;
  double log_in_ = 0, log_out_ = 0;  // of the rate
  double sigma_ = 0;                 // of the coordinate, for Gaussians
  double log_constant_ = 0;          // of the density
  double epsilon_ = 0;               // half-width of the support, otherwise
  double total_variation_ = 0;       // of the unsampled pair
  std::vector<Atom> atoms_;
};

/// The pair of one term. Refuses by name what has no theorem here.
Expected<LossLaw> loss_law(const Term& term, Relation relation, Direction direction);

/// The pair of a term for some choice of data, for terms that loss_law has a pair for: what the
/// truth is at least. A fixed-size batch has several; other terms have one for each `which` below
/// kAttainedLaws.
inline constexpr std::size_t kAttainedLaws = 3;
LossLaw attained_law(const Term& term, Relation relation, Direction direction, std::size_t which);

}  // namespace sotto::pld
