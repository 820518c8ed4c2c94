#pragma once

#include "sotto/core/error.hpp"
#include "sotto/record/run_record.hpp"

namespace sotto {

/// Fills in what reports show of a private run's price: the accountant's lower bound on the epsilon
/// of the plan, and at each point of `spending` the epsilon of a plan that ends there, both at the
/// run's delta and by the accountant that the record quotes. A few dozen pricings: microseconds for
/// the Gaussian accountant, some tenths of a second for PLD. Nothing changes for a run that is not
/// private; with a filter, which certifies its whole budget only, nothing is filled in.
Expected<void> price_record(RunRecord& record);

}  // namespace sotto
