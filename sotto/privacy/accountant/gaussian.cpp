#include "sotto/privacy/accountant/gaussian.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <limits>

namespace sotto {
namespace {

// Extended precision makes room for the cancellation in 1 - x R(x).
using Real = long double;

constexpr Real kBeyond = std::numeric_limits<Real>::infinity();
constexpr Real kRealLogRootTwoPi = 0.918938533204672741780329736405617640L;
constexpr Real kRootHalf = 0.707106781186547524400844362104849039L;
constexpr Real kRootHalfPi = 1.253314137315500251207882642405522627L;

// Relative error of delta as computed here, with margin.
constexpr Real kDeltaError = 4e-15L;
constexpr Real kRounding = 1e-14L;

// Where the asymptotic series of the Mills ratio has full precision: its smallest term is about
// exp(-x^2/2).
constexpr Real kAsymptotic = 11;

// 1 - x R(x) for x >= kAsymptotic: 1/x^2 - 3/x^4 + 15/x^6 - ...
Real mills_defect_series(Real x) {
  const Real y = 1 / (x * x);
  Real term = y;
  Real sum = 0;
  for (int k = 1; std::abs(term) > 1e-21L * y && k < 60; ++k) {
    sum += term;
    term *= -static_cast<Real>(2 * k + 1) * y;
  }
  return sum;
}

// The Mills ratio R(x) = Phi(-x) / phi(x).
Real mills(Real x) {
  if (x >= kAsymptotic) return (1 - mills_defect_series(x)) / x;
  return kRootHalfPi * std::exp(x * x / 2) * std::erfc(x * kRootHalf);
}

// -R'(x) = 1 - x R(x).
Real mills_defect(Real x) { return x >= kAsymptotic ? mills_defect_series(x) : 1 - x * mills(x); }

struct Loss {
  Real log_delta;
  Real gap_over_tail;  // delta / (e^epsilon Phi(-b)) = -delta / (d delta / d epsilon)
};

// delta at epsilon = mu s. With a = s - mu/2, b = s + mu/2 we have e^epsilon phi(b) = phi(a), hence
// delta = phi(a) (R(a) - R(b)); the difference is an integral of -R' where mu is small.
Loss loss(Real mu, Real s) {
  const Real a = s - mu / 2;
  const Real b = s + mu / 2;
  const Real tail = mills(b);
  Real difference = 0;
  if (mu < 0.5L) {
    // Over [-1, 1], since b - a would cancel.
    difference = mu / 2 * boost::math::quadrature::gauss<Real, 15>::integrate([&](Real t) {
                   return mills_defect(s + mu / 2 * t);
                 });
  } else if (a > -20) {
    difference = mills(a) - tail;
  } else {
    // Phi(-a) is 1 and phi(a) may underflow.
    return {0, kBeyond};
  }
  return {-a * a / 2 - kRealLogRootTwoPi + std::log(difference), difference / tail};
}

// The s >= 0 with log delta(mu s) = target: Newton's method on a decreasing function, safeguarded
// by bisection.
Real solve(Real mu, Real target) {
  Real low = 0;
  // delta <= Phi(-a) <= exp(-a^2/2).
  Real high = mu / 2 + std::sqrt(std::max<Real>(0, -2 * target)) + 1;
  Real s = std::min(high, std::max<Real>(low, mu / 2 + std::sqrt(std::max<Real>(0, -target))));
  for (int i = 0; i < 200; ++i) {
    const Loss at = loss(mu, s);
    const Real excess = at.log_delta - target;
    (excess > 0 ? low : high) = s;
    // d log delta / d s = -mu / gap_over_tail.
    Real next = s + excess * at.gap_over_tail / mu;
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    if (std::abs(next - s) <= 1e-18L * s || next == low || next == high) return next;
    s = next;
  }
  return s;
}

class GaussianAccountant final : public Accountant {
 public:
  std::string_view name() const override { return "gaussian"; }

  Expected<void> supports(const CanonicalEvent& event) const override {
    for (const Term& term : event.terms) {
      if (term.mechanism == Term::Mechanism::kNonPrivate) continue;
      if (term.sampling != Term::Sampling::kFull) {
        return refuse(name(),
                      term,
                      event.relation,
                      "a sampled release is not a Gaussian mechanism. Use pld or rdp.");
      }
      if (term.mechanism != Term::Mechanism::kGaussian) {
        return refuse(name(), term, event.relation, "it is not Gaussian. Use pld, rdp or zcdp.");
      }
    }
    return {};
  }

