#include "sotto/geometry/slope_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <queue>

namespace sotto {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kTolerance = 1e-3;
// Covers the roundings here and that of W, which moves the bounds by less than W/2 times its own.
constexpr double kRoundUp = 1 + 1e-10;

double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

/// The size of a logistic gradient, in units of R, for a row at the angle `angle` to w: grows with
/// it.
double size(double W, double angle) { return sigmoid(-W * std::cos(angle)); }

/// A rectangle of angles (a, b) and an upper bound on the squared distance within.
struct Cell {
  double a, b, width;
  double bound;
  bool operator<(const Cell& other) const { return bound < other.bound; }
};

double squared_distance(double s, double t, double cosine) {
  return s * s + t * t - 2 * s * t * cosine;
}

Cell make_cell(double W, double a, double b, double width) {
  // Squared distance s² + t² - 2 s t cos(a + b): convex in (s, t), so largest at a corner of their
  // ranges, and for the smallest cosine.
  const double low = a + b;
  const double high = low + 2 * width;
  const double cosine = low <= kPi && high >= kPi ? -1 : std::min(std::cos(low), std::cos(high));
  double bound = 0;
  for (const double s : {size(W, a), size(W, a + width)})
    for (const double t : {size(W, b), size(W, b + width)})
      bound = std::max(bound, squared_distance(s, t, cosine));
  return {a, b, width, bound};
}

/// Branch and bound over the angles of the two rows.
double logistic_diameter(double W) {
  constexpr int kStart = 8;
  constexpr std::size_t kMostCells = 4'000;
  std::priority_queue<Cell> cells;
  double reached = 0;
  const auto add = [&](double a, double b, double width) {
    const double s = size(W, a + width / 2);
    const double t = size(W, b + width / 2);
    reached = std::max(reached, squared_distance(s, t, std::cos(a + b + width)));
    cells.push(make_cell(W, a, b, width));
  };
  for (int i = 0; i < kStart; ++i)
    for (int j = i; j < kStart; ++j) add(i * kPi / kStart, j * kPi / kStart, kPi / kStart);
  // Every state of the queue covers all angles, so stopping early is safe.
  while (cells.top().bound > reached * (1 + kTolerance) && cells.size() < kMostCells) {
    const Cell cell = cells.top();
    cells.pop();
    const double half = cell.width / 2;
    for (const double a : {cell.a, cell.a + half})
      for (const double b : {cell.b, cell.b + half}) add(a, b, half);
  }
  return std::sqrt(cells.top().bound);
}

}  // namespace

double gradient_bound(const LossInfo& loss, double R, double length_of_w) {
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
  return R * sigmoid(R * length_of_w) * kRoundUp;
}

double gradient_diameter(const LossInfo& loss, double R, double length_of_w) {
  const double twice = 2 * gradient_bound(loss, R, length_of_w);
  if (loss.kind != LossKind::kLogistic) return twice;
  const double W = R * length_of_w;
  // Far out the search gains little, and the cells would have to be tiny.
  if (!(W < 1000)) return twice;
  return std::min(twice, R * logistic_diameter(W) * kRoundUp);
}

LossRange loss_range(const LossInfo& loss, double R, double length_of_w) {
  const double W = R * length_of_w;
  switch (loss.kind) {
    case LossKind::kLogistic: {
      const double least = std::log1p(std::exp(-W));
      return {least / kRoundUp, (W + least) * kRoundUp};
    }
    case LossKind::kSigmoid:
      return {sigmoid(-W) / kRoundUp, sigmoid(W) * kRoundUp};
    case LossKind::kPhaseRetrieval: {
      const double most = std::max(W * W, -loss.inf_second);
      return {0, 0.25 * most * most * kRoundUp};
    }
    case LossKind::kSquared:
    case LossKind::kHuber:
      break;
  }
  return {0, std::numeric_limits<double>::infinity()};
}

}  // namespace sotto
