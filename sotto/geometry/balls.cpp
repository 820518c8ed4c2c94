// The constraint sets with closed forms.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sotto/core/check.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/geometry/built_in_set.hpp"
#include "sotto/geometry/constraint_set.hpp"
#include "sotto/geometry/threshold.hpp"

namespace sotto {
namespace {

using internal::shrink;
using internal::simplex_threshold;

class L2Ball final : public BuiltInSet {
 public:
  explicit L2Ball(double r) : r_(r) {}
  SetKind kind() const override { return SetKind::kL2Ball; }
  std::string to_string() const override { return fmt::format("l2:{}", r_); }
  bool contains(const Vector& w, double tolerance) const override {
    return w.norm() <= r_ * (1 + tolerance);
  }
  void project(Vector& w) const override {
    const double length = w.norm();
    if (length > r_) w *= r_ / length;
  }
  void minimize_linear(const Vector& g, Vector& v) const override {
    const double length = g.norm();
    v = Vector::Zero(g.size());
    if (length > 0)
      v = g * (-r_ / length);
    else
      v[0] = -r_;
  }
  double support(const Vector& g) const override { return r_ * g.norm(); }
  double diameter(std::int64_t) const override { return 2 * r_; }
  double largest_l1(std::int64_t d) const override {
    return r_ * std::sqrt(static_cast<double>(d));
  }
  double gaussian_width(std::int64_t d) const override {
    const double half = static_cast<double>(d) / 2;
    return r_ * std::numbers::sqrt2 * std::exp(std::lgamma(half + 0.5) - std::lgamma(half));
  }

 private:
  double r_;
};

class L1Ball final : public BuiltInSet {
 public:
  explicit L1Ball(double r) : r_(r) {}
  SetKind kind() const override { return SetKind::kL1Ball; }
  std::string to_string() const override { return fmt::format("l1:{}", r_); }
  bool contains(const Vector& w, double tolerance) const override {
    return w.lpNorm<1>() <= r_ * (1 + tolerance);
  }
  void project(Vector& w) const override {
    const Vector sizes = w.cwiseAbs();
    if (sizes.sum() <= r_) return;
    const double t = simplex_threshold(sizes, r_);
    w = w.unaryExpr([t](double x) { return shrink(x, t); });
  }
  void minimize_linear(const Vector& g, Vector& v) const override {
    Eigen::Index j = 0;
    g.cwiseAbs().maxCoeff(&j);
    v = Vector::Zero(g.size());
    v[j] = g[j] > 0 ? -r_ : r_;
  }
  double support(const Vector& g) const override { return r_ * g.lpNorm<Eigen::Infinity>(); }
  double diameter(std::int64_t) const override { return 2 * r_; }
  double largest_l1(std::int64_t) const override { return r_; }
  double gaussian_width(std::int64_t d) const override {
    return r_ * std::sqrt(2 * std::log(2 * static_cast<double>(d)));
  }

 private:
  double r_;
};

class Simplex final : public BuiltInSet {
 public:
  explicit Simplex(double s) : s_(s) {}
  SetKind kind() const override { return SetKind::kSimplex; }
  std::string to_string() const override { return fmt::format("simplex:{}", s_); }
  bool contains(const Vector& w, double tolerance) const override {
    return w.minCoeff() >= -s_ * tolerance && std::fabs(w.sum() - s_) <= s_ * tolerance;
  }
  void project(Vector& w) const override {
    const double t = simplex_threshold(w, s_);
    w = w.unaryExpr([t](double x) { return std::max(x - t, 0.0); });
  }
  void minimize_linear(const Vector& g, Vector& v) const override {
    Eigen::Index j = 0;
    g.minCoeff(&j);
    v = Vector::Zero(g.size());
    v[j] = s_;
  }
  double support(const Vector& g) const override { return s_ * g.maxCoeff(); }
  double diameter(std::int64_t d) const override { return d > 1 ? s_ * std::numbers::sqrt2 : 0; }
  double largest_l1(std::int64_t) const override { return s_; }
  double gaussian_width(std::int64_t d) const override {
    return s_ * std::sqrt(2 * std::log(static_cast<double>(d)));
  }
  Vector center(std::int64_t d) const override {
    return Vector::Constant(d, s_ / static_cast<double>(d));
  }

