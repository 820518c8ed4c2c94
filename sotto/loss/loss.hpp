#pragma once

// The losses' formulas, once for single numbers (tests, loss values: ScalarMath) and once for
// vectors of numbers (glm_kernels.cpp). `Math` says what a number is:
//   Math::Real                          the number type, with + - * / and comparisons
//   Math::exp(Real), Math::abs(Real)    exp may assume an argument <= 0 and is <= 1 there
//   Math::log1p(Real), Math::log(Real)  only for value()
// Every loss has value φ, first φ' and second φ'' of its argument: the margin y·⟨x, w⟩ where
// kClassification, else the residual ⟨x, w⟩ - y (kOfPrediction: of prediction and label). Bounds:
// loss/loss_info.hpp; computed results never leave them, and a NaN stays a NaN. This header is
// compiled for several processors at once and must not include others (cmake/SottoModule.cmake).

namespace sotto {

namespace internal {

/// min(a, bound) that keeps NaN. (A template of Math, not of Real, so that each processor's copy
/// has a name of its own.)
template <class Math>
typename Math::Real at_most(typename Math::Real a, double bound) {
  const typename Math::Real limit = typename Math::Real{} + bound;
  return a > limit ? limit : a;
}

}  // namespace internal

/// φ(m) = ln(1 + e^-m).
template <class Math>
struct LogisticLoss {
  using Real = typename Math::Real;
  static constexpr bool kClassification = true;

  static Real value(Real m) {
    const Real t = Math::exp(-Math::abs(m));
    return Math::log1p(t) + (m < 0 ? -m : Real{});
  }
  /// -σ(-m), as t / (1 + t) or 1 / (1 + t) with t = e^-|m|, so that nothing cancels.
  static Real first(Real m) {
    const Real t = Math::exp(-Math::abs(m));
    return -(m >= 0 ? t : Real{} + 1.0) / (1.0 + t);
  }
  static Real second(Real m) {
    const Real t = Math::exp(-Math::abs(m));
    return internal::at_most<Math>(t / ((1.0 + t) * (1.0 + t)), 0.25);
  }
};

/// φ(m) = σ(-m): decreasing in the margin, so that a minimizer classifies by the sign of ⟨x, w⟩.
template <class Math>
struct SigmoidLoss {
  using Real = typename Math::Real;
  static constexpr bool kClassification = true;

  static Real value(Real m) { return -LogisticLoss<Math>::first(m); }
  static Real first(Real m) { return -LogisticLoss<Math>::second(m); }
  /// p(1-p)(2p-1), p = σ(m).
  static Real second(Real m) {
    const Real t = Math::exp(-Math::abs(m));
    const Real s = 1.0 + t;
    const Real size = internal::at_most<Math>(t * (1.0 - t) / (s * s * s), 0.096225044864937627);
    return m < 0 ? -size : size;
  }
};

/// φ(r) = r² / 2.
template <class Math>
struct SquaredLoss {
  using Real = typename Math::Real;
  static constexpr bool kClassification = false;

  static Real value(Real r) { return 0.5 * r * r; }
  static Real first(Real r) { return r; }
  static Real second(Real) { return Real{} + 1.0; }
};

/// φ(r) = r² / 2 for |r| <= threshold, else linear.
template <class Math>
struct HuberLoss {
  using Real = typename Math::Real;
  static constexpr bool kClassification = false;
  double threshold;

  Real value(Real r) const {
    const Real size = Math::abs(r);
    return size <= threshold ? 0.5 * r * r : threshold * (size - 0.5 * threshold);
  }
  Real first(Real r) const {
    return -internal::at_most<Math>(-internal::at_most<Math>(r, threshold), threshold);
  }
  Real second(Real r) const { return Math::abs(r) <= threshold ? Real{} + 1.0 : Real{}; }
};

/// φ(z, y) = (z² - y)² / 4 of the prediction z itself; labels are clamped to [0, threshold].
template <class Math>
struct PhaseRetrievalLoss {
  using Real = typename Math::Real;
  static constexpr bool kClassification = false;
  static constexpr bool kOfPrediction = true;
  double threshold;

  Real label(Real y) const { return internal::at_most<Math>(y > 0 ? y : Real{}, threshold); }
  Real value(Real z, Real y) const {
    const Real r = z * z - label(y);
    return 0.25 * r * r;
  }
  Real first(Real z, Real y) const { return z * (z * z - label(y)); }
  Real second(Real z, Real y) const { return 3.0 * z * z - label(y); }
};

/// Half the Poisson deviance of a label y in [0, threshold] and the rate e^z, φ(z, y) = e^z - y +
/// y ln y - y z >= 0, continued linearly from where the rate reaches the threshold: the derivative
/// is rate(z) - y with rates in [0, threshold].
template <class Math>
struct PoissonLoss {
  using Real = typename Math::Real;
  static constexpr bool kClassification = false;
  static constexpr bool kOfPrediction = true;
  double threshold;
  double last = __builtin_log(threshold);  ///< the prediction from which rates are the threshold

  Real label(Real y) const { return internal::at_most<Math>(y > 0 ? y : Real{}, threshold); }
  Real rate(Real z) const { return threshold * Math::exp(internal::at_most<Math>(z - last, 0)); }
  Real value(Real z, Real y) const {
    const Real count = label(y);
    const Real entropy = count > 0 ? count * Math::log(count) - count : Real{};
    const Real beyond = z > last ? threshold * (z - last) : Real{};
    const Real loss = rate(z) + beyond - count * z + entropy;
    return loss < 0 ? Real{} : loss;
  }
  Real first(Real z, Real y) const { return rate(z) - label(y); }
  Real second(Real z, Real) const { return z > last ? Real{} : rate(z); }
};

namespace internal {

template <class Loss>
concept OfPrediction = requires {
  Loss::kOfPrediction;
};

}  // namespace internal

/// A loss as a function of the prediction z = ⟨x, w⟩ and the label.
template <class Loss, class Real>
Real loss_value(const Loss& loss, Real z, Real y) {
  if constexpr (internal::OfPrediction<Loss>)
    return loss.value(z, y);
  else if constexpr (Loss::kClassification)
    return loss.value(y * z);
  else
    return loss.value(z - y);
}

/// Its derivative in z: the gradient in w is this times x.
template <class Loss, class Real>
Real loss_slope(const Loss& loss, Real z, Real y) {
  if constexpr (internal::OfPrediction<Loss>)
    return loss.first(z, y);
  else if constexpr (Loss::kClassification)
    return y * loss.first(y * z);
  else
    return loss.first(z - y);
}

/// Its second derivative in z: the Hessian in w is this times x·xᵀ.
template <class Loss, class Real>
Real loss_curvature(const Loss& loss, Real z, Real y) {
  if constexpr (internal::OfPrediction<Loss>)
    return loss.second(z, y);
  else if constexpr (Loss::kClassification)
    return y * y * loss.second(y * z);
  else
    return loss.second(z - y);
}

}  // namespace sotto
