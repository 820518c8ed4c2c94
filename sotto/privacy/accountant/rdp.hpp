#pragma once

#include "sotto/privacy/accountant.hpp"

namespace sotto {

/// Renyi accounting over continuous orders: curves add up, then the best order converts [CKS20].
/// Supports full-batch releases of every kind, Poisson batches of Gaussians (all relations) and of
/// pure-DP releases (zero-out, add-remove), fixed-size batches of Gaussians (replace-one, zero-out)
/// and of pure-DP releases (replace-one). Never above the plain sum of pure epsilons. About a
/// millisecond a distinct sampled term; of more than a hundred those that are alike are priced as
/// one, from above (kinds.hpp). No lower bounds.
const Accountant& rdp_accountant();

/// epsilon(alpha) of the whole event at each order alpha > 1; +infinity for a release without
/// guarantee. The event must be supported by rdp_accountant().
std::vector<double> renyi_curve(const CanonicalEvent& event, const std::vector<double>& orders);

}  // namespace sotto
