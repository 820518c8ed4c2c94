#pragma once

#include <vector>

namespace sotto {

// The step lengths of the opt family, with the constants of the authors' public script (the
// repository cyugao/dp-opt at commit 1d94a50; the poster [GW23] names the sparse vector technique
// and prints neither lengths nor constants).
//
// If the noise in the gradient is at most c_1 of its norm, F falls along -g by at least
// gamma (1 - c_1 - G gamma / 2) |g|², so by c_g gamma |g|² up to gamma = 2 (1 - c_1 - c_g) / G. If
// the noise in the lowest eigenvalue is at most c |lambda| and the gradient's at most
// c_2 |lambda|²/M, F falls along p by at least gamma² (1 - c) |lambda| / 2 - M gamma³ / 6 - c_2
// gamma |lambda|² / M, so by c_H gamma² |lambda| / 2 up to gamma = t_2 |lambda| / M.
inline constexpr double kC1 = 0.1, kC2 = 1.0 / 12, kC = 0.1;
inline constexpr double kCg = 0.6, kCH = 0.25;
inline constexpr double kBetaG = 0.6, kBetaH = 0.5;

/// 1.5 (1 - c - c_H) + 3 sqrt((1 - c - c_H)² / 4 - 2 c_2 / 3) = 1.646…
double curvature_length();

/// What a backtracking line search tries.
struct Backtracking {
  double fallback = 0;          ///< the length that needs no test
  std::vector<double> lengths;  ///< `longest` times the fallback, falling, all above it
  std::vector<double> needed;   ///< by how much F must fall at each
};

/// Along -g, |g| = norm.
Backtracking along_gradient(double norm, double G, double longest);
/// Along a unit vector of curvature -lambda < 0.
Backtracking along_curvature(double lambda, double M, double longest);

/// What a step decreases F by at least, if the noise is within the constants' assumptions: short
/// steps 1/G and 2|lambda|/M, and line searches whose own noise takes half of the decrease they ask
/// for.
struct LeastDecrease {
  double gradient = 0, curvature = 0;
};
LeastDecrease short_steps(double eps_g, double eps_H, double G, double M);
LeastDecrease line_searches(double eps_g, double eps_H, double G, double M);

}  // namespace sotto
