#include "sotto/privacy/accountant/pld_coins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sotto/core/numbers.hpp"
#include "sotto/privacy/accountant/gaussian.hpp"
#include "sotto/privacy/accountant/pld_pair.hpp"

namespace sotto::pld {
namespace {

constexpr double kMargin = 1e-12;  // relative, for round-off

bool is_sampled(const Term& term) {
  if (term.sampling == Term::Sampling::kFixedSize) return term.batch < term.population;
  return term.sampling == Term::Sampling::kPoisson && term.rate < 1;
}

Rate rate_of(const Term& term) {
  return term.sampling == Term::Sampling::kFixedSize ? Rate::fixed_size(term.batch, term.population)
                                                     : Rate::poisson(term.rate);
}

// log P(Binomial(n, q) >= k) for k >= nq, from above, by Chernoff.
double log_tail(double n, const Rate& rate, double k) {
  if (k <= n * rate.in) return 0;
  const double held = k * std::log(k / n / rate.in);
  const double missing = n - k;
  const double rest = missing > 0 ? missing * std::log(missing / (n * rate.out)) : 0;
  const double round_off = 1e-14 * (std::abs(held) + std::abs(rest)) + 1e-15 * n;
  return -(held + rest) + round_off;
}

// A number of batches that hold the record which is exceeded with probability at most
// e^{log_share}.
double most_coins(const Term& term, double log_share) {
  const auto n = static_cast<double>(term.count);
  const Rate rate = rate_of(term);
  if (std::log(n) + std::log(rate.in) <= log_share - kMargin) return 0;
  double low = 0;  // exceeded too often
  double high = n;
  while (high - low > 1) {
    const double middle = std::floor(low + (high - low) / 2);
    if (middle <= low || middle >= high) break;
    (log_tail(n, rate, middle + 1) <= log_share ? high : low) = middle;
  }
  return high;
}

struct Kinds {
  double pure = 0;       // the sum of the epsilons of pure releases
  bool sampled = false;  // some Gaussian is
  int kinds = 0;         // of sampled Gaussians
};

Kinds kinds_of(const CanonicalEvent& event) {
  Kinds result;
  for (const Term& term : event.terms) {
    const auto n = static_cast<double>(term.count);
    switch (term.mechanism) {
      case Term::Mechanism::kGaussian:
        if (is_sampled(term)) result.sampled = true, ++result.kinds;
        break;
      case Term::Mechanism::kLaplace:
      case Term::Mechanism::kExponential:
      case Term::Mechanism::kSparseVector: {
        const double full =
            term.mechanism == Term::Mechanism::kLaplace ? 1 / term.parameter : term.parameter;
        const double one = is_sampled(term) ? log_mixture(rate_of(term), full) : full;
        result.pure += n * one * (1 + kMargin) + std::numeric_limits<double>::denorm_min();
        break;
      }
      case Term::Mechanism::kNonPrivate:
        result.pure = kInfinity;
    }
  }
  return result;
}

// mu of all Gaussians, where at most so many batches of each sampled one hold the record.
double mu_of(const CanonicalEvent& event, double log_share) {
  CanonicalEvent full{event.relation, {}};
  double rounding = 1 + kMargin;
  for (Term term : event.terms) {
    if (term.mechanism != Term::Mechanism::kGaussian || term.count == 0) continue;
    if (is_sampled(term)) term.count = static_cast<std::int64_t>(most_coins(term, log_share));
    if (term.count == 0) continue;
    term.sampling = Term::Sampling::kFull;
    full.terms.push_back(term);
  }
  return gaussian_mu(full) * rounding;
}

double epsilon_of(double mu, double delta) {
  const GaussianEpsilon epsilon = gaussian_epsilon(mu, delta);
  return epsilon.value + epsilon.width;
}

double delta_of(double mu, double epsilon) {
  if (mu == 0) return 0;
  return std::min(1.0,
                  std::exp(gaussian_log_delta(mu, epsilon)) * (1 + kMargin) +
                      std::numeric_limits<double>::min());
}

}  // namespace

double coin_epsilon(const CanonicalEvent& event, double delta) {
  const Kinds parts = kinds_of(event);
  if (std::isinf(parts.pure)) return kInfinity;
  double best = epsilon_of(mu_of(event, -kInfinity), delta);
  if (parts.sampled) {
    for (const double share : {0.5, 0.9, 1.0}) {
      const double mu = mu_of(event, std::log(share * delta / parts.kinds));
      const double rest = (1 - share) * delta;
      if (mu == 0 || rest > 0) best = std::min(best, epsilon_of(mu, rest));
    }
  }
  return (best + parts.pure) * (1 + kMargin);
}

double coin_delta(const CanonicalEvent& event, double epsilon) {
  const Kinds parts = kinds_of(event);
  const double left = epsilon * (1 - kMargin) - parts.pure;
  if (!(left >= 0)) return 1;
  double best = delta_of(mu_of(event, -kInfinity), left);
  if (!parts.sampled) return best;
  for (double log_share = -700; log_share < 0; log_share *= 0.7) {
    const double missed = std::exp(log_share) * parts.kinds * (1 + kMargin);
    best = std::min(best, missed + delta_of(mu_of(event, log_share), left));
    if (log_share > -1e-3) break;
  }
  // As if no batch had held the record.
  double any = 0;
  for (const Term& term : event.terms) {
    if (term.mechanism != Term::Mechanism::kGaussian) continue;
    any += is_sampled(term) ? static_cast<double>(term.count) * rate_of(term).in : 1;
  }
  return std::min(best, any * (1 + kMargin) + std::numeric_limits<double>::denorm_min());
}

}  // namespace sotto::pld
