#include "sotto/loss/joint_bound.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "sotto/core/numbers.hpp"
#include "sotto/loss/largest_over_angles.hpp"
#include "sotto/loss/slope_bound.hpp"

namespace sotto {
namespace {

using internal::kPi;
using internal::kRoundUp;
using internal::sigmoid;

/// sup of φ'' and of -φ'' (not below 0) over the arguments that |⟨x, w⟩| <= W allows.
struct SecondRange {
  double up;
  double down;
};

SecondRange second_range(const LossInfo& loss, double W) {
  if (!loss.proven) return {kInfinity, kInfinity};
  if (loss.kind == LossKind::kSigmoid) {
    // p(1-p)|2p-1| grows until p = 1/2 + 1/(2√3). At w = 0 it is 0; a bound must be positive, so
    // a millionth of its supremum is left.
    const double p = std::min(sigmoid(W), 0.5 + 0.5 / std::numbers::sqrt3);
    const double size = std::clamp(loss.largest_weight * p * (1 - p) * (2 * p - 1) * kRoundUp,
                                   1e-6 * loss.sup_second,
                                   loss.sup_second);
    return {size, size};
  }
  if (loss.kind == LossKind::kPhaseRetrieval) return {3 * W * W, -loss.inf_second};
  // The rate itself, at most e^W.
  if (loss.kind == LossKind::kPoisson)
    return {std::min(loss.sup_second, std::exp(W) * kRoundUp), 0};
  return {loss.sup_second, std::max(0.0, -loss.inf_second)};
}

/// sup of (1-p)² (1 + κp²) over p in [σ(-W), σ(W)]: the squared joint norm of the logistic loss.
double logistic_joint(double W, double kappa) {
  const auto f = [kappa](double p) { return (1 - p) * (1 - p) * (1 + kappa * p * p); };
  const double low = sigmoid(-W);
  const double high = sigmoid(W);
  double most = std::max(f(low), f(high));
  // Between its ends f has a local maximum only at the larger root of 2κp² - κp + 1.
  if (kappa > 8)
    most = std::max(most, f(std::clamp((1 + std::sqrt(1 - 8 / kappa)) / 4, low, high)));
  return most;
}

/// sup of p²(1-p)² (1 + κ(2p-1)²): the sigmoid loss's, with q = (2p-1)² in [0, tanh²(W/2)].
double sigmoid_joint(double W, double kappa) {
  const double reach = std::tanh(W / 2);
  const double q = std::clamp(kappa > 2 ? (kappa - 2) / (3 * kappa) : 0.0, 0.0, reach * reach);
  return (1 - q) * (1 - q) * (1 + kappa * q) / 16;
}

/// The largest value of s² + t² - 2 s t c + κ(A² + B² - 2 A B c²) over c in [low, high].
double distance(double s, double t, double A, double B, double kappa, double low, double high) {
  const double curve = 2 * kappa * A * B;
  const double c = curve > 0 ? std::clamp(-s * t / curve, low, high) : low;
  return s * s + t * t - 2 * s * t * c + kappa * (A * A + B * B - 2 * A * B * c * c);
}

double slope(double W, double angle) { return sigmoid(-W * std::cos(angle)); }

/// The range of s(1-s) for s in [low, high].
std::array<double, 2> curvature_range(double low, double high) {
  const double at_low = low * (1 - low);
  const double at_high = high * (1 - high);
  const double most = low <= 0.5 && high >= 0.5 ? 0.25 : std::max(at_low, at_high);
  return {std::min(at_low, at_high), most};
}

/// An upper bound on the squared joint distance of two rows on a square of angles.
double joint_bound_on_cell(double W, double kappa, double a, double b, double width) {
  // For a fixed cosine c of the rows' angle the distance is convex in (s, t) and in (A, B), so it
  // is largest at corners of their ranges.
  const double sum = a + b;
  const double low = sum <= kPi && sum + 2 * width >= kPi
                         ? -1
                         : std::min(std::cos(sum), std::cos(sum + 2 * width));
  const double high = std::cos(std::max(0.0, std::abs(a - b) - width));
  const std::array s{slope(W, a), slope(W, a + width)};
  const std::array t{slope(W, b), slope(W, b + width)};
  double bound = 0;
  for (const double si : s)
    for (const double ti : t)
      for (const double A : curvature_range(s[0], s[1]))
        for (const double B : curvature_range(t[0], t[1]))
          bound = std::max(bound, distance(si, ti, A, B, kappa, low, high));
  return bound;
}

/// In units of R.
double logistic_diameter(double W, double kappa) {
  return internal::largest_over_angles(
      [W, kappa](double a, double b, double width, double& reached) {
        const double s = slope(W, a + width / 2);
        const double t = slope(W, b + width / 2);
        reached = std::max(
            reached,
            distance(
                s, t, s * (1 - s), t * (1 - t), kappa, std::cos(a + b + width), std::cos(a - b)));
        return joint_bound_on_cell(W, kappa, a, b, width);
      },
      /*most_cells=*/2'000);
}

double joint_motion(const LossInfo& loss, double R, double length, double scale, bool replace_one) {
  return replace_one ? joint_diameter(loss, R, length, scale) : joint_bound(loss, R, length, scale);
}

}  // namespace

double hessian_bound(const LossInfo& loss, double R, double length_of_w) {
  const auto [up, down] = second_range(loss, R * length_of_w);
  return R * R * std::max(up, down) * kRoundUp;
}

double hessian_diameter(const LossInfo& loss, double R, double length_of_w, double radius) {
  const auto [up, down] = second_range(loss, R * length_of_w);
  const double most = std::min(radius, R * R * up * kRoundUp);
  const double least = std::min(radius, R * R * down * kRoundUp);
  return std::max(std::numbers::sqrt2 * kRoundUp * std::max(most, least), most + least);
}

double joint_bound(const LossInfo& loss, double R, double length_of_w, double hessian_scale) {
  const double W = R * length_of_w;
  const double kappa = R * R / (hessian_scale * hessian_scale);
  const double unit = loss.largest_weight * R;
  if (loss.kind == LossKind::kLogistic)
    return unit * std::sqrt(logistic_joint(W, kappa)) * kRoundUp;
  if (loss.kind == LossKind::kSigmoid) return unit * std::sqrt(sigmoid_joint(W, kappa)) * kRoundUp;
  return std::hypot(gradient_bound(loss, R, length_of_w),
                    hessian_bound(loss, R, length_of_w) / hessian_scale);
}

double joint_diameter(const LossInfo& loss, double R, double length_of_w, double hessian_scale) {
  const double twice = 2 * joint_bound(loss, R, length_of_w, hessian_scale);
  const double W = R * length_of_w;
  if (loss.kind != LossKind::kLogistic || !(W < 1000)) return twice;
  const double kappa = R * R / (hessian_scale * hessian_scale);
  return std::min(twice, loss.largest_weight * R * logistic_diameter(W, kappa) * kRoundUp);
}

double free_hessian_scale(const LossInfo& loss, double R) {
  // (1-p)²(1 + κp²) stays at most 1 up to κ = (11 + 5√5)/2; (1-q)²(1 + κq) up to κ = 2.
  if (loss.kind == LossKind::kLogistic) return R / std::sqrt(5.5 + 2.5 * std::sqrt(5.0));
  if (loss.kind == LossKind::kSigmoid) return R / std::numbers::sqrt2;
  return kInfinity;
}

double joint_cost(
    const LossInfo& loss, double R, double length_of_w, double hessian_scale, bool replace_one) {
  const double alone =
      replace_one ? gradient_diameter(loss, R, length_of_w) : gradient_bound(loss, R, length_of_w);
  return joint_motion(loss, R, length_of_w, hessian_scale, replace_one) / alone;
}

double hessian_scale_for_step(
    const LossInfo& loss, double R, double length_of_w, double step_length, bool replace_one) {
  const double start = free_hessian_scale(loss, R);
  if (!std::isfinite(start)) return R;
  double best = start;
  double least = kInfinity;
  for (int k = -24; k <= 24; ++k) {
    const double h = start * std::exp2(0.25 * k);
    const double noise = joint_motion(loss, R, length_of_w, h, replace_one) *
                         std::sqrt(1 + h * h * step_length * step_length / 2);
    if (noise < least) {
      least = noise;
      best = h;
    }
  }
  return best;
}

double hessian_scale_for_tolerances(double gradient_tolerance, double curvature_tolerance) {
  return curvature_tolerance / (std::numbers::sqrt2 * gradient_tolerance);
}

}  // namespace sotto
