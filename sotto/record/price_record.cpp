#include "sotto/record/price_record.hpp"

#include <algorithm>

#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

Expected<void> price_record(RunRecord& record) {
  if (!record.privacy.is_private || record.spending.empty()) return {};
  if (record.spending.back().filter_share) return {};
  SOTTO_ASSIGN(const Accountant* accountant, find_accountant(record.privacy.accountant));
  for (SpentPoint& point : record.spending) {
    point.epsilon = 0;
    if (point.events.terms.empty()) continue;
    SOTTO_ASSIGN(
        const double epsilon,
        epsilon_with_samples(point.events, point.noise_samples, record.privacy.delta, *accountant));
    // A part of what the run's price covers.
    point.epsilon = std::min(epsilon, record.privacy.epsilon);
  }
  // Of what epsilon is the upper end of: the plan. Lost releases are held to a limit instead.
  if (record.spending.back().events.terms.empty() || !record.lost.empty()) return {};
  SOTTO_ASSIGN(const Event event, parse_event(record.plan, record.privacy.neighbours));
  SOTTO_ASSIGN(const CanonicalEvent plan, canonical(event));
  SOTTO_ASSIGN(const Interval interval, accountant->epsilon(plan, record.privacy.delta));
  record.epsilon_lower = std::min(interval.lower, record.privacy.epsilon);
  return {};
}

}  // namespace sotto
