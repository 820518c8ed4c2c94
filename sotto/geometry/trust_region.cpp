#include "sotto/geometry/trust_region.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "sotto/core/check.hpp"

namespace sotto {
namespace {

constexpr double kTiny = 1e-290;

/// The problem in the eigenbasis, its multiplier written as lambda = mu - values[0]: near the hard
/// case mu is far below the rounding of lambda.
struct Secular {
  Vector gap;  ///< values - values[0]
  Vector c;    ///< g in the eigenbasis
  double radius;

  double norm(double mu) const {
    double squares = 0;
    for (Eigen::Index i = 0; i < c.size(); ++i)
      if (c[i] != 0) squares += std::pow(c[i] / (gap[i] + mu), 2);
    return std::sqrt(squares);
  }

  /// Each single term bounds mu from below, all terms together from above.
  double least() const {
    double mu = 0;
    for (Eigen::Index i = 0; i < c.size(); ++i) mu = std::max(mu, std::abs(c[i]) / radius - gap[i]);
    return mu;
  }
  double most() const { return c.norm() / radius; }

  /// The root of 1/r - 1/||h(mu)||, which is concave and nearly linear, in [low, most()].
  double root(double low) const {
    double high = std::max(low, most());
    double mu = low > kTiny ? low : high;
    for (int k = 0; k < 200; ++k) {
      double squares = 0, slope = 0;
      for (Eigen::Index i = 0; i < c.size(); ++i) {
        if (c[i] == 0) continue;
        const double h = c[i] / (gap[i] + mu);
        squares += h * h;
        slope += h * h / (gap[i] + mu);
      }
      const double length = std::sqrt(squares);
      if (std::abs(length - radius) <= 1e-15 * radius) return mu;
      (length > radius ? low : high) = mu;
      // Newton on 1/r - 1/||h||.
      double next = mu + (length - radius) / radius * squares / slope;
      if (!(next > low && next < high)) {
        next = low > kTiny && high / low > 4 ? std::sqrt(low * high) : (low + high) / 2;
        if (!(next > low && next < high)) return mu;  // neighbours in floating point
      }
      if (std::abs(next - mu) <= 1e-16 * mu) return next;
      mu = next;
    }
    return mu;
  }
};

double scale_of(const SymmetricEigen& H, double multiplier) {
  const Eigen::Index last = H.values.size() - 1;
  return std::max(std::abs(H.values[0]), std::abs(H.values[last])) + multiplier;
}

void measure(const SymmetricEigen& H, const Vector& g, double radius, TrustRegionStep& result) {
  const double curvature = scale_of(H, result.multiplier);
  const double scale = std::max(g.norm() + curvature * radius, 1e-300);
  const Vector along = H.vectors.transpose() * result.step;
  const Vector left = H.vectors * (H.values.cwiseProduct(along) + result.multiplier * along) + g;
  const double length = result.step.norm();
  result.residuals.stationarity = left.norm() / scale;
  result.residuals.complementarity =
      std::max(result.multiplier * std::abs(radius - length) / scale, (length - radius) / radius);
  result.residuals.curvature =
      std::max(0.0, -(result.multiplier + H.values[0])) / std::max(curvature, 1e-300);
}

}  // namespace

double KktResiduals::largest() const {
  return std::max({stationarity, complementarity, curvature});
}

SymmetricEigen symmetric_eigen(const Matrix& H) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(H);
  SOTTO_CHECK(solver.info() == Eigen::Success);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

TrustRegionStep solve_trust_region(const SymmetricEigen& H, const Vector& g, double radius) {
  SOTTO_CHECK(radius > 0 && std::isfinite(radius) && g.size() == H.values.size() && g.allFinite());
  const double lowest = H.values[0];
  const Secular secular{(H.values.array() - lowest).matrix(), H.vectors.transpose() * g, radius};
  TrustRegionStep result;
  result.smallest_eigenvalue = lowest;

  double mu = std::max(0.0, lowest);  // lambda >= 0 and lambda >= -lowest
  Vector h = Vector::Zero(g.size());
  const double flattest = secular.least();
  const bool inside = (lowest > 0 && secular.norm(lowest) <= radius) || g.norm() <= kTiny;
  if (inside && lowest >= 0) {
    // The unconstrained minimum lies inside the region.
  } else if (flattest <= kTiny && secular.norm(0) < radius) {
    result.hard_case = true;
  } else {
    mu = secular.root(std::max(mu, flattest));
  }
  for (Eigen::Index i = 0; i < g.size(); ++i)
    if (secular.c[i] != 0 && secular.gap[i] + mu > 0) h[i] = -secular.c[i] / (secular.gap[i] + mu);
  if (result.hard_case) {
    const double missing = std::sqrt(std::max(0.0, (radius - h.norm()) * (radius + h.norm())));
    Eigen::Index largest = 0;
    H.vectors.col(0).cwiseAbs().maxCoeff(&largest);
    const double down = -secular.c[0];
    const double sign = down != 0 ? down : H.vectors(largest, 0);
    h[0] = std::copysign(missing, sign);
  } else {
    // Nothing along the lowest eigenvector, up to rounding: completed like the hard case.
    result.hard_case = mu > 0 && lowest < 0 && flattest <= 1e-12 * secular.most();
  }
  result.multiplier = std::max(0.0, mu - lowest);
  result.step = H.vectors * h;
  measure(H, g, radius, result);
  return result;
}

}  // namespace sotto
