#include "sotto/privacy/accountant/pld.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/numbers.hpp"
#include "sotto/privacy/accountant/pld_coins.hpp"
#include "sotto/privacy/accountant/pld_compose.hpp"
#include "sotto/privacy/accountant/pld_laws.hpp"
#include "sotto/privacy/accountant/rdp.hpp"

namespace sotto {
namespace {

using pld::Bound;
using pld::CountedLaw;
using pld::DeltaCurve;
using pld::Laws;
using pld::Plan;
using pld::Way;

constexpr double kSmallestDelta = 1e-300;

// A number that round-off spoiled is no bound.
double or_infinity(double x) { return std::isnan(x) ? kInfinity : x; }

double infinite_mass(const std::vector<CountedLaw>& laws, const Plan& plan) {
  double sum = 0;
  for (std::size_t i = 0; i < laws.size(); ++i)
    sum += static_cast<double>(laws[i].count) * plan.laws[i].range.above;
  return sum * (1 + 1e-12);
}

DeltaCurve lower_curve(const std::vector<CountedLaw>& laws, const Plan& plan) {
  if (!plan.is_feasible) return DeltaCurve::trivial(Bound::kLower);
  return {pld::compose(laws, plan, Bound::kLower), plan.tilt, 0, Bound::kLower};
}

DeltaCurve upper_curve(const std::vector<CountedLaw>& laws, const Plan& plan) {
  if (!plan.is_feasible) return DeltaCurve::trivial(Bound::kUpper);
  const auto make = [](const std::vector<CountedLaw>& list, const Plan& p) {
    return DeltaCurve(
        pld::compose(list, p, Bound::kUpper), p.tilt, infinite_mass(list, p), Bound::kUpper);
  };
  constexpr double kLargeLattice = 10000;
  if (plan.size < kLargeLattice) return make(laws, plan);
  const std::vector<CountedLaw> pieces = pld::cut_tails(laws, plan);
  const Plan cut = pld::plan_near(pieces, std::exp(plan.log_delta), plan.epsilon);
  return cut.is_feasible && cut.size < 0.7 * plan.size ? make(pieces, cut) : make(laws, plan);
}

// Whether Chernoff's bound alone shows that delta(epsilon) <= delta.
bool is_below(const std::vector<CountedLaw>& laws, double epsilon, double delta) {
  const Plan plan = pld::plan_near(laws, delta, epsilon);
  if (!plan.is_feasible) return false;
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

// An upper bound of epsilon from the laws, and the plan that gave it.
double upper_epsilon(const std::vector<CountedLaw>& laws, double delta, Plan& plan) {
  const double pure = pure_epsilon(laws);
  plan = pld::plan_for_delta(laws, delta);
  double upper = or_infinity(upper_curve(laws, plan).epsilon_above(delta));
  // The estimate that the plan starts from is poor where rare, large losses decide.
  for (int i = 0; i < 3 && std::isfinite(upper) && std::abs(upper - plan.epsilon) > 0.2 * upper;
       ++i) {
    plan = pld::plan_near(laws, delta, upper);
    upper = std::min(upper, upper_curve(laws, plan).epsilon_above(delta));
  }
  // Where atoms or a density's end decide, no tilt is right for the estimate: try some below it.
  for (double share = 1e-6; std::isfinite(pure) && upper > pure * (1 - 1e-6) && share < 0.3;
       share *= 10) {
    plan = pld::plan_near(laws, delta, pure * (1 - share));
    upper = std::min(upper, upper_curve(laws, plan).epsilon_above(delta));
  }
  return std::min(upper, pure * (1 + 1e-14));
}

constexpr double kLargeForLower = 1 << 16;  // points of a lattice: one list is enough

// The lower bound of a way whose dominating laws no data attain: the best of the lists that data
// do.
double attained_epsilon(const Way& way, double delta, double upper) {
  double best = 0;
  for (const std::vector<CountedLaw>& laws : way.attained) {
    const Plan plan = pld::plan_for_delta(laws, delta);
    if (best > 0 && plan.size > kLargeForLower) break;
    best = std::max(best, lower_curve(laws, plan).epsilon_below(delta, upper));
  }
  return best;
}

double attained_delta(const Way& way, double epsilon) {
  double best = 0;
  for (const std::vector<CountedLaw>& laws : way.attained) {
    if (epsilon >= pure_epsilon(laws)) continue;
    const Plan plan = pld::plan_for_epsilon(laws, epsilon);
    if (best > 0 && plan.size > kLargeForLower) break;
    best = std::max(best, lower_curve(laws, plan).delta(epsilon));
  }
  return best;
}

// Bounds for events that no lattice holds.
double far_epsilon(const CanonicalEvent& event, double delta) {
  const auto renyi = rdp_accountant().epsilon_upper(event, delta);
  return std::min(pld::coin_epsilon(event, delta), renyi.value_or(kInfinity));
}

double far_delta(const CanonicalEvent& event, double epsilon) {
  const auto renyi = rdp_accountant().delta(event, epsilon);
  return std::min(pld::coin_delta(event, epsilon), renyi ? renyi->upper : 1.0);
}

Expected<void> check_reach(double delta) {
  SOTTO_TRY(check_delta(delta));
  if (delta == 0 || delta >= kSmallestDelta) return {};
  return fail(
      ErrorKind::kUsage,
      fmt::format("pld needs delta = 0 or delta >= {}, but delta is {}. Set ‘delta’ to 0 or to "
                  "a larger number, or use ‘accountant rdp’.",
                  kSmallestDelta,
                  delta));
}

class PldAccountant final : public Accountant {
 public:
  std::string_view name() const override { return "pld"; }

  Expected<void> supports(const CanonicalEvent& event) const override {
    SOTTO_TRY(pld::laws_of(event));
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
    SOTTO_ASSIGN(const Laws laws, pld::laws_of(event));
    if (!laws.is_private) return Interval{1, 1};
    Interval result{0, 0};
    bool all_in_time = laws.fit_lattice;
    for (const Way& way : laws.ways) {
      if (epsilon >= pure_epsilon(way.upper) * (1 + 1e-14)) continue;
      if (!all_in_time) {
        result.upper = 1;
        continue;
      }
      const Plan plan = pld::plan_for_epsilon(way.upper, epsilon);
      all_in_time &= plan.is_feasible;
      result.upper = std::max(result.upper, upper_curve(way.upper, plan).delta(epsilon));
      const double lower = way.is_attained ? lower_curve(way.upper, plan).delta(epsilon)
                                           : attained_delta(way, epsilon);
      result.lower = std::max(result.lower, lower);
    }
    if (!all_in_time || laws.are_merged)
      result.upper = std::min(result.upper, far_delta(event, epsilon));
    return result;
  }

 private:
  static Expected<Interval> epsilon(const CanonicalEvent& event, double delta, bool with_lower) {
    SOTTO_TRY(check_reach(delta));
    SOTTO_ASSIGN(const Laws laws, pld::laws_of(event));
    if (!laws.is_private) return Interval{kInfinity, kInfinity};
    Interval result{0, 0};
    for (const Way& way : laws.ways) {
      const double pure = pure_epsilon(way.upper);
      if (delta == 0) {
        result.upper = std::max(result.upper, pure * (1 + 1e-14));
        // All pairs have the largest loss of the dominating one.
        if (way.is_attained || std::isinf(pure))
          result.lower = std::max(result.lower, pure * (1 - 1e-14));
        continue;
      }
      if (!laws.fit_lattice) {
        result.upper = std::max(result.upper, pure * (1 + 1e-14));
        continue;
      }
      // A direction that can't exceed what the other one needs is left out.
      const double known = with_lower ? result.lower : result.upper;
      if (pure <= known || (known > 0 && is_below(way.upper, known, delta))) continue;
      Plan plan;
      const double upper = upper_epsilon(way.upper, delta, plan);
      result.upper = std::max(result.upper, upper);
      if (!with_lower) continue;
      const double lower = way.is_attained
                               ? lower_curve(way.upper, plan).epsilon_below(delta, upper)
                               : attained_epsilon(way, delta, upper);
      result.lower = std::max(result.lower, lower);
    }
    // No lattice holds the event, or none gave a bound, or a coarse one.
    if (delta > 0 && (!laws.fit_lattice || laws.are_merged || std::isinf(result.upper)))
      result.upper = std::min(result.upper, far_epsilon(event, delta));
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
  SOTTO_ASSIGN(const Laws laws, pld::laws_of(event));
  ComposedLoss result;
  result.private_ = laws.is_private;
  if (!laws.is_private) return result;
  if (!laws.fit_lattice)
    return fail(ErrorKind::kUsage,
                "the event's losses are too large or too small for a whole curve. Ask for single "
                "epsilons or deltas.");
  for (const Way& way : laws.ways) {
    Direction direction;
    for (const double share : {0.0, 0.1, 0.25, 0.5, 0.75, 1.0}) {
      const auto plan_at = [&](const std::vector<CountedLaw>& list) {
        return pld::plan_for_epsilon(list,
                                     std::min(share * largest_epsilon, 0.98 * pure_epsilon(list)));
      };
      const Plan plan = plan_at(way.upper);
      direction.upper.push_back(upper_curve(way.upper, plan));
      if (way.is_attained) direction.lower.push_back(lower_curve(way.upper, plan));
      for (const std::vector<CountedLaw>& list : way.attained)
        direction.lower.push_back(lower_curve(list, plan_at(list)));
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
