#pragma once

// What the bounds on logistic losses search with: the largest distance that the contributions of
// two rows may have, over the rows' angles to w.

#include <cmath>
#include <cstddef>
#include <numbers>
#include <queue>

namespace sotto::internal {

inline constexpr double kPi = std::numbers::pi;
// Covers the roundings of the bounds and that of R‖w‖.
inline constexpr double kRoundUp = 1 + 1e-10;

inline double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

/// A square of angles (a, b) and an upper bound on the squared distance within.
struct AngleCell {
  double a, b, width;
  double bound;
  bool operator<(const AngleCell& other) const { return bound < other.bound; }
};

/// Branch and bound over [0, π]² for a distance that is symmetric in its angles. `bound_of(a, b,
/// width, reached)` bounds the squared distance on a square from above and raises `reached` to a
/// value that the distance takes there. At most 0.2 % above the supremum of squares unless that
/// takes more than `most_cells`; never below it.
template <class BoundOf>
double largest_over_angles(const BoundOf& bound_of, std::size_t most_cells) {
  constexpr int kStart = 8;
  constexpr double kTolerance = 2e-3;
  std::priority_queue<AngleCell> cells;
  double reached = 0;
  const auto add = [&](double a, double b, double width) {
    cells.push(AngleCell{a, b, width, bound_of(a, b, width, reached)});
  };
  for (int i = 0; i < kStart; ++i)
    for (int j = i; j < kStart; ++j) add(i * kPi / kStart, j * kPi / kStart, kPi / kStart);
  // Every state of the queue covers all angles, so stopping early is safe.
  while (cells.top().bound > reached * (1 + kTolerance) && cells.size() < most_cells) {
    const AngleCell cell = cells.top();
    cells.pop();
    const double half = cell.width / 2;
    for (const double a : {cell.a, cell.a + half})
      for (const double b : {cell.b, cell.b + half}) add(a, b, half);
  }
  return std::sqrt(cells.top().bound);
}

}  // namespace sotto::internal
