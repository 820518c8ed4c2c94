// What error rates say against rho-zCDP. A test turns the two worlds into coins: "world 1" with
// probabilities a and 1 - b. Divergences don't grow by that, so for every order t > 1
//   D_t(coin(1-b) || coin(a)) <= t rho  and  D_t(coin(1-a) || coin(b)) <= t rho,
// and the same for t -> 1, the Kullback-Leibler divergence [BS16, EH14]. Any order refutes; a grid
// of them is enough. D_t falls in a and b while a + b < 1, so upper bounds on the errors may take
// their place. It is jointly quasi-convex and the pair of conditions symmetric, so among all errors
// of one sum a + b equal ones ask for the least rho.

#include <algorithm>
#include <cmath>

#include "sotto/audit/claim.hpp"
#include "sotto/privacy/accountant/zcdp.hpp"

namespace sotto {
namespace {

/// D_t(coin(p) || coin(q)) / t for p > q.
double divergence(double p, double q, double t) {
  const double ratio = std::log(p / q);
  const double other = p < 1 ? std::log((1 - p) / (1 - q)) : 0;
  if (t == 1) return p * ratio + (p < 1 ? (1 - p) * other : 0);
  const double high = std::log(p) + (t - 1) * ratio;
  const double low = p < 1 ? std::log1p(-p) + (t - 1) * other : -1e300;
  return (high + std::log1p(std::exp(low - high))) / (t * (t - 1));
}

/// The least rho that explains the errors.
double least_rho(double a, double b) {
  if (!(a + b < 1)) return 0;
  a = std::max(a, 1e-300);
  b = std::max(b, 1e-300);
  double rho = std::max(divergence(1 - b, a, 1), divergence(1 - a, b, 1));
  for (double t = 1.02; t < 200; t *= 1.08)
    rho = std::max({rho, divergence(1 - b, a, t), divergence(1 - a, b, t)});
  return rho;
}

class ZcdpClaim final : public Claim {
 public:
  ZcdpClaim(double epsilon, double delta, double rho) : Claim(epsilon, delta), rho_(rho) {}

  const char* curve() const override { return "zcdp"; }
  Expected<double> largest_refuted(const ErrorBounds& errors) const override {
    return zcdp_epsilon(least_rho(errors.type1, errors.type2), delta());
  }
  Expected<double> largest_refuted(double total_error) const override {
    return zcdp_epsilon(least_rho(total_error / 2, total_error / 2), delta());
  }
  double trade_off(double alpha) const override { return curve_of(rho_, alpha); }
  double halfway(double alpha) const override { return curve_of(rho_ / 4, alpha); }

 private:
  static double curve_of(double rho, double alpha) {
    if (alpha <= 0) return 1;
    if (alpha >= 1) return 0;
    double low = 0, high = 1 - alpha;  // rho(alpha, low) is too large, that of high is 0
    for (int i = 0; i < 50; ++i) {
      const double middle = (low + high) / 2;
      (least_rho(alpha, middle) > rho ? low : high) = middle;
    }
    return low;
  }
  double rho_;
};

}  // namespace

std::unique_ptr<Claim> zcdp_claim(double epsilon, double delta) {
  double low = 0, high = 1;  // the largest rho with zcdp_epsilon(rho) <= epsilon
  while (zcdp_epsilon(high, delta) <= epsilon) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (zcdp_epsilon(middle, delta) <= epsilon ? low : high) = middle;
  }
  return std::make_unique<ZcdpClaim>(epsilon, delta, low);
}

}  // namespace sotto
