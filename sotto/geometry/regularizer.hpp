#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "sotto/core/error.hpp"
#include "sotto/core/vector.hpp"

namespace sotto {

enum class RegularizerKind {
  kNone,
  kL2,         ///< λ/2 ‖w‖²
  kL1,         ///< λ ‖w‖₁
  kNonconvex,  ///< λ Σ w²/(1 + w²)
  kElastic,    ///< λ ‖w‖₁ + μ/2 ‖w‖²
  kGroupL1,    ///< λ Σ_G ‖w_G‖ over consecutive groups of coordinates
};

/// The regularizer r(w) that is added to the mean loss. It never touches data: it is added after
/// privatization, neither clipped nor noised.
///
/// r is a smooth part, which value, gradient and Hessian describe, plus a part that only prox
/// handles (l1, group l1, the l1 part of the elastic net). It covers the first `regularized`
/// coordinates; a bias, the last one, can be left out. All operations cost O(dim).
class Regularizer {
 public:
  static constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

  /// No regularizer.
  Regularizer() = default;
  /// `lambda` must be finite and >= 0.
  Regularizer(RegularizerKind kind, double lambda, std::int64_t regularized = kAll);

  /// λ ‖w‖₁ + μ/2 ‖w‖².
  static Regularizer elastic(double lambda, double mu);
  /// λ Σ_G ‖w_G‖ over groups of `size` >= 1 coordinates, the last one maybe shorter.
  static Regularizer group_l1(double lambda, std::int64_t size);

  /// Reads "none", "NAME:LAMBDA" with NAME l2, l1 or nonconvex, e.g. "l2:1e-4", "elastic:LAMBDA,MU"
  /// or "group-l1:LAMBDA,SIZE". Fails (kUsage) on an unknown name and on a number that is missing,
  /// not finite or negative.
  static Expected<Regularizer> parse(std::string_view text);
  /// The text that parse reads back.
  std::string to_string() const;

  RegularizerKind kind() const { return kind_; }
  double lambda() const { return lambda_; }
  /// The number of leading coordinates that are regularized; kAll: every one.
  std::int64_t regularized() const { return regularized_; }
  /// The same regularizer on the first `count` coordinates only.
  Regularizer on_first(std::int64_t count) const {
    Regularizer copy = *this;
    copy.regularized_ = count;
    return copy;
  }
  /// Group l1: coordinates a group.
  std::int64_t group_size() const { return group_size_; }

  /// r(w), both parts.
  double value(const Vector& w) const;
  /// True if r has no part for prox.
  bool smooth() const {
    return kind_ != RegularizerKind::kL1 && kind_ != RegularizerKind::kElastic &&
           kind_ != RegularizerKind::kGroupL1;
  }
  /// gradient += ∇ of the smooth part at w.
  void add_gradient(const Vector& w, Vector& gradient) const;
  /// diagonal += diagonal of the smooth part's Hessian, which has no other entries.
  void add_hessian_diagonal(const Vector& w, Vector& diagonal) const;
  /// w = argmin_u step · s(u) + ‖u - w‖²/2, where s is the part that is not smooth: soft
  /// thresholding for l1 and the elastic net, of whole groups for group l1, nothing otherwise.
  /// `step` must be >= 0.
  void prox(double step, Vector& w) const;

  /// Bounds on the eigenvalues of the smooth part's Hessian, over all w of the given dimension.
  struct Curvature {
    double lowest;
    double highest;
  };
  Curvature curvature(std::int64_t dim) const;

 private:
  std::int64_t count(const Vector& w) const;

  RegularizerKind kind_ = RegularizerKind::kNone;
  double lambda_ = 0;
  double mu_ = 0;
  std::int64_t group_size_ = 1;
  std::int64_t regularized_ = kAll;
};

}  // namespace sotto
