#pragma once

#include <cstdint>

#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/record/run_record.hpp"

namespace sotto {

/// By what the points of a run's curve are priced.
struct PricedRun {
  const Accountant* accountant = nullptr;  ///< that the record quotes
  double delta = 0;
  double epsilon = 0;  ///< of the whole run, which covers every part of it
};

/// The epsilon of a plan that ends with these events. `sotto verify` prices points with it, too.
Expected<double> epsilon_if_planned_to_end(const CanonicalEvent& events,
                                           std::int64_t noise_samples,
                                           const PricedRun& run);
/// The accountant's lower bound on the epsilon of a plan.
Expected<double> lower_epsilon(const CanonicalEvent& plan, const PricedRun& run);

/// Fills in what reports show of a private run's price: the accountant's lower bound on the epsilon
/// of the plan, and at each point of `spending` the epsilon of a plan that ends there, both at the
/// run's delta and by the accountant that the record quotes. A few dozen pricings: microseconds for
/// the Gaussian accountant, some tenths of a second for PLD. Nothing changes for a run that is not
/// private; with a filter, which certifies its whole budget only, nothing is filled in.
Expected<void> price_record(RunRecord& record);

}  // namespace sotto
