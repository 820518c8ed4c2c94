#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include "sotto/core/check.hpp"
#include "sotto/geometry/krylov_space.hpp"
#include "sotto/geometry/trust_region.hpp"

namespace sotto {
TrustRegionStep solve_trust_region(const SymmetricOperator& H,
                                   const Vector& g,
                                   double radius,
                                   const LanczosOptions& options) {
  SOTTO_CHECK(radius > 0 && std::isfinite(radius) && g.allFinite() && g.size() > 0);
  SOTTO_CHECK(options.most_products >= 1);
  KrylovSpace space(H, g.size(), std::min<std::int64_t>(options.most_products, g.size()));
  std::uint64_t seed = options.seed;
  // Two Krylov chains in one space: g's, which holds the step, and a random probe's, which finds
  // the lowest eigenvector. A chain that has served its purpose grows no more.
  std::array<std::deque<std::int64_t>, 2> chain;
  const auto start = [&](int which, const Vector& v) {
    const bool added = space.add(v);
    if (added) chain[static_cast<std::size_t>(which)].push_back(space.size() - 1);
    return added;
  };
  const auto grow = [&](int which) {
    auto& queue = chain[static_cast<std::size_t>(which)];
    while (!queue.empty() && !space.full()) {
      const std::int64_t from = queue.front();
      queue.pop_front();
      if (start(which, space.image().col(from))) return true;
    }
    return false;
  };
  start(0, g);
  std::int64_t depth = 0;  // of the probe's chain
  depth += start(1, public_normals(g.size(), seed));

  TrustRegionStep result;
  bool stationary = false, curved = false;
  std::int64_t next_look = std::min<std::int64_t>(4, g.size());
  while (true) {
    while (space.size() < next_look && !space.full()) {
      bool grown = !stationary && grow(0);
      if (!curved && grow(1)) {
        ++depth;
        grown = true;
      }
      // Both chains ended in an invariant subspace: look outside it.
      if (!grown && start(1, public_normals(g.size(), ++seed))) {
        ++depth;
        grown = true;
      }
      if (!grown) break;
    }
    const SymmetricEigen small = symmetric_eigen(space.projected());
    const TrustRegionStep inner = solve_trust_region(small, space.basis().transpose() * g, radius);
    result = inner;
    result.step = space.basis() * inner.step;
    result.products = space.size();

    // Both residuals are combinations of products that were made: no further ones are needed.
    const Vector left = space.image() * inner.step + inner.multiplier * result.step + g;
    const Vector wander = space.image() * small.vectors.col(0) -
                          small.values[0] * (space.basis() * small.vectors.col(0));
    const double reach =
        std::max(std::abs(small.values[0]), std::abs(small.values[small.values.size() - 1])) +
        inner.multiplier;
    const double scale = std::max(g.norm() + reach * radius, 1e-300);
    result.residuals.stationarity = left.norm() / scale;
    stationary = result.residuals.stationarity <= options.tolerance;

    // About how far below the smallest Ritz value an eigenvalue may lie (ritz_excess): a guide to
    // when the step is good enough. Statements about eigenvalues are lowest_eigenpair.hpp's.
    const double root = std::log(1.648e9 * std::sqrt(static_cast<double>(g.size()))) /
                        static_cast<double>(2 * std::max<std::int64_t>(depth, 1) - 1);
    const double unseen = 2 * reach * root * root;
    const double room = inner.multiplier + small.values[0];
    const bool converged = wander.norm() <= options.tolerance * reach;
    curved = space.whole() || (root <= 0.5 && (converged || room >= wander.norm() + unseen));
    result.residuals.curvature = std::max(
        inner.residuals.curvature, curved ? 0.0 : std::max(0.0, wander.norm() - room) / reach);
    if ((stationary && curved) || space.full()) return result;
    const std::int64_t before = space.size();
    next_look = before + std::max<std::int64_t>(2, before / 8);
  }
}

}  // namespace sotto
