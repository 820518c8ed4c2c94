#pragma once

#include <optional>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/privacy/journal.hpp"

namespace sotto {

/// What several runs cost as one release.
struct TogetherPrice {
  double epsilon = 0;
  double delta = 0;
  Relation relation = Relation::kZeroOut;
  std::int64_t paid = 0;  ///< how many of them cost anything
  bool seeded = false;    ///< one of those by a known seed
};

/// An upper bound on what all runs cost together, as if they had been planned together on the same
/// units (together.proof.md): no guarantee for a run that somebody chose after looking at an
/// earlier one's results, which needs a filter over all of them. Plans are composed; what was held
/// to a limit (filters, lost releases) is added by basic composition. `delta`: unless given, the
/// sum of those limits' and the largest of the plans'. Runs under different relations, or about
/// different units, have no common price: a usage error, as is a delta that the limits use up.
Expected<TogetherPrice> price_together(const std::vector<JournalRun>& runs,
                                       std::optional<double> delta = std::nullopt);

}  // namespace sotto
