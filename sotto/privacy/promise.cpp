#include "sotto/privacy/promise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "sotto/privacy/filter.hpp"

namespace sotto {
namespace {

/// By either of the two ways in which a ledger looks at its plan.
Expected<bool> fits(const CanonicalEvent& event,
                    std::int64_t samples,
                    const Target& limit,
                    const Accountant& accountant) {
  if (!accountant.supports(event)) return false;
  const double most = limit.epsilon * (1 + kLastDigits);
  SOTTO_ASSIGN(const double epsilon, epsilon_with_samples(event, samples, limit.delta, accountant));
  if (epsilon <= most) return true;
  const auto ideal = ideal_target(limit, samples);
  if (!ideal) return false;
  SOTTO_ASSIGN(const double at_budget, accountant.epsilon_upper(event, ideal->delta));
  return at_budget <= most;
}

/// By the ledger's accountant, or the tightest: one upper bound within the limit is enough.
Expected<bool> fits(const CanonicalEvent& event,
                    std::int64_t samples,
                    const Target& limit,
                    const Promise& promise) {
  if (promise.limit_by) {
    SOTTO_ASSIGN(const bool fitting, fits(event, samples, limit, *promise.limit_by));
    if (fitting) return true;
  }
  const auto tightest = tightest_accountant(event);
  if (!tightest) return false;
  return fits(event, samples, limit, **tightest);
}

tl::unexpected<Error> contradiction(const std::string& what, const Target& budget) {
  return fail(ErrorKind::kBadData,
              fmt::format("its budget of epsilon {} at delta {} can't have granted {}",
                          budget.epsilon,
                          budget.delta,
                          what));
}

Expected<void> check_filter(const Promise& promise,
                            const CanonicalEvent& charged,
                            std::int64_t samples) {
  const Target& budget = promise.budget;
  const std::string what = "what its filter was charged, " + to_string(to_event(charged));
  if (promise.states_samples && samples > promise.samples)
    return contradiction(fmt::format("{} noise samples", samples), budget);
  // Sums of what releases cost do not depend on their order.
  const auto ideal = ideal_target({budget.epsilon * (1 + kLastDigits), budget.delta},
                                  promise.states_samples ? promise.samples : samples);
  if (!ideal || !promise.limit_by) return contradiction(what, budget);
  const auto filter = make_filter(promise.limit_by->name(), *ideal);
  if (!filter || !(*filter)->try_spend(to_event(charged))) return contradiction(what, budget);
  return {};
}

}  // namespace

std::string_view to_string(PriceRule rule) {
  return rule == PriceRule::kFilter ? "filter" : "plan";
}

Expected<PriceRule> parse_price_rule(std::string_view text) {
  for (const PriceRule rule : {PriceRule::kPlan, PriceRule::kFilter})
    if (text == to_string(rule)) return rule;
  return fail(ErrorKind::kBadData,
              fmt::format("'{}' is no rule for a price; they are plan and filter", text));
}

std::int64_t releases(const CanonicalEvent& event) {
  std::int64_t sum = 0;
  for (const Term& term : event.terms)
    if (__builtin_add_overflow(sum, term.count, &sum))
      return std::numeric_limits<std::int64_t>::max();
  return sum;
}

bool within(const CanonicalEvent& part, const CanonicalEvent& whole) {
  if (part.relation != whole.relation && !part.terms.empty()) return false;
  std::map<Term, std::int64_t, TermOrder> left;
  for (const Term& term : whole.terms) left[term] += term.count;
  return std::all_of(part.terms.begin(), part.terms.end(), [&](const Term& term) {
    return (left[term] -= term.count) >= 0;
  });
}

Expected<void> check_granted(const Promise& promise,
                             const CanonicalEvent& charged,
                             std::int64_t samples) {
  const Target& budget = promise.budget;
  if (promise.rule == PriceRule::kFilter) return check_filter(promise, charged, samples);
  const std::int64_t planned = promise.states_samples ? promise.samples : samples;
  if (std::isfinite(budget.epsilon)) {
    SOTTO_ASSIGN(const bool fitting, fits(promise.plan, planned, budget, promise));
    if (!fitting) return contradiction("its plan " + to_string(to_event(promise.plan)), budget);
  }
  if (within(charged, promise.plan)) {
    // The plan's price covers no more than were planned.
    if (promise.states_samples && samples > promise.samples)
      return fail(
          ErrorKind::kBadData,
          fmt::format(
              "{} noise samples were drawn of {} that were planned", samples, promise.samples));
    return {};
  }
  // Lost releases were held to the budget, or to the plan's price where there is none.
  Target limit = budget;
  if (!std::isfinite(limit.epsilon)) {
    const Accountant* pricing = promise.limit_by;
    if (!pricing) {
      SOTTO_ASSIGN(pricing, tightest_accountant(promise.plan));
    }
    SOTTO_ASSIGN(limit.epsilon,
                 epsilon_with_samples(promise.plan, planned, budget.delta, *pricing));
  }
  SOTTO_ASSIGN(const bool fitting, fits(charged, samples, limit, promise));
  if (!fitting) return contradiction("what was charged, " + to_string(to_event(charged)), limit);
  return {};
}

Expected<double> price(const Promise& promise,
                       const CanonicalEvent& charged,
                       double delta,
                       const Accountant* accountant) {
  if (charged.terms.empty()) return 0.0;
  return price_of_promise(promise, charged, delta, accountant);
}

Expected<double> price_of_promise(const Promise& promise,
                                  const CanonicalEvent& charged,
                                  double delta,
                                  const Accountant* accountant) {
  const Target& budget = promise.budget;
  const auto of_plan = [&](double at) -> Expected<double> {
    const Accountant* pricing = accountant;
    if (!pricing) {
      SOTTO_ASSIGN(pricing, tightest_accountant(promise.plan));
    }
    return epsilon_with_samples(promise.plan, promise.samples, at, *pricing);
  };
  const bool by_limit = promise.rule == PriceRule::kFilter || !within(charged, promise.plan);
  if (!by_limit) {
    SOTTO_ASSIGN(const double planned, of_plan(delta));
    // The plan was granted within the budget, at the budget's delta, but for the last digits.
    return delta >= budget.delta ? std::min(planned, budget.epsilon) : planned;
  }
  if (delta < budget.delta)
    return fail(ErrorKind::kUsage,
                fmt::format("this run was held to a limit at delta {}, which says nothing at the "
                            "smaller delta {}. Ask at its own, or a larger one.",
                            budget.delta,
                            delta));
  if (std::isfinite(budget.epsilon) || promise.rule == PriceRule::kFilter) return budget.epsilon;
  // The ledger compared prices of its own accountant; another one's may order events otherwise.
  if (promise.limit_by)
    return epsilon_with_samples(promise.plan, promise.samples, budget.delta, *promise.limit_by);
  return of_plan(budget.delta);
}

}  // namespace sotto
