#include "sotto/privacy/accountant/rdp_mechanisms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/privacy/accountant/renyi_integral.hpp"

namespace sotto::internal {
namespace {

// Below it the integrand's peaks are too narrow to be worth resolving: full-batch cost instead.
constexpr double kSmallestMultiplier = 0.02;
// Rounding the rate up to it only costs; below it squares underflow.
constexpr double kSmallestRate = 1e-150;
// Beyond it e^epsilon overflows, and the curve is epsilon to double precision.
constexpr double kLargestPure = 300;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// e^x - 1 - x.
double expm1_excess(double x) {
  if (std::abs(x) > 0.5) return std::expm1(x) - x;
  double term = x * x / 2;
  double sum = 0;
  for (int k = 3; std::abs(term) > 1e-18 * sum && k < 40; ++k) {
    sum += term;
    term *= x / k;
  }
  return sum;
}

// Wide enough for the strip in which the integrands are analytic (|Im x| < pi z^2) and for the
// Gaussian itself: the trapezoidal error is below 1e-15.
double lattice_step(double z) { return std::min(z, z * z) / 2; }

// A point or two near the fixed points of x -> g(x), which are the peaks of an integrand.
template <class G>
double settle(G g, double x) {
  for (int i = 0; i < 60; ++i) {
    const double next = g(x);
    if (std::abs(next - x) < 1e-3) return next;
    x = next;
  }
  return x;
}

}  // namespace

double rdp_gaussian(double z, double beta) {
  // What underflows is still not nothing.
  return std::max((1 + beta) / 2 / z / z, std::numeric_limits<double>::min());
}

double rdp_laplace(double z, double beta) {
  const double alpha = 1 + beta;
  const double u = 1 / z;
  if (alpha * u > 30) {
    return std::min(u,
                    log_add(std::log(alpha) + beta * u, std::log(beta) - alpha * u) / beta -
                        std::log(alpha + beta) / beta);
  }
  const double excess =
      (alpha * expm1_excess(beta * u) + beta * expm1_excess(-alpha * u)) / (alpha + beta);
  return std::min(u, std::log1p(excess) / beta);
}

double rdp_pure(double epsilon, double beta) {
  if (epsilon > kLargestPure) return epsilon;
  const double log_q = -std::log1p(std::exp(epsilon));  // of the outcome that P prefers
  const double up = log_q + log_excess(beta, std::expm1(epsilon), epsilon);
  const double down = log_q + epsilon + log_excess(beta, std::expm1(-epsilon), -epsilon);
  return std::min(epsilon, softplus(log_add(up, down)) / beta);
}

double rdp_bounded_range(double epsilon, double beta) {
  const double alpha = 1 + beta;
  const double quadratic = alpha * epsilon * epsilon / 8;
  // (1 - e^{-alpha epsilon}) / (1 - e^{-epsilon}) = 1 + growth
  const double growth = -std::expm1(-beta * epsilon) / std::expm1(epsilon);
  const double log_ratio = std::log1p(growth) - std::log1p(beta);
  const double log_scale = std::log(beta * std::expm1(-epsilon) / std::expm1(-beta * epsilon));
  const double exact = epsilon + log_scale + log_ratio + log_ratio / beta;
  // The logarithms cancel at large orders: the rounding of each is paid.
  const double rounding =
      1e-15 * (1 + epsilon + std::abs(log_scale) + std::log1p(growth) + std::log1p(beta));
  return std::min({quadratic, exact + rounding, epsilon});
}

double rdp_poisson_gaussian(double rate, double z, double beta) {
  rate = std::max(rate, kSmallestRate);
  z = std::min(z, kLargestMultiplier);
  const double alpha = 1 + beta;
  const double full = rdp_gaussian(z, beta);
  if (rate >= 1 || z < kSmallestMultiplier) return full;
  const double variance = z * z;
  const double log_rate = std::log(rate);
  const double log_rest = std::log1p(-rate);
  const auto log_integrand = [&](double x) {
    const double ratio = (x - 0.5) / variance;  // log of N(1) / N(0)
    double r = 0;
    double l = 0;
    if (ratio < 30) {
      r = rate * std::expm1(ratio);
      l = std::log1p(r);
    } else {
      l = log_add(log_rate + ratio, log_rest);
      r = std::expm1(l);
    }
    return -x * x / (2 * variance) + log_excess(beta, r, l);
  };
  // Peaks of e^{-x^2 / 2 z^2} (1 + r)^alpha solve x = alpha s(x), s the share of the second
  // component.
  const auto peak = [&](double x) {
    return alpha * sigmoid((x - 0.5) / variance + log_rate - log_rest);
  };
  const double log_moment =
      log_integral(log_integrand, 0.5, lattice_step(z), {settle(peak, 0), 2, settle(peak, alpha)}) -
      kLogRootTwoPi - std::log(z);
  return std::min(full, softplus(log_moment) / beta);
}

double rdp_poisson_gaussian_replace(double rate, double z, double beta) {
  rate = std::max(rate, kSmallestRate);
  z = std::min(z, kLargestMultiplier);
  const double alpha = 1 + beta;
  const double full = rdp_gaussian(z, beta);
  if (rate >= 1 || z < kSmallestMultiplier) return full;
  const double variance = z * z;
  const double log_rate = std::log(rate);
  const double log_rest = std::log1p(-rate);
  const auto log_integrand = [&](double x) {
    const double up = (x - 0.25) / (2 * variance);     // log of N(1/2) / N(0)
    const double down = (-x - 0.25) / (2 * variance);  // log of N(-1/2) / N(0)
    const double log_p = log_add(log_rate + up, log_rest);
    const double log_q = log_add(log_rate + down, log_rest);
    double r = 0;
    double l = log_p - log_q;
    if (std::abs(x) < variance) {
      // q (N(1/2) - N(-1/2)) / Q without cancellation.
      r = 2 * std::exp(log_rate - 1 / (8 * variance) - log_q) * std::sinh(x / (2 * variance));
      l = std::log1p(r);
    } else {
      r = std::expm1(l);
    }
    return -x * x / (2 * variance) + log_q + log_excess(beta, r, l);
  };
  const auto peak = [&](double x) {
    const double logit = log_rate - log_rest;
    return alpha / 2 * sigmoid((x - 0.25) / (2 * variance) + logit) +
           beta / 2 * sigmoid((-x - 0.25) / (2 * variance) + logit);
  };
  const double log_moment =
      log_integral(log_integrand,
                   0,
                   lattice_step(z),
                   {-0.5, 0, 0.5, 1, settle(peak, 0), settle(peak, alpha / 2)}) -
      kLogRootTwoPi - std::log(z);
  return std::min(full, softplus(log_moment) / beta);
}

double amplified_pure(double rate, double epsilon) {
  if (epsilon > kLargestPure) return log_add(std::log(rate) + epsilon, std::log1p(-rate));
  return std::log1p(rate * std::expm1(epsilon));
}

double rdp_poisson_pure(double rate, double epsilon, double beta) {
  const double limit = amplified_pure(rate, epsilon);
  if (epsilon > kLargestPure) return limit;
  const double log_q = -std::log1p(std::exp(epsilon));  // Q = (e^log_q, e^{log_q + epsilon})
  // Mixture M = (1-q) Q + q P over Q, outcome by outcome.
  const double r_up = rate * std::expm1(epsilon);
  const double r_down = rate * std::expm1(-epsilon);
  const double l_up = std::log1p(r_up);
  const double l_down = std::log1p(r_down);
  const double forward = log_add(log_q + log_excess(beta, r_up, l_up),
                                 log_q + epsilon + log_excess(beta, r_down, l_down));
  // Q over M.
  const double backward =
      log_add(log_q + l_up + log_excess(beta, -r_up / (1 + r_up), -l_up),
              log_q + epsilon + l_down + log_excess(beta, -r_down / (1 + r_down), -l_down));
  return std::min(limit, softplus(std::max(forward, backward)) / beta);
}

}  // namespace sotto::internal
