#include "sotto/privacy/accountant/rdp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "sotto/core/check.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/privacy/accountant/kinds.hpp"
#include "sotto/privacy/accountant/rdp_conversion.hpp"
#include "sotto/privacy/accountant/rdp_fixed_size.hpp"
#include "sotto/privacy/accountant/rdp_mechanisms.hpp"
#include "sotto/privacy/accountant/upward.hpp"
#include "sotto/privacy/accountant/zcdp.hpp"

namespace sotto {
namespace {

using internal::RenyiCurve;
using Mechanism = Term::Mechanism;
using Sampling = Term::Sampling;

// epsilon of a pure-DP mechanism.
double pure_parameter(const Term& term) {
  return term.mechanism == Mechanism::kLaplace ? 1 / term.parameter : term.parameter;
}

RenyiCurve full_curve(const Term& term) {
  const double parameter = term.parameter;
  switch (term.mechanism) {
    case Mechanism::kGaussian:
      return [=](double beta) { return internal::rdp_gaussian(parameter, beta); };
    case Mechanism::kLaplace:
      return [=](double beta) { return internal::rdp_laplace(parameter, beta); };
    case Mechanism::kExponential:
      return [=](double beta) { return internal::rdp_bounded_range(parameter, beta); };
    case Mechanism::kSparseVector:
      return [=](double beta) { return internal::rdp_pure(parameter, beta); };
    case Mechanism::kNonPrivate:
      break;
  }
  return [](double) { return kInfinity; };
}

RenyiCurve sampled_curve(const Term& term, Relation relation) {
  const double rate = term.rate;
  if (term.mechanism != Mechanism::kGaussian) {
    const double epsilon = pure_parameter(term);
    if (term.sampling == Sampling::kPoisson) {
      return [=](double beta) { return internal::rdp_poisson_pure(rate, epsilon, beta); };
    }
    const double amplified = internal::amplified_pure(rate, epsilon);
    return [=](double beta) { return internal::rdp_pure(amplified, beta); };
  }
  const double z = term.parameter;
  if (term.sampling == Sampling::kFixedSize) {
    const auto curve = std::make_shared<internal::FixedSizeGaussian>(rate, z, relation);
    return [=](double beta) { return curve->rdp(beta); };
  }
  if (relation == Relation::kReplaceOne) {
    return [=](double beta) { return internal::rdp_poisson_gaussian_replace(rate, z, beta); };
  }
  return [=](double beta) { return internal::rdp_poisson_gaussian(rate, z, beta); };
}

RenyiCurve curve_of(const CanonicalEvent& event) {
  std::vector<std::pair<double, RenyiCurve>> parts;
  for (const Term& term : event.terms) {
    parts.emplace_back(
        static_cast<double>(term.count),
        term.sampling == Sampling::kFull ? full_curve(term) : sampled_curve(term, event.relation));
  }
  return [parts = std::move(parts)](double beta) {
    double sum = 0;
    // What underflows is still not nothing.
    for (const auto& [count, curve] : parts)
      sum += count * std::max(curve(beta), std::numeric_limits<double>::min());
    return sum;
  };
}

// A sampled term costs milliseconds, a full-batch one microseconds. Beyond these many kinds those
// that are alike are priced as one, which only costs more (rdp.proof.md).
constexpr std::size_t kMostSampledKinds = 96;
constexpr std::size_t kMostFullKinds = 4096;

CanonicalEvent priceable(const CanonicalEvent& event) {
  if (event.terms.size() <= kMostSampledKinds) return event;
  std::vector<Term> sampled, full;
  for (const Term& term : event.terms)
    (term.sampling == Sampling::kFull ? full : sampled).push_back(term);
  CanonicalEvent result{event.relation, few_kinds(full, kMostFullKinds, KindsFrom::kAbove)};
  for (const Term& term : few_kinds(sampled, kMostSampledKinds, KindsFrom::kAbove))
    result.terms.push_back(term);
  return result;
}

// The sum of pure epsilons after amplification; infinity if some term is not pure.
double pure_total(const CanonicalEvent& event) {
  double sum = 0;
  for (const Term& term : event.terms) {
    if (term.mechanism == Mechanism::kGaussian || term.mechanism == Mechanism::kNonPrivate) {
      return kInfinity;
    }
    sum = sum_up(sum,
                 term.sampling == Sampling::kFull
                     ? pure_epsilon(term)
                     : static_cast<double>(term.count) * (1 + 1e-14) *
                           internal::amplified_pure(term.rate, pure_parameter(term)));
  }
  return sum;
}

class RdpAccountant final : public Accountant {
 public:
  std::string_view name() const override { return "rdp"; }

  Expected<void> supports(const CanonicalEvent& event) const override {
    const Relation relation = event.relation;
    for (const Term& term : event.terms) {
      const bool gaussian = term.mechanism == Mechanism::kGaussian;
      if (term.sampling == Sampling::kPoisson && !gaussian && relation == Relation::kReplaceOne) {
        return refuse(name(),
                      term,
                      relation,
                      "its epsilon compares batches of one size, and a Poisson batch with the "
                      "record has another size than one without. Use zero-out or fixed_size.");
      }
      if (term.sampling != Sampling::kFixedSize) continue;
      if (relation == Relation::kAddRemove) {
        return refuse(name(),
                      term,
                      relation,
                      "the population, and with it the law of the batch, changes with the record. "
                      "Use poisson, or zero-out or replace-one.");
      }
      if (!gaussian && relation == Relation::kZeroOut) {
        return refuse(name(),
                      term,
                      relation,
                      "a batch with the record and one without differ by a replacement, of which "
                      "its epsilon says nothing. Use poisson or replace-one.");
      }
    }
    return {};
  }

  Expected<Interval> epsilon(const CanonicalEvent& event, double delta) const override {
    SOTTO_TRY(check_delta(delta));
    SOTTO_TRY(supports(event));
    if (event.terms.empty()) return Interval{0, 0};
    if (has_non_private(event)) return Interval{kInfinity, kInfinity};
    return Interval{0,
                    std::min(pure_total(event),
                             internal::epsilon_from_renyi(curve_of(priceable(event)), delta))};
  }

  Expected<Interval> delta(const CanonicalEvent& event, double epsilon) const override {
    SOTTO_TRY(check_epsilon(epsilon));
    SOTTO_TRY(supports(event));
    if (has_non_private(event)) return Interval{1, 1};
    if (pure_total(event) <= epsilon) return Interval{0, 0};
    // Never 0: that the exponential underflows does not make it impossible.
    return Interval{
        0,
        std::max(std::exp(internal::log_delta_from_renyi(curve_of(priceable(event)), epsilon)),
                 std::numeric_limits<double>::min())};
  }
};

}  // namespace

const Accountant& rdp_accountant() {
  static const RdpAccountant accountant;
  return accountant;
}

std::vector<double> renyi_curve(const CanonicalEvent& event, const std::vector<double>& orders) {
  SOTTO_CHECK(rdp_accountant().supports(event).has_value());
  const RenyiCurve curve = curve_of(event);
  std::vector<double> values;
  values.reserve(orders.size());
  for (const double order : orders) {
    SOTTO_CHECK(order > 1);
    values.push_back(curve(order - 1));
  }
  return values;
}

}  // namespace sotto
