#include "sotto/privacy/accountant/rdp_fixed_size.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <limits>

#include "sotto/privacy/accountant/rdp_mechanisms.hpp"
#include "sotto/privacy/accountant/renyi_integral.hpp"

namespace sotto::internal {
namespace {

constexpr int kLargestOrder = 1 << 14;
// Beyond, |a - b|^k <= a^k + b^k: at most a factor 2 on what is then e^{k^2 / 2 z^2}. Little noise
// gets there sooner, and its integrals are longer.
int exact_moments(double z) { return std::max(16, static_cast<int>(1024 * std::min(1.0, z * z))); }
// Below it sampling is not worth resolving: full-batch cost instead.
constexpr double kLeastSampledMultiplier = 0.05;

// log |e^y - 1|.
double log_abs_expm1(double y) {
  return y > 30 ? y + std::log1p(-std::exp(-y)) : std::log(std::abs(std::expm1(y)));
}

// log E[e^{f(x)}] for x ~ N(mean, z^2), f analytic on both sides of `kink`: Gauss-Legendre on
// panels that end there.
template <class F>
double log_expectation(F f, double mean, double z, double kink, std::vector<double> starts) {
  const double width = std::min(z, z * z);
  const auto log_panel = [&](double middle) {
    const auto log_density = [&](double x) { return f(x) - (x - mean) * (x - mean) / (2 * z * z); };
    const double reference = log_density(middle);
    return reference +
           std::log(boost::math::quadrature::gauss<double, 10>::integrate([&](double t) {
                      return std::exp(log_density(middle + width / 2 * t) - reference);
                    }) /
                    2);
  };
  return log_integral(log_panel, kink, width, std::move(starts)) - kLogRootTwoPi - std::log(z);
}

// A_k = E |N(1)/N(0) - 1|^k under N(0).
double log_binary_moment(double z, int k) {
  const double spread = z * std::sqrt(k);
  return log_expectation([&](double x) { return k * log_abs_expm1((x - 0.5) / (z * z)); },
                         0,
                         z,
                         0.5,
                         {0.5 - spread, 0.5 + spread, static_cast<double>(k)});
}

// E |N(b)/N(0) - N(c)/N(0)|^k for an equilateral triangle (0, b, c) of side 1: with the sum S and
// the difference D of the two exponents, independent of variance 3/z^2 and 1/z^2, the difference is
// e^{(S - 1/z^2)/2} 2 sinh(D/2).
double log_triangle_moment(double z, int k) {
  const double spread = z * std::sqrt(k);
  const double log_sinh = log_expectation(
      [&](double x) {
        const double y = std::abs(x) / (z * z);
        return k * (log_abs_expm1(y) - y / 2);
      },
      0,
      z,
      0,
      {-spread, spread, -k / 2.0, k / 2.0});
  return (3.0 * k * k / 8 - k / 2.0) / (z * z) + log_sinh;
}

// E |N(2)/N(0) - N(1)/N(0)|^k under N(0), tilted by N(1)^k.
double log_chain_moment(double z, int k) {
  const double spread = z * std::sqrt(k);
  const double tilted =
      log_expectation([&](double x) { return k * log_abs_expm1((x - 1.5) / (z * z)); },
                      k,
                      z,
                      1.5,
                      {1.5 - spread, 1.5 + spread, static_cast<double>(k), 2.0 * k});
  return k * (k - 1.0) / (2 * z * z) + tilted;
}

}  // namespace

FixedSizeGaussian::FixedSizeGaussian(double rate, double z, Relation relation)
    : rate_(rate), z_(std::min(z, kLargestMultiplier)), relation_(relation) {}

double FixedSizeGaussian::compute_log_term(int k) const {
  if (k > exact_moments(z_)) {
    const double farthest = relation_ == Relation::kZeroOut ? 4 : 1;
    return std::log(2.0) + farthest * k * (k - 1.0) / (2 * z_ * z_);
  }
  const double binary = log_binary_moment(z_, k);
  const double ternary = std::max(
      binary,
      relation_ == Relation::kZeroOut ? log_chain_moment(z_, k) : log_triangle_moment(z_, k));
  return log_add(std::log1p(-rate_) + ternary, std::log(rate_) + binary);
}

double FixedSizeGaussian::log_term(int k) {
  while (static_cast<int>(log_terms_.size()) <= k - 2) {
    log_terms_.push_back(compute_log_term(static_cast<int>(log_terms_.size()) + 2));
  }
  return log_terms_[static_cast<std::size_t>(k - 2)];
}

double FixedSizeGaussian::log_moment(int order) {
  const auto [place, is_new] = log_moments_.try_emplace(order, 0);
  if (!is_new) return place->second;
  double sum = -std::numeric_limits<double>::infinity();
  double log_binomial = std::log(static_cast<double>(order));
  for (int k = 2; k <= order; ++k) {
    log_binomial += std::log(static_cast<double>(order - k + 1) / k);
    sum = log_add(sum, log_binomial + k * std::log(rate_) + log_term(k));
  }
  return place->second = softplus(sum);
}

double FixedSizeGaussian::rdp(double beta) {
  const double full = rdp_gaussian(z_, beta);
  const double alpha = 1 + beta;
  if (z_ < kLeastSampledMultiplier || alpha > kLargestOrder) return full;
  // The curve never falls.
  if (alpha <= 2) return std::min(full, log_moment(2));
  const int below = static_cast<int>(alpha);
  const double share = alpha - below;
  double value = (1 - share) * log_moment(below);
  if (share > 0) value += share * log_moment(below + 1);
  return std::min(full, value / beta);
}

}  // namespace sotto::internal
