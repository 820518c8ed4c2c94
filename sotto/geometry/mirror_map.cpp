#include "sotto/geometry/mirror_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sotto/core/numbers.hpp"
#include "sotto/geometry/constrained_prox.hpp"
#include "sotto/geometry/threshold.hpp"

namespace sotto {
namespace {

class EuclideanIterate final : public MirrorIterate {
 public:
  EuclideanIterate(ConstrainedProx prox, Vector start)
      : prox_(std::move(prox)), w_(std::move(start)) {}
  const Vector& w() const override { return w_; }
  void move(const Vector& gradient, double step) override {
    w_ -= step * gradient;
    prox_.apply(step, w_);
  }
  MirrorMap map() const override { return MirrorMap::kEuclidean; }
  double modulus() const override { return 1; }
  bool in_l1() const override { return false; }
  void archive(Archive& state) override { state("w", w_); }

 private:
  ConstrainedProx prox_;
  Vector w_;
};

/// ∇ψ and ∇ψ* of ψ(w) = ‖w‖_a² / (2 (b - 1)) style maps differ only in exponent and scale:
/// scale · ‖x‖^(2-a) sign(x) |x|^(a-1), without overflow.
Vector power_map(const Vector& x, double exponent, double scale) {
  const double largest = x.lpNorm<Eigen::Infinity>();
  if (!(largest > 0)) return Vector::Zero(x.size());
  const Eigen::ArrayXd sizes = x.array().abs() / largest;
  const double norm = std::pow(sizes.pow(exponent).sum(), 1 / exponent);
  const double factor = scale * largest * std::pow(norm, 2 - exponent);
  return (factor * sizes.pow(exponent - 1) * x.array().sign()).matrix();
}

class PNormIterate final : public MirrorIterate {
 public:
  PNormIterate(double radius, const Regularizer& r, Vector start)
      : radius_(radius),
        q_(start.size() < 3 ? 2.0
                            : std::min(2.0, 1 + 1 / std::log(static_cast<double>(start.size())))),
        p_(q_ / (q_ - 1)),
        w_(std::move(start)) {
    thresholds_ = Vector::Zero(w_.size());
    if (!r.smooth())
      thresholds_.head(std::min<std::int64_t>(r.regularized(), w_.size())).setConstant(r.lambda());
  }
  const Vector& w() const override { return w_; }

  void move(const Vector& gradient, double step) override {
    const Vector dual = power_map(w_, q_, 1 / (q_ - 1)) - step * gradient;
    const auto at = [&](double t) {
      Vector shrunk(dual.size());
      for (Eigen::Index j = 0; j < dual.size(); ++j)
        shrunk[j] = internal::shrink(dual[j], step * thresholds_[j] + t);
      return power_map(shrunk, p_, q_ - 1);
    };
    w_ = at(0);
    if (w_.lpNorm<1>() <= radius_) return;
    // The multiplier of the ball: the smallest t with ‖at(t)‖₁ <= r.
    double low = 0;
    double high = dual.lpNorm<Eigen::Infinity>();
    for (int k = 0; k < 200 && low < high; ++k) {
      const double middle = low + (high - low) / 2;
      if (middle == low || middle == high) break;
      (at(middle).lpNorm<1>() > radius_ ? low : high) = middle;
    }
    w_ = at(high);
  }

  MirrorMap map() const override { return MirrorMap::kPNorm; }
  /// 1 in the q-norm, and ‖w‖₁ <= d^(1-1/q) ‖w‖_q.
  double modulus() const override {
    return std::pow(static_cast<double>(w_.size()), -2 * (1 - 1 / q_));
  }
  bool in_l1() const override { return true; }
  void archive(Archive& state) override { state("w", w_); }

