#pragma once

#include <cstdint>

#include "sotto/geometry/trust_region.hpp"

namespace sotto {

// The smallest eigenvalue through products with H alone. How many products are made is fixed in
// advance, and what they can have missed is bounded in advance: nothing rests on a test of
// convergence, which an unlucky start can pass. lowest_eigenpair.proof.md

/// The lowest Ritz pair of `products` Lanczos steps from a uniformly random direction: `values` and
/// `vectors` have one entry and one column. The value is never below H's smallest eigenvalue (to
/// round-off) and with products = dimension it is that eigenvalue. `seed` must be independent of H.
SymmetricEigen lowest_eigenpair(const SymmetricOperator& H,
                                std::int64_t dimension,
                                std::int64_t products,
                                std::uint64_t seed);

/// The lowest Ritz value exceeds the smallest eigenvalue by more than this with probability at most
/// `miss` over the start, if all eigenvalues lie in an interval of this width:
/// width · tanh²( acosh(sqrt(2 d / π) / miss) / (2 products - 1) ); 0 if products = dimension.
double ritz_excess(double width, std::int64_t dimension, std::int64_t products, double miss);

/// The fewest products whose ritz_excess is at most `excess`, which must be positive.
std::int64_t products_for(double excess, double width, std::int64_t dimension, double miss);

}  // namespace sotto
