#pragma once

#include "sotto/privacy/accountant.hpp"

namespace sotto {

/// Exact accounting of full-batch Gaussian releases, chosen adaptively or not: together they are
/// dominated by one Gaussian of mu^2 = sum of count / noise_multiplier^2 [DRS22], whose
///   delta(epsilon) = Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2)   [BW18].
/// Both ends of every interval agree to about 1e-13 relative. Any relation; anything sampled or not
/// Gaussian is refused. Microseconds.
const Accountant& gaussian_accountant();

/// mu of the event's full-batch Gaussian terms, in the order of the canonical form; other terms are
/// ignored.
double gaussian_mu(const CanonicalEvent& event);

/// log delta(epsilon) of one Gaussian release with sensitivity / std = mu >= 0; epsilon >= 0.
/// Accurate to about 1e-15 relative in delta, however small.
double gaussian_log_delta(double mu, double epsilon);

/// The epsilon >= 0 at which delta(epsilon) = delta, within `width` (half the interval in which the
/// exact one lies). 0 if delta >= delta(0), infinity if delta = 0 < mu.
struct GaussianEpsilon {
  double value;
  double width;
};
GaussianEpsilon gaussian_epsilon(double mu, double delta);

/// The largest mu for which delta(epsilon) <= delta, to 1e-14 relative, rounded down; 0 <= epsilon,
/// 0 < delta < 1.
double gaussian_largest_mu(double epsilon, double delta);

}  // namespace sotto
