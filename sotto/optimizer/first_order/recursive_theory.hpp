#pragma once

#include <string>
#include <vector>

#include "sotto/optimizer/first_order/recursive_descent.hpp"

namespace sotto {

// The parameters that [WJEG23] proves its bounds with, from public facts. Its absolute constants
// C_1, …, C_6 are not in the main text (the proofs are in an appendix) and are 1 here.

struct RecursionFacts {
  double n = 0, d = 0;
  double epsilon = 0, delta = 0;
  double G = 0;    ///< Lipschitz constant of a unit's loss: what gradients are clipped to
  double L = 0;    ///< of its gradient, the regularizer's included
  double gap = 0;  ///< D_F, a bound on F(w_0) - inf F
};

struct TheoryParameters {
  double steps = 0;     ///< T
  double accuracy = 0;  ///< zeta
  double anchor_batch = 0, batch = 0;
  double n0 = 0;
  double mixture = 0;  ///< gamma
};

/// n_0 = L D_F / G^2.
double theory_n0(double L, double gap, double G);

/// Theorem 5.4. T b = (n epsilon)^2 / (d ln(1/delta)), the gradient complexity that it claims.
TheoryParameters theorem_parameters(const RecursionFacts& facts);

/// Corollary 5.3's batches, b_0 = b = n sqrt(epsilon / T), in the place of the theorem's.
TheoryParameters corollary_parameters(const RecursionFacts& facts);

/// What of the theory's conditions does not hold; empty if all of them do.
std::vector<std::string> unmet(const TheoryParameters& parameters,
                               const RecursionFacts& facts,
                               bool corollary);

}  // namespace sotto
