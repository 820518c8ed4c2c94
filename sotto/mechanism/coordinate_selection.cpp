#include "sotto/mechanism/coordinate_selection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sotto/core/check.hpp"
#include "sotto/mechanism/receipt_check.hpp"
#include "sotto/random/gumbel.hpp"

namespace sotto {

Released<SignedCoordinate> CoordinateSelection::release(Sensitive<CoordinateScores> scores,
                                                        Receipt receipt,
                                                        double epsilon,
                                                        bool both_signs,
                                                        Stream& selection) {
  constexpr std::size_t kChunk = 1024;
  const SensitivityClaim claim = scores.claim();
  SOTTO_CHECK(claim.sensitivity() >= 1 && claim.sensitivity() == std::floor(claim.sensitivity()));
  SOTTO_CHECK(epsilon >= 0x1p-20 && epsilon <= kMostEpsilon);
  Event event = claim.sampling().applied_to(Event::exponential(epsilon, claim.relation()));
  internal::check_receipt(receipt, event, 1);
  const ReleaseKey key;
  const CoordinateScores sums = std::move(scores).open(key);
  SOTTO_CHECK(!sums.parts.empty() && !sums.parts.front().empty());
  const std::size_t dimension = sums.parts.front().size();
  SOTTO_CHECK(dimension <= static_cast<std::size_t>(kMostCoordinates));

  // Candidate 2j is +e_j and 2j + 1 is -e_j; or candidate j is +e_j.
  GumbelRace race(selection, epsilon / (2 * claim.sensitivity()));
  const std::size_t signs = both_signs ? 2 : 1;
  std::array<std::int64_t, 2 * kChunk> chunk;
  for (std::size_t begin = 0; begin < dimension; begin += kChunk) {
    const std::size_t count = std::min(kChunk, dimension - begin);
    for (std::size_t k = 0; k < count; ++k) {
      std::int64_t sum = 0;
      for (const auto& part : sums.parts) sum += part[begin + k];
      chunk[signs * k] = -sum;
      if (both_signs) chunk[2 * k + 1] = sum;
    }
    race.enter(static_cast<std::int64_t>(signs * begin), std::span(chunk).first(signs * count));
  }
  const std::int64_t winner = race.winner();
  const SignedCoordinate chosen =
      both_signs ? SignedCoordinate{winner / 2, winner % 2 == 1} : SignedCoordinate{winner, false};
  return Released<SignedCoordinate>(key, chosen, std::move(event));
}

}  // namespace sotto
