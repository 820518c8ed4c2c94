#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/event.hpp"

namespace sotto {

/// By which rule a run is priced. Neither looks at when the run ended: whoever ended it may have
/// looked at what was released. A stop that is known beforehand is a shorter plan.
enum class PriceRule {
  kPlan,    ///< the worst case that was stated before the first release
  kFilter,  ///< the whole budget of the filter that granted the releases one by one
};
std::string_view to_string(PriceRule rule);
Expected<PriceRule> parse_price_rule(std::string_view text);

/// What a run promised before its first release; all of it is public.
struct Promise {
  PriceRule rule = PriceRule::kPlan;
  /// An infinite epsilon: the noise was given by hand, and the plan's price is the limit.
  Target budget{std::numeric_limits<double>::infinity(), 0};
  CanonicalEvent plan;         ///< empty with a filter
  std::int64_t samples = 0;    ///< noise samples, at most
  bool states_samples = true;  ///< false: `samples` is a bound, as nobody wrote the number down
  /// The ledger's own: whose filter granted the releases, or whose price of the plan is the limit
  /// of lost releases where the noise was given by hand.
  const Accountant* limit_by = nullptr;
};

/// Accountants on another processor may differ in the last digits.
inline constexpr double kLastDigits = 1e-9;

/// How many releases there are; the largest integer if there are more.
std::int64_t releases(const CanonicalEvent& event);

/// Whether every release of `part` is among those of `whole`, as often.
bool within(const CanonicalEvent& part, const CanonicalEvent& whole);

/// Whether a ledger can have granted `charged`, with `samples` noise samples, under this promise:
/// the plan, and lost releases beyond it, within the budget; or with a filter, releases that a
/// filter of this budget grants. If not, one of them was changed since, and the budget is no price:
/// a bad-data error that says which.
Expected<void> check_granted(const Promise& promise,
                             const CanonicalEvent& charged,
                             std::int64_t samples);

/// What a run costs that was charged `charged`, whenever and why ever it ended (promise.proof.md):
/// nothing if it was charged nothing; a filter's budget; the plan's price; and the limit that its
/// ledger held it to if it paid for lost releases beyond its plan. `accountant`: null for the
/// tightest. Believes the budget (check_granted). One that can't be restated at a delta below its
/// own is a usage error.
Expected<double> price_of_promise(const Promise& promise,
                                  const CanonicalEvent& charged,
                                  double delta,
                                  const Accountant* accountant = nullptr);
/// The same, and nothing if nothing was charged.
Expected<double> price(const Promise& promise,
                       const CanonicalEvent& charged,
                       double delta,
                       const Accountant* accountant = nullptr);

}  // namespace sotto
