// The convex hull of listed points; projection by Wolfe's nearest-point method [Wol76].

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sotto/core/check.hpp"
#include "sotto/geometry/built_in_set.hpp"
#include "sotto/geometry/constraint_set.hpp"

namespace sotto {
namespace {

/// A convex combination of some rows of P, and how Wolfe's method improves it.
class NearestToOrigin {
 public:
  explicit NearestToOrigin(const Matrix& points) : points_(points) {
    Eigen::Index first = 0;
    points.rowwise().squaredNorm().minCoeff(&first);
    active_ = {first};
    weights_ = {1};
    scale_ = std::max(points.rowwise().squaredNorm().maxCoeff(), 1e-300);
  }

  Vector solve() {
    // Every major cycle lowers the norm, so no active set comes twice; the limit is for rounding.
    const Eigen::Index most = 100 * (points_.rows() + points_.cols()) + 1000;
    Vector x = point();
    for (Eigen::Index cycle = 0; cycle < most; ++cycle) {
      Eigen::Index best = 0;
      const double least = (points_ * x).minCoeff(&best);
      if (least >= x.squaredNorm() - 1e-14 * scale_) break;
      if (std::find(active_.begin(), active_.end(), best) != active_.end()) break;
      active_.push_back(best);
      weights_.push_back(0);
      shrink_to_affine_minimum();
      x = point();
    }
    return x;
  }

 private:
  Vector point() const {
    Vector x = Vector::Zero(points_.cols());
    for (std::size_t k = 0; k < active_.size(); ++k)
      x += weights_[k] * points_.row(active_[k]).transpose();
    return x;
  }

  /// Moves to the point of the active points' affine hull that is nearest to the origin, dropping
  /// points on the way until it lies inside their convex hull.
  void shrink_to_affine_minimum() {
    while (true) {
      const std::vector<double> target = affine_minimum();
      double step = 1;
      for (std::size_t k = 0; k < target.size(); ++k)
        if (target[k] < kTiny)
          step = std::min(step, weights_[k] / std::max(weights_[k] - target[k], 1e-300));
      for (std::size_t k = 0; k < target.size(); ++k)
        weights_[k] += step * (target[k] - weights_[k]);
      bool dropped = false;
      for (std::size_t k = active_.size(); k-- > 0;)
        if (weights_[k] <= kTiny && active_.size() > 1) {
          active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(k));
          weights_.erase(weights_.begin() + static_cast<std::ptrdiff_t>(k));
          dropped = true;
        }
      double sum = 0;
      for (const double w : weights_) sum += w;
      for (double& w : weights_) w /= sum;
      if (!dropped) return;
    }
  }

  /// Weights that sum to 1 of the affine hull's point nearest to the origin.
  std::vector<double> affine_minimum() const {
    const auto m = static_cast<Eigen::Index>(active_.size());
    Matrix edges(points_.cols(), m - 1);
    const Vector first = points_.row(active_[0]).transpose();
    for (Eigen::Index k = 1; k < m; ++k)
      edges.col(k - 1) = points_.row(active_[static_cast<std::size_t>(k)]).transpose() - first;
    std::vector<double> weights(active_.size(), 1.0);
    if (m == 1) return weights;
    const Vector solved = edges.completeOrthogonalDecomposition().solve(-first);
    for (Eigen::Index k = 1; k < m; ++k) {
      weights[static_cast<std::size_t>(k)] = solved[k - 1];
      weights[0] -= solved[k - 1];
    }
    return weights;
  }

  static constexpr double kTiny = 1e-12;
  const Matrix& points_;
  double scale_;
  std::vector<Eigen::Index> active_;
  std::vector<double> weights_;
};

class Polytope final : public BuiltInSet {
 public:
  Polytope(Matrix vertices, std::string name)
      : vertices_(std::move(vertices)), name_(std::move(name)) {
    SOTTO_CHECK(vertices_.rows() > 0 && vertices_.cols() > 0 && vertices_.allFinite());
    for (Eigen::Index i = 0; i < vertices_.rows(); ++i)
      for (Eigen::Index j = 0; j < i; ++j)
        diameter_ = std::max(diameter_, (vertices_.row(i) - vertices_.row(j)).norm());
  }
  SetKind kind() const override { return SetKind::kPolytope; }
  std::string to_string() const override { return "polytope:" + name_; }
  Expected<void> check(std::int64_t dimension) const override {
    if (dimension == vertices_.cols()) return {};
    return fail(
        ErrorKind::kUsage,
        fmt::format("the vertices of {} have {} coordinates, but the model has {} parameters "
                    "(an intercept counts, and is the last; ‘no_bias’ leaves it out).",
                    to_string(),
                    vertices_.cols(),
                    dimension));
  }
  bool contains(const Vector& w, double tolerance) const override {
    Vector nearest = w;
    project(nearest);
    return (nearest - w).norm() <= tolerance * std::max(1.0, w.norm() + diameter_);
  }
  void project(Vector& w) const override {
    const Matrix moved = vertices_.rowwise() - w.transpose();
    w += NearestToOrigin(moved).solve();
  }
  void minimize_linear(const Vector& g, Vector& v) const override {
    Eigen::Index k = 0;
    (vertices_ * g).minCoeff(&k);
    v = vertices_.row(k).transpose();
  }
  double support(const Vector& g) const override { return (vertices_ * g).maxCoeff(); }
  double diameter(std::int64_t) const override { return diameter_; }
  double largest_l1(std::int64_t) const override {
    return vertices_.cwiseAbs().rowwise().sum().maxCoeff();
  }
  double gaussian_width(std::int64_t) const override {
    const Matrix moved = vertices_.rowwise() - vertices_.colwise().mean();
    return moved.rowwise().norm().maxCoeff() *
           std::sqrt(2 * std::log(static_cast<double>(vertices_.rows())));
  }
  Vector center(std::int64_t) const override { return vertices_.colwise().mean().transpose(); }
  const Matrix* vertices() const override { return &vertices_; }

 private:
  Matrix vertices_;
  std::string name_;
  double diameter_ = 0;
};

}  // namespace

ConstraintPtr polytope(Matrix vertices, std::string name) {
  return std::make_shared<Polytope>(std::move(vertices), std::move(name));
}

}  // namespace sotto
