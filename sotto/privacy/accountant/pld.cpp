#include "sotto/privacy/accountant/pld.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sotto/privacy/accountant/pld_compose.hpp"

namespace sotto {
namespace {

using pld::Bound;
using pld::CountedLaw;
using pld::DeltaCurve;
using pld::Plan;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSmallestDelta = 1e-300;

/// The laws of one event: one list a direction, each to be composed as a whole.
struct Laws {
  bool is_private = true;
  std::vector<std::vector<CountedLaw>> directions;
};

bool is_noise(Term::Mechanism mechanism) {
  return mechanism == Term::Mechanism::kGaussian || mechanism == Term::Mechanism::kLaplace;
}

Expected<Laws> laws_of(const CanonicalEvent& event) {
  Laws laws;
  bool sampled = false;
  for (const Term& term : event.terms) {
    const bool free = term.count == 0 || (term.sampling != Term::Sampling::kFull && term.rate == 0);
    if (free) continue;
    if (term.mechanism == Term::Mechanism::kNonPrivate) {
      laws.is_private = false;
      continue;
    }
    const double strength = is_noise(term.mechanism) ? 1 / term.parameter : term.parameter;
    if (std::isinf(strength)) laws.is_private = false;
    sampled |= term.sampling != Term::Sampling::kFull && term.rate < 1 &&
               event.relation != Relation::kReplaceOne;
  }
  const std::vector<pld::Direction> ways =
      sampled ? std::vector{pld::Direction::kRemove, pld::Direction::kAdd}
              : std::vector{pld::Direction::kRemove};
  for (const pld::Direction way : ways) {
    std::vector<CountedLaw> list;
    double gaussian = 0;  // full-batch Gaussians are one Gaussian: sum of mu^2
    for (const Term& term : event.terms) {
      if (term.mechanism == Term::Mechanism::kNonPrivate || term.count == 0) continue;
      if (term.sampling == Term::Sampling::kPoisson && term.rate == 0) continue;
      const double strength = is_noise(term.mechanism) ? 1 / term.parameter : term.parameter;
      if (strength == 0 || std::isinf(strength)) continue;
      SOTTO_ASSIGN(const pld::LossLaw law, pld::loss_law(term, event.relation, way));
      const bool full = term.sampling == Term::Sampling::kFull || term.rate == 1;
      if (full && term.mechanism == Term::Mechanism::kGaussian) {
        gaussian += static_cast<double>(term.count) * strength * strength;
      } else {
        list.push_back({law, term.count});
      }
    }
    if (gaussian > 0) list.push_back({pld::LossLaw::gaussian(std::sqrt(gaussian)), 1});
    laws.directions.push_back(std::move(list));
  }
  return laws;
}

// A number that round-off spoiled is no bound.
double or_infinity(double x) { return std::isnan(x) ? kInfinity : x; }

double infinite_mass(const std::vector<CountedLaw>& laws, const Plan& plan) {
  double sum = 0;
  for (std::size_t i = 0; i < laws.size(); ++i)
    sum += static_cast<double>(laws[i].count) * plan.laws[i].range.above;
  return sum * (1 + 1e-12);
}

DeltaCurve lower_curve(const std::vector<CountedLaw>& laws, const Plan& plan) {
  return {pld::compose(laws, plan, Bound::kLower), plan.tilt, 0, Bound::kLower};
}

DeltaCurve upper_curve(const std::vector<CountedLaw>& laws, const Plan& plan) {
  const auto make = [](const std::vector<CountedLaw>& list, const Plan& p) {
    return DeltaCurve(
        pld::compose(list, p, Bound::kUpper), p.tilt, infinite_mass(list, p), Bound::kUpper);
  };
  constexpr double kLargeLattice = 10000;
  if (plan.size < kLargeLattice) return make(laws, plan);
  const std::vector<CountedLaw> pieces = pld::cut_tails(laws, plan);
  const Plan cut = pld::plan_near(pieces, std::exp(plan.log_delta), plan.epsilon);
  return cut.size < 0.7 * plan.size ? make(pieces, cut) : make(laws, plan);
}

// Whether Chernoff's bound alone shows that delta(epsilon) <= delta.
bool is_below(const std::vector<CountedLaw>& laws, double epsilon, double delta) {
  const Plan plan = pld::plan_near(laws, delta, epsilon);
  const double finite = std::exp(std::min(1.0, pld::log_chernoff(laws, plan, epsilon)));
  return finite + infinite_mass(laws, plan) <= delta;
}

// The sum of the largest losses: epsilon at delta = 0.
double pure_epsilon(const std::vector<CountedLaw>& laws) {
  double sum = 0;
  for (const CountedLaw& counted : laws)
    sum += static_cast<double>(counted.count) * counted.law.max_loss();
  return sum;
}

Expected<void> check_reach(double delta) {
  SOTTO_TRY(check_delta(delta));
  if (delta == 0 || delta >= kSmallestDelta) return {};
  return fail(
      ErrorKind::kUsage,
      fmt::format("pld needs delta = 0 or delta >= {}, but delta is {}. Set --delta to 0 or to "
                  "a larger number, or use --accountant rdp.",
                  kSmallestDelta,
                  delta));
}

class PldAccountant final : public Accountant {
 public:
  std::string_view name() const override { return "pld"; }

  Expected<void> supports(const CanonicalEvent& event) const override {
    SOTTO_TRY(laws_of(event));
    return {};
  }