 private:
  double radius_;
  double q_, p_;
  Vector w_;
  Vector thresholds_;
};

class EntropyIterate final : public MirrorIterate {
 public:
  EntropyIterate(bool both_signs, double scale, const Regularizer& r, const Vector& start)
      : both_signs_(both_signs), scale_(scale), w_(start) {
    const Eigen::Index d = w_.size();
    penalty_ = Vector::Zero(d);
    if (!r.smooth())
      penalty_.head(std::min<std::int64_t>(r.regularized(), d)).setConstant(r.lambda());
    // Log-weights of the positive parts, the negative parts and the slack.
    logs_ = Vector::Zero(both_signs ? 2 * d + 1 : d);
    if (!both_signs) logs_ = (w_.array() / scale).max(1e-300).log().matrix();
    update();
  }
  const Vector& w() const override { return w_; }
  void move(const Vector& gradient, double step) override {
    const Eigen::Index d = w_.size();
    logs_.head(d) -= step * (gradient + penalty_);
    if (both_signs_) logs_.segment(d, d) += step * (gradient - penalty_);
    update();
  }
  MirrorMap map() const override { return MirrorMap::kEntropy; }
  /// Pinsker's inequality on a simplex of sum `scale`.
  double modulus() const override { return 1 / scale_; }
  bool in_l1() const override { return true; }
  void archive(Archive& state) override {
    const Eigen::Index d = w_.size();
    Vector part = logs_.head(d);
    state("logs", part);
    logs_.head(d) = part;
    if (both_signs_) {
      part = logs_.segment(d, d);
      state("negative logs", part)("slack", logs_[2 * d], -kInfinity, 0);
      logs_.segment(d, d) = part;
    }
    if (state.loading()) update();
  }

 private:
  void update() {
    const Eigen::Index d = w_.size();
    logs_.array() -= logs_.maxCoeff();
    const Vector weights = logs_.array().exp().matrix();
    const double factor = scale_ / weights.sum();
    w_ = factor * weights.head(d);
    if (both_signs_) w_ -= factor * weights.segment(d, d);
  }

  bool both_signs_;
  double scale_;
  Vector w_;
  Vector penalty_;
  Vector logs_;
};

tl::unexpected<Error> refuse(MirrorMap map, std::string_view why) {
  return fail(ErrorKind::kUsage,
              fmt::format("the mirror map {} {}.", name_of(map, kMirrorMaps), why));
}

}  // namespace

Expected<std::unique_ptr<MirrorIterate>> MirrorIterate::make(MirrorMap map,
                                                             const ConstraintPtr& set,
                                                             const Regularizer& regularizer,
                                                             const Vector& start) {
  const std::int64_t d = start.size();
  const bool simplex = set && set->kind() == SetKind::kSimplex;
  const bool l1 = set && set->kind() == SetKind::kL1Ball;
  if (map == MirrorMap::kAuto)
    map = simplex ? MirrorMap::kEntropy : l1 ? MirrorMap::kPNorm : MirrorMap::kEuclidean;
  if (map == MirrorMap::kEuclidean) {
    SOTTO_ASSIGN(ConstrainedProx prox, ConstrainedProx::make(set, regularizer));
    return std::make_unique<EuclideanIterate>(std::move(prox), start);
  }
  if (regularizer.kind() == RegularizerKind::kGroupL1)
    return refuse(map,
                  "has no closed step for group l1, which is not a sum over coordinates; use "
                  "‘mirror euclidean’");
  if (map == MirrorMap::kPNorm) {
    if (set && !l1)
      return refuse(map,
                    "projects in closed form onto l1 balls only; use ‘constraint l1:RADIUS’, or "
                    "‘mirror euclidean’");
    const double radius = l1 ? set->largest_l1(d) : kInfinity;
    return std::make_unique<PNormIterate>(radius, regularizer, start);
  }
  if (!simplex && !l1)
    return refuse(map,
                  "lives on a simplex or an l1 ball; use ‘constraint simplex’ or l1:RADIUS, or "
                  "‘mirror euclidean’");
  if (l1 && start.lpNorm<1>() > 0)
    return refuse(map, "on an l1 ball starts at 0; use ‘start zero’");
  // A weight of 0 stays 0.
  if (simplex && !(start.minCoeff() > 0))
    return refuse(map, "starts inside of a simplex, not on its edge; use ‘start center’");
  return std::make_unique<EntropyIterate>(l1, set->largest_l1(d), regularizer, start);
}

}  // namespace sotto
