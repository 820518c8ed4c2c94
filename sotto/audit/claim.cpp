#include "sotto/audit/claim.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "sotto/privacy/accountant/gaussian.hpp"
#include "sotto/privacy/accountant/pld.hpp"

namespace sotto {
namespace {

class GaussianClaim final : public Claim {
 public:
  GaussianClaim(double epsilon, double delta)
      : Claim(epsilon, delta), mu_(gaussian_largest_mu(epsilon, delta)) {}

  const char* curve() const override { return "gaussian"; }
  Expected<double> largest_refuted(const ErrorBounds& errors) const override {
    return epsilon_of(gaussian_mu_bound(errors));
  }
  Expected<double> largest_refuted(double total_error) const override {
    return epsilon_of(gaussian_mu_bound(total_error));
  }
  double trade_off(double alpha) const override { return curve_of(mu_, alpha); }
  double halfway(double alpha) const override { return curve_of(mu_ / 2, alpha); }

 private:
  static double curve_of(double mu, double alpha) {
    if (alpha <= 0) return 1;
    if (alpha >= 1) return 0;
    return normal_cdf(normal_quantile(1 - alpha) - mu);
  }
  double epsilon_of(double mu) const {
    const GaussianEpsilon found = gaussian_epsilon(mu, delta());
    return std::max(0.0, found.value - found.width);
  }
  double mu_;
};

class EventClaim final : public Claim {
 public:
  EventClaim(double epsilon,
             double delta,
             EventFamily family,
             double z,
             ComposedLoss loss,
             ComposedLoss noisier)
      : Claim(epsilon, delta),
        family_(std::move(family)),
        z_(z),
        loss_(std::move(loss)),
        noisier_(std::move(noisier)) {}

  const char* curve() const override { return "pld"; }
  Expected<double> largest_refuted(const ErrorBounds& errors) const override {
    const double reach = std::log(1 / std::min(errors.type1, errors.type2)) + 0.1;
    return least_refuted([&](const CanonicalEvent& event) -> Expected<bool> {
      SOTTO_ASSIGN(const ComposedLoss loss, ComposedLoss::compose(event, reach));
      return errors.type2 < loss.trade_off(errors.type1);
    });
  }
  Expected<double> largest_refuted(double total_error) const override {
    return least_refuted([&](const CanonicalEvent& event) -> Expected<bool> {
      SOTTO_ASSIGN(const Interval at_zero, pld_accountant().delta(event, 0));
      return total_error < 1 - at_zero.upper;  // a + b >= 1 - delta(0) for every test
    });
  }
  double trade_off(double alpha) const override { return loss_.trade_off(alpha); }
  double halfway(double alpha) const override { return noisier_.trade_off(alpha); }

 private:
  /// Noise above some level is refuted: finds that level, from above.
  Expected<double> least_refuted(
      const std::function<Expected<bool>(const CanonicalEvent&)>& refuted) const {
    const auto at = [&](double z) -> Expected<bool> {
      SOTTO_ASSIGN(const CanonicalEvent event, canonical(family_(z)));
      return refuted(event);
    };
    constexpr double kFactor = 1.5;
    constexpr int kMost = 14;  // up to 290 times the claimed noise, and as much below it
    double high = z_;
    for (int i = 0;; ++i) {
      SOTTO_ASSIGN(const bool out, at(high));
      if (out) break;
      if (i == kMost) return 0.0;
      high *= kFactor;
    }
    double low = high / kFactor;
    for (int i = 0;; ++i) {
      SOTTO_ASSIGN(const bool out, at(low));
      if (!out) break;
      // Sampling alone promises more than the errors leave: no noise explains them.
      if (i == kMost) return std::numeric_limits<double>::infinity();
      high = low;
      low /= kFactor;
    }
    while (high > low * 1.005) {
      const double middle = std::sqrt(low * high);
      SOTTO_ASSIGN(const bool out, at(middle));
      (out ? high : low) = middle;
    }
    SOTTO_ASSIGN(const CanonicalEvent event, canonical(family_(high)));
    // What a run with this noise would claim: the accountant's upper bound, as the claim itself is.
    return pld_accountant().epsilon_upper(event, delta());
  }

  EventFamily family_;
  double z_;
  ComposedLoss loss_;
  ComposedLoss noisier_;
};

class PlainClaim final : public Claim {
 public:
  using Claim::Claim;
  const char* curve() const override { return "plain"; }
  Expected<double> largest_refuted(const ErrorBounds& errors) const override {
    return plain_epsilon_bound(errors, delta());
  }
  Expected<double> largest_refuted(double total_error) const override {
    // The least total error under (epsilon, delta)-DP is 2 (1 - delta) / (1 + e^epsilon).
    const double odds = 2 * (1 - delta()) / total_error - 1;
    return odds > 1 ? std::log(odds) : 0.0;
  }
  double trade_off(double alpha) const override { return curve_of(epsilon(), alpha); }
  double halfway(double alpha) const override { return curve_of(epsilon() / 2, alpha); }

 private:
  double curve_of(double epsilon, double alpha) const {
    return std::max(
        {0.0, 1 - delta() - std::exp(epsilon) * alpha, std::exp(-epsilon) * (1 - delta() - alpha)});
  }
};

}  // namespace

std::unique_ptr<Claim> gaussian_claim(double epsilon, double delta) {
  return std::make_unique<GaussianClaim>(epsilon, delta);
}

Expected<std::unique_ptr<Claim>> event_claim(double epsilon,
                                             double delta,
                                             EventFamily family,
                                             double noise_multiplier) {
  const double reach = std::max(5.0, 2 * epsilon);
  SOTTO_ASSIGN(const CanonicalEvent event, canonical(family(noise_multiplier)));
  SOTTO_ASSIGN(ComposedLoss loss, ComposedLoss::compose(event, reach));
  SOTTO_ASSIGN(const CanonicalEvent quieter, canonical(family(2 * noise_multiplier)));
  SOTTO_ASSIGN(ComposedLoss noisier, ComposedLoss::compose(quieter, reach));
  return std::make_unique<EventClaim>(
      epsilon, delta, std::move(family), noise_multiplier, std::move(loss), std::move(noisier));
}

std::unique_ptr<Claim> plain_claim(double epsilon, double delta) {
  return std::make_unique<PlainClaim>(epsilon, delta);
}

Expected<std::unique_ptr<Claim>> sharpest_claim(double epsilon,
                                                double delta,
                                                const EventFamily& family,
                                                double noise_multiplier) {
  SOTTO_ASSIGN(const CanonicalEvent event, canonical(family(noise_multiplier)));
  if (gaussian_accountant().supports(event)) return gaussian_claim(epsilon, delta);
  if (pld_accountant().supports(event))
    return event_claim(epsilon, delta, family, noise_multiplier);
  return plain_claim(epsilon, delta);
}

}  // namespace sotto
