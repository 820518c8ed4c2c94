#include "sotto/record/price_record.hpp"

#include <algorithm>

#include "sotto/privacy/budget.hpp"

namespace sotto {

Expected<double> epsilon_if_planned_to_end(const CanonicalEvent& events,
                                           std::int64_t noise_samples,
                                           const PricedRun& run) {
  if (events.terms.empty()) return 0.0;
  SOTTO_ASSIGN(const double epsilon,
               epsilon_with_samples(events, noise_samples, run.delta, *run.accountant));
  // A part of what the run's price covers.
  return std::min(epsilon, run.epsilon);
}

Expected<double> lower_epsilon(const CanonicalEvent& plan, const PricedRun& run) {
  SOTTO_ASSIGN(const Interval interval, run.accountant->epsilon(plan, run.delta));
  return std::min(interval.lower, run.epsilon);
}

Expected<void> price_record(RunRecord& record) {
  if (!record.privacy.is_private || record.spending.empty()) return {};
  if (record.spending.back().filter_share) return {};
  SOTTO_ASSIGN(const Accountant* accountant, find_accountant(record.privacy.accountant));
  const PricedRun run{accountant, record.privacy.delta, record.privacy.epsilon};
  for (SpentPoint& point : record.spending) {
    SOTTO_ASSIGN(point.epsilon, epsilon_if_planned_to_end(point.events, point.noise_samples, run));
  }
  // Of what epsilon is the upper end of: the plan. Lost releases are held to a limit instead.
  if (record.spending.back().events.terms.empty() || !record.lost.empty()) return {};
  SOTTO_ASSIGN(const Event event, parse_event(record.plan, record.privacy.neighbours));
  SOTTO_ASSIGN(const CanonicalEvent plan, canonical(event));
  SOTTO_ASSIGN(record.epsilon_lower, lower_epsilon(plan, run));
  return {};
}

}  // namespace sotto
