#pragma once

#include "sotto/privacy/accountant.hpp"

namespace sotto {

/// Zero-concentrated DP of full-batch releases: rho of a Gaussian is 1/(2 z^2), of a bounded-range
/// selection epsilon^2/8 [CR21], of any other epsilon-DP release epsilon^2/2 [BS16]; rho adds up,
/// and the conversion is the best over all orders [CKS20], or the plain sum of pure epsilons where
/// that is less. Sampled releases are refused: zCDP is not amplified by sampling. Microseconds. No
/// lower bounds.
const Accountant& zcdp_accountant();

/// rho of one term, once; infinite for a release without guarantee. The term must be supported.
double zcdp_rho(const Term& term);

/// The smallest epsilon at delta of rho-zCDP, and the log of the smallest delta at epsilon.
double zcdp_epsilon(double rho, double delta);
double zcdp_log_delta(double rho, double epsilon);

/// The pure epsilon of all releases of a full-batch term, and of an event where every term is such
/// a release; infinity otherwise. Never below the exact one.
double pure_epsilon(const Term& term);
double pure_epsilon(const CanonicalEvent& event);

}  // namespace sotto
