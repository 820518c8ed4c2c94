#pragma once

// Numerics shared by the Renyi curves. A Renyi moment is 1 + E_Q[h(r)] with r = P/Q - 1 and
// h(r) = (1+r)^alpha - 1 - alpha r >= 0: since E_Q[r] = 0, nothing cancels however small it is.
// Orders are given as beta = alpha - 1 > 0, which stays exact near alpha = 1.

#include <functional>
#include <vector>

namespace sotto::internal {

inline constexpr double kLogRootTwoPi = 0.91893853320467274178;
// Less noise only costs: multipliers are rounded down to it, beyond which squares overflow.
inline constexpr double kLargestMultiplier = 1e100;

/// log h(r) for r > -1 with l = log(1 + r); r may be +infinity if l is finite. -infinity at r = 0.
double log_excess(double beta, double r, double l);

/// log(1 + e^x).
double softplus(double x);

/// log(e^x + e^y).
double log_add(double x, double y);

/// log of the integral of e^f over the line, for an f that has a few peaks, each at least a few
/// steps wide: the trapezoidal rule on the lattice origin + (k + 1/2) step, which converges
/// exponentially for the analytic integrands used here. Walks from each start in both directions
/// for as long as f rises or matters, so that a start need only lie on the slope of its peak.
double log_integral(const std::function<double(double)>& f,
                    double origin,
                    double step,
                    std::vector<double> starts);

}  // namespace sotto::internal
