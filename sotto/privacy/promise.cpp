#include "sotto/privacy/promise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace sotto {

std::string_view to_string(PriceRule rule) {
  return rule == PriceRule::kFilter ? "filter" : "plan";
}

Expected<PriceRule> parse_price_rule(std::string_view text) {
  for (const PriceRule rule : {PriceRule::kPlan, PriceRule::kFilter})
    if (text == to_string(rule)) return rule;
  return fail(ErrorKind::kBadData,
              fmt::format("'{}' is no rule for a price; they are plan and filter", text));
}

bool within(const CanonicalEvent& part, const CanonicalEvent& whole) {
  if (part.relation != whole.relation && !part.terms.empty()) return false;
  std::map<Term, std::int64_t, TermOrder> left;
  for (const Term& term : whole.terms) left[term] += term.count;
  return std::all_of(part.terms.begin(), part.terms.end(), [&](const Term& term) {
    return (left[term] -= term.count) >= 0;
  });
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
    // The plan was granted within the budget, at the budget's delta.
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