  Expected<Interval> epsilon(const CanonicalEvent& event, double delta) const override {
    SOTTO_TRY(check_delta(delta));
    SOTTO_TRY(supports(event));
    if (has_non_private(event))
      return Interval{std::numeric_limits<double>::infinity(),
                      std::numeric_limits<double>::infinity()};
    const GaussianEpsilon answer = gaussian_epsilon(gaussian_mu(event), delta);
    // At delta = 0 it is infinite; else finite, though it may be beyond the largest double.
    if (std::isinf(answer.value))
      return Interval{delta == 0 ? answer.value : std::numeric_limits<double>::max(), answer.value};
    return Interval{std::max(0.0, answer.value - answer.width), answer.value + answer.width};
  }

  Expected<Interval> delta(const CanonicalEvent& event, double epsilon) const override {
    SOTTO_TRY(check_epsilon(epsilon));
    SOTTO_TRY(supports(event));
    if (has_non_private(event)) return Interval{1, 1};
    const double mu = gaussian_mu(event);
    if (mu == 0) return Interval{0, 0};
    // mu is rounded, and s - mu/2 cancels where both are large: delta is taken at a mu that is
    // larger, or smaller, than either error. Below the normal range doubles lose precision: one
    // unit of it outwards.
    const double slack = 1e-15 * static_cast<double>(4 + event.terms.size());
    const auto at = [&](double m) { return std::exp(gaussian_log_delta(m, epsilon)); };
    const double upper = at(mu * (1 + slack)) * (1 + 1e-12);
    const double lower = at(mu * (1 - slack)) * (1 - 1e-12);
    constexpr double kLeast = std::numeric_limits<double>::denorm_min();
    return Interval{std::max(0.0, lower - kLeast), std::min(1.0, upper + kLeast)};
  }
};

}  // namespace

const Accountant& gaussian_accountant() {
  static const GaussianAccountant accountant;
  return accountant;
}

double gaussian_mu(const CanonicalEvent& event) {
  Real largest = 0;  // of 1 / z, factored out against overflow
  for (const Term& term : event.terms) {
    if (term.mechanism == Term::Mechanism::kGaussian && term.sampling == Term::Sampling::kFull) {
      largest = std::max(largest, 1 / static_cast<Real>(term.parameter));
    }
  }
  if (largest == 0) return 0;
  Real sum = 0;
  for (const Term& term : event.terms) {
    if (term.mechanism == Term::Mechanism::kGaussian && term.sampling == Term::Sampling::kFull) {
      const Real ratio = 1 / (largest * static_cast<Real>(term.parameter));
      sum += static_cast<Real>(term.count) * ratio * ratio;
    }
  }
  return static_cast<double>(largest * std::sqrt(sum));
}

double gaussian_log_delta(double mu, double epsilon) {
  if (mu == 0 || std::isinf(epsilon)) return -std::numeric_limits<double>::infinity();
  if (std::isinf(mu)) return 0;
  const Real m = mu;
  return static_cast<double>(std::min<Real>(0, loss(m, static_cast<Real>(epsilon) / m).log_delta));
}

GaussianEpsilon gaussian_epsilon(double mu, double delta) {
  if (mu == 0) return {0, 0};
  if (delta == 0 || std::isinf(mu)) return {std::numeric_limits<double>::infinity(), 0};
  const Real m = mu;
  const Real target = std::log(static_cast<Real>(delta));
  const Loss at_zero = loss(m, 0);
  if (target >= at_zero.log_delta) return {0, 0};
  const Real s = solve(m, target);
  const Real width = m * s * kRounding + kDeltaError * loss(m, s).gap_over_tail;
  return {static_cast<double>(m * s), static_cast<double>(width)};
}

double gaussian_largest_mu(double epsilon, double delta) {
  if (std::isinf(epsilon)) return std::numeric_limits<double>::infinity();
  const Real target = std::log(static_cast<Real>(delta));
  const Real e = epsilon;
  const auto excess = [&](Real mu) { return loss(mu, e / mu).log_delta - target; };
  // delta(epsilon) grows with mu, from 0 to 1.
  Real low = 1e-3L;
  Real high = 1;
  while (excess(low) > 0 && low > 1e-300L) low /= 1024;
  while (excess(high) <= 0) high *= 4;
  for (int i = 0; i < 300 && high - low > 1e-16L * high; ++i) {
    // Geometric, since mu spans many magnitudes.
    const Real middle = high > 2 * low ? std::sqrt(low) * std::sqrt(high) : (low + high) / 2;
    (excess(middle) > 0 ? high : low) = middle;
  }
  return static_cast<double>(low * (1 - kRounding));
}

}  // namespace sotto
