#include "sotto/geometry/lowest_eigenpair.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "sotto/core/check.hpp"
#include "sotto/geometry/krylov_space.hpp"

namespace sotto {
namespace {

/// acosh(sqrt(2 d / π) / miss).
double log_odds(std::int64_t dimension, double miss) {
  SOTTO_CHECK(dimension > 0 && miss > 0 && miss < 1);
  const double d = static_cast<double>(dimension);
  return std::acosh(std::max(1.0, std::sqrt(2 * d / std::numbers::pi) / miss));
}

}  // namespace

Vector public_normals(std::int64_t dimension, std::uint64_t seed) {
  Vector v(dimension);
  std::mt19937_64 bits(seed);
  const auto uniform = [&] { return (static_cast<double>(bits() >> 11U) + 0.5) * 0x1p-53; };
  for (double& x : v) {
    const double length = std::sqrt(-2 * std::log(uniform()));
    x = length * std::cos(2 * std::numbers::pi * uniform());
  }
  return v;
}

SymmetricEigen lowest_eigenpair(const SymmetricOperator& H,
                                std::int64_t dimension,
                                std::int64_t products,
                                std::uint64_t seed) {
  SOTTO_CHECK(dimension > 0 && products > 0);
  KrylovSpace space(H, dimension, std::min(products, dimension));
  Vector next = public_normals(dimension, seed);
  while (!space.full()) {
    // An invariant subspace holds all that its start can find. A further start finds no more than
    // the proof needs, but completes the space where all of it was asked for.
    if (!space.add(next)) space.add(public_normals(dimension, ++seed));
    next = space.image().col(space.size() - 1);
  }
  const SymmetricEigen small = symmetric_eigen(space.projected());
  return {small.values.head(1), space.basis() * small.vectors.col(0)};
}

double ritz_excess(double width, std::int64_t dimension, std::int64_t products, double miss) {
  SOTTO_CHECK(width >= 0 && products > 0);
  if (products >= dimension) return 0;
  const double root = std::tanh(log_odds(dimension, miss) / static_cast<double>(2 * products - 1));
  return width * root * root;
}

std::int64_t products_for(double excess, double width, std::int64_t dimension, double miss) {
  SOTTO_CHECK(excess >= 0 && width >= 0);
  if (excess > 0 && excess >= width) return 1;
  if (!(excess / width > 0)) return dimension;  // none at all, or too little for a double
  const double steps = (log_odds(dimension, miss) / std::atanh(std::sqrt(excess / width)) + 1) / 2;
  const double most = static_cast<double>(dimension);
  // A hair more, against the formula's own round-off.
  return steps < most ? static_cast<std::int64_t>(std::ceil(steps * (1 + 1e-12))) : dimension;
}

}  // namespace sotto
