#include "sotto/privacy/accountant/rdp_conversion.hpp"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

namespace sotto::internal {
namespace {

constexpr double kSmallestBeta = 1e-9;
constexpr double kLargestBeta = 1e12;
constexpr double kFirstBeta = 4;
constexpr double kRatio = 2.5;  // between neighbours of the coarse grid
constexpr int kPrecision = 26;  // bits of log beta: the minimum is then flat to double precision
constexpr double kRounding = 1e-12;  // relative, covers the curve's rounding

// Minimizes bound(beta, curve(beta)). Since the curve never falls and is never negative,
// bound(beta, curve at a smaller order) is a lower bound that ends the walk early.
template <class Bound>
double minimize(const RenyiCurve& curve, Bound bound) {
  const auto value = [&](double beta) { return bound(beta, curve(beta)); };
  double renyi = curve(kFirstBeta);
  double best = bound(kFirstBeta, renyi);
  double best_beta = kFirstBeta;
  const auto offer = [&](double beta, double candidate) {
    if (candidate < best) {
      best = candidate;
      best_beta = beta;
    }
  };
  for (double beta = kFirstBeta * kRatio; beta < kLargestBeta; beta *= kRatio) {
    if (bound(beta, renyi) > best) break;
    renyi = curve(beta);
    offer(beta, bound(beta, renyi));
  }
  for (double beta = kFirstBeta / kRatio; beta > kSmallestBeta; beta /= kRatio) {
    if (bound(beta, 0) > best) break;
    offer(beta, value(beta));
  }
  if (std::isinf(best)) return best;
  std::uintmax_t evaluations = 40;
  const auto [unused, refined] = boost::math::tools::brent_find_minima(
      [&](double log_beta) { return value(std::exp(log_beta)); },
      std::log(best_beta / kRatio),
      std::log(best_beta * kRatio),
      kPrecision,
      evaluations);
  return std::min(best, refined);
}

// delta(0) is the total variation distance, which the Kullback-Leibler divergence bounds (Pinsker,
// and Bretagnolle-Huber where it is large); the curve's lower end is above that divergence.
double log_total_variation(const RenyiCurve& curve) {
  const double divergence = curve(kSmallestBeta) * (1 + kRounding);
  return std::log(std::min(divergence / 2, -std::expm1(-divergence))) / 2;
}

}  // namespace

// The terms of both conversions may cancel: their own rounding is paid, not only the result's.
constexpr double kTermRounding = 8e-15;

double epsilon_at_order(double beta, double renyi, double delta) {
  const double shrink = std::log1p(1 / beta);
  const double price = -(std::log(delta) + std::log1p(beta)) / beta;
  return renyi - shrink + price + kTermRounding * (std::abs(renyi) + shrink + std::abs(price));
}

double log_delta_at_order(double beta, double renyi, double epsilon) {
  const double shrink = std::log1p(1 / beta);
  return beta * (renyi - epsilon - shrink) - std::log1p(beta) +
         kTermRounding * (beta * (std::abs(renyi) + epsilon + shrink) + std::log1p(beta));
}

double epsilon_from_renyi(const RenyiCurve& curve, double delta) {
  if (delta == 0) return std::numeric_limits<double>::infinity();
  if (log_total_variation(curve) <= std::log(delta)) return 0;
  const double value = minimize(
      curve, [&](double beta, double renyi) { return epsilon_at_order(beta, renyi, delta); });
  return std::max(0.0, value * (1 + kRounding));
}

double log_delta_from_renyi(const RenyiCurve& curve, double epsilon) {
  if (std::isinf(epsilon)) return -std::numeric_limits<double>::infinity();
  const double value = minimize(
      curve, [&](double beta, double renyi) { return log_delta_at_order(beta, renyi, epsilon); });
  return std::min({0.0, value + kRounding * std::abs(value), log_total_variation(curve)});
}

}  // namespace sotto::internal
