#include "sotto/privacy/accountant/zcdp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/core/check.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/privacy/accountant/rdp_conversion.hpp"
#include "sotto/privacy/accountant/upward.hpp"

namespace sotto {
namespace {

double total_rho(const CanonicalEvent& event) {
  double rho = 0;
  for (const Term& term : event.terms) rho += static_cast<double>(term.count) * zcdp_rho(term);
  return rho;
}

class ZcdpAccountant final : public Accountant {
 public:
  std::string_view name() const override { return "zcdp"; }

  Expected<void> supports(const CanonicalEvent& event) const override {
    for (const Term& term : event.terms) {
      if (term.sampling == Term::Sampling::kFull) continue;
      return refuse(name(),
                    term,
                    event.relation,
                    "zCDP is not amplified by sampling (no bound on its Renyi curve is linear in "
                    "all orders). Use rdp or pld.");
    }
    return {};
  }

  Expected<Interval> epsilon(const CanonicalEvent& event, double delta) const override {
    SOTTO_TRY(check_delta(delta));
    SOTTO_TRY(supports(event));
    return Interval{0, std::min(pure_epsilon(event), zcdp_epsilon(total_rho(event), delta))};
  }

  Expected<Interval> delta(const CanonicalEvent& event, double epsilon) const override {
    SOTTO_TRY(check_epsilon(epsilon));
    SOTTO_TRY(supports(event));
    if (has_non_private(event)) return Interval{0, 1};
    if (pure_epsilon(event) <= epsilon) return Interval{0, 0};
    // Never 0: that the exponential underflows does not make it impossible.
    return Interval{0,
                    std::max(std::exp(zcdp_log_delta(total_rho(event), epsilon)),
                             std::numeric_limits<double>::min())};
  }
};

}  // namespace

const Accountant& zcdp_accountant() {
  static const ZcdpAccountant accountant;
  return accountant;
}

double zcdp_rho(const Term& term) {
  SOTTO_CHECK(term.sampling == Term::Sampling::kFull);
  const double parameter = term.parameter;
  // What underflows is still not nothing.
  const auto positive = [](double rho) {
    return std::max(rho, std::numeric_limits<double>::min());
  };
  switch (term.mechanism) {
    case Term::Mechanism::kGaussian:
    case Term::Mechanism::kLaplace:  // 1/z-DP
      return positive(0.5 / parameter / parameter);
    case Term::Mechanism::kExponential:
      return positive(parameter * parameter / 8);
    case Term::Mechanism::kSparseVector:
      return positive(parameter * parameter / 2);
    case Term::Mechanism::kNonPrivate:
      break;
  }
  return kInfinity;
}

double zcdp_epsilon(double rho, double delta) {
  if (rho == 0) return 0;
  if (std::isinf(rho)) return kInfinity;
  return internal::epsilon_from_renyi([rho](double beta) { return rho * (1 + beta); }, delta);
}

double zcdp_log_delta(double rho, double epsilon) {
  if (rho == 0) return -kInfinity;
  if (std::isinf(rho)) return 0;
  return internal::log_delta_from_renyi([rho](double beta) { return rho * (1 + beta); }, epsilon);
}

double pure_epsilon(const Term& term) {
  const auto count = static_cast<double>(term.count);
  switch (term.mechanism) {
    case Term::Mechanism::kLaplace:
      return quotient_up(count, term.parameter);
    case Term::Mechanism::kExponential:
    case Term::Mechanism::kSparseVector:
      return product_up(count, term.parameter);
    case Term::Mechanism::kGaussian:
    case Term::Mechanism::kNonPrivate:
      break;
  }
  return kInfinity;
}

double pure_epsilon(const CanonicalEvent& event) {
  double sum = 0;
  for (const Term& term : event.terms)
    sum = sum_up(sum, term.sampling == Term::Sampling::kFull ? pure_epsilon(term) : kInfinity);
  return sum;
}

}  // namespace sotto
