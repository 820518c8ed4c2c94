#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include "sotto/core/check.hpp"
#include "sotto/geometry/trust_region.hpp"

namespace sotto {
namespace {

/// A fixed public direction: nothing here needs to be secret or of high quality.
Vector probe(Eigen::Index dimension, std::uint64_t seed) {
  Vector v(dimension);
  std::uint64_t state = seed;
  for (double& x : v) {
    state += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    x = static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1p-52 - 1;
  }
  return v;
}

/// An orthonormal basis V, its image HV and the projected matrix V'HV, which grow together.
class Space {
 public:
  Space(const SymmetricOperator& H, Eigen::Index dimension, std::int64_t most)
      : H_(H), basis_(dimension, most), image_(dimension, most), projected_(most, most) {}

  std::int64_t size() const { return size_; }
  bool full() const { return size_ == std::min<std::int64_t>(basis_.cols(), basis_.rows()); }
  auto basis() const { return basis_.leftCols(size_); }
  auto image() const { return image_.leftCols(size_); }
  Matrix projected() const { return projected_.topLeftCorner(size_, size_); }
  /// H times the vector that was added last.
  Vector last_image() const { return image_.col(size_ - 1); }
  Vector last() const { return basis_.col(size_ - 1); }

  /// Adds the part of v that is new; false if there is none to working precision.
  bool add(Vector v) {
    const double length = v.norm();
    if (full() || !(length > 0) || !std::isfinite(length)) return false;
    v /= length;
    for (int pass = 0; pass < 3; ++pass) {
      v -= basis() * (basis().transpose() * v);
      const double left = v.norm();
      if (left < 1e-11 && pass == 0) return false;
      v /= left;
      if (left > 0.7) break;
    }
    basis_.col(size_) = v;
    H_(v, product_);
    image_.col(size_) = product_;
    ++size_;
    projected_.col(size_ - 1).head(size_) = basis().transpose() * product_;
    projected_.row(size_ - 1).head(size_) = projected_.col(size_ - 1).head(size_).transpose();
    return true;
  }

 private:
  const SymmetricOperator& H_;
  Matrix basis_, image_, projected_;
  Vector product_;
  std::int64_t size_ = 0;
};

}  // namespace

TrustRegionStep solve_trust_region(const SymmetricOperator& H,
                                   const Vector& g,
                                   double radius,
                                   const LanczosOptions& options) {
  SOTTO_CHECK(radius > 0 && std::isfinite(radius) && g.allFinite() && g.size() > 0);
  SOTTO_CHECK(options.most_products >= 1);
  Space space(H, g.size(), std::min<std::int64_t>(options.most_products, g.size()));
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
  depth += start(1, probe(g.size(), seed));

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
      if (!grown && start(1, probe(g.size(), ++seed))) {
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

    // With probability 1 - 1e-9 over the probe, no eigenvalue lies further below the smallest Ritz
    // value than this share of the spectrum's width [KW92, Thm 4.2].
    const double root = std::log(1.648e9 * std::sqrt(static_cast<double>(g.size()))) /
                        static_cast<double>(2 * std::max<std::int64_t>(depth, 1) - 1);
    const double unseen = 2 * reach * root * root;
    const double room = inner.multiplier + small.values[0];
    const bool converged = wander.norm() <= options.tolerance * reach;
    curved = space.full() || (root <= 0.5 && (converged || room >= wander.norm() + unseen));
    result.residuals.curvature = std::max(
        inner.residuals.curvature, curved ? 0.0 : std::max(0.0, wander.norm() - room) / reach);
    if ((stationary && curved) || space.full()) return result;
    const std::int64_t before = space.size();
    next_look = before + std::max<std::int64_t>(2, before / 8);
  }
}

}  // namespace sotto
