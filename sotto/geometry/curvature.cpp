#include "sotto/geometry/curvature.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sotto {
namespace {

/// max of 24 w |w² - 1| / (1 + w²)⁴, the third derivative of w²/(1 + w²), rounded up; at w = 0.325.
constexpr double kNonconvexThird = 4.6685593;

/// By what the loss states, proven or not.
double stated_floor(const LossInfo& loss,
                    double R,
                    const Regularizer& regularizer,
                    std::int64_t dimension) {
  // A row can be zero, so a positive φ'' promises nothing.
  const double data = loss.inf_second < 0 ? R * R * loss.inf_second : 0;
  return data + regularizer.curvature(dimension).lowest;
}

}  // namespace

double curvature_floor(const LossInfo& loss,
                       double R,
                       const Regularizer& regularizer,
                       std::int64_t dimension) {
  if (!loss.proven) return -std::numeric_limits<double>::infinity();
  return stated_floor(loss, R, regularizer, dimension);
}

double gradient_lipschitz(const LossInfo& loss,
                          double R,
                          const Regularizer& regularizer,
                          std::int64_t dimension) {
  const double lowest = stated_floor(loss, R, regularizer, dimension);
  const double highest =
      R * R * std::max(0.0, loss.sup_second) + regularizer.curvature(dimension).highest;
  return std::max(-lowest, highest);
}

double hessian_lipschitz(const LossInfo& loss, double R, const Regularizer& regularizer) {
  const double third = regularizer.kind() == RegularizerKind::kNonconvex
                           ? kNonconvexThird * regularizer.lambda()
                           : 0;
  return R * R * R * loss.sup_third + third;
}

}  // namespace sotto
