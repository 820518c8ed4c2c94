#include "sotto/privacy/together.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sotto/core/directed_text.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {
namespace {

/// a + b, rounded up where it is not exact (Knuth's two-sum tells).
double sum_up(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  const double lost = (a - (sum - of_b)) + (b - of_b);
  return lost > 0 ? std::nextafter(sum, kInfinity) : sum;
}
double difference_down(double a, double b) { return -sum_up(-a, b); }

Target sum_up(const Target& a, const Target& b) {
  return {sum_up(a.epsilon, b.epsilon), sum_up(a.delta, b.delta)};
}

/// The runs that cost something, by how they compose.
struct Parts {
  std::vector<Event> plans;
  std::int64_t samples = 0;
  double plan_delta = 0;  ///< the largest
  Target limits{0, 0};    ///< their sum
  Target singly{0, 0};    ///< the sum of all runs' prices, each at its own delta
};

/// `told`: the first run that says what its unit is, which those of older journals don't; null:
/// none.
Expected<void> check_alike(const JournalRun& first, const JournalRun* told, const JournalRun& run) {
  const auto differ =
      [&](const JournalRun& from, const char* what, std::string_view one, std::string_view other) {
        return fail(
            ErrorKind::kUsage,
            fmt::format("{} is {} {}, and {} {} {}: what they cost together can't be told. Price "
                        "them apart.",
                        from.where,
                        what,
                        one,
                        run.where,
                        what,
                        other));
      };
  if (first.relation != run.relation)
    return differ(first, "under", to_string(first.relation), to_string(run.relation));
  if (told && !run.unit.empty() && told->unit != run.unit)
    return differ(*told, "per", told->unit, run.unit);
  return {};
}

Expected<void> add(const JournalRun& run, Parts& parts) {
  const Promise& promise = run.promise;
  SOTTO_ASSIGN(const CanonicalEvent charged, canonical(Event::compose(run.charged)));
  const double own = promise.budget.delta;
  SOTTO_ASSIGN(const double epsilon, price(run, own));  // and that its budget can be believed
  parts.singly = sum_up(parts.singly, {epsilon, own});
  if (promise.rule == PriceRule::kFilter || !within(charged, promise.plan)) {
    parts.limits = sum_up(parts.limits, {epsilon, own});
    return {};
  }
  parts.plans.push_back(to_event(promise.plan));
  parts.plan_delta = std::max(parts.plan_delta, own);
  if (__builtin_add_overflow(parts.samples, promise.samples, &parts.samples))
    return fail(ErrorKind::kBadData,
                fmt::format("{}: more noise samples than can be counted.", run.where));
  return {};
}

/// The plans' own epsilon at what the limits leave of delta.
Expected<double> composed(const Parts& parts, double delta) {
  if (parts.plans.empty()) return 0.0;
  SOTTO_ASSIGN(const CanonicalEvent plan, canonical(Event::compose(parts.plans)));
  SOTTO_ASSIGN(const Accountant* accountant, tightest_accountant(plan));
  return epsilon_with_samples(plan, parts.samples, delta, *accountant);
}

}  // namespace

Expected<TogetherPrice> price_together(const std::vector<JournalRun>& runs,
                                       std::optional<double> delta) {
  TogetherPrice total;
  Parts parts;
  const JournalRun* first = nullptr;
  const JournalRun* told = nullptr;
  for (const JournalRun& run : runs) {
    SOTTO_ASSIGN(const bool free, released_nothing(run));
    if (free) continue;
    if (!first) first = &run;
    if (!told && !run.unit.empty()) told = &run;
    SOTTO_TRY(check_alike(*first, told, run));
    SOTTO_TRY(add(run, parts));
    ++total.paid;
    total.seeded |= run.seeded;
  }
  if (first) total.relation = first->relation;
  total.delta = delta.value_or(sum_up(parts.limits.delta, parts.plan_delta));
  SOTTO_TRY(check_delta(total.delta));
  const double left = difference_down(total.delta, parts.limits.delta);
  if (left < 0 || (left == 0 && !parts.plans.empty()))
    return fail(ErrorKind::kUsage,
                fmt::format("the runs' filters and limits hold at delta {} in all, which says "
                            "nothing at delta {}. Ask at a larger ‘delta’.",
                            text_up(parts.limits.delta),
                            total.delta));
  SOTTO_ASSIGN(const double plans, composed(parts, left));
  total.epsilon = sum_up(parts.limits.epsilon, plans);
  if (parts.singly.delta <= total.delta)
    total.epsilon = std::min(total.epsilon, parts.singly.epsilon);
  return total;
}

}  // namespace sotto
