#pragma once

#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/ledger.hpp"

namespace sotto {

/// Prices everything at what was computed before. An audit runs the same plan thousands of times:
/// it is priced once, and the runs' ledgers take this price but still refuse what is not in the
/// plan.
class KnownPrice final : public Accountant {
 public:
  KnownPrice(const Accountant& source, double epsilon) : source_(source), epsilon_(epsilon) {}

  std::string_view name() const override { return source_.name(); }
  Expected<void> supports(const CanonicalEvent&) const override { return {}; }
  Expected<Interval> epsilon(const CanonicalEvent&, double) const override {
    return Interval{0, epsilon_};
  }
  Expected<Interval> delta(const CanonicalEvent& event, double epsilon) const override {
    return source_.delta(event, epsilon);
  }

 private:
  const Accountant& source_;
  double epsilon_;
};

/// A ledger for one run of a plan that has been priced: no budget, no journal.
inline Expected<Ledger> open_ledger(const Event& plan,
                                    std::int64_t samples,
                                    double delta,
                                    const KnownPrice& price) {
  LedgerOptions options;
  options.budget.delta = delta;
  options.plan = plan;
  options.planned_samples = samples;
  options.accountant = &price;
  return Ledger::open(std::move(options));
}

}  // namespace sotto
