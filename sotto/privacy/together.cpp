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
  std::vector<const JournalRun*> plans;
  std::int64_t samples = 0;
  double largest_delta = 0;  ///< of the plans
  double sum_of_deltas = 0;  ///< of the plans
  Target limits{0, 0};       ///< their sum
  Target all{0, 0};          ///< the sum of all runs' prices, each at its own delta
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
  parts.all = sum_up(parts.all, {epsilon, own});
  if (promise.rule == PriceRule::kFilter || !within(charged, promise.plan)) {
    parts.limits = sum_up(parts.limits, {epsilon, own});
    return {};
  }
  parts.plans.push_back(&run);
  parts.largest_delta = std::max(parts.largest_delta, own);
  parts.sum_of_deltas = sum_up(parts.sum_of_deltas, own);
  if (__builtin_add_overflow(parts.samples, promise.samples, &parts.samples))
    return fail(ErrorKind::kBadData,
                fmt::format("{}: more noise samples than can be counted.", run.where));
  return {};
}

struct PlansPrice {
  double epsilon = 0;
  bool samplers_limit = false;
};

/// All plans as one, with all their samples.
Expected<PlansPrice> composed(const Parts& parts, double delta) {
  std::vector<Event> plans;
  for (const JournalRun* run : parts.plans) plans.push_back(to_event(run->promise.plan));
  SOTTO_ASSIGN(const CanonicalEvent plan, canonical(Event::compose(plans)));
  SOTTO_ASSIGN(const Accountant* accountant, tightest_accountant(plan));
  PlansPrice price;
  SOTTO_ASSIGN(price.epsilon, epsilon_with_samples(plan, parts.samples, delta, *accountant));
  if (std::isfinite(price.epsilon)) return price;
  SOTTO_ASSIGN(const double ideal, accountant->epsilon_upper(plan, delta));
  price.samplers_limit = std::isfinite(ideal);
  return price;
}

/// The sum of the plans' epsilons, each at a part of delta as large as its own is among theirs. All
/// is rounded down, so that the parts are no more than the whole.
Expected<double> added_up(const Parts& parts, double delta) {
  if (!(parts.sum_of_deltas > 0)) return kInfinity;
  const double scale = std::nextafter(delta / parts.sum_of_deltas, 0.0);
  double epsilon = 0;
  for (const JournalRun* run : parts.plans) {
    const double part = std::nextafter(run->promise.budget.delta * scale, 0.0);
    SOTTO_ASSIGN(const double own, price(*run, part));
    epsilon = sum_up(epsilon, own);
  }
  return epsilon;
}

/// What the limits leave of delta is the plans'.
Expected<PlansPrice> price_of_plans(const Parts& parts, double delta) {
  if (parts.plans.empty()) return PlansPrice();
  SOTTO_ASSIGN(PlansPrice price, composed(parts, delta));
  if (parts.plans.size() == 1 ||
      (std::isfinite(price.epsilon) && !price.samplers_limit && price.epsilon <= parts.all.epsilon))
    return price;
  SOTTO_ASSIGN(const double sum, added_up(parts, delta));
  price.epsilon = std::min(price.epsilon, sum);
  return price;
}

Expected<void> price_at(const Parts& parts, double delta, TogetherPrice& total) {
  total.delta = delta;
  SOTTO_TRY(check_delta(delta));
  const double left = difference_down(delta, parts.limits.delta);
  if (left < 0 || (left == 0 && !parts.plans.empty()))
    return fail(ErrorKind::kUsage,
                fmt::format("the runs' filters and limits hold at delta {} in all, which says "
                            "nothing at delta {}. Ask at a larger ‘delta’.",
                            text_up(parts.limits.delta),
                            delta));
  SOTTO_ASSIGN(const PlansPrice plans, price_of_plans(parts, left));
  total.samplers_limit = plans.samplers_limit;
  total.epsilon = sum_up(parts.limits.epsilon, plans.epsilon);
  if (parts.all.delta <= delta) total.epsilon = std::min(total.epsilon, parts.all.epsilon);
  return {};
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
  total.sum = parts.all;
  const double asked = delta.value_or(sum_up(parts.limits.delta, parts.largest_delta));
  SOTTO_TRY(price_at(parts, asked, total));
  if (!delta && !std::isfinite(total.epsilon) && parts.all.delta < 1)
    SOTTO_TRY(price_at(parts, parts.all.delta, total));
  return total;
}

}  // namespace sotto
