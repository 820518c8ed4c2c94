#pragma once

#include <string>

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

}  // namespace sotto::testing
