#pragma once

#include <map>
#include <vector>

#include "sotto/privacy/neighbours.hpp"

namespace sotto::internal {

/// The Renyi curve of a Gaussian on a uniform batch of fixed size, drawn without replacement, under
/// replace-one or zero-out. For whole orders
///   exp((alpha-1) epsilon(alpha)) <= 1 + sum_{k=2}^alpha C(alpha, k) q^k ((1-q) M_k + q A_k),
/// where M_k is the exact supremum of the ternary moment of the Gaussian [WBK19] and A_k the binary
/// one; to leading order in q it is the bound of [BEBP24]. Between whole orders the log-moment is
/// convex. Claim and proof: rdp.proof.md.
///
/// Moments are computed on demand and kept, about 10 microseconds each. Not thread-safe.
class FixedSizeGaussian {
 public:
  /// 0 < rate < 1; z is the noise multiplier under `relation`, which is not add-remove.
  FixedSizeGaussian(double rate, double z, Relation relation);

  /// epsilon(alpha) at alpha = 1 + beta; never above the full batch's.
  double rdp(double beta);

 private:
  double log_moment(int order);  // (alpha-1) epsilon(alpha) at a whole order >= 2
  double log_term(int k);        // log((1-q) M_k + q A_k)
  double compute_log_term(int k) const;

  double rate_;
  double z_;
  Relation relation_;
  std::vector<double> log_terms_;      // by k, from 2
  std::map<int, double> log_moments_;  // by order
};

}  // namespace sotto::internal
