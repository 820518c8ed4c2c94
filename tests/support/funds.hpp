#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "sotto/privacy/ledger.hpp"

namespace sotto::testing {

/// A ledger with a filter for budget (epsilon, delta), and the multiplier that one release with all
/// of it would have.
struct Funds {
  Expected<Ledger> ledger;
  explicit Funds(const std::string& filter, double epsilon = 1)
      : ledger([&] {
          LedgerOptions granted;
          granted.budget = {epsilon, 1e-5};
          granted.filter = filter;
          granted.relation = Relation::kZeroOut;
          granted.planned_samples = 1'000'000;
          return Ledger::open(granted);
        }()) {}
};
inline constexpr double kSingle = 3.7306;  // 1 / mu(1, 1e-5)

/// A ledger for one plan, whatever it costs.
inline Ledger ledger_for(Event plan, std::int64_t samples) {
  LedgerOptions options;
  options.budget.delta = 1e-5;
  options.plan = std::move(plan);
  options.planned_samples = samples;
  return *Ledger::open(options);
}

}  // namespace sotto::testing
