#pragma once

#include <memory>

#include "sotto/audit/confidence.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/calibrate.hpp"

namespace sotto {

/// A claim of (epsilon, delta) together with the trade-off curve that it stands for: a
/// one-parameter family of curves, one an epsilon' at the same delta. A curve says more than one
/// point of it, so observed errors refute more of it.
class Claim {
 public:
  virtual ~Claim() = default;
  Claim(double epsilon, double delta) : epsilon_(epsilon), delta_(delta) {}

  double epsilon() const { return epsilon_; }
  double delta() const { return delta_; }

  /// `gaussian`, `pld`, `zcdp` or `plain`.
  virtual const char* curve() const = 0;
  /// The largest epsilon' whose curve contradicts the bounds on a test's errors; infinity if no
  /// noise explains them (a sampled release shows nothing of a record that is not drawn).
  virtual Expected<double> largest_refuted(const ErrorBounds& errors) const = 0;
  virtual Expected<double> largest_refuted(double total_error) const = 0;
  /// The claimed curve itself: the smallest type II error at type I error `alpha` in [0, 1].
  virtual double trade_off(double alpha) const = 0;
  /// The curve at half the claimed effect (twice the noise, or half the epsilon). Tests are chosen
  /// by how clearly they refute it.
  virtual double halfway(double alpha) const = 0;

 private:
  double epsilon_;
  double delta_;
};

/// Full-batch Gaussian releases: mu-GDP, mu the largest one that is (epsilon, delta)-DP.
std::unique_ptr<Claim> gaussian_claim(double epsilon, double delta);

/// Any event that the PLD accountant prices: `family(z)` as the noise multiplier z varies; the
/// claimed curve is that of `noise_multiplier`. Fails where the accountant does.
Expected<std::unique_ptr<Claim>> event_claim(double epsilon,
                                             double delta,
                                             EventFamily family,
                                             double noise_multiplier);

/// Whatever a zCDP filter of this budget lets pass: rho-zCDP with the largest rho that is
/// (epsilon, delta)-DP.
std::unique_ptr<Claim> zcdp_claim(double epsilon, double delta);

/// Nothing is known but (epsilon, delta).
std::unique_ptr<Claim> plain_claim(double epsilon, double delta);

/// The sharpest of the three that applies to family(noise_multiplier).
Expected<std::unique_ptr<Claim>> sharpest_claim(double epsilon,
                                                double delta,
                                                const EventFamily& family,
                                                double noise_multiplier);

}  // namespace sotto
