#pragma once

#include <string_view>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/privacy/event.hpp"

namespace sotto {

/// A certified answer: the true value lies in [lower, upper]. Guarantees quote `upper`. An
/// accountant that proves no lower bound says 0.
struct Interval {
  double lower = 0;
  double upper = 0;
};

/// Prices events. Stateless and thread-safe: the ledger keeps the events, an accountant only
/// computes. Every answer is finite or +infinity, never NaN.
class Accountant {
 public:
  virtual ~Accountant() = default;

  /// `gaussian`, `zcdp`, `rdp` or `pld`.
  virtual std::string_view name() const = 0;

  /// Succeeds if every part of the event has a theorem here; otherwise names the first part that
  /// has none, and what to use instead.
  virtual Expected<void> supports(const CanonicalEvent& event) const = 0;

  /// The epsilon at which the event is (epsilon, delta)-DP; 0 <= delta < 1.
  virtual Expected<Interval> epsilon(const CanonicalEvent& event, double delta) const = 0;

  /// The delta at which the event is (epsilon, delta)-DP; epsilon >= 0.
  virtual Expected<Interval> delta(const CanonicalEvent& event, double epsilon) const = 0;

  /// epsilon(...).upper alone; an accountant for which the lower bound is extra work skips it here.
  virtual Expected<double> epsilon_upper(const CanonicalEvent& event, double delta) const;
};

/// The checks that every accountant makes of its arguments: 0 <= delta < 1, and epsilon >= 0 (which
/// may be infinite); usage errors otherwise.
Expected<void> check_delta(double delta);
Expected<void> check_epsilon(double epsilon);

/// The refusal of a term by an accountant: names accountant, term and relation, then `reason`,
/// which ends with the remedy.
tl::unexpected<Error> refuse(std::string_view accountant,
                             const Term& term,
                             Relation relation,
                             std::string_view reason);

/// True if some part has no guarantee at all: every accountant prices it at infinity.
bool has_non_private(const CanonicalEvent& event);

/// All accountants, from the most special to the most general: gaussian, zcdp, rdp, pld.
const std::vector<const Accountant*>& accountants();

/// By name; an unknown name is a usage error that lists the known ones.
Expected<const Accountant*> find_accountant(std::string_view name);

/// The tightest accountant that supports the event: gaussian where it applies (it is exact), then
/// pld (or rdp where that is smaller, which happens with many selections or fixed-size batches),
/// then rdp.
Expected<const Accountant*> tightest_accountant(const CanonicalEvent& event);

}  // namespace sotto
