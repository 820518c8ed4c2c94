#include "sotto/privacy/accountant/renyi_integral.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace sotto::internal {
namespace {

constexpr double kNegligible = 46;          // e^-46 = 1e-20 of the largest term known
constexpr double kHopeless = 400;           // below it even a rising slope leads to another start
constexpr std::int64_t kLongest = 1 << 22;  // steps of one walk; never reached by sane arguments

// A sum of exponentials, scaled by the largest.
struct LogSum {
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0;

  void add(double x) {
    if (x <= largest) {
      sum += std::exp(x - largest);
    } else {
      sum = sum * std::exp(largest - x) + 1;
      largest = x;
    }
  }
};

}  // namespace

double log_excess(double beta, double r, double l) {
  if (r == 0) return -std::numeric_limits<double>::infinity();
  const double alpha = 1 + beta;
  if (std::abs(r) <= 0.1 && alpha * std::abs(r) < 0.3) {
    // sum over k >= 2 of binomial(alpha, k) r^k, relative to its first term.
    double term = 1;
    double sum = 1;
    for (int k = 2; std::abs(term) > 1e-17 && k < 60; ++k) {
      term *= (alpha - k) / (k + 1) * r;
      sum += term;
    }
    return std::log(alpha * beta / 2) + 2 * std::log(std::abs(r)) + std::log(sum);
  }
  if (l > 300 || beta * l > 40) {
    // (1+r)^alpha outweighs 1 + alpha r.
    const double rest = std::log1p(alpha * std::min(r, 1e300)) - alpha * l;
    return alpha * l + (rest < -1 ? std::log1p(-std::exp(rest)) : 0);
  }
  return std::log((1 + r) * std::expm1(beta * l) - beta * r);
}

double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

double log_add(double x, double y) {
  const double high = std::max(x, y);
  if (std::isinf(high)) return high;
  return high + std::log1p(std::exp(std::min(x, y) - high));
}

double log_integral(const std::function<double(double)>& f,
                    double origin,
                    double step,
                    std::vector<double> starts) {
  std::sort(starts.begin(), starts.end());
  LogSum total;
  // The lattice index up to which everything that matters has been added.
  auto covered = std::numeric_limits<std::int64_t>::min();
  const auto at = [&](std::int64_t k) { return f(origin + (static_cast<double>(k) + 0.5) * step); };
  const auto nearest = [&](double x) {
    return static_cast<std::int64_t>(std::floor((x - origin) / step));
  };
  double highest = -std::numeric_limits<double>::infinity();
  for (const double start : starts) highest = std::max(highest, at(nearest(start)));
  for (const double start : starts) {
    const std::int64_t first = nearest(start);
    if (first <= covered) continue;
    const auto walk = [&](std::int64_t from, std::int64_t direction) {
      double previous = -std::numeric_limits<double>::infinity();
      std::int64_t k = from;
      for (std::int64_t i = 0; i < kLongest && k != covered; ++i, k += direction) {
        const double value = at(k);
        total.add(value);
        highest = std::max(highest, value);
        if (value < highest - (value < previous ? kNegligible : kHopeless)) break;
        previous = value;
      }
      return k;
    };
    walk(first - 1, -1);
    covered = walk(first, 1);
  }
  return total.largest + std::log(total.sum) + std::log(step);
}

}  // namespace sotto::internal
