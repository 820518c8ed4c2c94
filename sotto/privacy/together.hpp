#pragma once

#include <optional>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/privacy/journal.hpp"

namespace sotto {

/// What several runs cost as one release.
struct TogetherPrice {
  double epsilon = 0;  ///< as if they had been planned together
  double delta = 0;
  /// The sums of the runs' own prices: also for runs that somebody chose after looking, as long as
  /// none was begun that took the sums beyond a limit that was set before the first.
  Target sum{0, 0};
  /// Composing the plans says nothing, or less, at this delta: their noise samplers use too much of
  /// it. A larger one would do.
  bool samplers_limit = false;
  Relation relation = Relation::kZeroOut;
  std::int64_t paid = 0;  ///< how many of them cost anything
  bool seeded = false;    ///< one of those by a known seed
};

/// An upper bound on what all runs cost together, as if they had been planned together on the same
/// units (together.proof.md): no guarantee for a run that somebody chose after looking at an
/// earlier one's results; for those there is `sum`. Plans are composed, or added up with a part of
/// delta each where that is less; what was held to a limit (filters, lost releases) is added by
/// basic composition. `delta`: unless given, the sum of those limits' and the largest of the
/// plans', or where nothing finite holds there, that of `sum`. Runs under different relations, or
/// about different units, have no common price: a usage error, as is a delta that the limits use
/// up.
Expected<TogetherPrice> price_together(const std::vector<JournalRun>& runs,
                                       std::optional<double> delta = std::nullopt);

}  // namespace sotto