 private:
  double s_;
};

class Box final : public BuiltInSet {
 public:
  Box(double low, double high) : low_(low), high_(high) {}
  SetKind kind() const override { return SetKind::kBox; }
  std::string to_string() const override { return fmt::format("box:{},{}", low_, high_); }
  bool bounded() const override { return std::isfinite(low_) && std::isfinite(high_); }
  bool contains(const Vector& w, double tolerance) const override {
    const double slack = bounded() ? tolerance * (high_ - low_) : tolerance;
    return w.minCoeff() >= low_ - slack && w.maxCoeff() <= high_ + slack;
  }
  void project(Vector& w) const override { w = w.cwiseMax(low_).cwiseMin(high_); }
  void minimize_linear(const Vector& g, Vector& v) const override {
    SOTTO_CHECK(bounded());
    v = g.unaryExpr([this](double x) { return x > 0 ? low_ : high_; });
  }
  double support(const Vector& g) const override {
    SOTTO_CHECK(bounded());
    return g.unaryExpr([this](double x) { return std::max(x * low_, x * high_); }).sum();
  }
  double diameter(std::int64_t d) const override {
    return (high_ - low_) * std::sqrt(static_cast<double>(d));
  }
  double largest_l1(std::int64_t d) const override {
    return std::max(std::fabs(low_), std::fabs(high_)) * static_cast<double>(d);
  }
  double gaussian_width(std::int64_t d) const override {
    return (high_ - low_) * static_cast<double>(d) / std::sqrt(2 * std::numbers::pi);
  }
  Vector center(std::int64_t d) const override {
    if (bounded()) return Vector::Constant(d, low_ + (high_ - low_) / 2);
    return Vector::Constant(d, std::clamp(0.0, low_, high_));
  }

 private:
  double low_, high_;
};

class GroupBall final : public BuiltInSet {
  template <class V>
  auto group(V& w, Eigen::Index k) const {
    return w.segment(k * size_, std::min<Eigen::Index>(size_, w.size() - k * size_));
  }

 public:
  GroupBall(double r, std::int64_t size) : r_(r), size_(size) {}
  SetKind kind() const override { return SetKind::kGroupBall; }
  std::string to_string() const override { return fmt::format("group-l1:{},{}", r_, size_); }
  Expected<void> check(std::int64_t dimension) const override {
    if (size_ <= dimension) return {};
    return fail(ErrorKind::kUsage,
                fmt::format("the constraint {} has groups of {} coordinates, but the model has "
                            "only {}.",
                            to_string(),
                            size_,
                            dimension));
  }
  bool contains(const Vector& w, double tolerance) const override {
    return norms(w).sum() <= r_ * (1 + tolerance);
  }
  void project(Vector& w) const override {
    const Vector sizes = norms(w);
    if (sizes.sum() <= r_) return;
    const double t = simplex_threshold(sizes, r_);
    for (Eigen::Index k = 0; k < sizes.size(); ++k)
      group(w, k) *= sizes[k] > t ? 1 - t / sizes[k] : 0;
  }
  void minimize_linear(const Vector& g, Vector& v) const override {
    const Vector sizes = norms(g);
    Eigen::Index k = 0;
    const double largest = sizes.maxCoeff(&k);
    v = Vector::Zero(g.size());
    if (largest > 0)
      group(v, k) = group(g, k) * (-r_ / largest);
    else
      v[0] = -r_;
  }
  double support(const Vector& g) const override { return r_ * norms(g).maxCoeff(); }
  double diameter(std::int64_t) const override { return 2 * r_; }
  double largest_l1(std::int64_t) const override {
    return r_ * std::sqrt(static_cast<double>(size_));
  }
  double gaussian_width(std::int64_t d) const override {
    const auto groups = static_cast<double>((d + size_ - 1) / size_);
    return r_ * (std::sqrt(static_cast<double>(size_)) + std::sqrt(2 * std::log(groups)));
  }

 private:
  Vector norms(const Vector& w) const {
    Vector result((w.size() + size_ - 1) / size_);
    for (Eigen::Index k = 0; k < result.size(); ++k) result[k] = group(w, k).norm();
    return result;
  }

  double r_;
  std::int64_t size_;
};

}  // namespace

ConstraintPtr l2_ball(double radius) {
  SOTTO_CHECK(radius > 0 && radius < kInfinity);
  return std::make_shared<L2Ball>(radius);
}
ConstraintPtr l1_ball(double radius) {
  SOTTO_CHECK(radius > 0 && radius < kInfinity);
  return std::make_shared<L1Ball>(radius);
}
ConstraintPtr simplex(double scale) {
  SOTTO_CHECK(scale > 0 && scale < kInfinity);
  return std::make_shared<Simplex>(scale);
}
ConstraintPtr box(double low, double high) {
  SOTTO_CHECK(low < high);
  return std::make_shared<Box>(low, high);
}
ConstraintPtr group_ball(double radius, std::int64_t size) {
  SOTTO_CHECK(radius > 0 && radius < kInfinity && size >= 1);
  return std::make_shared<GroupBall>(radius, size);
}

}  // namespace sotto