  Expected<Interval> epsilon(const CanonicalEvent& event, double delta) const override {
    return epsilon(event, delta, true);
  }

  Expected<double> epsilon_upper(const CanonicalEvent& event, double delta) const override {
    SOTTO_ASSIGN(const Interval interval, epsilon(event, delta, false));
    return interval.upper;
  }

  Expected<Interval> delta(const CanonicalEvent& event, double epsilon) const override {
    SOTTO_TRY(check_epsilon(epsilon));
    SOTTO_ASSIGN(const Laws laws, laws_of(event));
    if (!laws.is_private) return Interval{1, 1};
    Interval result{0, 0};
    for (const std::vector<CountedLaw>& list : laws.directions) {
      if (list.empty() || epsilon >= pure_epsilon(list) * (1 + 1e-14)) continue;
      const Plan plan = pld::plan_for_epsilon(list, epsilon);
      result.upper = std::max(result.upper, upper_curve(list, plan).delta(epsilon));
      result.lower = std::max(result.lower, lower_curve(list, plan).delta(epsilon));
    }
    return result;
  }

 private:
  static Expected<Interval> epsilon(const CanonicalEvent& event, double delta, bool with_lower) {
    SOTTO_TRY(check_reach(delta));
    SOTTO_ASSIGN(const Laws laws, laws_of(event));
    if (!laws.is_private) return Interval{kInfinity, kInfinity};
    Interval result{0, 0};
    for (const std::vector<CountedLaw>& list : laws.directions) {
      if (list.empty()) continue;
      const double pure = pure_epsilon(list);
      if (delta == 0) {
        result.upper = std::max(result.upper, pure * (1 + 1e-14));
        result.lower = std::max(result.lower, pure * (1 - 1e-14));
        continue;
      }
      // A direction that can't exceed what the other one needs is left out.
      const double known = with_lower ? result.lower : result.upper;
      if (pure <= known || (known > 0 && is_below(list, known, delta))) continue;
      Plan plan = pld::plan_for_delta(list, delta);
      double upper = or_infinity(upper_curve(list, plan).epsilon_above(delta));
      // The estimate that the plan starts from is poor where rare, large losses decide.
      for (int i = 0; i < 3 && std::abs(upper - plan.epsilon) > 0.2 * upper; ++i) {
        plan = pld::plan_near(list, delta, upper);
        upper = std::min(upper, upper_curve(list, plan).epsilon_above(delta));
      }
      // Where atoms or a density's end decide, no tilt is right for the estimate: try some below
      // it.
      for (double share = 1e-6; upper > pure * (1 - 1e-6) && share < 0.3; share *= 10) {
        plan = pld::plan_near(list, delta, pure * (1 - share));
        upper = std::min(upper, upper_curve(list, plan).epsilon_above(delta));
      }
      result.upper = std::max(result.upper, std::min(upper, pure * (1 + 1e-14)));
      if (!with_lower) continue;
      const DeltaCurve below = lower_curve(list, plan);
      result.lower = std::max(result.lower, below.epsilon_below(delta, upper));
    }
    return result;
  }
};

}  // namespace

const Accountant& pld_accountant() {
  static const PldAccountant accountant;
  return accountant;
}

Expected<ComposedLoss> ComposedLoss::compose(const CanonicalEvent& event, double largest_epsilon) {
  SOTTO_TRY(check_epsilon(largest_epsilon));
  SOTTO_ASSIGN(const Laws laws, laws_of(event));
  ComposedLoss result;
  result.private_ = laws.is_private;
  if (!laws.is_private) return result;
  for (const std::vector<CountedLaw>& list : laws.directions) {
    if (list.empty()) continue;
    Direction direction;
    for (const double share : {0.0, 0.1, 0.25, 0.5, 0.75, 1.0}) {
      const double epsilon = std::min(share * largest_epsilon, 0.98 * pure_epsilon(list));
      const Plan plan = pld::plan_for_epsilon(list, epsilon);
      direction.upper.push_back(upper_curve(list, plan));
      direction.lower.push_back(lower_curve(list, plan));
    }
    result.directions_.push_back(std::move(direction));
  }
  constexpr int kLines = 400;
  for (int i = 0; i <= kLines; ++i) {
    const double epsilon = largest_epsilon * i / kLines;
    result.lines_.emplace_back(epsilon, result.delta(epsilon).upper);
  }
  return result;
}

Interval ComposedLoss::delta(double epsilon) const {
  if (!private_) return {1, 1};
  Interval result{0, 0};
  for (const Direction& direction : directions_) {
    // Every tilt gives a valid bound; the best one counts.
    double upper = 1;
    double lower = 0;
    for (const DeltaCurve& one : direction.upper) upper = std::min(upper, one.delta(epsilon));
    for (const DeltaCurve& one : direction.lower) lower = std::max(lower, one.delta(epsilon));
    result = {std::max(result.lower, lower), std::max(result.upper, upper)};
  }
  return result;
}

double ComposedLoss::trade_off(double alpha) const {
  // (epsilon, delta)-DP gives beta >= 1 - delta - e^eps alpha and its mirror image [WZ10].
  double beta = 0;
  for (const auto& [epsilon, delta] : lines_) {
    beta = std::max(beta, 1 - delta - std::exp(epsilon) * alpha);
    beta = std::max(beta, std::exp(-epsilon) * (1 - delta - alpha));
  }
  return beta;
}

}  // namespace sotto
