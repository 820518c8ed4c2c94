#include "sotto/loss/slope_bound.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/numbers.hpp"
#include "sotto/loss/largest_over_angles.hpp"
#include "sotto/loss/loss.hpp"
#include "sotto/loss/scalar_math.hpp"

namespace sotto {
namespace {

using internal::kPi;
using internal::kRoundUp;
using internal::sigmoid;

// What a computed slope or loss may be off, for each unit of 1 + R‖w‖: the rounding of a margin
// below d = 10^5, and of the loss itself, many times over.
constexpr double kValueRounding = 1e-10;

/// The size of a logistic gradient, in units of R, for a row at the angle `angle` to w: grows with
/// it.
double size(double W, double angle) { return sigmoid(-W * std::cos(angle)); }

double squared_distance(double s, double t, double cosine) {
  return s * s + t * t - 2 * s * t * cosine;
}

/// The larger of all values of the squared distance s² + t² - 2 s t cos(a + b) on the rectangle, by
/// the smaller of two bounds; `reached` learns the value in the middle.
double bound_on_cell(double W, double a, double b, double width, double& reached) {
  // Convex in (s, t), so largest at a corner of their ranges, and for the smallest cosine.
  const double low = a + b;
  const double high = low + 2 * width;
  const double cosine = low <= kPi && high >= kPi ? -1 : std::min(std::cos(low), std::cos(high));
  double corners = 0;
  for (const double s : {size(W, a), size(W, a + width)})
    for (const double t : {size(W, b), size(W, b + width)})
      corners = std::max(corners, squared_distance(s, t, cosine));
  // Taylor's formula at the middle; the bound on second derivatives is in the proof note.
  const double h = width / 2;
  const double s = size(W, a + h);
  const double t = size(W, b + h);
  const double cos_sum = std::cos(a + b + width);
  const double sin_sum = std::sin(a + b + width);
  const double ds = W * std::sin(a + h) * s * (1 - s);
  const double dt = W * std::sin(b + h) * t * (1 - t);
  const double middle = squared_distance(s, t, cos_sum);
  const double by_a = 2 * (s * ds - ds * t * cos_sum + s * t * sin_sum);
  const double by_b = 2 * (t * dt - s * dt * cos_sum + s * t * sin_sum);
  const double second = 0.64 * W * W + 3 * W + 4;
  const double taylor = middle + (std::abs(by_a) + std::abs(by_b)) * h + second * h * h;
  reached = std::max(reached, middle);
  return std::min(corners, taylor);
}

/// What a computed slope or loss may be off at predictions of this size, 1 included: it grows with
/// the slopes.
double value_rounding(const LossInfo& loss, double size) {
  const double unit = loss.kind == LossKind::kPoisson ? std::max(1.0, loss.sup_first) : 1;
  return kValueRounding * loss.largest_weight * unit * size;
}

double logistic_diameter(double W) {
  return internal::largest_over_angles(
      [W](double a, double b, double width, double& reached) {
        return bound_on_cell(W, a, b, width, reached);
      },
      /*most_cells=*/4'000);
}

}  // namespace

double gradient_bound(const LossInfo& loss, double R, double length_of_w) {
  if (!loss.proven) return kInfinity;
  if (loss.kind == LossKind::kPhaseRetrieval) {
    // |z (z² - y)| for |z| <= W and 0 <= y <= Y: at z = W, or at its local maximum for y = Y. At
    // w = 0 every gradient is 0; a bound must be positive, so a millionth of the unit is left.
    const double W = R * length_of_w;
    const double Y = -loss.inf_second;
    const double z = std::min(W, std::sqrt(Y / 3));
    const double unit = Y * std::sqrt(Y);
    return R * std::max({W * (W * W), z * (Y - z * z), 1e-6 * unit}) * kRoundUp;
  }
  if (loss.kind != LossKind::kLogistic) return loss.sup_first * R;
  return loss.largest_weight * R * sigmoid(R * length_of_w) * kRoundUp;
}

double gradient_diameter(const LossInfo& loss, double R, double length_of_w) {
  const double twice = 2 * gradient_bound(loss, R, length_of_w);
  if (loss.kind != LossKind::kLogistic) return twice;
  const double W = R * length_of_w;
  // Far out the search gains little, and the cells would have to be tiny.
  if (!(W < 1000)) return twice;
  return std::min(twice, loss.largest_weight * R * logistic_diameter(W) * kRoundUp);
}

double difference_bound(const LossInfo& loss, double R, const PointPair& points) {
  if (!loss.proven || !std::isfinite(loss.sup_abs_second())) return kInfinity;
  const double W = R * points.length;
  const double before = R * points.length_before;
  const double D = R * points.moved;
  double slope = 0;
  if (loss.kind == LossKind::kLogistic)
    slope = loss.largest_weight * std::min(std::tanh(D / 4), sigmoid(W) - sigmoid(-before));
  else  // the slope of a classification loss has one sign
    slope = std::min(loss.sup_abs_second() * D, (loss.classification ? 1 : 2) * loss.sup_first);
  return R * (slope * kRoundUp + value_rounding(loss, 1 + W + before));
}

double difference_diameter(const LossInfo& loss, double R, const PointPair& points) {
  // The residual of a label without a bound is rounded by as much as it likes (proof note).
  if (!loss.proven || !loss.classification || !std::isfinite(loss.sup_abs_second()))
    return kInfinity;
  const double W = R * points.length;
  const double before = R * points.length_before;
  const double range = std::max(0.0, loss.sup_second) - std::min(0.0, loss.inf_second);
  const double turned =
      range * R * points.moved * kRoundUp + 2 * value_rounding(loss, 1 + W + before);
  return std::min(R * turned, 2 * difference_bound(loss, R, points));
}

LossRange loss_range(const LossInfo& loss, double R, double length_of_w) {
  const double W = R * length_of_w;
  if (loss.kind == LossKind::kLogistic) {
    const double least = std::log1p(std::exp(-W));
    return {loss.least_weight * least / kRoundUp, loss.largest_weight * (W + least) * kRoundUp};
  }
  if (loss.kind == LossKind::kSigmoid)
    return {loss.least_weight * sigmoid(-W) / kRoundUp,
            loss.largest_weight * sigmoid(W) * kRoundUp};
  if (loss.kind == LossKind::kPhaseRetrieval) {
    const double most = std::max(W * W, -loss.inf_second);
    return {0, 0.25 * most * most * kRoundUp};
  }
  if (loss.kind == LossKind::kPoisson) {
    // Convex in the prediction and in the label: largest at a corner.
    const PoissonLoss<ScalarMath> poisson{loss.sup_first};
    double most = 0;
    for (const double z : {-W, W})
      for (const double y : {0.0, loss.sup_first}) most = std::max(most, poisson.value(z, y));
    return {0, most * kRoundUp + value_rounding(loss, 1 + W)};
  }
  return {0, kInfinity};
}

double loss_spread(const LossInfo& loss, double R, double length_of_w) {
  const auto [lowest, highest] = loss_range(loss, R, length_of_w);
  return highest - lowest + value_rounding(loss, 1 + R * length_of_w);
}

}  // namespace sotto
