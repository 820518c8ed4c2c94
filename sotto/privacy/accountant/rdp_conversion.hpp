#pragma once

#include <functional>

namespace sotto::internal {

/// epsilon(alpha) of a whole event at alpha = 1 + beta; must not fall as beta grows.
using RenyiCurve = std::function<double(double beta)>;

/// The epsilon at delta (0 <= delta < 1) of an event with this curve [CKS20, Prop. 12]:
///   min over alpha of epsilon(alpha) + log(1 - 1/alpha) - (log delta + log alpha) / (alpha - 1).
/// and 0 where the total variation distance is at most delta (Pinsker, Bretagnolle-Huber).
/// Every order gives a bound, so a search that misses the best one is only less tight. About 30
/// calls of the curve.
double epsilon_from_renyi(const RenyiCurve& curve, double delta);

/// log of the delta at epsilon >= 0, by the same inequality; at most 0.
double log_delta_from_renyi(const RenyiCurve& curve, double epsilon);

/// The two bounds at one order, given epsilon(alpha).
double epsilon_at_order(double beta, double renyi, double delta);
double log_delta_at_order(double beta, double renyi, double epsilon);

}  // namespace sotto::internal
